"""A check survives what an answer does: errors, memory, meddling, odd objects."""

import torch
from torch import Tensor

from albert_course import checks
from albert_course.checks import Case, card
from albert_course.checks.engine.asking import tensor


def double(x: Tensor) -> Tensor:
    """``double(x) -> tensor``: twice x."""
    return 2 * x


def questions(draw):
    x = draw.randn(3)
    yield Case("doubles", (x,), 3.0, lambda answer, x: tensor(answer(x), 3))
    yield Case("doubles whole numbers", (2,))


check_double = card("assignment 00.0", double, questions, {"squaring": "2 * x => x * x"})


def test_another_seed_draws_other_inputs_so_that_constants_fail():
    seen = []
    check_double(lambda x: seen.append(x) or 2 * x)

    def constant(x):
        return 2 * (seen[0] if isinstance(x, Tensor) else x)

    assert check_double(constant).passed and not check_double(constant, seed=5).passed


def test_an_answer_that_eats_memory_is_stopped():
    assert "larger than it need be" in check_double(lambda x: torch.ones(1 << 33)).reasons[0]


def test_an_answer_that_changes_its_input_does_not_change_the_question():
    def in_place(x):
        x *= 2
        return x

    assert check_double(in_place).passed
    check_double_purely = card("assignment 00.0", double, questions, {}, pure=True)
    assert check_double_purely(double).passed and not check_double_purely(in_place).passed


def test_a_check_leaves_the_global_generator_as_it_was():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    check_double(lambda x: torch.rand(3))
    assert torch.equal(torch.rand(1), expected)


def test_what_cannot_be_used_is_answered_in_words():
    missing = "you return NoneType, not a tensor; is the return missing?"
    assert missing in check_double(lambda x: None).reasons
    assert "the shape is (1,), not (3,)" in check_double(lambda x: x[:1]).reasons
    assert "it cannot be called like this" in " ".join(check_double(lambda: 0).reasons)


def test_odd_objects_end_in_a_sentence_and_not_in_a_traceback():
    sparse, meta = torch.ones(3).to_sparse(), torch.ones(3, device="meta")
    for odd in (sparse, meta, 10**400, {}, torch.ones(3, dtype=torch.complex64), float("nan")):
        report = check_double(lambda x, odd=odd: odd)
        assert not report.passed and report.score == 0 and str(report)


def test_lazy_layers_and_a_stacked_pair_are_right_answers():
    assert checks.check_classification_head(lambda H, C, p: Lazy(C, p)).passed
    pair = checks.check_interval.reference
    assert checks.check_interval(lambda values: torch.tensor(pair(values))).passed


class Lazy(torch.nn.Sequential):
    """A head whose map learns its width from its first input."""

    def __init__(self, C, p):
        if not 0 <= p < 1:
            raise ValueError(p)
        super().__init__(torch.nn.Dropout(p), torch.nn.LazyLinear(C))
