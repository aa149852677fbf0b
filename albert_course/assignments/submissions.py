"""Finds what students handed in: STUDENT/NN_name.ipynb, and what may be meant as such."""

import os
import re
import unicodedata
from pathlib import Path

from albert_course.assignments.build import find_sources
from albert_course.assignments.mend import Unreadable
from albert_edu.errors import InputError

LARGEST = 20 << 20  # bytes of a notebook
PATTERNS = set("*?[]{}")  # nbgrader reads them in a student's name as a pattern
SUFFIXES = (".ipynb", ".zip", ".gz", ".tgz", ".tar", ".7z", ".rar")
MANY = 1000  # files of a student that are looked at
MISSING = "missing"  # the problem of a student who handed nothing in


def find_submissions(
    folder: Path, sources: Path, wanted: tuple[str, ...], course: Path
) -> tuple[list[Path], list[Path]]:
    """Return the students' folders, and the source notebooks to grade them by.

    The folder ``course``, which may lie among them, is no student. ValueError where nobody handed
    anything in.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    students = sorted(path for path in folder.iterdir() if is_student(path, course))
    paths = find_sources(sources)
    there = [path for path in paths if any(handed_in(student, path) for student in students)]
    names = ", ".join(path.name for path in there or paths)
    if not there:
        raise InputError(f"{folder} should hold STUDENT/NOTEBOOK, where NOTEBOOK is one of {names}")
    for start in wanted:
        if not any(path.name.startswith(start) for path in there):
            raise InputError(f"--assignment {start}: {folder} has none, it has {names}")
    return students, [path for path in there if path.name.startswith(wanted)]


def find_strays(folder: Path) -> list[Path]:
    """Return the notebooks and archives that lie beside the students' folders."""
    there = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return [path for path in there if may_hold_notebook(path) and path.name[0] != "."]


def is_student(path: Path, course: Path) -> bool:
    """Return whether a path is the folder of a student: not a graded course, nor a program's."""
    if not path.is_dir() or path.name.startswith((".", "__")) or path.resolve() == course.resolve():
        return False
    of_a_course = ("gradebook.db", "source")
    return not any((path / name).exists() for name in of_a_course)


def handed_in(student: Path, source: Path) -> bool:
    """Return whether a student handed in this notebook, or what may be meant as such."""
    near = [path for path in files_near(student, source) if number_of(path, source)]
    return os.path.lexists(student / source.name) or any(map(may_hold_notebook, near))


def files_near(student: Path, source: Path) -> list[Path]:
    """Return files of a student that may be this notebook under another name.

    They have its number, as "assignment5_final.ipynb" and "05.zip" do, or they are a notebook or an
    archive without a number.
    """
    this = int(source.name[:2])
    numbers = [(path, number_of(path, source)) for path in files_of(student)]
    return [
        path
        for path, number in numbers
        if number == this or (number is None and may_hold_notebook(path))
    ]


def files_of(student: Path) -> list[Path]:
    """Return the files in a student's folder and in folders below it, at most a thousand."""
    found: list[Path] = []
    for place, folders, names in os.walk(student):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        found += [Path(place, name) for name in sorted(names) if not name.startswith(".")]
        if len(found) > MANY:
            break
    return found[:MANY]


def number_of(path: Path, source: Path) -> int | None:
    """Return the first number in a file's name that is the number of an assignment."""
    known = {int(other.name[:2]) for other in find_sources(source.parent)}
    numbers = [int(digits) for digits in re.findall(r"[0-9]+", path.name)]
    return next((number for number in numbers if number in known), None)


def may_hold_notebook(path: Path) -> bool:
    """Return whether a file is a notebook or an archive, by its name."""
    return path.name.lower().endswith(SUFFIXES)


def check_file(student: Path, source: Path) -> Path:
    """Return the file that a student handed in for a source notebook.

    Unreadable for a missing one, with what may be meant, for no plain file, and for a student's
    name that nbgrader would not take as it is.
    """
    name, path = student.name, student / source.name
    if set(name) & PATTERNS or name != name.strip() or "Cc" in map(unicodedata.category, name):
        raise Unreadable("rename the folder: a name has no * ? [ ] { } and no blank at its end")
    if not os.path.lexists(path):
        near = [found.relative_to(student).as_posix() for found in files_near(student, source)]
        meant = f"is it {', '.join(near[:5])}? It must be {name}/{source.name}"
        raise Unreadable(meant if near else MISSING)
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        raise Unreadable("it is no plain file, or larger than 20 MB: clear its outputs")
    return path
