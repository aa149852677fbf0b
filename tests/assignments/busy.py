"""Grade a class of twelve on the machine as it is, and beside eight busy processes.

    python -m tests.assignments.busy

The points must be the same. Right answers that compute the longest are among the twelve, and
answers that never end.
"""

import csv
import importlib
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat

from albert_course.assignments import SEED_VARIABLE
from albert_course.assignments.build import find_sources
from albert_course.assignments.grade import grade_folder
from albert_course.assignments.records import read_records
from tests.assignments.classroom import HOG, LOOP, NAME, SLEEP, SOLVED, split, submission, tampered

RIGHT = ("02", "05", "06", "07", "09", "11")  # assignments with a right answer in another style
BUSY = 8


def hand_in(folder: Path) -> None:
    """Write what the twelve hand in."""
    written = {
        "splits": (NAME, split()),
        "tampers": (NAME, tampered()),
        "is half done": (NAME, submission({"layer_plan": SOLVED["layer_plan"]})),
        "loops": (NAME, submission(SOLVED | {"loss_with_last_only": LOOP})),
        "sleeps": (NAME, submission(SOLVED | {"gradient_of_each": SLEEP})),
        "takes all memory": (NAME, submission(SOLVED | {"gradient_of_each": HOG})),
    }
    for source in find_sources():
        number = source.name[:2]
        if number in RIGHT:
            answers = importlib.import_module(f"tests.assignments.answers.a{number}").OTHER_STYLE
            written[f"is right in {number}"] = source.stem, submission(answers, "", source.stem)
    for student, (assignment, notebook) in written.items():
        (folder / student).mkdir(parents=True)
        nbformat.write(notebook, folder / student / f"{assignment}.ipynb")


def grade(folder: Path, course: Path) -> dict[str, str]:
    """Grade the twelve; return the points of each, or why there are none."""
    began = time.monotonic()
    for _ in grade_folder(folder, course):
        pass
    print(f"{course.name}: graded in {time.monotonic() - began:.0f} seconds", flush=True)
    found = {}
    for students in read_records(course).values():
        for student, record in students.items():
            if record.problem not in ("", "missing"):
                found[student] = record.problem
    with (course / "scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            points = [row[name] for name in row if name[:2].isdigit() and row[name]]
            found.setdefault(row["Student"], ", ".join(points))
    return found


@contextmanager
def busy_machine(number: int):
    """Let this many processes compute meanwhile."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> int:
    """Grade twice, print both, and return 1 where they differ."""
    os.environ[SEED_VARIABLE] = "4711"  # both times the same questions
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hand_in(folder / "in")
        idle = grade(folder / "in", folder / "idle")
        with busy_machine(BUSY):
            busy = grade(folder / "in", folder / "busy")
    for student in sorted(idle):
        print(f"{student:20} {idle[student]:>6} {busy.get(student, 'nothing'):>6}")
    print("equal" if idle == busy else "NOT EQUAL")
    return int(idle != busy)


if __name__ == "__main__":
    sys.exit(main())
