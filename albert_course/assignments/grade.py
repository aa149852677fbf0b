"""A folder of submissions (STUDENT/NN_name.ipynb) graded by nbgrader, as many at once as cores.

The folder that this writes is an nbgrader course: gradebook.db, nbgrader_config.py and the feedback
pages are nbgrader's own, and so are the tools that work on them.
"""

import contextlib
import hashlib
import json
import multiprocessing
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI

from albert_course.assignments import SEED_VARIABLE, SOURCES
from albert_course.assignments.autograde import CONFIG, autograde, nbgrader_api
from albert_course.assignments.scores import write_scores
from albert_course.assignments.submissions import Unreadable, find_submissions, mend
from albert_course.assignments.wall import Limits
from albert_edu.errors import FileError, blame, read_json

NBGRADERS = {"gradebook.db", "nbgrader_config.py"}  # a person may make them before ``grade`` does


class Outcome(NamedTuple):
    """What became of a submission: ``problem`` is why it has no grade, or ""."""

    assignment: str
    student: str
    problem: str
    note: str  # what was mended

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note and not self.problem else ""
        return plain(f"{self.assignment}, {self.student}: {self.problem or 'graded'}{note}")


def grade_folder(
    folder: Path,
    course: Path,
    wall: str,
    limits: Limits,
    sources: Path = SOURCES,
    assignments: tuple[str, ...] = ("",),
    again: bool = False,
) -> Iterator[Outcome]:
    """Grade what is in ``folder``; yield what became of a submission as soon as that is written.

    ``course`` receives gradebook.db, scores.csv, state.json and feedback/STUDENT/NAME/. A
    submission is graded again when it or its source has changed, or with ``again``; otherwise its
    page alone is written again where a person gave points or wrote a comment.
    ``assignments`` are beginnings of names, such as "04"; by default all that anybody handed in.
    ValueError for a folder without submissions, RuntimeError for a source that nbgrader refuses.
    """
    students, paths = find_submissions(folder, sources, assignments)
    state = read_state(course)
    api = open_course(course)
    try:
        for path in paths:
            add_assignment(api, course, path)
            graded = state.setdefault(path.stem, {})
            with ThreadPoolExecutor(_cores()) as pool:
                work = {}
                for student in students:
                    before = {} if again else graded.get(student.name, {})
                    task = grade_one, course, student / path.name, path, wall, limits, before
                    work[pool.submit(*task)] = student.name
                try:
                    for done in as_completed(work):
                        if result := done.result():
                            graded[work[done]] = result
                            _write_state(course, state)
                            yield Outcome(path.stem, work[done], result["problem"], result["note"])
                finally:
                    pool.shutdown(cancel_futures=True)
            _follow_people(api, path.stem, graded)
            _write_state(course, state)
    finally:
        with api.gradebook as gradebook:
            write_scores(gradebook, state, course / "scores.csv")


def open_course(course: Path) -> NbGraderAPI:
    """Make the folder an nbgrader course, if it is none yet, and open it.

    The grading seed is the environment's, else one that is drawn once, so that a course asks all
    its students the same numbers. FileError for a folder without one that holds anything but
    nbgrader's own files: some of it might be overwritten.
    """
    course.mkdir(parents=True, exist_ok=True)
    place = course / "grading_seed.txt"
    found = {path.name for path in course.iterdir() if path.name[0] != "."} - NBGRADERS
    if found and not place.exists():
        raise FileError(f"{course} holds {min(found)}, and no grades: give another --out.")
    drawn = place.read_text() if place.exists() else str(secrets.randbelow(1_000_000) + 1)
    cure = "Write the number back: a new one would ask the rest of the class other questions."
    with blame(f"the grading seed in {place} or {SEED_VARIABLE}", FileError, cure):
        place.write_text(str(int(os.environ.get(SEED_VARIABLE, drawn))))
    settings = course / "nbgrader_config.py"
    if not settings.exists():
        settings.write_text(CONFIG)
    with blame(settings, FileError, "Mend it, or delete it: grade writes another."):
        api = nbgrader_api(course)
    with blame(course / "gradebook.db", FileError, "Put a copy of it back."), api.gradebook:
        return api


