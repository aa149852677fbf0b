"""What a cell tagged verbatim shows is the library's own; a plain version may have the same name.

Compared are syntax trees, so line breaks may differ; the white space inside docstrings may too.
"""

import ast
import functools
from pathlib import Path

import nbformat
import pytest

from tests.support import cells

ROOT = Path(__file__).resolve().parents[1]
PATHS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")) + sorted(
    (ROOT / "notebooks" / "optional").glob("*.ipynb")
)
DEFINITION = ast.FunctionDef | ast.ClassDef


def tree(node: ast.AST) -> str:
    """The node as text, with every run of white space in a docstring made one blank."""
    for inner in ast.walk(node):
        match inner:
            case ast.Expr(ast.Constant(str(text))):
                inner.value.value = " ".join(text.split())
    return ast.dump(node)


def definitions(source: str) -> dict[str, str]:
    return {
        node.name: tree(node) for node in ast.parse(source).body if isinstance(node, DEFINITION)
    }


@functools.cache
def library() -> dict[str, set[str]]:
    """Every top-level definition of albert_edu; a private name may stand in two modules.

    References of exercises are left out: a reader writes their names anew.
    """
    found: dict[str, set[str]] = {}
    packages = (ROOT / f"albert_{part}" for part in ("edu", "course", "paper"))
    for path in (path for package in packages for path in package.rglob("*.py")):
        if "checks" in path.parts:
            continue
        for name, text in definitions(path.read_text()).items():
            found.setdefault(name, set()).add(text)
    return found


def is_tagged(cell: nbformat.NotebookNode) -> bool:
    return "verbatim" in cell.metadata.get("tags", [])


def drifted(cell: nbformat.NotebookNode, ours: dict[str, set[str]]) -> list[str]:
    """The definitions of a tagged cell that are not the library's."""
    shown = definitions(cell.source)
    return [name for name, text in shown.items() if text not in ours.get(name, set())]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_cell_tagged_verbatim_shows_definitions_of_the_library_as_they_are(path):
    ours = library()
    for cell in filter(is_tagged, cells(path, "code")):
        assert definitions(cell.source), "tagged verbatim, and defines nothing"
        assert not drifted(cell, ours), f"{path.name}: another definition than the library's"


def plain_definitions(path: Path) -> dict[str, str]:
    """What a notebook itself defines, in cells without the tag; of a class that grows, the last."""
    found: dict[str, str] = {}
    for cell in cells(path, "code"):
        if not is_tagged(cell):
            found |= definitions(cell.source)
    return found


def test_no_name_is_defined_differently_in_two_notebooks():
    """A plain version may be called what the library calls it, but then in every notebook."""
    first: dict[str, tuple[str, str]] = {}
    for path in PATHS:
        for name, text in plain_definitions(path).items():
            where, known = first.setdefault(name, (path.stem, text))
            assert text == known, f"{name} is one thing in {where} and another in {path.stem}"


def cell_of(source: str, *tags: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def test_a_plain_version_may_have_the_librarys_name_and_a_tagged_cell_may_not_differ():
    ours = {"plan": {definitions("def plan(L):\n    return range(L)")["plan"]}}
    plain = "def plan(L):\n    return [0] * L"
    assert drifted(cell_of(plain, "verbatim"), ours) == ["plan"]
    assert drifted(cell_of("def plan(L):\n    return  range( L )", "verbatim"), ours) == []
    assert drifted(cell_of("def other():\n    pass", "verbatim"), ours) == ["other"]
    assert not is_tagged(cell_of(plain)) and is_tagged(cell_of(plain, "verbatim", "more"))


def test_lessons_do_show_the_library():
    tagged = [cell for path in PATHS for cell in cells(path, "code") if is_tagged(cell)]
    assert len(tagged) >= 5
