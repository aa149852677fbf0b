"""A report says nothing that is not so, and no more than a page holds."""

import math
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from albert_course import checks
from albert_course.checks import Case, Property, Report, make_check
from albert_course.checks.engine import limits
from albert_course.checks.engine.card import card_of
from albert_course.checks.engine.comparing import same
from albert_course.checks.engine.differing import difference
from albert_course.checks.engine.edits import edited, read_mistakes, wrong_answer
from albert_course.checks.engine.explaining import TOUCHED


def add(numbers, shift):
    """``add(numbers, shift) -> list``: each number plus shift; ValueError for no numbers."""
    if not numbers:
        raise ValueError("no numbers")
    total = [number + shift for number in numbers]
    return total


def questions(draw):
    yield Case("adds", ([1.0, 2.0, 4.0], 3.0))
    yield Case("adds nothing", ([1.0, 2.0, 4.0], 0.0))
    yield Case("refuses no numbers", ([], 1.0))


MISTAKES = {"subtracting": "+ shift => - shift", "adding twice": "+ shift => + 2 * shift"}
check_add = make_check("assignment 00.9", add, questions, MISTAKES)


def test_a_ratio_or_a_shift_is_told_of_several_different_numbers_only():
    assert "2 times" in difference([2.0, 4.0], [1.0, 2.0])
    assert "+1 away" in difference([2.0, 3.0], [1.0, 2.0])
    for got, right in (
        ([2.0], [1.0]),
        ([2.0, 2.0], [1.0, 1.0]),
        ([0.0, 2.0], [0.0, 1.0]),
        ([3.05, 3.1, 3.01, 3.04], [3.04771, 3.09789, 3.00793, 3.03797]),
        ([0.00101, 0.002, 0.003], [0.0005, 0.001, 0.0015]),
        ([1.002, 1.004, 2.002, 2.004, 3.00201, 3.00401], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
    ):
        told = difference(got, right)
        assert not any(word in told for word in ("times", "away")), told
    assert "times" not in difference([2.0, 4.01], [1.0, 2.0])


@pytest.mark.parametrize(
    ("got", "right", "told"),
    [
        (-0.7, 0.7, "its sign is turned round"),
        (math.nan, 0.7, "it is NaN"),
        (math.inf, 0.7, "it is infinite"),
        (0.7 / math.log(2), 0.7, "as bits are for nats"),
        (0.7 * math.log(2), 0.7, "as nats are for bits"),
        (0.7 / math.log(10), 0.7, "base 10"),
        (math.degrees(0.7), 0.7, "as degrees are for radians"),
        (70.0, 0.7, "as percent are for a share"),
        (math.exp(0.7), 0.7, "it is e to the power of the right number"),
        (0.9, 0.7, "it is too large"),
        (6, 7, "it is too small"),
        ([0.5], [0.7], "it is too small"),
        (0.7, math.inf, ""),
        (True, False, ""),
    ],
)
def test_of_a_single_number_it_is_said_what_differs_about_it(got, right, told):
    for kind in (lambda value: value, torch.tensor):
        found = difference(kind(got), kind(right))
        assert told in found and bool(told) == bool(found), found


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (deque([deque([1, 2]), [3]]), [[1, 2], [3]]),
        (Fraction(1, 4), 0.25),
        ([Fraction(7), Decimal("0.5")], [7, 0.5]),
        ({"a": Fraction(1, 3)}, {"a": 1 / 3}),
        ((range(3), np.float32(0.5)), ([0, 1, 2], 0.5)),
        ([Fraction(1, 2), Fraction(1, 3)], torch.tensor([1 / 2, 1 / 3])),
    ],
)
def test_a_right_result_may_come_in_other_types(got, right):
    assert same(got, right)


@pytest.mark.parametrize(
    ("got", "right"),
    [("12", [1, 2]), (Fraction(7, 2), 3), (deque([1]), [1, 2]), ({1, 2}, [1, 2]), (1j, 1.0)],
)
def test_and_a_wrong_one_may_not(got, right):
    assert not same(got, right)


def test_a_mistake_is_named_only_where_all_that_it_changes_is_so():
    def subtracts_small_shifts(numbers, shift):
        return [n - shift for n in numbers] if numbers[0] < 2 else [n for n in numbers]

    assert check_add(lambda numbers, shift: add(numbers, -shift)).reasons[0] == "subtracting"
    more = make_check("assignment 00.9", add, lambda draw: iter((*questions(draw), late)), MISTAKES)
    late = Case("adds to large ones", ([5.0, 7.0], 3.0))
    assert "subtracting" not in more(subtracts_small_shifts).reasons


def test_a_refusal_alone_that_differs_gets_no_mistake_of_the_plan():
    def without_refusal(L, share, G):
        return card_of(checks.check_layer_plan).reference(max(1, L), share, min(max(1, G), L))

    named = [one.mistake for one in checks.check_layer_plan(without_refusal).properties]
    assert not any("counting from 1" in one or "blocks from 1" in one for one in named)


