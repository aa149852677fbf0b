"""The nbgrader course that ``grade`` writes: its settings, its assignments, its due dates."""

import secrets
import shutil
from datetime import UTC
from pathlib import Path

from nbgrader.apps import NbGraderAPI

from albert_course.assignments.autograde import CONFIG, failure, nbgrader_api
from albert_course.assignments.records import open_gradebook
from albert_course.assignments.score import grading_seed
from albert_edu.errors import FileError, InputError, RunError, errors_about

SETTINGS = "nbgrader_config.py"
LATE = "late"  # a course in the course: what was handed in again after the due date


def open_course(course: Path) -> NbGraderAPI:
    """Make the folder an nbgrader course, if it is none yet, and open it.

    The grading seed is the environment's, else one that is drawn, so that a course asks all its
    students the same numbers. FileError for a folder without our settings that holds anything but
    a gradebook, in which a person may have set due dates: some of it might be overwritten.
    """
    course.mkdir(parents=True, exist_ok=True)
    settings = course / SETTINGS
    if not settings.exists():
        found = {path.name for path in course.iterdir() if path.name[0] != "."}
        if found := found - {"gradebook.db"}:
            raise FileError(f"{course} holds {min(found)}, and no grades: give another --out.")
        seed = grading_seed(usual=secrets.randbelow(1_000_000) + 1)
        settings.write_text(CONFIG.format(seed=seed))
    with errors_about(
        settings, FileError, "Mend it: it should call configure with this class's seed."
    ):
        api = nbgrader_api(course)
        if not api.config.has_key("AlbertCourse"):
            raise InputError("without configure, nothing would stand around a submission")
    with open_gradebook(course):  # nbgrader makes its tables
        return api


def open_late(course: Path, source: Path) -> Path:
    """Return the course of what was handed in again late, with the settings of ``course``."""
    late = course / LATE
    late.mkdir(exist_ok=True)
    shutil.copyfile(course / SETTINGS, late / SETTINGS)
    api = open_course(late)
    add_assignment(api, late, source)
    with api.gradebook as gradebook, open_gradebook(course) as first:
        due = first.find_assignment(source.stem).duedate
        gradebook.update_or_create_assignment(source.stem, duedate=due)
    return late


def add_assignment(api: NbGraderAPI, course: Path, source: Path) -> None:
    """Put a source notebook with its hidden tests into the gradebook."""
    target = course / "source" / source.stem / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    if why := failure(api.generate_assignment(source.stem)):
        raise RunError(f"nbgrader refuses {source.name}: {why} Another --out begins anew.")


def due_time(api: NbGraderAPI, assignment: str) -> float | None:
    """Return when an assignment is due, in seconds since 1970, None where nobody has said."""
    with api.gradebook as gradebook:
        due = gradebook.find_assignment(assignment).duedate
    return due.replace(tzinfo=UTC).timestamp() if due else None
