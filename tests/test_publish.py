"""One command writes the repository's address; it is tried on a copy, with an invented owner."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from albert_course.cli import main
from albert_course.publish import publish
from tests.support import snapshot

ROOT = Path(__file__).resolve().parents[1]
CELL = '''from importlib.util import find_spec

assert find_spec("albert_course"), "this kernel has no albert_course: run make lab"'''


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """The files that say the address, and one notebook with the cell that looks for the course."""
    for name in ("README.md", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "notebooks").mkdir()
    cell = {"cell_type": "code", "source": CELL.splitlines(keepends=True)}
    text = json.dumps({"cells": [cell]}, indent=1)
    (tmp_path / "notebooks" / "00_start_here.ipynb").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def addresses(text: str) -> set[str]:
    return set(re.findall(r"(?:github\.com|codespaces\.new|gh|github)/([\w-]+/[\w.-]+)", text))


def cell_of(course: Path) -> str:
    notebook = json.loads((course / "notebooks" / "00_start_here.ipynb").read_text())
    return "".join(notebook["cells"][0]["source"])


def test_before_it_is_published_nothing_shows_an_address_and_afterwards_all_show_the_same():
    names = ("README.md", "pyproject.toml", "CITATION.cff")
    shown = {name: addresses((ROOT / name).read_text()) for name in names}
    assert len(shown["README.md"]) <= 1 and len(set(map(frozenset, shown.values()))) == 1, shown


def test_the_address_stands_in_every_place_and_a_second_one_replaces_it(course):
    assert publish("someone/first-name") and publish("an-owner/their.course")
    for name in ("README.md", "pyproject.toml", "CITATION.cff"):
        assert addresses((course / name).read_text()) == {"an-owner/their.course"}, name
    urls = tomllib.loads((course / "pyproject.toml").read_text())["project"]["urls"]
    assert urls["Site"] == "https://an-owner.github.io/their.course/"
    cited = yaml.safe_load((course / "CITATION.cff").read_text())
    assert (
        cited["repository-code"] == urls["Repository"] == "https://github.com/an-owner/their.course"
    )
    assert publish("an-owner/their.course") == [], "nothing is left to write"


def test_a_notebook_without_the_course_says_the_line_that_brings_it(course):
    publish("an-owner/their-course")
    published = cell_of(course).replace("albert_course", "a_package_that_nobody_has")
    with pytest.raises(AssertionError) as error:
        exec(published, {})
    assert str(error.value).splitlines()[1] == (
        "!git clone --depth 1 https://github.com/an-owner/their-course"
        " && pip install -q -e './their-course[paper]'"
    )


@pytest.mark.parametrize(
    "name",
    [
        "course",
        "https://github.com/a/b",
        "a/b/c",
        "a b/c",
        "/b",
        "a/",
        "a/b.git",
        "a/..",
        "a/ü",
    ],
)
def test_what_is_not_owner_and_repository_changes_nothing(course, name, capsys):
    before = snapshot(course)
    assert main(["publish", name]) == 2
    assert "OWNER/REPO" in capsys.readouterr().err
    assert before == snapshot(course)


def test_a_file_without_its_place_is_named_before_anything_is_written(course):
    (course / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    before = (course / "README.md").read_text()
    with pytest.raises(ValueError, match=r"CITATION\.cff has no place"):
        publish("an-owner/course")
    assert (course / "README.md").read_text() == before
