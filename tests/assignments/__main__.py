"""``python -m tests.assignments [bwrap|plain]``: a class hands in assignment 4; who gets what."""

import csv
import sys
import tempfile
import time
from pathlib import Path

from albert_course.assignments.grade import grade_folder, open_course
from albert_course.assignments.wall import SAYS, Limits, find_wall
from tests.assignments.classroom import DESERVED, NAME, Server, hand_in

LIMITS = Limits(cell_seconds=10, seconds=60, memory=1 << 30)


def grade_class(folder: Path, wall: str) -> tuple[list[str], dict[str, float], bool]:
    """Hand in and grade: the lines that ``grade`` prints, the points, was the network reached."""
    server, course = Server(), folder / "out"
    hand_in(folder / "in", server.port)
    with open_course(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-01 00:00 UTC")
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    lines = list(map(str, grade_folder(folder / "in", course, wall, LIMITS)))
    server.socket.close()
    return lines, points(course), server.visited


def points(course: Path, column: str = NAME) -> dict[str, float]:
    """Return the points of each student who has some, or 0, in a column of the table."""
    with (course / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {row["Student"]: float(row[column]) for row in csv.DictReader(file) if row[column]}


if __name__ == "__main__":
    wall, start = sys.argv[1] if sys.argv[1:] else find_wall(), time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        lines, scores, visited = grade_class(Path(place), wall)
    print(SAYS[wall], "", *lines, "", f"{'student':14} {'points':>6} {'deserved':>8}", sep="\n")
    for student, score in scores.items():
        print(f"{student:14} {score:6g} {DESERVED.get(student, 'a person looks'):>8}")
    print(f"the network was {'' if visited else 'not '}reached; {time.monotonic() - start:.0f} s")
