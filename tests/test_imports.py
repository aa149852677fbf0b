"""What a file or a notebook imports, its users have installed: each package is declared for them."""

import ast
import importlib.metadata
import json
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tasks
from albert_course import doctor
from tests.test_environment import ROOT, project

# What the users of a file or folder install. The longest beginning of a path counts.
USERS = {
    "albert_edu": [],
    "albert_course": ["lab"],
    "albert_course/assignments": ["grade"],
    "albert_course/assignments/commands.py": ["lab"],
    "albert_course/assignments/score.py": ["lab"],
    "albert_paper": ["lab", "paper"],
    "albert_paper/bench.py": ["bench"],
    "notebooks": ["lab", "paper"],
    "site": ["site"],
    "figures": ["test"],
    "tests": ["test"],
}
FOLDERS = ("albert_edu", "albert_course", "albert_paper", "notebooks", "site", "figures", "tests")
OURS = {
    "albert_edu",
    "albert_course",
    "albert_paper",
    "figures",
    "tests",
    "tasks",
    "slides",
    "preview",
}
IMPORTED_IN = importlib.metadata.packages_distributions()


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def brought_by(extras: list[str]) -> set[str]:
    """The distributions that pyproject.toml names for these extras, and for those that they name."""
    names, waiting = set(), list(project()["dependencies"])
    for extra in extras:
        waiting += project()["optional-dependencies"][extra]
    for requirement in map(Requirement, waiting):
        if requirement.name == "albert-edu":
            names |= brought_by(sorted(requirement.extras))
        else:
            names.add(canonical(requirement.name))
    return names


def users_of(path: str) -> list[str]:
    beginnings = [start for start in USERS if path == start or path.startswith(f"{start}/")]
    return USERS[max(beginnings, key=len)]


def code_of(path: Path) -> str:
    """The Python of a module or of a notebook, without the lines that are commands of a shell."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    lines = "\n".join("".join(cell["source"]) for cell in cells).splitlines()
    return "\n".join("pass" if line.startswith(("!", "%")) else line for line in lines)


def modules_in(nodes: list[ast.AST]) -> set[str]:
    """The modules that these statements import, with a name that may be a module or not."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def undeclared(code: str, extras: list[str]) -> set[str]:
    """What this code imports, anywhere, and pyproject.toml does not name for these extras."""
    tops = {module.split(".")[0] for module in modules_in(list(ast.walk(ast.parse(code))))}
    brought = brought_by(extras)
    return {
        top
        for top in tops - OURS - set(sys.stdlib_module_names)
        if not {canonical(name) for name in IMPORTED_IN.get(top, [])} & brought
    }


def sources() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    kept = [path for path in found if path.suffix in (".py", ".ipynb")]
    return sorted(path for path in kept if ".ipynb_checkpoints" not in path.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_file_and_notebook_imports_only_what_the_extras_of_its_users_bring():
    missing = {
        name_of(path): undeclared(code_of(path), users_of(name_of(path))) for path in sources()
    }
    assert len(missing) > 150
    assert not {name: found for name, found in missing.items() if found}


def test_the_command_that_installs_the_rest_needs_nothing_but_python():
    assert modules_in(list(ast.walk(ast.parse((ROOT / "tasks.py").read_text())))).isdisjoint(
        IMPORTED_IN
    )


@pytest.mark.parametrize(
    ("code", "extras", "found"),
    [
        ("from scipy import stats", ["lab"], {"scipy"}),
        ("def late():\n    import PIL.Image", [], {"PIL"}),
        ("import xxhash", ["test"], {"xxhash"}),
        ("import nowhere.at.all", ["test"], {"nowhere"}),
        ("import os, torch\nfrom jinja2 import Template", ["paper"], set()),
        ("import transformers, scipy", ["bench"], set()),
    ],
)
def test_an_import_is_found_wherever_it_stands_and_what_another_package_brings_does_not_count(
    code, extras, found
):
    assert undeclared(code, extras) == found


def test_no_module_imports_another_at_its_top_that_needs_an_extra_which_its_users_lack():
    """Inside a function it may: a verb of a command line does it, and says what is missing."""
    paths = {name_of(path): path for path in sources()}
    lacking = set()
    for name, path in paths.items():
        body = ast.parse(code_of(path)).body
        targets = [f"{module.replace('.', '/')}.py" for module in modules_in(body)]
        for target in set(targets) & set(paths):
            if brought_by(users_of(target)) - brought_by(users_of(name)):
                lacking.add((name, target))
    assert not lacking


def test_every_module_that_a_command_runs_is_of_a_package_that_it_installs():
    for name, (extras, steps) in tasks.COMMANDS.items():
        for module in {step[0].split(".")[0] for step in steps} - OURS:
            owners = {canonical(owner) for owner in IMPORTED_IN[module]}
            assert owners & brought_by(extras.split(",")), f"{name}: {module}"


@pytest.mark.parametrize("absent", ["scipy", "ipykernel", "pandas"])
def test_doctor_names_a_missing_package_of_the_notebooks_and_the_line_that_installs_it(
    absent, monkeypatch, capsys
):
    there = importlib.metadata.distributions
    monkeypatch.setattr(
        doctor.importlib.metadata,
        "distributions",
        lambda name: iter(()) if name == absent else there(name=name),
    )
    checks = {name: doctor.CHECKS[name] for name in ("packages", "notebooks")}
    assert doctor.examine(checks) == 1
    out = capsys.readouterr().out
    assert re.search(rf'FAIL .*{absent}\S+ is needed, none is here.*pip install -e "\.', out)


def test_without_jupyterlab_the_parts_of_jupyter_may_be_the_front_end_s_own(monkeypatch):
    """Colab has an older IPython, and an editor needs no JupyterLab."""
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "version_of", lambda name: "0" if name == "ipython" else "1.14.3")
    monkeypatch.setattr(doctor, "requirements", lambda extra: list(map(Requirement, wanted[extra])))
    wanted = {"paper": ["scipy>=1.14"], "lab": ["jupyterlab>=4", "ipython>=8.20"]}
    assert doctor.check_notebooks() == "2 of 2 packages"
    wanted["paper"] = ["scipy>=1.15"]
    with pytest.raises(doctor.Trouble, match=r"scipy>=1\.15 is needed, 1\.14\.3 is here"):
        doctor.check_notebooks()


def test_where_no_notebooks_are_nothing_of_theirs_is_missed(tmp_path, monkeypatch):
    def nowhere():
        raise ValueError("no notebooks")

    monkeypatch.setattr(doctor, "course_folder", nowhere)
    assert doctor.check_notebooks() == "not looked for, because no notebooks are here"


def test_doctor_compares_the_shipped_model_with_what_it_said_where_it_was_made(
    tmp_path, monkeypatch, capsys
):
    stored = doctor.ANSWERS.read_bytes()
    monkeypatch.setattr(doctor, "ANSWERS", tmp_path / "answers.json")
    assert doctor.remember() == 0
    assert (tmp_path / "answers.json").read_bytes() == stored, "doctor --remember stores it"
    assert "2 answers" in doctor.check_model()
    answers = json.loads(stored)
    for sentence, said in answers.items():
        changed = answers | {sentence: [*said, "more"]}
        (tmp_path / "answers.json").write_text(json.dumps(changed))
        assert doctor.examine({"model": doctor.check_model}) == 1
        assert f"of {sentence!r}" in capsys.readouterr().out
