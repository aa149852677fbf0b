"""What a hidden test ends with: a number of points, which nbgrader takes as partial credit."""

from collections.abc import Sequence

from IPython.display import display

from albert_course.assignments import LARGEST_SEED, SEED_VARIABLE
from albert_course.checks import Report
from albert_edu.config import check_whole, whole_from_environment


def seeds(first: int) -> tuple[int, int]:
    """Return two seeds for a check; the instructor's grading seed moves them.

    Without the environment variable ALBERT_EDU_GRADING_SEED they are ``first`` and the next.

    >>> seeds(44)
    (44, 45)
    """
    moved = first + grading_seed(0)
    return moved, moved + 1


def grading_seed(usual: int) -> int:
    """Return the seed of the environment, or the usual one. InputError if no generator takes it."""
    seed = whole_from_environment(SEED_VARIABLE, usual)
    check_whole(SEED_VARIABLE, seed, 0, LARGEST_SEED)
    return seed


def score(reports: Report | Sequence[Report], points: float) -> float:
    """Return the share of ``points`` that the reports of one check earn, by the lowest score.

    Reports of what is wrong are displayed: nbgrader's feedback shows them, and their reasons lie
    beside each, as metadata of the output, for the report on the class.

    >>> from albert_course.checks import Property
    >>> half = Report("half", [Property("gives 1", True), Property("gives 2", False)])
    >>> score(half, 4)
    half: 1 of 2 properties holds (score 0.50)
      FAIL  gives 2
      ok    gives 1
    2.0
    """
    reports = [reports] if isinstance(reports, Report) else reports
    for report in reports:
        if not report.passed:
            reasons = [f"{report.exercise}: {reason}" for reason in report.reasons]
            display(report, metadata={"mistakes": reasons})
    return round(points * min(report.score for report in reports), 2)
