"""A folder of submissions (STUDENT/NN_name.ipynb) graded by nbgrader, one process per submission.

The folder that this writes is an nbgrader course: gradebook.db, the feedback pages and
``nbgrader formgrader`` are nbgrader's own.
"""

import json
import multiprocessing
import os
import re
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.plugins import CsvExportPlugin

from albert_course.assignments import SEED_VARIABLE, SOURCES
from albert_course.assignments.autograde import autograde, nbgrader_api
from albert_course.assignments.build import find_sources
from albert_course.assignments.wall import Limits
from albert_edu.errors import FileError, blame, read_json

NAME = re.compile(r"\w[\w .@-]*")  # nbgrader makes paths, patterns and CSV of a student's name
LARGEST = 20 << 20  # bytes of a notebook


def grade_folder(
    folder: Path,
    course: Path,
    wall: str,
    limits: Limits,
    sources: Path = SOURCES,
    assignments: tuple[str, ...] = ("",),
    again: bool = False,
) -> Iterator[str]:
    """Grade what is in ``folder``; yield a line per submission as soon as its grade is written.

    ``course`` receives gradebook.db, scores.csv, problems.json and feedback/STUDENT/NAME/. A
    submission that is graded already and has not changed is left alone, unless ``again``.
    ``assignments`` are beginnings of names, such as "04"; by default all that anybody handed in.
    ValueError for a folder without submissions, RuntimeError for a source that nbgrader refuses.
    """
    students, paths = find_submissions(folder, sources, assignments)
    course.mkdir(parents=True, exist_ok=True)
    draw_seed(course)
    api, problems = nbgrader_api(course, limits), read_problems(course)
    with blame(course / "gradebook.db", FileError, "Put a copy of it back."):
        sqlite3.connect(course / "gradebook.db").execute("select * from sqlite_master")
    try:
        for path in paths:
            add_assignment(api, course, path)
            for student in students:
                submitted = student / path.name
                copy = course / "submitted" / student.name / path.stem / path.name
                page = course / "feedback" / student.name / path.stem / f"{path.stem}.html"
                try:
                    problem = find_problem(submitted, path)
                    if not problem:
                        same = page.exists() and copy.read_bytes() == submitted.read_bytes()
                        if same and not again:
                            continue
                        page.unlink(missing_ok=True)
                        _copy(submitted, copy)
                        problem = grade_one(course, student.name, path.stem, wall, limits)
                except OSError as error:  # of these files; the next student's may be whole
                    problem = f"{type(error).__name__}: {error}"
                problems.setdefault(path.stem, {})[student.name] = problem
                (course / "problems.json").write_text(json.dumps(problems, indent=1))
                yield f"{path.stem}, {plain(student.name)}: {plain(problem) or 'graded'}"
    finally:
        with api.gradebook as gradebook:
            CsvExportPlugin(to=str(course / "scores.csv")).export(gradebook)


def read_problems(course: Path) -> dict[str, dict[str, str]]:
    """Return why which submission has no grade ("" if it has one), by assignment and student."""
    place = course / "problems.json"
    content = read_json(place, FileError) if place.exists() else {}
    with blame(place, FileError):
        return {assignment: dict(problems) for assignment, problems in content.items()}


def add_assignment(api: NbGraderAPI, course: Path, path: Path) -> None:
    """Put a source notebook with its hidden tests into the gradebook."""
    _copy(path, course / "source" / path.stem / path.name)
    programs = str(Path(sys.executable).parent)  # nbgrader calls "alembic", of its own environment
    os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    with warnings.catch_warnings(action="ignore"):  # SQLAlchemy's, of nbgrader's queries
        outcome = api.generate_assignment(path.stem)
    if not outcome["success"]:
        raise RuntimeError(f"nbgrader refuses {path.name}: {outcome['log'][-2000:]}")


def grade_one(course: Path, student: str, assignment: str, wall: str, limits: Limits) -> str:
    """Let nbgrader grade one submission in a process of its own; return why it could not, or "".

    Whatever the submission does, this process goes on: the other one's memory is limited, and it is
    killed when it takes more time than the submission may take.
    """
    processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    processes.set_forkserver_preload([autograde.__module__])  # nbgrader is imported once
    receiver, sender = processes.Pipe(duplex=False)
    folder = Path(tempfile.mkdtemp(prefix="albert-"))
    arguments = (sender, folder, course, student, assignment, wall, limits)
    process = processes.Process(target=autograde, args=arguments)
    process.start()
    sender.close()
    try:
        in_time = receiver.poll(limits.seconds + 120)
        return receiver.recv() if in_time else f"it took more than {limits.seconds} seconds"
    except EOFError:
        return "it ended the process that graded it"
    finally:
        process.join(10)
        process.kill()
        # shutil cannot delete 3,000 nested folders.
        delete = ["cmd", "/c", "rd", "/s", "/q"] if sys.platform == "win32" else ["rm", "-rf"]
        subprocess.run([*delete, str(folder)], check=False)


def find_submissions(folder: Path, sources: Path, wanted: tuple[str, ...]) -> tuple[list, list]:
    """Return the students' folders, and the source notebooks to grade them by."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    students = sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")
    handed_in = {path.name for student in students for path in student.glob("*.ipynb")}
    paths = find_sources(sources)
    chosen = [path for path in paths if path.name in handed_in and path.name.startswith(wanted)]
    if not chosen:
        names = ", ".join(path.name for path in paths)
        raise ValueError(f"{folder} should hold STUDENT/NOTEBOOK, where NOTEBOOK is one of {names}")
    return students, chosen


def find_problem(submitted: Path, source: Path) -> str:
    """Return why a submission cannot be given to nbgrader, or ""."""
    if not NAME.fullmatch(submitted.parent.name):
        return "rename the folder: nbgrader takes letters, digits, spaces and _ . @ - in a name"
    if not os.path.lexists(submitted):
        near = [path.name for path in submitted.parent.glob(f"*{source.name[:2]}*.ipynb")]
        return f"is it {', '.join(near)}? It must be named {source.name}" if near else "missing"
    if submitted.is_symlink() or not submitted.is_file() or submitted.stat().st_size > LARGEST:
        return "it is no plain file, or larger than 20 MB: clear its outputs"
    try:
        lost = _answers(source) - _answers(submitted)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        return f"it is no notebook that can be read: {type(error).__name__}"
    return f"the answer cells {', '.join(sorted(lost))} or their metadata are gone" if lost else ""


def draw_seed(course: Path) -> None:
    """Write the grading seed into the course: the environment's, else one that is drawn once.

    So a course asks all its students the same numbers.
    """
    place = course / "grading_seed.txt"
    drawn = place.read_text() if place.exists() else str(secrets.randbelow(1_000_000) + 1)
    with blame(f"the grading seed in {place} or {SEED_VARIABLE}", FileError):
        place.write_text(str(int(os.environ.get(SEED_VARIABLE, drawn))))


def plain(text: object) -> str:
    """Return a text in one line, without what would move a terminal's cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def _answers(path: Path) -> set[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    return {mark["grade_id"] for mark in marks if mark.get("solution")}


def _copy(notebook: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(notebook, target)
