"""What is said to a guess: right, close, or how far; and nothing that is typed stops a notebook."""

import re
from decimal import Decimal
from fractions import Fraction

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import torch

from albert_course.cells import reveal
from albert_course.guesses import answer_to


class Odd:
    def __repr__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("guess", "truth", "unit", "told"),
    [
        (8, 8, "percent", "right, it is 8 percent"),
        ("8", 8, "percent", "right, it is 8 percent"),
        ("8%", 8, "percent", "right, it is 8 percent"),
        ("8 %", 8, "percent of the words", "right, it is 8 percent of the words"),
        ("8%", 0.08, "", "right, it is 0.08"),
        ("about 1,500 rows", 1500, "rows", "right, it is 1,500 rows"),
        ("0,5", 0.5, "", "right, it is 0.5"),
        ("−3", -3, "", "right, it is -3"),
        ("1e3", 1000, "", "right, it is 1,000"),
        ("0,125", 0.125, "", "right, it is 0.125"),
        ("-0,250", -0.25, "", "right, it is -0.25"),
        ("2 million", 2_000_000, "rows", "right, it is 2,000,000 rows"),
        ("10k", 10_000, "", "right, it is 10,000"),
        ("1.5 billion", 1_500_000_000, "", "right, it is 1,500,000,000"),
        ("3 thousands of rows", 3_000, "rows", "right, it is 3,000 rows"),
        ("12M", 12_000_000, "", "right, it is 12,000,000"),
        ("5 k-means", 5, "", "right, it is 5"),
        ("300 K", 300, "K", "right, it is 300 K"),
        (np.array(["8%"]), 8, "percent", "right, it is 8 percent"),
        ("5 kg", 5, "kg", "right, it is 5 kg"),
        ([8], 8, "", "right, it is 8"),
        (np.array([[8.0]]), 8, "", "right, it is 8"),
        (torch.tensor(8), 8, "", "right, it is 8"),
        (Fraction(1, 2), 0.5, "", "right, it is 0.5"),
        (Decimal("0.5"), 0.5, "", "right, it is 0.5"),
        (11_700_000, 11_683_584, "", "right, it is 11,683,584"),
        (7, 8, "percent", "you said 7 percent\nclose, it is 8 percent"),
        (1_100, 1_000, "rows", "you said 1,100 rows\nclose, it is 1,000 rows"),
        (
            0.3,
            75,
            "percent",
            "you said 0.3 percent\nit is 75 percent: 74.7 points too low; "
            "if 0.3 is meant as a share, write 30",
        ),
        (30, 75, "percent", "you said 30 percent\nit is 75 percent: 45 points too low"),
        (4, 1000, "rows", "you said 4 rows\nit is 1,000 rows: your guess is 250 times too small"),
        (-2, 3, "", "you said -2\nit is 3: 5 too low"),
        (2, 0, "", "you said 2\nit is 0: 2 too high"),
        (float("inf"), 3, "", "you said inf\nit is 3: inf too high"),
    ],
)
def test_a_guess_is_read_and_it_is_said_how_far_it_is_away(guess, truth, unit, told):
    said, answer = answer_to(guess, truth, unit).splitlines()
    assert said.startswith("you said ")
    if told.startswith("right"):
        assert answer == told
    else:
        assert f"{said}\n{answer}" == told


@pytest.mark.parametrize(
    "guess",
    [
        "many",
        "",
        "between 8 and 9",
        (1, 2),
        [],
        [[1, 2]],
        np.arange(3),
        np.array(["a"]),
        torch.randn(2),
        torch.ones(1, dtype=torch.complex64),
        torch.ones(2, device="meta"),
        {8},
        {},
        1j,
        float("nan"),
        np.mean(np.array([float("nan")])),
        torch.tensor(float("nan")),
        [torch.tensor(float("nan"))],
        "10⁶",
        "1.2bn",
        "2 hundred thousand",
        "2 thousand million",
        print,
        Odd,
        Odd(),
        10**400,
    ],
)
def test_what_is_not_one_number_is_named_and_the_truth_is_told(guess):
    told = answer_to(guess, 8, "percent")
    said, answer = told.splitlines()
    assert said.endswith(" is not one number") and answer == "it is 8 percent"
    assert len(told) < 120


@pytest.mark.parametrize("guess", [None, ...])
def test_no_guess_is_no_guess(guess, capsys):
    reveal(guess, 67190784.0, "H per token")
    assert capsys.readouterr().out == "no guess yet\nit is 67,190,784.0 H per token\n"


@hypothesis.given(
    st.one_of(st.floats(), st.text(), st.integers(), st.lists(st.integers(), max_size=2)),
    st.floats(allow_nan=False),
    st.sampled_from(["", "percent", "rows"]),
)
def test_no_guess_stops_a_notebook_and_no_number_is_written_with_an_exponent(guess, truth, unit):
    told = answer_to(guess, truth, unit)
    assert "it is " in told.splitlines()[1]
    after = told.split(": ")[-1] if "you said" in told else ""
    if abs(truth) < 1e12 and isinstance(guess, int) and abs(guess) < 1e12:
        assert not re.search(r"\de[+-]", after)


def test_odd_truths_are_shown_too():
    assert answer_to(3, "three") == "you said 3\nit is 'three'"
    assert answer_to(3, torch.tensor([1, 2])) == "you said 3\nit is tensor([1, 2])"
    assert answer_to(..., torch.tensor([1, 2])) == "no guess yet\nit is tensor([1, 2])"
