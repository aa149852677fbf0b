"""A definition shown in a notebook is the library's own, and no name has two definitions in the course.

Compared are syntax trees, so line breaks may differ; the white space inside docstrings may too.
"""

import ast
from pathlib import Path

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


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_definition_named_as_in_the_library_is_the_librarys(path):
    ours = library()
    for cell in cells(path, "code"):
        if "verbatim" not in cell.metadata.get("tags", []):
            continue
        shown = definitions(cell.source)
        for name, text in shown.items():
            assert name not in ours or text in ours[name], (
                f"{name} in {path.name} has drifted from albert_edu"
            )
        if "verbatim" in cell.metadata.get("tags", []):
            assert shown and shown.keys() <= ours.keys(), (
                f"tagged verbatim, but {shown.keys() - ours.keys()} is not the library's"
            )


def test_no_name_is_defined_differently_in_two_notebooks():
    first: dict[str, tuple[str, str]] = {}
    for path in PATHS:
        for cell in cells(path, "code"):
            for name, text in definitions(cell.source).items():
                where, known = first.setdefault(name, (path.stem, text))
                assert text == known, f"{name} is one thing in {where} and another in {path.stem}"
