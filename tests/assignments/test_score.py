"""What a hidden test ends with, and the check that the instructors' page writes."""

import importlib
import re

import pytest

from albert_course.assignments import NOTEBOOKS, SEED_VARIABLE
from albert_course.assignments import score as scoring
from albert_course.assignments.course import open_course
from albert_course.assignments.score import score, seeds
from albert_course.checks import Property, Report
from albert_edu.errors import InputError

HALF = Report("half", [Property("one", True), Property("two", False, mistake="a swap")])
FULL = Report("full", [Property("one", True)])


def test_points_are_the_share_of_the_worst_report_and_what_is_full_is_not_printed(capsys):
    assert score([FULL, HALF], 4) == 2.0 and score(FULL, 4) == 4.0
    assert "likely:  a swap" in (said := capsys.readouterr().out) and "full" not in said


def test_the_reasons_of_a_report_lie_beside_what_is_displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(scoring, "display", lambda *_, metadata: shown.append(metadata))
    score(HALF, 4)
    assert shown == [{"mistakes": ["half: a swap"]}]


def test_the_page_s_own_check_names_its_mistakes(tmp_path, monkeypatch):
    block = re.search(r"```python\n(.*?)```", (NOTEBOOKS / "README.md").read_text(), re.S)[1]
    (tmp_path / "own_check.py").write_text(block)
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("own_check")
    assert own.check_masked_mean(own.masked_mean).passed
    for reason, answer in (
        ("the sum, not the mean", lambda losses, masked: losses[masked].sum()),
        ("the mean over all positions", lambda losses, masked: losses.mean()),
    ):
        assert own.check_masked_mean(answer).reasons == [reason]


@pytest.mark.parametrize("key", ["abc", "-1", "5.0", str(2**70)])
def test_a_key_that_no_generator_takes_is_refused_by_name(key, monkeypatch):
    monkeypatch.setenv("ALBERT_EDU_GRADING_SEED", key)
    with pytest.raises(InputError, match="ALBERT_EDU_GRADING_SEED"):
        seeds(44)


def test_a_key_that_no_generator_takes_makes_no_course(tmp_path, monkeypatch):
    monkeypatch.setenv(SEED_VARIABLE, str(2**70))
    with pytest.raises(InputError, match=SEED_VARIABLE):
        open_course(tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_the_instructor_s_key_moves_the_seeds(monkeypatch):
    monkeypatch.setenv(SEED_VARIABLE, "100")
    assert seeds(44) == (144, 145)
