"""Verdicts follow from seeds, differences and intervals, and from nothing else."""

import math

import pytest

from albert_edu.paper.claims import Claim, Less, judge, mean


def results(**rows: list[float]) -> list[dict]:
    return [{"row": row, "seed": seed, "loss": value} for row, values in rows.items() for seed, value in enumerate(values)]


def test_an_interval_of_three_seeds_is_students():
    found = mean([1.0, 2.0, 3.0])
    assert found.value == 2 and found.half == pytest.approx(4.303 / math.sqrt(3), abs=0.01)


def test_a_constant_shift_is_seen_however_much_the_seeds_differ():
    found = results(a=[1.0, 2.0, 9.0], b=[1.1, 2.1, 9.1001])
    assert Less("loss", "a", "b").verdict(found) == "reproduced"
    assert Less("loss", "b", "a").verdict(found) == "contradicted"


def test_differences_that_change_sign_decide_nothing():
    assert Less("loss", "a", "b").verdict(results(a=[1.0, 2.0, 3.0], b=[1.5, 1.5, 3.0])) == "not at this scale"


def test_one_seed_decides_nothing():
    assert Less("loss", "a", "b").verdict(results(a=[1.0], b=[100.0])) == "not at this scale"


def test_a_row_may_be_held_against_a_number_and_a_margin():
    found = results(a=[0.51, 0.52, 0.50])
    assert Less("loss", "a", 0.6).verdict(found) == "reproduced" == Less("loss", 0.4, "a").verdict(found)
    assert Less("loss", "a", 0.6, by=0.2).verdict(found) == "contradicted"
    assert str(Less("loss", "a", 0.6, by=0.2)) == "loss: a < 0.6 - 0.2"


def test_only_seeds_that_both_rows_have_are_compared():
    found = results(a=[1.0, 1.0, 1.0, 50.0], b=[2.0, 2.1, 2.2])
    assert Less("loss", "a", "b").difference(found).n == 3


def test_a_claim_of_several_parts_needs_all_of_them_and_falls_with_one():
    found = results(a=[1.0, 1.0, 1.01], b=[2.0, 2.0, 2.01], c=[1.5, 2.5, 2.0])
    true, false, open_ = Less("loss", "a", "b"), Less("loss", "b", "a"), Less("loss", "c", "b")
    assert judge([true, true], found) == "reproduced"
    assert judge([true, open_], found) == "not at this scale"
    assert judge([open_, false], found) == "contradicted"


def test_a_misspelt_row_is_named():
    with pytest.raises(ValueError, match="no result has the row 'd'; there are a, b"):
        Less("loss", "a", "d").difference(results(a=[1.0], b=[1.0]))


def test_what_is_counted_is_decided_by_one_value_and_what_is_missing_is_not_decided():
    claim = Claim("a is small.", "Table 1", (Less("loss", "a", 2.0),), exact=True)
    assert claim.verdict(results(a=[1.0])) == "reproduced" and claim.verdict(results(a=[3.0])) == "contradicted"
    assert claim.verdict(results(b=[1.0])) == "not recorded yet"
