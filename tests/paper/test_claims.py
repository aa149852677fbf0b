"""Differences follow from rows and seeds, and from nothing else."""

import math

import pytest

from albert_paper.claims import comparison, differences, mean


def results(**rows: list[float]) -> list[dict]:
    """Return one result per row and seed."""
    return [
        {"row": row, "seed": seed, "loss": value}
        for row, values in rows.items()
        for seed, value in enumerate(values)
    ]


def difference(text: str, rows: list[dict]):
    return mean([*differences(comparison(text), rows).values()])


def test_a_constant_shift_is_seen_however_much_the_seeds_differ():
    rows = results(a=[1.0, 2.0, 9.0], b=[1.1, 2.1, 9.1001])
    shift = difference("loss: a < b", rows)
    assert shift.value > shift.half and difference("loss: b < a", rows).value == -shift.value


def test_the_interval_of_one_seed_has_no_end():
    assert math.isinf(difference("loss: a < b", results(a=[1.0], b=[100.0])).half)


def test_a_row_may_be_held_against_a_number_and_a_margin():
    rows = results(a=[0.51, 0.52, 0.50])
    for text, value in (("a < 0.6", 0.09), ("0.4 < a", 0.11), ("a < 0.6 - 0.2", -0.11)):
        assert difference(f"loss: {text}", rows).value == pytest.approx(value)


def test_only_seeds_that_both_rows_have_are_compared():
    rows = results(a=[1.0, 1.0, 1.0, 50.0], b=[2.0, 2.1, 2.2])
    assert differences(comparison("loss: a < b"), rows) == pytest.approx({0: 1.0, 1: 1.1, 2: 1.2})
    other = [row | {"seed": row["seed"] + 9} for row in rows if row["row"] == "b"]
    with pytest.raises(ValueError, match="no seed has results for both sides of 'loss: a < b'"):
        difference("loss: a < b", [row for row in rows if row["row"] == "a"] + other)


def test_a_misspelt_row_is_named():
    with pytest.raises(ValueError, match="no result has the row 'd'; there are a, b"):
        difference("loss: a < d", results(a=[1.0], b=[1.0]))
