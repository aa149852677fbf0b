"""Health: a silenced block is one that adds nothing, and a dead half is named."""

import copy
import dataclasses
import math

import pytest
import torch

from albert_edu.analysis.health import Health, health, masked_loss, silenced, units_that_open
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.layers import FeedForward, SelfAttention
from albert_edu.text.batches import PretrainingStream
from tests.model.batches import V, masked_batch
from tests.support import randomised, same_bits, tiny, weights

L = 3


@pytest.fixture(scope="module")
def stream(story_text) -> PretrainingStream:
    return PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 8, 32)


def model_of(share: str = "all") -> AlbertForPretraining:
    return randomised(tiny(num_layers=L, share=share), std=0.3)


@torch.no_grad()
def empty(block: FeedForward | SelfAttention) -> None:
    """Let a block add its last bias and nothing else, by its weights instead of by a hook."""
    if isinstance(block, FeedForward):
        block.down.weight.zero_()
    else:
        block.value.weight.zero_()
        block.value.bias.zero_()


@pytest.mark.parametrize("share", ["all", "none"])
@pytest.mark.parametrize("half", ["ffn", "attention"])
def test_a_silenced_half_equals_one_that_adds_its_last_bias_only(half, share, stream):
    model = model_of(share)
    found = health(model, stream, batches=2)
    text = [stream.batch(0), stream.batch(1)]
    before = masked_loss(model, text)
    for block in getattr(model.albert.encoder, half):
        empty(block)
    assert found.loss == pytest.approx(before, abs=1e-5)
    expected = masked_loss(model, text)
    assert getattr(found, f"without_{half}") == pytest.approx(expected, abs=1e-5)
    assert expected != pytest.approx(before, abs=1e-3)


def test_one_application_of_a_shared_block_is_silenced_alone(stream):
    """The same weights unshared, where the block of one layer can be emptied by hand."""
    shared, unshared = model_of("all"), model_of("none")
    source = shared.state_dict()
    with torch.no_grad():
        for name, parameter in unshared.named_parameters():
            parts = name.split(".")
            if parts[1] == "encoder":
                parts[3] = "0"
            parameter.copy_(source[".".join(parts)])
    found = health(shared, stream, batches=1)
    text = [stream.batch(0)]
    for half in ("ffn", "attention"):
        expected = []
        for application in range(L):
            separate = copy.deepcopy(unshared)
            empty(getattr(separate.albert.encoder, half)[application])
            expected.append(masked_loss(separate, text))
        assert getattr(found, f"without_{half}_at") == pytest.approx(expected, abs=1e-5)


def test_a_block_whose_units_never_open_is_a_dead_half(stream):
    model = model_of()
    with torch.no_grad():
        model.albert.encoder.ffn[0].up.bias.fill_(-1000.0)
    found = health(model, stream, batches=1)
    assert found.open_units == [0.0] * L
    assert found.without_ffn == pytest.approx(found.loss, abs=1e-5)
    assert "feed-forward" in found.dead and not found.alive
    assert found.verdict().startswith("dead ")


def test_units_count_as_open_by_application(stream):
    model = model_of("none")
    F = model.config.ffn_size
    with torch.no_grad():
        for block, opened in zip(model.albert.encoder.ffn, (F, F // 4, 0), strict=True):
            block.up.weight.zero_()
            block.up.bias.fill_(-1.0)
            block.up.bias[:opened] = 1.0
    assert health(model, stream, batches=1).open_units == [1.0, 0.25, 0.0]


@pytest.mark.parametrize("answer", [0, 1])
def test_a_head_that_always_says_the_same_has_the_recalls_1_and_0(answer, stream):
    model = model_of()
    with torch.no_grad():
        model.sentence_order_head.weight.zero_()
        model.sentence_order_head.bias[answer] = 5.0
    found = health(model, stream, batches=2)
    assert found.order_accuracy == 0.5
    assert (found.recall_in_order, found.recall_swapped) == ((1.0, 0.0), (0.0, 1.0))[answer]


def test_without_pairs_there_are_no_recalls(story_text):
    stream = PretrainingStream(story_text.held_out, story_text.tokenizer, "none", 8, 32)
    found = health(model_of(), stream, batches=1)
    assert (found.order_accuracy, found.recall_in_order, found.recall_swapped) == (None,) * 3


def test_measuring_changes_neither_weights_nor_mode_nor_later_answers(stream):
    model = model_of().train()
    before = weights(model)
    batch = stream.batch(0)
    torch.manual_seed(1)
    loss = model(batch).loss.item()
    health(model, stream, batches=1)
    torch.manual_seed(1)
    assert model(batch).loss.item() == loss
    assert model.training and same_bits(before, weights(model))


def test_an_error_inside_leaves_no_block_silenced(stream):
    model = model_of()
    loss = masked_loss(model, [stream.batch(0)])
    with pytest.raises(ZeroDivisionError), silenced(model, "ffn"):
        raise ZeroDivisionError
    assert masked_loss(model, [stream.batch(0)]) == loss


@pytest.mark.parametrize(
    ("without_ffn", "without_attention", "opened", "dead", "closed"),
    [
        (4.5, 4.5, [0.6, 0.9], [], []),
        (4.29, 4.5, [0.6, 0.9], ["feed-forward"], []),
        (4.5, 4.29, [0.6, 0.9], ["attention"], []),
        (4.5, 4.5, [0.9, 0.4], [], [2]),
        (4.0, 4.0, [0.0, 0.0], ["attention", "feed-forward"], [1, 2]),
    ],
)
def test_a_half_is_dead_that_costs_less_than_0_3_nats_and_closed_units_are_no_life_either(
    without_ffn, without_attention, opened, dead, closed
):
    found = Health(4.0, without_ffn, without_attention, [], [], opened, None, None, None)
    assert found.dead == dead
    assert found.closed == closed
    assert found.alive == (not dead and not closed)
    assert found.verdict().startswith("alive") == found.alive


def test_a_unit_that_opens_in_padding_alone_is_closed():
    model = randomised(tiny(vocab_size=V), std=0.3)
    model.albert.encoder.ffn[0].up.bias.data.fill_(-2.0)
    batch = masked_batch()
    others = torch.where(batch.attention_mask.bool(), batch.token_ids, 9)
    other = dataclasses.replace(batch, token_ids=others)
    assert units_that_open(model, [batch]) == units_that_open(model, [other])


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_no_sign_of_life(loss):
    found = Health(loss, loss, loss, [], [], [1.0], None, None, None)
    assert not found.alive
    assert found.verdict().startswith("diverged: MLM loss")
    other = Health(4.0, math.nan, 6.0, [], [], [1.0], None, None, None)
    assert other.dead == ["feed-forward"]