def read_state(course: Path) -> dict[str, dict[str, dict]]:
    """Return what is known of each submission, by assignment and student.

    ``problem`` is why it has no grade, "" if it has one; ``note`` what was mended; ``content`` the
    hash of what was graded, and by what source; ``marks`` what a person gave. A grade without its
    page was interrupted. FileError where the gradebook has lost a grade: what is unchanged is
    passed over, so nothing else would tell.
    """
    place, book = course / "state.json", course.resolve() / "gradebook.db"
    state = read_json(place, FileError) if place.exists() else {}
    with blame(place, FileError):
        for assignment, students in state.items():
            for student, one in students.items():
                if not (one["problem"] or _page(course, student, assignment).exists()):
                    one["problem"] = "it was being graded when that was interrupted: grade again"
        graded = {(a, s) for a, one in state.items() for s in one if not one[s]["problem"]}
    if graded and book.exists() and book.stat().st_size:
        with blame(book, FileError, "Put a copy of it back."):
            with Gradebook(f"sqlite:///{book}") as gradebook:
                rows = [row for each in gradebook.assignments for row in each.submissions]
                graded -= {(row.name, row.student_id) for row in rows}
    if graded:
        raise FileError(
            f"{book} has no grade of {min(graded)[1]}, and {place} has: put a copy of the first "
            "back, or delete the second. All are graded again then, and points by hand are lost."
        )
    return state


def add_assignment(api: NbGraderAPI, course: Path, path: Path) -> None:
    """Put a source notebook with its hidden tests into the gradebook."""
    target = course / "source" / path.stem / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    with warnings.catch_warnings(action="ignore"):  # SQLAlchemy's, of nbgrader's queries
        outcome = api.generate_assignment(path.stem)
    if not outcome["success"]:
        text = f"nbgrader refuses {path.name}: {outcome['log'][-2000:]}"
        if "Cannot add or remove cells" in text:
            text = f"{path.name} has other cells than when {course} was begun; give another --out."
        raise RuntimeError(text)


def grade_one(
    course: Path, submitted: Path, source: Path, wall: str, limits: Limits, before: dict
) -> dict[str, str] | None:
    """Grade one submission; return what is known of it, None if that is known from ``before``."""
    student, assignment = submitted.parent.name, source.stem
    page = _page(course, student, assignment)
    result = {"problem": "", "note": "", "content": ""}
    try:
        text, result["note"] = mend(submitted, source)
        result["content"] = hashlib.sha256(text.encode() + source.read_bytes()).hexdigest()
        if result["content"] == before.get("content") and page.exists() and not before["problem"]:
            return None
        page.unlink(missing_ok=True)
        copy = course / "submitted" / student / assignment / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
        handed_in = datetime.fromtimestamp(submitted.stat().st_mtime, UTC)
        (copy.parent / "timestamp.txt").write_text(f"{handed_in:%Y-%m-%d %H:%M:%S} UTC")
        result["problem"] = _apart(course, student, assignment, wall, limits)
    except Unreadable as error:
        result["problem"] = str(error)
    except OSError as error:  # of these files; the next student's may be whole
        result["problem"] = f"{type(error).__name__}: {error}"
    return result


def _apart(course: Path, student: str, assignment: str, wall: str, limits: Limits) -> str:
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


def _follow_people(api: NbGraderAPI, assignment: str, graded: dict[str, dict]) -> None:
    """Write the pages again of those to whom a person gave points or a comment since."""
    for student, one in graded.items():
        if one["problem"]:
            continue
        with api.gradebook as gradebook, contextlib.suppress(MissingEntry):
            notebook = gradebook.find_submission(assignment, student).notebooks[0]
            marks = [[grade.manual_score, grade.extra_credit] for grade in notebook.grades]
            marks += [[comment.manual_comment] for comment in notebook.comments]
            if one.setdefault("marks", marks) != marks:
                api.generate_feedback(assignment, student)
                one["marks"] = marks


def _page(course: Path, student: str, assignment: str) -> Path:
    return course / "feedback" / student / assignment / f"{assignment}.html"


def _write_state(course: Path, state: dict) -> None:
    (course / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux: a container may give fewer
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def plain(text: object) -> str:
    """Return a text in one line, without what would move a terminal's cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
