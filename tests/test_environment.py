"""environment.yml, the README and the workflows say the same as pyproject.toml and the Makefile."""

import ast
import functools
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import tasks

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"pytorch": "torch"}


@functools.cache
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def conda_lines() -> list[str]:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in listed if isinstance(entry, dict))
    return [entry for entry in listed if isinstance(entry, str)] + pip


def ranges(lines: list[str]) -> dict[str, str]:
    parsed = [Requirement(line) for line in lines if line not in ("pip", "-e .[test]")]
    return {CONDA_NAMES.get(found.name, found.name): str(found.specifier) for found in parsed}


def test_environment_yml_lists_the_packages_of_pyproject_with_the_same_ranges():
    extras = project()["optional-dependencies"]
    wanted = ranges(project()["dependencies"] + extras["lab"] + extras["paper"]) | {
        "python": str(Requirement(f"python{project()['requires-python']}").specifier)
    }
    assert ranges(conda_lines()) == wanted


def direct() -> list[str]:
    """Every requirement of pyproject.toml, but for the extras that another extra names."""
    extras = project()["optional-dependencies"].values()
    lines = project()["dependencies"] + [line for extra in extras for line in extra]
    return [line for line in lines if not line.startswith("albert-edu[")]


@pytest.mark.parametrize("line", direct())
def test_every_package_is_bounded_on_both_sides_and_installed_within_the_bounds(line):
    requirement = Requirement(line)
    assert {spec.operator for spec in requirement.specifier} == {">=", "<"}
    version = importlib.metadata.version(requirement.name).split("+")[0]
    assert requirement.specifier.contains(version), (
        f"{requirement.name} {version}: move the bound {requirement.specifier}"
    )


def test_make_and_tasks_py_have_the_same_commands_and_the_readme_names_no_other():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"COMMANDS := (.*)", makefile)[1].split()
    assert targets == list(tasks.COMMANDS)
    assert targets == re.findall(r"^# make ([\w-]+)", makefile, re.MULTILINE)
    named = set(re.findall(r"\b(?:make|tasks\.py) ([a-z-]+)", (ROOT / "README.md").read_text()))
    assert named and named <= set(targets)


def test_constraints_hold_a_version_in_range_of_every_direct_requirement_but_torch():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    lines = [line.lower().replace("_", "-") for line in lines if not line.startswith("#")]
    pinned = dict(line.split("==") for line in lines)
    assert "torch" not in pinned
    for requirement in map(Requirement, direct()):
        if requirement.name != "torch":
            version = pinned[requirement.name.lower().replace("_", "-")]
            assert requirement.specifier.contains(version), requirement


@pytest.mark.skipif(os.name == "nt", reason="make is a program of Linux and macOS")
def test_make_says_which_python_is_missing_and_what_to_call_instead():
    command = ["make", "reproduce", "PYTHON=python3.99"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode and "There is no python3.99 here" in run.stdout


@pytest.mark.parametrize("version", [(3, 10, 1, "final", 0), (3, 15, 0, "final", 0)])
def test_a_python_without_torch_is_refused_before_anything_is_installed(
    version, monkeypatch, capsys
):
    monkeypatch.setattr(tasks.sys, "version_info", version)
    assert tasks.main("test") == 2
    assert "This needs Python 3.11 to 3.14" in capsys.readouterr().out


def test_ci_runs_the_readme_s_test_command_and_before_it_installs_chromium_and_nothing_else():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands[-1] == "make test"
    assert all("hromium" in line or line == "fi" for line in commands[:-1])
    # A newcomer can do the same.
    assert "apt-get install chromium" in (ROOT / "README.md").read_text()


def test_the_workflow_runs_the_notebooks_with_what_a_reader_installs_and_nbval():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    commands = [step.get("run", "") for step in workflow["jobs"]["reader"]["steps"]]
    installing = [line for line in commands if "install" in line]
    assert tasks.COMMANDS["reproduce"][0] == "lab,paper" and "make reproduce" in commands[2]
    assert installing == [".venv/bin/python -m pip install nbval"]
    assert "--nbval " in commands[-1] and commands[-1].endswith("notebooks/*.ipynb")


def test_the_offline_guard_lets_this_machine_through_and_nothing_else():
    code = "import socket; server = socket.create_server(('127.0.0.1', 0)); "
    code += "socket.create_connection(server.getsockname()).close(); "
    code += "socket.create_connection(('192.0.2.1', 80), timeout=1)"
    guard = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "offline")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=guard, capture_output=True, text=True, check=False
    )
    assert "the tests run offline, and something wants to reach 192.0.2.1" in run.stderr


