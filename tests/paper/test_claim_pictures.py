"""A claim is drawn as its measure asks."""

import math

import pytest

from albert_paper.claim_pictures import picture_of
from albert_paper.columns import label
from albert_paper.criterion import parse
from albert_paper.plan import PAGE, PLAN


def test_a_run_that_was_watched_is_drawn_over_its_steps():
    """Two seeds of two branches; the accuracy of the second rises twice as fast."""
    runs = []
    for seed in (30, 31):
        for slope, row in enumerate(("kept", "removed"), 1):
            points = [
                {"step": step, "masked_token_accuracy": slope * step / 1000} for step in (100, 200)
            ]
            runs.append({"row": row, "seed": seed, "steps": 100, "watched": points})
    claim = {
        "says": "so",
        "word": "agrees",
        "criterion": ["held_out_masked_token_accuracy: kept < removed"],
    }
    figure, alt = picture_of(claim, runs)
    (axis,) = figure.axes
    assert [list(line.get_ydata()) for line in axis.lines[:2]] == [[0.1, 0.2], [0.2, 0.4]]
    assert axis.lines[2].get_xdata() == [100, 100], "where the branches begin"
    assert (
        alt
        == "Mean of 2 seeds, on fewer batches than the criterion; at the end: kept 0.20, removed 0.40."
    )


def test_starts_that_never_learnt_are_counted_in_pairs():
    never = {"a": (1, 1, 0, 0, 0), "b": (1, 0, 1, 1, 0)}
    runs = [
        {"row": row, "seed": seed, "never_learnt": float(value)}
        for row, values in never.items()
        for seed, value in enumerate(values)
    ]
    _, alt = picture_of(
        {"says": "so", "word": "agrees", "criterion": ["never_learnt: a < b"]}, runs
    )
    assert alt == "5 seeds: both 1, only b 2, only a 1, neither 1."


def test_each_column_of_the_plan_has_words_on_the_page():
    asked = [PLAN[name]["claims"][claim] for name, claim in (key.split(".") for key in PAGE)]
    for claim in asked:
        for text in claim["criterion"]:
            assert label(parse(text).column).what, text


def test_a_picture_goes_on_to_what_a_further_criterion_compares():
    scores = {"narrow": (3.0, 4.0), "middle": (2.0, 2.5), "wide": (2.5, 2.0)}
    runs = [
        {"row": row, "seed": seed, "loss": value}
        for row, values in scores.items()
        for seed, value in enumerate(values)
    ]
    criterion = ["loss: middle < narrow", "loss: wide < middle"]
    parts = [{"seeds": [0, 1]}, {"seeds": [1]}]
    claim = {"says": "so", "word": "agrees", "criterion": criterion, "parts": parts}
    figure, alt = picture_of(claim, runs)
    assert figure.axes[0].get_title(loc="left") == "so: agrees", (
        "alone, a sentence would be asserted"
    )
    lines = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert lines[0] == pytest.approx([3.0, 2.0, math.nan], nan_ok=True), "stuck where it is wide"
    assert lines[1] == [4.0, 2.5, 2.0]
    assert alt == "2 seeds: narrow 3.00 to 4.00; middle 2.00 to 2.50; wide 2.00 to 2.00."
