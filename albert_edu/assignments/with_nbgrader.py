"""The same submissions, graded by nbgrader itself in a course folder that its other tools can go on with."""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from albert_edu.assignments.grade import Grade, Mark, submissions, worth, write_scores
from albert_edu.assignments.release import role
from albert_edu.assignments.settings import SOURCES

SAYS = "nbgrader: submissions run as you, with your files and your network, and no limit of memory"
CONFIG = """c = get_config()
c.CourseDirectory.course_id = "albert"
c.ExecutePreprocessor.timeout = 120  # seconds a cell; the first one imports torch, and nbgrader's 30 are few on a busy machine
c.ExecutePreprocessor.iopub_timeout = 60
c.ExecutePreprocessor.startup_timeout = 120
"""


def grade_with_nbgrader(folder: Path, out: Path, sources: Path = SOURCES, assignments: list[str] | None = None) -> list[Grade]:
    """Grade everything in ``folder`` by nbgrader: ``out``/scores.csv, and a course in ``out``/nbgrader with its feedback.

    A test cell gives all of its points or none, hidden tests keep the seeds of the source notebook, and nothing is walled off.
    ``nbgrader_config.py`` in the course is written once and then left alone. RuntimeError with nbgrader's own words where it
    fails, ValueError where it is not installed.
    """
    if importlib.util.find_spec("nbgrader") is None:
        raise ValueError("nbgrader is not installed; pip install -e '.[assignments]' does that. Without it: grade, as it is.")
    students, chosen = submissions(folder, sources, assignments)
    course, grades = out / "nbgrader", []
    course.mkdir(parents=True, exist_ok=True)
    if not (course / "nbgrader_config.py").exists():
        (course / "nbgrader_config.py").write_text(CONFIG)
    for path in chosen:
        name, some = path.stem, False
        _put(path, course / "source" / name)
        for student in students:
            shutil.rmtree(course / "autograded" / student.name / name, ignore_errors=True)
            if _handed_in(student, path):
                _put(student / path.name, course / "submitted" / student.name / name)
                some = True
        _nbgrader(course, "generate_assignment", name, "--create", "--force")
        if some:
            _nbgrader(course, "autograde", name, "--create", "--force", may_fail=True)  # the others are graded all the same
            _nbgrader(course, "generate_feedback", name, "--force", may_fail=True)
    _nbgrader(course, "export", "--to", "grades.csv")
    with (course / "grades.csv").open(encoding="utf-8") as file:
        scores = {(row["student_id"], row["assignment"]): float(row["raw_score"] or 0) for row in csv.DictReader(file)}
    for path in chosen:
        grades += [_grade(student, path, course, scores.get((student.name, path.stem), 0.0)) for student in students]
    write_scores(out, grades)
    return grades


def _grade(student: Path, path: Path, course: Path, score: float) -> Grade:
    """The score, unless nbgrader left no notebook behind or stopped a cell of ours: its export says 0 of those as well."""
    grade = Grade(student.name, path.stem)
    grade.out_of, grade.to_read = worth(nbformat.read(path, as_version=4))
    done = course / "autograded" / student.name / path.stem / path.name
    if not _handed_in(student, path):
        grade.status, grade.note = "missing", f"there is no {path.name}"
    elif not done.exists():
        grade.status, grade.note = "not graded", "nbgrader could not run it"
    else:
        for cell in nbformat.read(done, as_version=4).cells:
            failed = [one.ename for one in cell.get("outputs", []) if one.output_type == "error"]
            if failed and role(cell) == "locked":
                grade.status, grade.note = "not graded", f"our own cell {cell.metadata.nbgrader.grade_id} ended in {failed[-1]}"
        if grade.status == "graded":
            grade.marks = [Mark("nbgrader", "", score, grade.out_of)]
    return grade


def _handed_in(student: Path, path: Path) -> bool:
    submitted = student / path.name
    return submitted.is_file() and not submitted.is_symlink()


def _put(notebook: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(notebook, folder / notebook.name)


def _nbgrader(course: Path, *arguments: str, may_fail: bool = False) -> None:
    programs = str(Path(sys.executable).parent)  # nbgrader calls a program "alembic" of its own environment
    env = os.environ | {"PATH": programs + os.pathsep + os.environ.get("PATH", ""), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, check=False)
    if done.returncode and not may_fail:
        raise RuntimeError(f"nbgrader {arguments[0]} failed: {done.stderr.strip()[-1000:]}")
