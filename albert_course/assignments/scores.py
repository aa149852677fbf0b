"""``scores.csv``: a row for each student, for a spreadsheet, Canvas or Moodle."""

import csv
import re
from pathlib import Path

from nbgrader.api import Grade, Gradebook

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # its import asks for these


def exercise_of(grade: Grade) -> str:
    """The exercise that a test belongs to: "encoder" of "encoder_hidden"."""
    return re.sub(r"_(visible|hidden|examples)$", "", grade.name)


def write_scores(gradebook: Gradebook, state: dict, place: Path) -> None:
    """Write each student's points: of an assignment, late penalty taken off, and of its exercises.

    What is not graded is left empty, it is not 0, and so is an exercise that waits for a person. A
    name that a spreadsheet would compute, such as "=1+1", gets an apostrophe before it.
    ``state`` says what is known of each submission, by assignment and student.
    """
    names = {student.id for student in gradebook.students}.union(*state.values())
    shown = {n: f"'{n}" if n.lstrip()[:1] in {*"=+-@"} else n for n in sorted(names)}
    rows = {name: {"Student": text, "SIS Login ID": text} for name, text in shown.items()}
    columns = list(CANVAS)
    for assignment in gradebook.assignments:
        for submission in assignment.submissions:
            student = submission.student_id
            if state.get(assignment.name, {}).get(student, {}).get("problem"):
                continue
            points: dict[str, float | None] = {}
            for grade in submission.notebooks[0].grades:
                column = f"{assignment.name}: {exercise_of(grade)}"
                earned = None if grade.needs_manual_grade else grade.score
                before = points.get(column, 0)
                points[column] = None if None in (earned, before) else round(before + earned, 2)
            penalty = submission.late_submission_penalty or 0
            rows[student] |= {assignment.name: max(0, submission.score - penalty)} | points
            columns += [name for name in (assignment.name, *points) if name not in columns]
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows.values())
