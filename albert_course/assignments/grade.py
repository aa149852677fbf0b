"""A folder of submissions (STUDENT/NN_name.ipynb) graded by nbgrader, as many at once as cores.

The folder that this writes is an nbgrader course: gradebook.db, nbgrader_config.py and the feedback
pages are nbgrader's own, and so are the tools that work on them.
"""

import hashlib
import json
import multiprocessing
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from albert_course.assignments import SEED_VARIABLE, SOURCES
from albert_course.assignments.autograde import CONFIG, autograde, failure, nbgrader_api
from albert_course.assignments.scores import write_scores
from albert_course.assignments.submissions import Unreadable, find_submissions, mend
from albert_edu.errors import FileError, InputError, RunError, errors_about, read_json


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
    sources: Path = SOURCES,
    assignments: tuple[str, ...] = ("",),
    again: bool = False,
) -> Iterator[Outcome]:
    """Grade what is in ``folder``; yield what became of a submission as soon as that is written.

    ``course`` receives gradebook.db, scores.csv, state.json and feedback/STUDENT/NAME/. A
    submission is graded again when it or its source has changed, or with ``again``. Which wall
    stands around the submissions is said on stderr.
    ``assignments`` are beginnings of names, such as "04"; by default all that anybody handed in.
    ValueError for a folder without submissions, RuntimeError for a source that nbgrader refuses.
    """
    students, paths = find_submissions(folder, sources, assignments)
    state = read_state(course)
    api = open_course(course)
    limits = api.config.Submission
    print(limits.says, file=sys.stderr)
    pool = ThreadPoolExecutor(_cores())
    try:
        for path in paths:
            add_assignment(api, course, path)
            graded, work = state.setdefault(path.stem, {}), {}
            for student in students:
                before = {} if again else graded.get(student.name, {})
                task = grade_one, course, student / path.name, path, limits.seconds, before
                work[pool.submit(*task)] = student.name
            for done in as_completed(work):
                if result := done.result():
                    graded[work[done]] = result
                    (course / "state.json").write_text(json.dumps(state, indent=1), "utf-8")
                    yield Outcome(path.stem, work[done], result["problem"], result["note"])
    finally:
        pool.shutdown(cancel_futures=True)
        with api.gradebook as gradebook:
            write_scores(gradebook, state, course / "scores.csv")


def open_course(course: Path) -> NbGraderAPI:
    """Make the folder an nbgrader course, if it is none yet, and open it.

    The grading seed is the environment's, else one that is drawn, so that a course asks all its
    students the same numbers. FileError for a folder without our settings that holds anything but
    a gradebook, in which a person may have set due dates: some of it might be overwritten.
    """
    course.mkdir(parents=True, exist_ok=True)
    settings = course / "nbgrader_config.py"
    if not settings.exists():
        found = {path.name for path in course.iterdir() if path.name[0] != "."}
        if found := found - {"gradebook.db"}:
            raise FileError(f"{course} holds {min(found)}, and no grades: give another --out.")
        seed = int(os.environ.get(SEED_VARIABLE) or secrets.randbelow(1_000_000) + 1)
        settings.write_text(CONFIG.format(seed=seed))
    with errors_about(
        settings, FileError, "Mend it: it should call configure with this class's seed."
    ):
        api = nbgrader_api(course)
        if "Submission" not in api.config.keys():
            raise InputError("without configure, nothing would stand around a submission")
        return api


def read_state(course: Path) -> dict[str, dict[str, dict]]:
    """Return what is known of each submission, by assignment and student.

    ``problem`` is why it has no grade, "" if it has one; ``note`` what was mended; ``content`` the
    hash of what was graded, and by what source. A grade without its page was interrupted.
    """
    place, book = course / "state.json", course.resolve() / "gradebook.db"
    if not (place.exists() and book.exists()):
        return {}
    with (
        errors_about(book, FileError, "Put a copy back."),
        Gradebook(f"sqlite:///{book}") as gradebook,
    ):
        graded = {(a.name, s.student_id) for a in gradebook.assignments for s in a.submissions}
    state = read_json(place, FileError)
    with errors_about(place, FileError):
        for assignment, students in state.items():
            for student, one in students.items():
                page = _page(course, student, assignment)
                if not (one["problem"] or (page.exists() and (assignment, student) in graded)):
                    one["problem"] = "its grading was interrupted, or its grade lost: grade again"
    return state


def add_assignment(api: NbGraderAPI, course: Path, path: Path) -> None:
    """Put a source notebook with its hidden tests into the gradebook."""
    target = course / "source" / path.stem / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    if why := failure(api.generate_assignment(path.stem)):
        raise RunError(f"nbgrader refuses {path.name}: {why} Another --out begins anew.")


def grade_one(
    course: Path, submitted: Path, source: Path, seconds: int, before: dict
) -> dict | None:
    """Grade one submission; return what is known of it, None if that is known from ``before``."""
    student, assignment = submitted.parent.name, source.stem
    result = {"problem": "", "note": "", "content": ""}
    try:
        text, result["note"] = mend(submitted, source)
        result["content"] = hashlib.sha256(text.encode() + source.read_bytes()).hexdigest()
        if result["content"] == before.get("content") and not before["problem"]:
            return None
        _page(course, student, assignment).unlink(missing_ok=True)
        copy = course / "submitted" / student / assignment / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
        handed_in = datetime.fromtimestamp(submitted.stat().st_mtime, UTC)
        (copy.parent / "timestamp.txt").write_text(f"{handed_in:%Y-%m-%d %H:%M:%S} UTC")
        result["problem"] = _apart(course, student, assignment, seconds)
    except Unreadable as error:
        result["problem"] = str(error)
    except OSError as error:  # of these files; the next student's may be whole
        result["problem"] = f"{type(error).__name__}: {error}"
    return result


def _apart(course: Path, student: str, assignment: str, seconds: int) -> str:
    """Let nbgrader grade one submission in a process of its own; return why it could not, or "".

    Whatever the submission does, this process goes on: the other one's memory is limited, and it is
    killed when it takes more time than the submission may take.
    """
    processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    processes.set_forkserver_preload([autograde.__module__])  # nbgrader is imported once
    receiver, sender = processes.Pipe(duplex=False)
    folder = Path(tempfile.mkdtemp(prefix="albert-"))
    arguments = sender, folder, course, student, assignment
    process = processes.Process(target=autograde, args=arguments)
    process.start()
    sender.close()
    try:
        in_time = receiver.poll(seconds + 120)
        return receiver.recv() if in_time else f"it took more than {seconds} seconds"
    except EOFError:
        return "it ended the process that graded it"
    finally:
        process.join(10)
        process.kill()
        # shutil cannot delete 3,000 nested folders.
        delete = ["cmd", "/c", "rd", "/s", "/q"] if sys.platform == "win32" else ["rm", "-rf"]
        subprocess.run([*delete, str(folder)], check=False)


def _page(course: Path, student: str, assignment: str) -> Path:
    return course / "feedback" / student / assignment / f"{assignment}.html"


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux: a container may give fewer
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def plain(text: object) -> str:
    """Return a text in one line, without what would move a terminal's cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