def test_what_is_expected_and_came_does_not_fail_with_a_mistake():
    report = check_add(lambda numbers, shift: 1 / 0 if numbers else add(numbers, shift))
    assert report.score == 0 and report.properties[-1].reason == "right, but nothing else is"


def test_an_endless_loop_that_catches_exceptions_is_stopped_and_nothing_more_is_asked(monkeypatch):
    monkeypatch.setattr(limits, "COMPUTING", 0.2)
    monkeypatch.setattr(limits, "TICK", 0.1)

    def endless(numbers, shift):
        while True:
            try:
                shift += 1
            except Exception:
                pass

    report = check_add(endless)
    assert "loop without end" in report.reasons[0]
    assert [one.asked for one in report.properties] == [True, False, False]
    assert "not asked: adds nothing; refuses no numbers" in str(report)


def test_a_mistake_is_not_named_where_it_may_only_seem_so_because_the_data_are_changed():
    def in_place(numbers, shift):
        return [numbers.append(0) or number - shift for number in numbers[:]]

    assert check_add(in_place).properties[0].reason == TOUCHED
    known = make_check("assignment 00.9", add, questions, {"appending": in_place})
    assert known(in_place).properties[0].mistake == "appending", "the mistake changes them, too"


@pytest.mark.parametrize("spoil", [list.reverse, lambda documents: documents[0].clear()])
def test_an_answer_that_changes_what_it_is_given_gets_one_reason_and_not_five(spoil):
    def in_place(documents, length, n, rng):
        triples = card_of(checks.check_order_pairs).reference(documents, length, n, rng)
        for document in documents:
            document.append([7, 8])
        spoil(documents)
        return [(ids[::-1], segments, label) for ids, segments, label in triples]

    report = checks.check_order_pairs(in_place)
    assert not report.passed
    failed = [one for one in report.properties if not one.passed and one.asked]
    assert {one.why for one in failed if not one.differs} <= {TOUCHED, "a ValueError is due here"}


def test_the_same_reason_stands_once_and_a_report_fits_a_page():
    many = [Property(f"case {k}", False, mistake=f"mistake {k % 9}", got="1") for k in range(40)]
    text = str(Report("long", many))
    assert text.count("mistake 0") == 1 and len(text.splitlines()) <= 15
    many = [Property(f"case {k}", False, differs=f"by {k}") for k in range(40)]
    alone = str(Report("long", many))
    assert "differs  by 0" in alone and "(32 in all)" in alone and len(alone.splitlines()) == 15
    unusable = checks.check_attention(lambda *inputs: inputs)
    assert "Unusable" not in str(unusable) and str(unusable).count("not a tensor") == 1


def test_the_title_is_the_students_own_name():
    def my_sum(numbers, shift):
        return numbers

    assert str(check_add(my_sum)).startswith("my_sum, exercise 0.9 of assignment 00: ")
    assert str(check_add(lambda *inputs: my_sum(*inputs), name="my_sum")).startswith("my_sum, ")


def test_an_answer_in_double_precision_or_numpy_passes_whatever_the_seed():
    def in_double(*inputs):
        x, gain, bias = (one.double() for one in inputs)
        return torch.nn.functional.layer_norm(x, gain.shape, gain, bias, 1e-12)

    def row_by_row(x, gain, bias):
        return torch.stack([in_double(row, gain, bias) for row in x])

    def in_lists(*states):
        return [part.tolist() for part in card_of(checks.check_layer_similarity).reference(*states)]

    for seed in (None, 24, 25):
        assert checks.check_layer_norm(in_double, seed).passed
        assert not checks.check_layer_norm(row_by_row, seed).passed, "a single row has no rows"
        assert checks.check_layer_norm(lambda *x: in_double(*x).numpy(), seed).passed
        assert checks.check_layer_similarity(in_lists, seed).passed


def test_an_odd_line_of_a_file_of_mistakes_is_named(tmp_path):
    for text, words in (
        ("an edit too early\n", "line 1: the title"),
        ("[add]\n    x => y\n", "line 2: an edit needs the name"),
        ("[add]\none\n    x => y\none\n", "line 4: the mistake 'one' has been named"),
        ("[add]\none\n    x => y\n[add]\n", "line 4: the exercise"),
    ):
        path = tmp_path / f"{len(text)}.txt"
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            read_mistakes(path)


def test_an_edit_that_finds_nothing_is_an_error():
    for edit in ("multiply => divide", "nothing = 0"):
        with pytest.raises(ValueError, match="reference"):
            edited("def f(x):\n    return x\n", edit)
    whole = "def wrong(numbers, shift):\n    return add(numbers, -shift)"
    assert wrong_answer(add, whole)([1.0], 2.0) == [-1.0]
