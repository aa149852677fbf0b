"""The rules that keep the house small: imports go down, files stay short, nothing names a machine."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = sorted((ROOT / "albert_edu").rglob("*.py"))
# A room may import from itself and from rooms of a lower storey.
STOREY = {"folder": 0, "config": 0, "errors": 0, "text": 1, "model": 2, "training": 3, "analysis": 3, "paper": 4, "checks": 4,
          "course": 5, "doctor": 5, "notebooks": 5, "assignments": 6, "cli": 7, "__main__": 8, "__init__": 9}  # fmt: skip


def room(path: Path) -> str:
    return path.relative_to(ROOT / "albert_edu").parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {module.split(".")[1] for module in modules if module and module.startswith("albert_edu.")}


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path):
    here = room(path)
    upwards = {other for other in imported_rooms(path) - {here} if STOREY[other] >= STOREY[here]}
    assert not upwards, f"{path.name} is in {here} and imports {upwards}"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_are_for(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 250
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    public = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in public + [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        assert node.name.startswith("_") or ast.get_docstring(node), node.name


def test_every_figure_the_readme_shows_exists_and_has_alt_text():
    images = re.findall(r"!\[(.*?)\]\((.*?)\)", (ROOT / "README.md").read_text())
    assert images
    for alt, path in images:
        assert len(alt.split()) > 5 and (ROOT / path).exists(), path


def test_every_file_the_readme_links_exists():
    for path in re.findall(r"\]\(((?!http)[^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / path).exists(), path


def test_nothing_in_the_tree_names_a_machine():
    tracked = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False).stdout.split()
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yml", ".json", ".ipynb", ".cfg"} and path.exists():
            found = re.search(r"/(home|Users|root|work|farm)/\w+", path.read_text())
            assert not found or name == "tests/test_house.py", f"{name}: {found[0]}"
