"""``scores.csv``: a row for each student, for a spreadsheet, Canvas or Moodle."""

import csv
from pathlib import Path

from nbgrader.api import Gradebook

from albert_course.assignments.records import Record, open_gradebook, read_records

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # its import asks for these


def write_scores(course: Path) -> None:
    """Write scores.csv of a course, from its gradebook."""
    with open_gradebook(course) as gradebook:
        rows = score_rows(gradebook, read_records(course))
        names = [one.name for one in gradebook.assignments if one.submissions]
    with (course / "scores.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*CANVAS, *names])
        table.writeheader()
        table.writerows(rows)


def score_rows(gradebook: Gradebook, records: dict[str, dict[str, Record]]) -> list[dict]:
    """Return a row for each student: the points of each assignment, late penalty taken off.

    What is not graded is left empty, it is not 0. A name that a spreadsheet would compute, such as
    "=1+1", gets an apostrophe before it.
    """
    rows = {}
    for name in sorted({student.id for student in gradebook.students}.union(*records.values())):
        shown = f"'{name}" if name.lstrip()[:1] in {*"=+-@"} else name
        rows[name] = {"Student": shown, "SIS Login ID": shown}
    for assignment in gradebook.assignments:
        known = records.get(assignment.name, {})
        for one in assignment.submissions:
            record = known.get(one.student_id)
            if record is None or not record.problem:
                points = one.score - (one.late_submission_penalty or 0)
                rows[one.student_id][assignment.name] = max(0, points)
    return list(rows.values())
