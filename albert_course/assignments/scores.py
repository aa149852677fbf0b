"""``scores.csv``: a row for each student, for a spreadsheet, Canvas or Moodle."""

import csv
from pathlib import Path

from nbgrader.api import Gradebook

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # its import asks for these


def write_scores(gradebook: Gradebook, state: dict, place: Path) -> None:
    """Write each student's points of each assignment, late penalty taken off.

    What is not graded is left empty, it is not 0. A name that a spreadsheet would compute, such as
    "=1+1", gets an apostrophe before it. ``state`` says what is known of each submission, by
    assignment and student.
    """
    names = {student.id for student in gradebook.students}.union(*state.values())
    shown = {n: f"'{n}" if n.lstrip()[:1] in {*"=+-@"} else n for n in sorted(names)}
    rows = {name: {"Student": text, "SIS Login ID": text} for name, text in shown.items()}
    assignments = [one for one in gradebook.assignments if one.submissions]
    for assignment in assignments:
        for one in assignment.submissions:
            if not state.get(assignment.name, {}).get(one.student_id, {}).get("problem"):
                points = one.score - (one.late_submission_penalty or 0)
                rows[one.student_id][assignment.name] = max(0, points)
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*CANVAS, *(one.name for one in assignments)])
        table.writeheader()
        table.writerows(rows.values())
