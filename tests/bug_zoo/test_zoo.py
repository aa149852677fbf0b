"""Every wrong answer is rejected by name, and every right one accepted, whatever the seed."""

import re
from collections import Counter

import pytest

from albert_course import checks
from tests.bug_zoo.zoo import CHECKS, GRADED, all_animals

ANIMALS = all_animals()
# None is the seed that students have.
SEEDS = [None, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (7, 2026))]

LONG = (
    "accumulation",
    "layer_plan",
    "linear_probe",
    "ngram_masking",
    "order_pairs",
    "replace_masked",
)


def case(check, animal=None):
    """A parameter of a test; the questions of six checks take a minute, so test-fast skips them."""
    label = f"{check.title}-{animal.name}" if animal else check.title
    marks = [pytest.mark.slow] * (check.title in LONG)
    return pytest.param(animal or check, id=label, marks=marks)


each_check = pytest.mark.parametrize("check", [case(check) for check in CHECKS])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("animal", [case(one.check, one) for one in ANIMALS if one.right])
def test_a_right_answer_passes(animal, seed):
    report = animal.check(animal.answer, seed)
    assert report.passed and report.score == 1, report


@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("animal", [case(one.check, one) for one in ANIMALS if not one.right])
def test_a_wrong_answer_is_rejected_by_name_in_at_most_fifteen_lines(animal, seed):
    report = animal.check(animal.answer, seed)
    assert not report.passed and report.score < 1, report
    assert animal.name in " | ".join(report.reasons), report
    assert str(report).count("\n") < 15, report
    broken = ("NameError", "UnboundLocalError")
    assert not any(one.got.startswith(broken) for one in report.properties), "the edit itself"


def test_every_check_has_right_and_wrong_answers_to_prove_itself_on():
    kept = Counter((animal.check, animal.right) for animal in ANIMALS)
    for check in CHECKS:
        right, wrong = (3, 6) if check in GRADED else (1, 3)
        assert kept[check, True] >= right and kept[check, False] >= wrong, check.title


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
