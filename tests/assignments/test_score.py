"""What a hidden test ends with."""

from albert_course.assignments import SEED_VARIABLE
from albert_course.assignments.score import score, seeds
from albert_course.checks import Property, Report

HALF = Report("half", [Property("one", True), Property("two", False, mistake="a swap")])
FULL = Report("full", [Property("one", True)])


def test_points_are_the_share_of_the_worst_report_and_the_report_is_printed(capsys):
    assert score([FULL, HALF], 4) == 2.0
    assert "likely:  a swap" in capsys.readouterr().out


def test_a_full_score_prints_nothing(capsys):
    assert score(FULL, 4) == 4.0 and not capsys.readouterr().out


def test_the_instructor_s_key_moves_the_seeds(monkeypatch):
    monkeypatch.setenv(SEED_VARIABLE, "100")
    assert seeds(44) == (144, 145)
