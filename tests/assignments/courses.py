"""What tests of grading do with a course: settings, points, a class without nbgrader."""

import csv
import re
import shutil
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc

from albert_course.assignments.course import open_course
from albert_course.assignments.wall import SAYS
from tests.assignments.classroom import NAME, submission


def change(course: Path, old: str, new: str) -> None:
    """Write the settings of a course, if there are none yet, and change them."""
    open_course(course)
    text = (course / "nbgrader_config.py").read_text()
    assert old in text
    (course / "nbgrader_config.py").write_text(text.replace(old, new))


def hidden(course: Path) -> bool:
    """Return whether bubblewrap stands around the submissions."""
    return open_course(course).config.AlbertCourse.says == SAYS["bwrap"]


def points(course: Path) -> dict[str, float]:
    """Return the points of each student who has some, or 0, in the table."""
    with (course / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {row["Student"]: float(row[NAME]) for row in csv.DictReader(file) if row[NAME]}


def write(folder: Path, student: str, notebook: nbformat.NotebookNode | None = None) -> Path:
    """Write what a student hands in, by default the notebook as it was handed out."""
    (folder / student).mkdir(parents=True, exist_ok=True)
    place = folder / student / f"{NAME}.ipynb"
    nbformat.write(submission({}) if notebook is None else notebook, place)
    return place


def grade_by_comment(course: Path, student: str, assignment: str) -> str:
    """Stand for nbgrader: give the points of layer_plan that a comment in the notebook asks for."""
    folder = course / "submitted" / student / assignment
    wanted = re.search(r"# points: (\d)", (folder / f"{assignment}.ipynb").read_text())
    handed_in = (folder / "timestamp.txt").read_text()
    with Gradebook(f"sqlite:///{course.resolve() / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student(student)
        time = parse_utc(handed_in)
        gradebook.update_or_create_submission(assignment, student, timestamp=time)
        grade = gradebook.find_grade("layer_plan_hidden", assignment, assignment, student)
        grade.auto_score = int(wanted[1]) if wanted else 0
        gradebook.db.commit()
    place = course / "autograded" / student / assignment / f"{assignment}.ipynb"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / f"{assignment}.ipynb", place)
    return ""


def asks_for(points: int) -> nbformat.NotebookNode:
    """Return a notebook to which ``grade_by_comment`` gives these points."""
    return submission({"layer_plan": f"def layer_plan():\n    pass  # points: {points}"})
