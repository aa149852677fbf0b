"""nbgrader reads our source notebooks and gives the points that we give, test cell by test cell."""

import csv
import importlib.util

import nbformat
import pytest

from albert_edu.cli import main
from tests.assignments.classroom import ALL, HANDED_OUT, NAME, OTHER_STYLE, SOLVED, but, submission

installed = importlib.util.find_spec("nbgrader") is not None


@pytest.fixture
def class_of_four(tmp_path):
    wrong = but(layer_plan="def layer_plan(L, share, G=1):\n    return [(0, 0)] * L", encoder=OTHER_STYLE["encoder"])
    written = {"perfect": submission(SOLVED), "untouched": HANDED_OUT, "wrong": submission(wrong), "no_notebook": None}
    for student, notebook in written.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        if notebook:
            nbformat.write(notebook, tmp_path / "in" / student / f"{NAME}.ipynb")
        else:
            (tmp_path / "in" / student / f"{NAME}.ipynb").write_text("my dog ate it")
    return ["assignments", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--with-nbgrader"]


@pytest.mark.slow
@pytest.mark.skipif(not installed, reason="nbgrader is not installed: pip install -e '.[assignments]'")
def test_nbgrader_gives_the_same_points(class_of_four, tmp_path):
    assert main(class_of_four) == 1
    with (tmp_path / "out" / "scores.csv").open() as file:
        rows = {row["student"]: (row["status"], float(row["points"])) for row in csv.DictReader(file)}
    assert rows == {"perfect": ("graded", ALL), "untouched": ("graded", 0), "wrong": ("graded", ALL - 4),
                    "no_notebook": ("not graded", 0)}  # fmt: skip
    assert (tmp_path / "out" / "nbgrader" / "feedback" / "wrong" / NAME / f"{NAME}.html").exists()


@pytest.mark.skipif(installed, reason="nbgrader is installed")
def test_without_nbgrader_it_is_said_how_to_install_it(class_of_four, capsys):
    assert main(class_of_four) == 2
    assert "pip install -e '.[assignments]'" in capsys.readouterr().err
