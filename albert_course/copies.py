"""The reader's copies of notebooks, in work/, which git ignores: what is changed stays."""

import hashlib
import json
import os
import re
from pathlib import Path

from albert_course.folder import course_folder
from albert_course.notebooks import find
from albert_edu.errors import InputError
from albert_edu.output import write_text

LINK = re.compile(r"(?<=\]\()[^)#:\s]+")  # the path of a link within the repository
WRITTEN = ".written.json"  # of each copy, the SHA-256 of what we wrote


def start(number: str, assignment: bool = False) -> tuple[Path, bool]:
    """Copy the lessons into work/, or one assignment into work/me/.

    Returns where the copy of the notebook with this number is, and whether its reader changed it
    already. All lessons are copied at once, so that links lead from one copy to the next. A copy
    that is still as it was written follows the course; a changed one is never touched. Raises
    ValueError for a number that no notebook has, or no assignment.
    """
    work = course_folder() / "work"
    asked = find([number])[0]
    copies = {source: work / source.name for source in find([])}
    wanted = copies
    if assignment:
        asked = course_folder() / "notebooks" / "assignments" / "release" / asked.name
        if not asked.exists():
            raise InputError(f"{asked.stem} has no assignment; notebooks 01 to 12 have one each.")
        wanted = {asked: work / "me" / asked.name}
        copies = {source: copy for source, copy in copies.items() if copy.exists()}
    written, kept = read_written(work), set()
    for source, copy in wanted.items():
        name = copy.relative_to(work).as_posix()
        text = with_links(source, copy, copies)
        unchanged = digest_of(text.encode())
        if copy.exists() and digest_of(copy.read_bytes()) not in (written.get(name), unchanged):
            kept.add(copy)
            continue
        write_text(copy, text)
        written[name] = unchanged
        write_text(work / WRITTEN, json.dumps(written, indent=1) + "\n")
    return wanted[asked], wanted[asked] in kept


def with_links(source: Path, copy: Path, copies: dict[Path, Path]) -> str:
    """Return a notebook's text with links that lead to the same files from another folder.

    ``copies`` says which of these files have a copy, which the links lead to instead.
    """

    def moved(found: re.Match) -> str:
        """The link as it must be in the copy."""
        target = Path(os.path.normpath(source.parent / found[0]))
        if not target.exists():  # code that looks like a link
            return found[0]
        return Path(os.path.relpath(copies.get(target, target), copy.parent)).as_posix()

    return LINK.sub(moved, source.read_text(encoding="utf-8"))


def read_written(work: Path) -> dict[str, str]:
    """Return the digests of the copies as they were written; none where they cannot be read."""
    try:
        written = json.loads((work / WRITTEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return written if isinstance(written, dict) else {}


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of what a file holds."""
    return hashlib.sha256(content).hexdigest()
