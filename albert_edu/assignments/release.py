"""Source notebooks into student notebooks: solutions become stubs, hidden tests disappear, nothing else changes."""

import copy
import re
from collections import Counter
from pathlib import Path

import nbformat

from albert_edu.assignments.settings import RELEASES, SOURCES

STUB, BLANK = "raise NotImplementedError  # your answer", "*Your answer.*"
MARKER = re.compile(r"^(\s*)### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")
FIELDS = {"grade": bool, "solution": bool, "locked": bool, "task": bool, "grade_id": str, "schema_version": int}


def role(cell: nbformat.NotebookNode) -> str:
    """What a cell is for: "answer" (the student's code), "test", "open" (a person reads it), "locked", or "" for a plain cell."""
    about = cell.metadata.get("nbgrader", {})
    if about.get("grade"):
        return "open" if about.get("solution") else "test"
    return "answer" if about.get("solution") else "locked" if about.get("locked") else ""


def cleared(text: str, code: bool = True) -> str:
    """The text without what lies between the markers.

    >>> print(cleared('''def two():
    ...     ### BEGIN SOLUTION
    ...     return 2
    ...     ### END SOLUTION'''))
    def two():
        raise NotImplementedError  # your answer
    """
    kept, inside = [], ""
    for line in text.split("\n"):
        marker = MARKER.match(line)
        if not marker:
            kept += [] if inside else [line]
            continue
        indent, edge, kind = marker.groups()
        if (edge == "BEGIN") == bool(inside) or (edge == "END" and kind != inside):
            raise ValueError(f"'{line.strip()}' " + (f"inside of {inside}" if inside else "without a beginning"))
        inside = kind if edge == "BEGIN" else ""
        if inside == "SOLUTION":
            kept.append(indent + STUB if code else BLANK)
    if inside:
        raise ValueError(f"'### BEGIN {inside}' is never ended")
    return "\n".join(kept).rstrip("\n")


def release(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook a student gets. ValueError names the cell if the source is not fit for it."""
    validate(source)
    handed_out = copy.deepcopy(source)
    for cell in handed_out.cells:
        cell.source = cleared(cell.source, cell.cell_type == "code")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return handed_out


def validate(source: nbformat.NotebookNode) -> None:
    """Everything nbgrader and our grading rely on; ValueError says which cell lacks what."""
    seen = Counter(cell.metadata.get("nbgrader", {}).get("grade_id") for cell in source.cells)
    for number, cell in enumerate(source.cells):
        about, kind, told = cell.metadata.get("nbgrader"), role(cell), f"cell {number}: "
        try:
            hides = "### BEGIN HIDDEN TESTS" in cell.source and cleared(cell.source) is not None
            solves = "### BEGIN SOLUTION" in cell.source and cleared(cell.source) is not None
        except ValueError as error:
            raise ValueError(told + str(error)) from None
        if solves and kind not in ("answer", "open"):
            raise ValueError(told + "has a solution, but its nbgrader metadata do not say solution: true")
        if hides and kind != "test":
            raise ValueError(told + "has hidden tests, but is no test cell (grade: true, solution: false)")
        if kind in ("answer", "open") and not solves:
            raise ValueError(told + "is to be answered, but marks no solution")
        if about is None:
            continue
        wrong = [name for name, its_type in FIELDS.items() if type(about.get(name)) is not its_type]
        if about.get("grade") and type(about.get("points")) not in (int, float):
            wrong.append("points")
        if wrong or about.schema_version != 3:
            raise ValueError(told + f"nbgrader metadata without a proper {', '.join(wrong) or 'schema_version (3)'}")
        if seen[about.grade_id] > 1:
            raise ValueError(told + f"the grade_id {about.grade_id!r} is used {seen[about.grade_id]} times")
        if kind == "test" and not about.locked:
            raise ValueError(told + "a test cell must be locked")


def build(sources: Path = SOURCES, releases: Path = RELEASES) -> list[Path]:
    """Write the student notebooks of all source notebooks, and remove those whose source is gone."""
    paths = find_sources(sources)
    releases.mkdir(parents=True, exist_ok=True)
    for orphan in set(releases.glob("*.ipynb")) - {releases / path.name for path in paths}:
        orphan.unlink()
    for path in paths:
        try:
            nbformat.write(release(nbformat.read(path, as_version=4)), releases / path.name)
        except ValueError as error:
            raise ValueError(f"{path.name}, {error}") from None
    return [releases / path.name for path in paths]


def find_sources(sources: Path) -> list[Path]:
    paths = sorted(sources.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise ValueError(f"no source notebook (NN_name.ipynb) in {sources}")
    return paths
