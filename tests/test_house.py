"""The rules of the house: imports go down, files stay short, no machine is named.

Complexity and the length of functions are ruff's to see, and types the type checker's.
"""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("albert_edu", "albert_course", "albert_paper")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
FOLDERS = (*PACKAGES, "figures", "site", "tests")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
# A package or a room of the library may import from itself and from those of a lower storey.
STOREYS = [
    ["errors", "names", "progress"],
    ["batch", "config", "output"],
    ["text"],
    ["model"],
    ["training", "analysis"],
    ["command_line"],
    ["cli"],
    ["__main__", "__init__"],
    ["albert_course"],
    ["albert_paper"],
]
STOREY = {room: height for height, rooms in enumerate(STOREYS) for room in rooms}


def room(module: str) -> str:
    package, *rest = module.split(".")
    return package if package != "albert_edu" else (rest or ["__init__"])[0]


def imported_rooms(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    return {room(module) for module in modules if module.split(".")[0] in PACKAGES}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_only_go_down(path):
    here = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
    # "from albert_edu import Albert" is the front door: those outside the library may use it
    doors = {"__init__"} if STOREY[here] > STOREY["__init__"] else set()
    upwards = {
        other for other in imported_rooms(path) - {here} - doors if STOREY[other] >= STOREY[here]
    }
    assert not upwards, f"{path.name} is in {here} and imports {upwards}"


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in MODULES if path.parent.name != "cards"}), ids=name_of
)
def test_a_package_names_its_files_and_in_which_order_to_read_them(folder):
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}
    read = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    assert files <= set(re.findall(r"\w+", read)), name_of(folder)


def test_files_are_short_and_the_formatter_writes_every_line():
    for path in [*FILES, ROOT / "tasks.py"]:
        text = path.read_text()
        assert len(text.splitlines()) <= 250, name_of(path)
        assert "# fmt" + ":" not in text, name_of(path)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_and_what_is_public_in_them_say_what_they_are_for(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    public = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in public + [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        assert node.name.startswith("_") or ast.get_docstring(node), node.name


def test_every_file_the_readme_links_exists_and_its_figures_have_alt_text():
    text = (ROOT / "README.md").read_text()
    assert all(len(alt.split()) > 5 for alt in re.findall(r"!\[(.*?)\]\((?!http)", text))
    for path in re.findall(r"\]\(((?!http)[^)#]+)\)", text):
        assert (ROOT / path).exists(), path


def test_nothing_in_the_tree_names_a_machine():
    if not shutil.which("git"):
        pytest.skip("nobody knows what is tracked")
    command = ["git", "-C", str(ROOT), "ls-files"]
    tracked = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    kinds = {".py", ".md", ".toml", ".yml", ".json", ".ipynb", ".cfg"}
    for name in tracked:
        path = ROOT / name
        if path.suffix in kinds and path.exists():
            found = re.search(r"/(home|Users|root|work|farm)/\w+", path.read_text())
            assert not found or name == "tests/test_house.py", f"{name}: {found[0]}"


def test_the_library_s_readme_lists_files_that_exist_each_with_its_notebook():
    text = (ROOT / "albert_edu" / "README.md").read_text()
    rows = re.findall(r"^\| `([\w/]+\.py)` \| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    assert len(rows) >= 20
    for file, numbers in rows:
        assert (ROOT / "albert_edu" / file).exists(), file
        for number in re.findall(r"\d\d", numbers):
            assert list((ROOT / "notebooks").glob(f"{number}_*.ipynb")), f"{file}: {number}"
