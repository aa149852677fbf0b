"""What is known of each submission beside its points: a table of ours in nbgrader's gradebook.

The points themselves are in nbgrader's own tables. Both are in one file, so that whoever copies it,
puts an older one back, or deletes it does so with both.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import Gradebook

from albert_course.assignments.autograde import LOCKED
from albert_edu.errors import FileError, errors_about

INTERRUPTED = "its grading was interrupted: grade again"
CREATE_TABLE = """create table if not exists handed_in (
    assignment text, student text,
    problem text, note text, answers_hash text, source_hash text, time real,
    primary key (assignment, student))"""
SELECT_GRADED = """select assignment.name, submitted.student_id
    from submitted_assignment as submitted join assignment
    on assignment.id = submitted.assignment_id"""


class Record(NamedTuple):
    """What is known of one submission."""

    problem: str = ""  # why it has no grade, "" if it has one
    note: str = ""  # what was mended
    answers_hash: str = ""  # of the notebook that was graded
    source_hash: str = ""  # of the source notebook that it was graded by
    time: float = 0.0  # when it was handed in, in seconds since 1970

    @property
    def graded(self) -> bool:
        """Whether it has a grade."""
        return bool(self.answers_hash) and not self.problem

    def same_work(self, other: "Record") -> bool:
        """Whether both are of the same answers, graded by the same source."""
        mine = (self.answers_hash, self.source_hash)
        return mine == (other.answers_hash, other.source_hash)


def open_gradebook(course: Path) -> Gradebook:
    """Return nbgrader's gradebook of a course, which it makes where there is none."""
    book = course.resolve() / "gradebook.db"
    with errors_about(book, FileError, "Put a copy back."):
        return Gradebook(f"sqlite:///{book}")


@contextmanager
def connect(course: Path) -> Iterator[sqlite3.Connection]:
    """The gradebook of a course, with our table; what is written is kept if no error comes."""
    book = course / "gradebook.db"
    with (
        errors_about(book, FileError, "Put a copy back."),
        closing(sqlite3.connect(book, timeout=LOCKED)) as connection,
        connection,
    ):
        connection.execute(CREATE_TABLE)
        yield connection


def read_records(course: Path) -> dict[str, dict[str, Record]]:
    """Return the records of a course, by assignment and student, {} if nothing was graded.

    A grade that somebody has removed with nbgrader's own commands has no record.
    """
    if not (course / "gradebook.db").exists():
        return {}
    records: dict[str, dict[str, Record]] = {}
    with connect(course) as connection:
        graded = set(connection.execute(SELECT_GRADED))
        for assignment, student, *fields in connection.execute("select * from handed_in"):
            record = Record(*fields)
            if record.problem or (assignment, student) in graded:
                records.setdefault(assignment, {})[student] = record
    return records


def write_record(course: Path, assignment: str, student: str, record: Record) -> None:
    """Write what is known of a submission now."""
    with connect(course) as connection:
        values = (assignment, student, *record)
        connection.execute("insert or replace into handed_in values (?, ?, ?, ?, ?, ?, ?)", values)
