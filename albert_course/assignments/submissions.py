"""Finds what students handed in, STUDENT/NN_name.ipynb, and mends what nbgrader cannot read."""

import json
import os
import unicodedata
from pathlib import Path

from albert_course.assignments.build import find_sources
from albert_edu.errors import CourseError, InputError, errors_about

LARGEST = 20 << 20  # bytes of a notebook
PATTERNS = set("*?[]{}")  # nbgrader reads them in a student's name as a pattern


class Unreadable(CourseError, ValueError):
    """Why a submission cannot be given to nbgrader."""


def find_submissions(folder: Path, sources: Path, wanted: tuple[str, ...]) -> tuple[list, list]:
    """Return the students' folders, and the source notebooks to grade them by."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    students = sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")
    handed_in = {path.name for student in students for path in student.glob("*.ipynb")}
    paths = find_sources(sources)
    there = [path for path in paths if path.name in handed_in]
    names = ", ".join(path.name for path in there or paths)
    if not there:
        raise InputError(f"{folder} should hold STUDENT/NOTEBOOK, where NOTEBOOK is one of {names}")
    for start in wanted:
        if not any(path.name.startswith(start) for path in there):
            raise InputError(f"--assignment {start}: {folder} has none, it has {names}")
    return students, [path for path in there if path.name.startswith(wanted)]


def mend(submitted: Path, source: Path) -> tuple[str, str]:
    """Return a submission as nbgrader can grade it, and what was mended, "" for nothing.

    JupyterLab copies a cell's metadata when it copies or splits the cell; the last copy keeps it. A
    locked cell that is gone, or has changed sides with an answer, is put back: what is given, such
    as the imports, at the top, and a test by nbgrader behind its answer. Raises Unreadable.
    """
    _check_file(submitted, source)
    with errors_about(source.name, Unreadable, "There is no notebook that can be read."):
        notebook = json.loads(submitted.read_text(encoding="utf-8-sig"))
        cells, wanted = notebook["cells"], _marked(source)
        found, copies = {}, set()
        for cell in reversed(cells):
            name = cell["metadata"].pop("nbgrader", {}).get("grade_id")
            if name in found:
                copies.add(name)
            elif name in wanted:
                found[name] = cell
                cell["metadata"]["nbgrader"] = wanted[name]["metadata"]["nbgrader"]
        names, order = list(wanted), [*reversed(found)]
        marks = {name: cell["metadata"]["nbgrader"] for name, cell in wanted.items()}
        if lost := [name for name in names if marks[name]["solution"] and name not in found]:
            raise Unreadable(f"the answer cells {', '.join(lost)} or their metadata are gone")
        answers = {name for name in names if marks[name]["solution"] and not marks[name]["grade"]}
        for name in order:
            before, due = (answers.intersection(row[: row.index(name)]) for row in (order, names))
            if marks[name]["locked"] and before != due:
                cells.remove(found.pop(name))
        given = [name for name in names if name not in found and not marks[name]["grade"]]
        cells[:0] = [wanted[name] for name in given]
    notes = [f"{', '.join(sorted(copies))}: the last copy counts"] if copies else []
    notes += [f"{', '.join(given)} was not in its place and is put back"] if given else []
    return json.dumps(notebook, indent=1), "; ".join(notes)


def _check_file(submitted: Path, source: Path) -> None:
    name = submitted.parent.name
    if set(name) & PATTERNS or name != name.strip() or "Cc" in map(unicodedata.category, name):
        raise Unreadable("rename the folder: a name has no * ? [ ] { } and no blank at its end")
    if not os.path.lexists(submitted):
        like = f"*{source.name[:2]}*.ipynb"
        inside = [*submitted.parent.glob(like), *submitted.parent.glob(f"[!.]*/{like}")]
        near = [path.relative_to(submitted.parent).as_posix() for path in inside]
        text = f"is it {', '.join(near)}? It must be {name}/{source.name}"
        raise Unreadable(text if near else "missing")
    if submitted.is_symlink() or not submitted.is_file() or submitted.stat().st_size > LARGEST:
        raise Unreadable("it is no plain file, or larger than 20 MB: clear its outputs")


def _marked(source: Path) -> dict[str, dict]:
    """The cells of a source notebook that nbgrader knows, by name and in order."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    marked = [cell for cell in cells if "nbgrader" in cell["metadata"]]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in marked}
