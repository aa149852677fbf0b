"""A check survives what an answer does: errors, memory, meddling, odd objects."""

import random

import torch
from torch import nn

from albert_course import checks
from albert_course.checks import check_encoder_size, check_gelu, check_loss_in_order
from albert_course.checks.engine.card import card_of

gelu = card_of(check_gelu).reference


def test_another_seed_draws_other_inputs_so_that_constants_fail():
    known = {}

    def remembers(x):
        return known.setdefault(x.shape, gelu(x))

    assert check_gelu(remembers).passed and not check_gelu(remembers, seed=5).passed


def test_an_answer_that_eats_memory_is_stopped():
    """It asks for 3 GB, which is above the limit; most machines would give them."""
    assert "larger than it need be" in check_gelu(lambda x: torch.empty(3 << 28)).reasons[0]


def test_an_answer_that_changes_its_input_does_not_change_the_question():
    def clears(x):
        y = gelu(x)
        x.zero_()
        return y

    def reverses(token_ids):
        swapped = card_of(checks.check_swap_pair).reference(token_ids)
        token_ids.reverse()
        return swapped

    assert check_gelu(clears).passed and check_gelu(gelu).passed
    assert not checks.check_swap_pair(reverses).passed, "the text forbids it"


def test_a_check_leaves_the_global_generator_as_it_was():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    check_gelu(lambda x: torch.rand(3))
    checks.check_surprises(lambda model, token_ids: torch.rand(3).tolist(), seed=3)
    assert torch.equal(torch.rand(1), expected)


def test_what_cannot_be_used_is_answered_in_words():
    missing = "you return NoneType, not a tensor; is the return missing?"
    assert missing in checks.check_attention(lambda *inputs: None).reasons
    shape = "the shape is (3, 5, 2, 6), not (3, 2, 5, 6)"
    assert shape in checks.check_attention(lambda q, k, v, mask: v.transpose(1, 2)).reasons
    numbers = checks.check_causal_mask(
        lambda x: card_of(checks.check_causal_mask).reference(x).float()
    )
    assert numbers.reasons == ["the dtype is torch.float32: PyTorch adds such a mask"]
    assert "it cannot be called like this" in " ".join(check_gelu(lambda: 0).reasons)


def test_odd_objects_end_in_a_sentence_and_not_in_a_traceback():
    sparse, meta = torch.ones(3).to_sparse(), torch.ones(3, device="meta")
    for odd in (sparse, meta, 10**400, {}, torch.ones(3, dtype=torch.complex64), float("nan")):
        report = check_gelu(lambda x, odd=odd: odd)
        assert not report.passed and report.score == 0 and str(report)


def test_lazy_layers_and_a_stacked_pair_are_right_answers():
    def lazy(H, C, p):
        if not 0 <= p < 1:
            raise ValueError(p)
        return nn.Sequential(nn.Dropout(p), nn.LazyLinear(C))

    assert checks.check_classification_head(lazy).passed
    pair = card_of(checks.check_interval).reference
    assert checks.check_interval(lambda values: torch.tensor(pair(values))).passed


def test_what_is_no_function_and_where_an_error_came_from_are_told():
    none = str(check_encoder_size(None))
    assert "this is None, and not a function: give the check its name" in none
    assert "is the return missing" not in none
    assert "this is of type int, and not a function" in str(check_encoder_size(3))

    def encoder_size(plan, H):
        return random.sample(plan, 10**6)  # in a module of Python's own

    assert "in encoder_size, line" in str(check_encoder_size(encoder_size))
    assert "is the return missing" in str(check_gelu(lambda x: None))


def test_a_plan_that_is_left_changed_is_known_also_if_it_is_a_list():
    def loss_in_order(model, batch, order):
        encoder = model.albert.encoder
        encoder.plan = [encoder.plan[i] for i in order]
        return model(batch).masked_token_loss.item()

    report = str(check_loss_in_order(loss_in_order))
    assert "leaving the plan changed: put the old one back" in report
    assert "(albert): Albert(" not in report, "a module is told in one line"
