"""A folder of submissions (STUDENT/NN_name.ipynb) graded by nbgrader, as many at once as cores.

The folder that this writes is an nbgrader course: gradebook.db, nbgrader_config.py and the feedback
pages are nbgrader's own, and so are the tools that work on them.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from albert_course.assignments import SOURCES
from albert_course.assignments.course import LATE, add_assignment, due_time, open_course, open_late
from albert_course.assignments.mend import Unreadable, mend
from albert_course.assignments.process import grade_apart
from albert_course.assignments.records import INTERRUPTED, Record, read_records, write_record
from albert_course.assignments.scores_table import write_scores
from albert_course.assignments.submissions import (
    MISSING,
    check_file,
    find_strays,
    find_submissions,
)
from albert_course.checks.engine.limits import BUSY

LATE_NOTE = "handed in again, late: both are graded, and what was in time counts"


class Graded(NamedTuple):
    """What became of a submission: ``problem`` is why it has no grade, or ""."""

    assignment: str
    student: str
    problem: str
    note: str = ""  # what was mended

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return one_line(f"{self.assignment}, {self.student}: {self.problem or 'graded'}{note}")


class Job(NamedTuple):
    """A notebook to grade, unless its grade is there already."""

    course: Path  # where its grade goes
    student: Path
    submitted: Path
    source: Path
    before: Record  # what is known of it


def grade_folder(
    folder: Path,
    course: Path,
    sources: Path = SOURCES,
    assignments: tuple[str, ...] = ("",),
    again: bool = False,
) -> Iterator[Graded]:
    """Grade what is in ``folder``; yield what became of a submission as soon as that is written.

    ``course`` receives gradebook.db, scores.csv and feedback/STUDENT/NAME/. A submission is graded
    again when it or its source has changed, or with ``again``. What was handed in again after the
    due date is graded in the course ``late`` inside. Which wall stands around the submissions is
    said on stderr. A notebook or an archive beside the students' folders is named.
    ``assignments`` are beginnings of names, such as "04"; by default all that anybody handed in.
    ValueError for a folder without submissions, RuntimeError for a source that nbgrader refuses.
    """
    students, paths = find_submissions(folder, sources, assignments, course)
    for path in find_strays(folder):
        yield Graded(readable(path.name), "nobody", "it must lie in a student's folder")
    api = open_course(course)
    print(api.config.AlbertCourse.says, file=sys.stderr)
    try:
        for path in paths:
            add_assignment(api, course, path)
            jobs = find_jobs(course, students, path, due_time(api, path.stem))
            yield from grade_all(jobs, again)
    finally:
        write_scores(course)
        if (course / LATE).exists():
            write_scores(course / LATE)


def find_jobs(course: Path, students: list[Path], source: Path, due: float | None) -> list[Job]:
    """Return what there is to grade for one assignment."""
    records = read_records(course).get(source.stem, {})
    jobs: list[Job] = []
    late = None
    for student in students:
        record = records.get(student.name, Record())
        submitted = student / source.name
        is_late = late_again(submitted, record, due)
        counts = kept_copy(course, student.name, source) if is_late else submitted
        jobs.append(Job(course, student, counts, source, record))
        if is_late and hash_of(submitted, source) != record.answers_hash:
            late = late or open_late(course, source)
            other = read_records(late).get(source.stem, {}).get(student.name, Record())
            jobs.append(Job(late, student, submitted, source, other))
    return jobs


def late_again(submitted: Path, record: Record, due: float | None) -> bool:
    """Return whether a file is late, and another of this student was graded that was in time."""
    if due is None or not record.graded or record.time > due or not os.path.lexists(submitted):
        return False
    return os.lstat(submitted).st_mtime > due


def kept_copy(course: Path, student: str, source: Path) -> Path:
    """Return where nbgrader finds what a student handed in."""
    return course / "submitted" / student / source.stem / source.name


def grade_all(jobs: list[Job], again: bool) -> Iterator[Graded]:
    """Grade at the same time as many as there are cores.

    Where a clock ran out that may be the machine's fault, a submission is graded once more, alone.
    """
    pool = ThreadPoolExecutor(_cores())
    work = {pool.submit(grade_one, job, again): job for job in jobs}
    busy = []
    try:
        for done in as_completed(work):
            outcome = done.result()
            if outcome and BUSY in outcome.problem:
                busy.append(work[done])
            elif outcome:
                yield outcome
    finally:
        pool.shutdown(cancel_futures=True)
    for job in busy:
        if outcome := grade_one(job, again):
            yield outcome


def grade_one(job: Job, again: bool) -> Graded | None:
    """Grade one submission, and record it; return None if there is nothing new."""
    student, assignment = job.student.name, job.source.stem
    name = readable(student)
    if name != student:  # neither the gradebook nor a terminal could hold it
        return Graded(assignment, name, "rename the folder: its name is not in UTF-8")
    record = Record(note=LATE_NOTE if job.course.name == LATE else "")
    try:
        submitted = find_file(job)
        text, note = mend(submitted, job.source)
        note = "; ".join(filter(None, (record.note, note)))
        record = record_of(job, text, note, submitted.stat().st_mtime)
        if not again and job.before.graded and record.same_work(job.before):
            return None
        write_record(job.course, assignment, student, record)
        hand_over(job, text, record.time)
        problem = grade_apart(job.course, student, assignment)
    except Unreadable as error:
        problem = str(error)
    except OSError as error:  # of these files; the next student's may be whole
        problem = f"{type(error).__name__}: {error}"
    if problem == MISSING and job.before.graded:
        return None
    record = record._replace(problem=problem)
    write_record(job.course, assignment, student, record)
    return Graded(assignment, student, problem, record.note)


def readable(name: str) -> str:
    """Return a file's name with a question mark for each byte that is no text.

    An archive may leave the bytes of another encoding.
    """
    return name.encode(errors="replace").decode()


def find_file(job: Job) -> Path:
    """Return the notebook of a job. Unreadable if there is none that can be graded."""
    if job.submitted.parent != job.student:
        return job.submitted  # the copy that nbgrader has, which was checked before
    return check_file(job.student, job.source)


def record_of(job: Job, text: str, note: str, time: float) -> Record:
    """Return the record of a notebook while it is graded."""
    answers_hash = digest(text.encode())
    if answers_hash == job.before.answers_hash:
        note = job.before.note  # the copy that nbgrader has was mended before
    return Record(INTERRUPTED, note, answers_hash, digest(job.source.read_bytes()), time)


def hash_of(submitted: Path, source: Path) -> str:
    """Return the hash of the answers as they would be graded, "" for what cannot be read."""
    try:
        return digest(mend(submitted, source)[0].encode())
    except (Unreadable, OSError):
        return ""


def digest(content: bytes) -> str:
    """Return a hash by which equal contents are known."""
    return hashlib.sha256(content).hexdigest()


def hand_over(job: Job, text: str, time: float) -> None:
    """Write a submission where nbgrader looks for it, and delete the page of an earlier one."""
    student, assignment = job.student.name, job.source.stem
    page = job.course / "feedback" / student / assignment / f"{assignment}.html"
    page.unlink(missing_ok=True)
    copy = kept_copy(job.course, student, job.source)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    os.utime(copy, (time, time))
    handed_in = datetime.fromtimestamp(time, UTC)
    (copy.parent / "timestamp.txt").write_text(f"{handed_in:%Y-%m-%d %H:%M:%S} UTC")


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux: a container may give fewer
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def one_line(text: object) -> str:
    """Return a text in one line, without what would move a terminal's cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
