"""From runs to one word: pairs of seeds, stuck runs, controls, what matters, Holm."""

import numpy as np
import pytest
from scipy import stats

from albert_paper.outcomes import compare, judge


def runs_of(**rows: list[float]) -> list[dict]:
    """A run for every value of a row, all of them far below the copy baseline."""
    learnt = {"held_out_masked_token_loss": 1.0, "copy_baseline": 4.0}
    return [
        {"row": row, "seed": seed, "loss": value} | learnt
        for row, values in rows.items()
        for seed, value in enumerate(values, start=20)
    ]


def word(criterion: str, runs: list[dict], least: float = 0.02, **claim) -> str:
    claim |= {"criterion": [criterion], "least": least, "runs": runs}
    return judge({"x.y": claim})["x.y"]["word"]


@pytest.mark.parametrize(
    ("b", "said"),
    [
        ([1.5, 1.6, 1.55, 1.45], "agrees"),
        ([0.5, 0.6, 0.55, 0.45], "opposes"),
        ([1.01, 0.99, 1.0, 1.0], "same"),
        ([1.9, 0.6, 1.4, 0.7], "undecided"),
    ],
)
def test_a_word_follows_the_sign_the_spread_and_what_matters(b, said):
    assert word("loss: a < b", runs_of(a=[1.0] * 4, b=b)) == said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([0.50, 0.51, 0.49], "agrees"),
        ([0.70, 0.71, 0.69], "opposes"),
        ([0.50, 0.70, 0.40], "undecided"),
    ],
)
def test_a_claim_of_equality_agrees_inside_its_range_and_opposes_outside(row, said):
    assert word("loss: a = 0.5 +- 0.05", runs_of(a=row)) == said


def test_a_constant_shift_is_seen_however_much_the_seeds_differ():
    runs = runs_of(a=[1.0, 3.0, 2.0], b=[1.11, 3.10, 2.09])
    assert word("loss: a < b", runs) == "agrees"


def test_the_interval_and_p_are_those_of_scipys_paired_test():
    a, b = np.random.default_rng(0).normal(size=(2, 8))
    found = compare("loss: a < b", runs_of(a=list(a), b=list(b)), 0.1)
    expected = stats.ttest_rel(b, a)
    low, high = expected.confidence_interval()
    assert found["p"] == pytest.approx(expected.pvalue)
    mean, half = found["mean"], found["half"]
    assert (mean - half, mean + half) == pytest.approx((low, high))


def test_a_side_may_be_a_sum_of_rows_and_numbers():
    runs = runs_of(a=[3.0, 4.0], b=[1.0, 1.5], c=[0.5, 0.5])
    assert compare("loss: c < a - b + 0.25", runs, 0.1)["mean"] == pytest.approx(2.0)


def test_pairs_with_a_stuck_run_are_left_out_and_many_of_them_void_a_claim():
    runs = runs_of(a=[1.0] * 8, b=[1.4, 1.5, 1.6, 1.4, 1.5, 1.6, 1.5, 9.0])
    runs[-1]["held_out_masked_token_loss"] = 4.0
    found = compare("loss: a < b", runs, 0.02)
    assert (found["n"], found["left_out"], found["mean"]) == (7, 1, pytest.approx(1.5 - 1.0))
    for run in runs[-3:]:
        run["held_out_masked_token_loss"] = 4.1
    assert word("loss: a < b", runs) == "void"


def test_a_control_that_fails_voids_a_claim():
    runs = runs_of(a=[1.0] * 4, b=[1.5, 1.6, 1.55, 1.45])
    assert word("loss: a < b", runs, control=["loss: 1.2 < b"]) == "agrees"
    assert word("loss: a < b", runs, control=["loss: 1.52 < b"]) == "void"


def test_only_seeds_that_both_rows_have_are_compared():
    assert compare("loss: a < b", runs_of(a=[1.0, 2.0, 3.0], b=[2.0, 3.5]), 0.1)["n"] == 2


def test_two_comparisons_have_one_word_only_if_both_say_it():
    runs = runs_of(a=[1.0] * 4, b=[1.5, 1.6, 1.55, 1.45], c=[1.9, 0.6, 1.4, 0.7])
    claim = {"criterion": ["loss: a < b", "loss: a < c"], "least": 0.02, "runs": runs}
    assert judge({"x": claim})["x"]["word"] == "undecided"


def test_more_claims_on_the_page_make_each_harder():
    runs = runs_of(a=[1.0] * 4, b=[1.3, 1.5, 1.6, 1.25])
    assert word("loss: a < b", runs) == "agrees"
    claim = {"criterion": ["loss: a < b"], "least": 0.02, "runs": runs}
    judged = judge(dict.fromkeys("abcdefgh", claim))
    assert {one["word"] for one in judged.values()} == {"undecided"}


@pytest.mark.parametrize(("criterion", "said"), [("loss: a < bb", "'bb'"), ("los: a < b", "'los'")])
def test_a_misspelt_row_or_column_is_named(criterion, said):
    with pytest.raises((KeyError, ValueError), match=said):
        compare(criterion, runs_of(a=[1.0, 2.0], b=[2.0, 3.0]), 0.1)


def test_sides_that_share_no_seeds_are_told():
    """NaN would be called undecided."""
    apart = runs_of(a=[1.0, 2.0]) + [run | {"seed": 99} for run in runs_of(b=[1.0])]
    with pytest.raises(ValueError, match="fewer than two seeds have both sides of 'loss: a < b'"):
        compare("loss: a < b", apart, 0.1)