def test_arguments_of_make_mean_the_same_behind_tasks_py(monkeypatch):
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    asked = ("PROFILE=laptop", "PIP_CONSTRAINT=constraints.txt", "NOTEBOOKS=00 07", "-k", "a=b")
    assert tasks.in_words_of_tasks(asked) == ("--profile", "laptop", "00", "07", "-k", "a=b")
    assert os.environ["PIP_CONSTRAINT"] == "constraints.txt"


@pytest.fixture
def small_course(tmp_path, monkeypatch):
    """A folder with a pyproject.toml, where an installation takes no time; its commands."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    done = []
    monkeypatch.setattr(tasks, "run", lambda *command: done.append(command))

    def create(folder, **options):
        python = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        done.append("new")

    monkeypatch.setattr(tasks.venv, "create", create)
    monkeypatch.setattr(tasks, "has_pip", Path.exists)
    return done


def test_an_environment_is_made_once_and_again_where_what_it_depends_on_has_changed(
    small_course, tmp_path, monkeypatch
):
    done = small_course
    tasks.environment("lab")
    assert len(done) == 2
    tasks.environment("lab")
    assert len(done) == 2, "nothing has changed"
    (tmp_path / "exact.txt").write_text("numpy==2.3\n")
    monkeypatch.setenv("PIP_CONSTRAINT", "exact.txt")
    tasks.environment("lab")
    assert len(done) == 3, "other versions are asked for"
    monkeypatch.delenv("PIP_CONSTRAINT")
    tasks.environment("lab")
    assert len(done) == 3, "and none in particular now"
    monkeypatch.setattr(tasks, "ROOT", tmp_path / "moved")
    tmp_path.joinpath("moved").mkdir()
    (tmp_path / ".venv").rename(tmp_path / "moved" / ".venv")
    tasks.environment("lab")
    assert len(done) == 4, "an editable installation knows its folder"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    tasks.environment("lab")
    assert len(done) == 5
    monkeypatch.setattr(tasks, "has_pip", lambda python: False)
    tasks.environment("lab")
    assert done[5] == "new", "the Python behind it has gone"


def test_a_folder_that_takes_no_environment_is_told_in_a_sentence(small_course, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", ".venv")

    monkeypatch.setattr(tasks.venv, "create", refuse)
    with pytest.raises(SystemExit, match=r"No environment can be made in .*Permission denied"):
        tasks.environment("lab")


def test_a_command_that_asks_after_ctrl_c_is_waited_for(monkeypatch):
    class Asks:
        """JupyterLab: it is told to stop, asks, and ends when that is answered."""

        waits = 0

        def __init__(self, command):
            pass

        def wait(self):
            Asks.waits += 1
            if Asks.waits == 1:
                raise KeyboardInterrupt
            return 0

    monkeypatch.setattr(tasks.subprocess, "Popen", Asks)
    tasks.run("jupyterlab")
    assert Asks.waits == 2


def test_tasks_py_comes_as_far_as_its_message_on_a_python_of_2019():
    """3.8 has no ``str | Path`` and no ``list[str]``: they must not be evaluated."""
    compile((ROOT / "tasks.py").read_text(encoding="utf-8"), "tasks.py", "exec")
    tree = ast.parse((ROOT / "tasks.py").read_text(encoding="utf-8"), feature_version=(3, 8))
    first = next(node for node in tree.body if not isinstance(node, ast.Expr))
    assert isinstance(first, ast.ImportFrom) and first.module == "__future__"


@pytest.mark.skipif(os.name == "nt", reason="the shell of the workflow is bash")
@pytest.mark.parametrize(("tag", "code"), [("v{}", 0), ("v9.9.9", 1)])
def test_a_release_has_the_version_of_its_tag(tag, code):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    (script,) = (
        step["run"]
        for step in workflow["jobs"]["release"]["steps"]
        if "tag" in step.get("name", "")
    )
    named = {**os.environ, "GITHUB_REF_NAME": tag.format(project()["version"])}
    run = subprocess.run(["bash", "-e", "-c", script], cwd=ROOT, env=named, check=False)
    assert run.returncode == code
