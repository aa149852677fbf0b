"""Every wrong answer is rejected by name, and every right one accepted, whatever the seed.

The animals are made from what is there. Of each card the reference is right, and each known mistake
is an answer that must be named. Right, too, are the library's own functions; tests/assignments asks
for our solutions, and for right answers in another style.
"""

import re

import pytest

from albert_course import checks
from albert_course.checks import Check
from albert_course.checks.engine.card import card_of
from albert_course.checks.engine.edits import wrong_answer
from tests.bug_zoo.right import RIGHT

# Of the assignments, and of the exercises inside notebooks.
CHECKS = [value for value in vars(checks).values() if isinstance(value, Check)]
OTHER_SEED = 7  # students have None
EVERY = 10  # of this many mistakes of a check, one is asked with the other seed, too; 1 asks all

LONG = (
    "accumulation",
    "layer_plan",
    "linear_probe",
    "ngram_masking",
    "order_pairs",
    "replace_masked",
)


def case(check, *more, name="", slow=False):
    """A parameter of a test; the questions of six checks take a minute, so test-fast skips them."""
    label = f"{check.title}-{name}" if name else check.title
    marks = [pytest.mark.slow] if slow or check.title in LONG else []
    return pytest.param(check, *more, id=label, marks=marks)


def right_answers():
    """The reference of every card, and the library's own functions."""
    for check in CHECKS:
        yield case(check, card_of(check).reference, name="reference")
        if check in RIGHT:
            yield case(check, RIGHT[check], name="library's")


def wrong_answers():
    """The mistakes of every card, each with the seed of students, and some with another one."""
    for check in CHECKS:
        for number, mistake in enumerate(card_of(check).mistakes):
            yield case(check, mistake, None, name=mistake)
            if number % EVERY == 0:
                yield case(check, mistake, OTHER_SEED, name=f"{mistake}-{OTHER_SEED}", slow=True)


each_check = pytest.mark.parametrize("check", [case(check) for check in CHECKS])


@pytest.mark.parametrize("seed", [None, pytest.param(OTHER_SEED, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("check", "answer"), right_answers())
def test_a_right_answer_passes(check, answer, seed):
    report = check(answer, seed)
    assert report.passed and report.score == 1, report


@pytest.mark.parametrize(("check", "mistake", "seed"), wrong_answers())
def test_a_wrong_answer_is_rejected_by_name_in_at_most_fifteen_lines(check, mistake, seed):
    card = card_of(check)
    report = check(wrong_answer(card.reference, card.mistakes[mistake]), seed)
    assert not report.passed and report.score < 1, report
    assert mistake in " | ".join(report.reasons), report
    assert str(report).count("\n") < 15, report
    broken = ("NameError", "UnboundLocalError")
    assert not any(one.got.startswith(broken) for one in report.properties), "the edit itself"


def test_every_check_knows_mistakes():
    for check in CHECKS:
        fewest = 6 if "assignment" in check.place else 3
        assert len(card_of(check).mistakes) >= fewest, check.title


@each_check
def test_an_answer_that_does_nothing_or_fails_scores_nothing_and_is_told_why(check):
    def not_begun(*inputs):
        raise NotImplementedError

    def divides(*inputs):
        return 1 / 0

    for answer, told in (
        (not_begun, r"^[^|]*still to do"),
        (divides, r"in divides, line \d+: return 1 / 0"),  # and no line of ours
        (lambda *inputs: None, ""),
    ):
        report = check(answer)
        assert report.score == 0 and report.reasons
        if check is not checks.check_recompute_with_dropout:  # it asks for a class with ``apply``
            assert re.search(told, " | ".join(report.reasons))
