"""Names that somebody gives: first those of the course, then files and folders, then the Hub's."""

import difflib
import re
import warnings
from collections.abc import Iterable
from pathlib import Path

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?(:[^/\\\s]*)?")  # OWNER/NAME:SUBSET
# Endings of files. A name of the Hub may have a point, too, but ends in none of these.
TEXTS = {".txt", ".md", ".html", ".xml", ".tex", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".epub"}
TABLES = {".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".xls", ".xlsx"}
BINARIES = {".zip", ".gz", ".tar", ".bin", ".pt", ".ckpt", ".safetensors"}
FILES = TEXTS | TABLES | BINARIES


def warn_of_namesake(name: str, what: str) -> None:
    """Warn where a name of the course is also a file or a folder here: the course's is taken."""
    if Path(name).exists():
        warnings.warn(
            f"{name} is {what} of the course. The file or folder of that name is ./{name}.",
            stacklevel=3,
        )


def is_meant_for_here(name: str, ours: Iterable[str]) -> bool:
    """Whether a name that is not here was meant for something here, so that no Hub can have it.

    It looks like a path, or it is a single word and close to one of ours or to a file.
    """
    path = Path(name)
    folder = path.parent
    is_path = not HUB_NAME.fullmatch(name) or path.suffix.lower() in FILES
    is_path = is_path or (folder != Path(".") and folder.is_dir())
    is_word = folder == Path(".") and ":" not in name
    return is_path or (is_word and bool(_near(path, ours)))


def did_you_mean(name: str, ours: Iterable[str]) -> str:
    """Return a question about what is written like a name, with a blank before it, or nothing."""
    near = _near(Path(name), ours)
    if not near:
        return ""
    return f" Did you mean {' or '.join(near)}? (On the Hub it would be OWNER/NAME.)"


def _near(path: Path, ours: Iterable[str]) -> list[str]:
    """What is written like a path: names of ours, and files and folders beside it."""
    folder = path.parent
    near = difflib.get_close_matches(path.name, ours, cutoff=0.75) if folder == Path(".") else []
    here = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    return near + difflib.get_close_matches(path.name, here, cutoff=0.8)
