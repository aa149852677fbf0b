"""``python -m tests.assignments [bwrap|plain]``: a class hands in assignment 4; who gets what."""

import csv
import sys
import tempfile
import time
from pathlib import Path

from albert_course.assignments.grade import grade_folder
from albert_course.assignments.wall import SAYS, Limits, find_wall
from tests.assignments.classroom import DESERVED, Server, hand_in

LIMITS = Limits(cell_seconds=20, seconds=120, memory=1 << 30)


def grade_class(folder: Path, wall: str) -> tuple[list[str], dict[str, float], bool]:
    """Hand in and grade: the lines that ``grade`` prints, the points, was the network reached."""
    server = Server()
    hand_in(folder / "in", server.port)
    lines = list(grade_folder(folder / "in", folder / "out", wall, LIMITS))
    server.socket.close()
    return lines, points(folder / "out"), server.visited


def points(course: Path, by: str = "student_id") -> dict[str, float]:
    """Return the points of each student, or of each assignment of the one student."""
    with (course / "scores.csv").open() as file:
        return {row[by]: float(row["raw_score"]) for row in csv.DictReader(file)}


if __name__ == "__main__":
    wall, start = sys.argv[1] if sys.argv[1:] else find_wall(), time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        lines, scores, visited = grade_class(Path(place), wall)
    print(SAYS[wall], "", *lines, "", f"{'student':14} {'points':>6} {'deserved':>8}", sep="\n")
    for student, score in scores.items():
        print(f"{student:14} {score:6g} {DESERVED.get(student, 'a person looks'):>8}")
    print(f"the network was {'' if visited else 'not '}reached; {time.monotonic() - start:.0f} s")
