"""From runs to one word: pairs of seeds, stuck runs, controls, what matters, Holm."""

import math

import numpy as np
import pytest
from scipy import stats

from albert_edu.errors import InputError
from albert_paper.outcomes import compare, judge


def runs_of(**rows: list[float]) -> list[dict]:
    """A run for every value of a row, all of them far below the copy baseline."""
    learnt = {"held_out_masked_token_loss": 1.0, "copy_baseline": 4.0, "health": {"alive": True}}
    runs = []
    for row, values in rows.items():
        for seed, value in enumerate(values, start=20):
            runs.append({"row": row, "seed": seed, "loss": value} | learnt)
    return runs


RUNS = runs_of(
    a=[1.0] * 4,
    above=[1.5, 1.6, 1.55, 1.45],
    below=[0.5, 0.6, 0.55, 0.45],
    near=[1.01, 0.99, 1.0, 1.0],
    wild=[1.9, 0.6, 1.4, 0.7],
)


def word(*criteria: str, runs=RUNS, **claim) -> str:
    claim |= {"criterion": criteria, "least": 0.02, "runs": runs}
    return judge({"x.y": claim})["x.y"]["word"]


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        (["loss: a < above"], "agrees"),
        (["loss: a < below"], "opposes"),
        (["loss: a < near"], "same"),
        (["loss: a < wild"], "undecided"),
        (["loss: near = 1.0 +- 0.05"], "agrees"),
        (["loss: above = 1.0 +- 0.05"], "opposes"),
        (["loss: wild = 1.0 +- 0.05"], "undecided"),
        (["loss: a < near", "loss: a < wild"], "undecided"),
        (["loss: a < above", "loss: a < below"], "opposes"),
    ],
)
def test_a_word_follows_the_sign_the_spread_and_what_matters(criteria, said):
    assert word(*criteria) == said


def test_the_interval_and_p_are_those_of_scipys_paired_test():
    a, b = np.random.default_rng(0).normal(size=(2, 8))
    found = compare("loss: a < b", {"runs": runs_of(a=list(a), b=list(b)), "least": 0.1})
    expected = stats.ttest_rel(b, a)
    low, high = expected.confidence_interval()
    assert found["p"] == pytest.approx(expected.pvalue)
    assert found["mean"] - found["half"] == pytest.approx(low)
    assert found["mean"] + found["half"] == pytest.approx(high)


def test_pairs_with_a_stuck_run_are_left_out_and_many_of_them_void_a_claim():
    runs = runs_of(a=[1.0] * 8, b=[1.4, 1.5, 1.6, 1.4, 1.5, 1.6, 1.5, 9.0])
    runs[-1]["held_out_masked_token_loss"] = 4.0
    found = compare("loss: a < b", {"runs": runs, "least": 0.02})
    assert (found["n"], found["mean"]) == (7, pytest.approx(1.5 - 1.0))
    assert found["stuck"] == {"a": 0, "b": 1}
    for run in runs[-3:]:
        run["held_out_masked_token_loss"] = 4.1
    assert word("loss: a < b", runs=runs) == "void"


def test_a_control_that_fails_voids_a_claim():
    assert word("loss: a < above", control=["loss: 1.2 < above"]) == "agrees"
    assert word("loss: a < above", control=["loss: 1.52 < above"]) == "void"


@pytest.mark.parametrize("stuck", [4, 3, 2])
def test_a_control_whose_arm_is_stuck_has_not_held(stuck):
    runs = [dict(run) for run in RUNS]
    for run in [run for run in runs if run["row"] == "above"][:stuck]:
        run["held_out_masked_token_loss"] = 9.0
    assert word("loss: below < a", runs=runs, control=["loss: 1.2 < above"]) == "void"
    found = word("loss: below < a", runs=runs, control=["loss: 1.2 < above"], keep_stuck=True)
    assert found == "agrees"


def test_only_seeds_that_both_rows_have_are_compared():
    runs = runs_of(a=[1.0, 2.0, 3.0], b=[2.0, 3.5])
    assert compare("loss: a < b", {"runs": runs})["n"] == 2


def test_more_claims_on_the_page_make_each_harder():
    runs = runs_of(a=[1.0] * 4, b=[1.3, 1.5, 1.6, 1.25])
    assert word("loss: a < b", runs=runs) == "agrees"
    claim = {"criterion": ["loss: a < b"], "least": 0.02, "runs": runs}
    judged = judge(dict.fromkeys("abcdefgh", claim))
    assert {one["word"] for one in judged.values()} == {"undecided"}


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ("loss: a < bb", "'bb' is no row and no number; the rows are a, b"),
        ("los: a < b", "no run has 'los'"),
        ("loss: a = b", "is no comparison: expected COLUMN: ROW < ROW, or"),
        ("loss: a < b +- 5", "is no comparison"),
        ("loss: a < b < c", "is no comparison"),
        ("loss: a < nan", "'nan' is no row and no number"),
        ("loss: a = b +- 0", "'0' in 'loss: a = b .- 0' must be a number above 0"),
        ("loss: a = b +- -1", "must be a number above 0"),
        ("loss: a = b +- inf", "must be a number above 0"),
        ("loss: a = b +- much", "must be a number above 0"),
    ],
)
def test_a_comparison_that_says_nothing_is_refused(criterion, said):
    with pytest.raises(InputError, match=said):
        compare(criterion, {"runs": runs_of(a=[1.0, 2.0], b=[2.0, 3.0]), "least": 0.1})


def test_another_test_no_criterion_and_what_is_infinite_are_refused():
    runs = runs_of(a=[1.0, 2.0, 1.5], b=[2.0, 3.0, math.inf])
    with pytest.raises(InputError, match="test must be one of t, rank, sign, got 'wilcoxon'"):
        compare("loss: a < b", {"runs": runs, "test": "wilcoxon"})
    with pytest.raises(InputError, match="the run 'b' of seed 22 has inf as its loss"):
        compare("loss: a < b", {"runs": runs})
    for criterion in ([], "loss: a < b"):
        with pytest.raises(InputError, match="the criterion of k must be a list"):
            judge({"k": {"runs": runs, "criterion": criterion}})


def test_sides_that_share_no_seeds_are_told():
    """NaN would be called undecided."""
    apart = runs_of(a=[1.0, 2.0]) + [run | {"seed": 99} for run in runs_of(b=[1.0])]
    with pytest.raises(ValueError, match="fewer than two seeds have both sides of 'loss: a < b'"):
        compare("loss: a < b", {"runs": apart})


def test_a_run_whose_half_is_dead_is_stuck_however_low_its_loss():
    runs = runs_of(a=[1.0] * 8, b=[1.4, 1.5, 1.6, 1.4, 1.5, 1.6, 1.5, 9.0])
    runs = [run | {"health": {"alive": run["loss"] < 9}} for run in runs]
    found = compare("loss: a < b", {"runs": runs, "least": 0.02})
    assert (found["n"], found["stuck"]) == (7, {"a": 0, "b": 1})


@pytest.mark.parametrize(
    "name", ["loss", "held_out_masked_token_loss", "copy_baseline", "health.alive"]
)
def test_a_run_that_lacks_a_number_is_named_and_not_left_out(name):
    runs = runs_of(a=[1.0, 2.0, 3.0], b=[2.0, 3.0, 4.0])
    del runs[4][name.split(".")[0]]
    with pytest.raises(ValueError, match=f"the run 'b' of seed 21 has no {name}"):
        compare("loss: a < b", {"runs": runs})
    assert compare("loss: a < 5", {"runs": runs})["n"] == 3, "the other row has all"
