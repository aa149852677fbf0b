"""Bad input becomes one sentence that names its cause: for what is in a file, and on the screen."""

import json
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

EXPECTED = (ValueError, RuntimeError)  # all errors of the course that reach a command line are such
PACKAGES = [Path(__file__).parents[1] / f"albert_{part}" for part in ("edu", "course", "paper")]


class FileError(ValueError):
    """A file that somebody named cannot be used; the message says why."""


@contextmanager
def blame(what: object, kind: type[Exception], advice="Move it away.") -> Iterator[None]:
    """Turn whatever goes wrong with ``what``, a file or a part of it, into a ``kind``."""
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
        cause = error if isinstance(error, ValueError) else repr(error)
        raise kind(f"{what} cannot be used ({cause}). {advice}") from error


def read_file(path: Path, reader: Callable, kind: type[Exception], *advice: str):
    """Return ``reader(path)`` for a regular file.

    Raises ``kind``, with the ``advice``, for a file that is missing or that the reader cannot read,
    and for a pipe or a device.
    """
    if not path.exists():
        found = sorted(file.name for file in path.parent.glob("*")) or ["nothing"]
        lacks = f"{path.parent} has no {path.name} (found: {', '.join(found[:20])})."
        raise kind(" ".join([lacks, *advice]))
    if not path.is_file():
        raise kind(f"{path} is not a regular file.")
    with blame(path, kind, *advice):
        return reader(path)


def read_text(path: Path, kind: type[Exception] = FileError) -> str:
    """Return the text of a file in UTF-8, with or without a byte-order mark; see ``read_file``."""
    return read_file(path, lambda file: file.read_text(encoding="utf-8-sig"), kind)


def read_json(path: Path, kind: type[Exception]) -> dict:
    """Return the fields of a JSON file; see ``read_file``."""
    content = read_file(path, lambda file: json.loads(file.read_text(encoding="utf-8-sig")), kind)
    if not isinstance(content, dict):
        raise kind(f"{path} holds {repr(content)[:50]} and not an object of fields.")
    return content


def explain(error: Exception) -> str:
    """Return an error as one sentence; the trace of one that nobody expects goes into a file.

    Expected are those that a line of the course raises, those of the system, and a package that is
    missing. Under torchrun, the end of another worker is told as what it is.
    """
    raised_at = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    ours = isinstance(error, EXPECTED) and any(package in raised_at.parents for package in PACKAGES)
    if isinstance(error, OSError | MemoryError) or (ours and not isinstance(error, RecursionError)):
        return f"{type(error).__name__}: {str(error) or 'there is not enough memory.'}"
    if isinstance(error, ModuleNotFoundError):
        run = f"{sys.executable} -m pip install -e '.[test]'"
        return f"{error.name} is not installed. In the course's folder, run: {run}"
    # How torch's two backends and its store tell that another worker is gone.
    lost = isinstance(error, RuntimeError) and re.search("gloo|nccl|connection", str(error), re.I)
    with tempfile.NamedTemporaryFile("w", prefix="albert-edu-", delete=False) as file:
        traceback.print_exception(error, file=file)
    what = f"This is a bug in the course ({error!r})"
    if lost and os.environ.get("WORLD_SIZE", "1") != "1":
        what = "Another worker has ended. The same command goes on from the newest checkpoint"
    return f"{what}; the trace is in {file.name}."
