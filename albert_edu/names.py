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


def must_be_here(name: str, ours: Iterable[str]) -> str | None:
    """Return a hint for a name that is no name of the Hub, or None for one to ask the Hub for.

    It was meant for a file or a folder, because it looks like a path, or for something that is
    here, because it is a single word and close to it. ``name`` itself is not here.
    """
    path = Path(name)
    folder = path.parent
    is_path = not HUB_NAME.fullmatch(name) or path.suffix.lower() in FILES
    is_path = is_path or (folder != Path(".") and folder.is_dir())
    near = _near(path, ours)
    is_typo = bool(near) and folder == Path(".") and ":" not in name
    if not is_path and not is_typo:
        return None
    return (
        f" Did you mean {' or '.join(near)}? (On the Hub it would be OWNER/NAME.)" if near else ""
    )


def _near(path: Path, ours: Iterable[str]) -> list[str]:
    """What is written like a path: names of ours, and files and folders beside it."""
    folder = path.parent
    near = difflib.get_close_matches(path.name, ours, cutoff=0.75) if folder == Path(".") else []
    here = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    return near + difflib.get_close_matches(path.name, here, cutoff=0.8)
