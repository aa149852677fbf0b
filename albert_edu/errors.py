"""The kinds of errors, and files that are read so that a bad one is named with its cause."""

import errno
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Content = TypeVar("Content")  # what a reader makes of a file
MOVE_AWAY = "Move it away."


class CourseError(Exception):
    """What all errors of the course are: a sentence for whoever gave the input or started the run.

    Each of them is also the kind of Python's own that it is close to, so that ``except ValueError``
    catches a bad setting.
    """


class InputError(CourseError, ValueError):
    """An argument, a setting or a folder cannot be used; the message says what can."""


class RunError(CourseError, RuntimeError):
    """A run cannot begin or go on although its input is right; the message says why."""


class FileError(CourseError, ValueError):
    """A file that somebody named cannot be used; the message says why."""


@contextmanager
def errors_about(what: object, kind: type[CourseError], advice: str = MOVE_AWAY) -> Iterator[None]:
    """Turn whatever goes wrong with ``what``, a file or a part of it, into an error of ``kind``."""
    try:
        yield
    except (kind, ImportError):  # a package that is missing is no fault of the file
        raise
    except Exception as error:  # each library has errors of its own for a file that breaks off
        if isinstance(error, UnicodeDecodeError):
            raise kind(
                f"{what} is not text in UTF-8 (byte 0x{error.object[error.start]:02x} is not). "
                f"'iconv -f LATIN1 -t UTF-8' converts it, with -f UTF-16 if it is that."
            ) from error
        cause = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
        raise kind(f"{what} cannot be used ({cause}). {advice}") from error


def read_file(
    path: Path, reader: Callable[[Path], Content], kind: type[CourseError], advice: str = ""
) -> Content:
    """Return ``reader(path)`` for a regular file.

    Raises ``kind``, with the ``advice``, for a file that is missing or that the reader cannot read,
    and for a pipe or a device.
    """
    if not path.exists():
        there = sorted(file.name for file in path.parent.glob("*"))
        listed = ", ".join(there[:20]) or "nothing"
        raise kind(f"{path.parent} has no {path.name} (found: {listed}). {advice}".rstrip())
    if not path.is_file():
        raise kind(f"{path} is not a regular file.")
    with errors_about(path, kind, advice or MOVE_AWAY):
        return reader(path)


def read_text(path: Path, kind: type[CourseError] = FileError) -> str:
    """Return the text of a file in UTF-8, with or without a byte-order mark; see ``read_file``."""
    return read_file(path, lambda file: file.read_text(encoding="utf-8-sig"), kind)


def read_json(path: Path, kind: type[CourseError]) -> dict:
    """Return the fields of a JSON file; see ``read_file``."""
    text = read_text(path, kind)
    with errors_about(path, kind):
        content = parse_json(text)
    if not isinstance(content, dict):
        raise kind(f"{path} holds {repr(content)[:50]} and not an object of fields.")
    return content


def parse_json(text: str, place: str = "it", **options) -> object:
    """Return the value of a JSON text; ``options`` are those of ``json.loads``.

    Raises InputError for an empty text, for the marks of a merge, and for what is no JSON.
    """
    if not text.strip():
        raise InputError(f"{place} is empty.")
    mark = re.search(r"^<{7} .*", text, re.MULTILINE)
    if mark:
        raise InputError(f"{place} has the mark of a merge: {mark[0]!r:.80}.")
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        raise InputError(f"{place} is no JSON: {error}.") from error


def lacks_memory(error: Exception) -> bool:
    """Whether this is how Python, the system or torch, on a CPU or a card, run out of memory."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = "out of memory|can't allocate|cannot allocate|ALLOC_FAILED|bad_alloc|bad allocation"
    is_torchs = isinstance(error, RuntimeError) and not isinstance(error, CourseError)
    return is_torchs and re.search(words, str(error), re.IGNORECASE) is not None
