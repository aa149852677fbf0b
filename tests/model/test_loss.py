"""What the two losses are means of, and what must never move them."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining, mean_loss
from albert_edu.text.batches import PretrainingBatch

V, H, S = 30, 16, 8


@pytest.fixture
def model() -> AlbertForPretraining:
    model = AlbertForPretraining(
        AlbertConfig(vocab_size=V, embedding_size=8, hidden_size=H, num_layers=2, num_heads=2, max_positions=S)
    )
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=0.4)
    return model.eval()


@pytest.fixture
def batch() -> PretrainingBatch:
    """Four masked tokens in the first row, one in the second, none in the third; the third pair has no order."""
    return PretrainingBatch(
        token_ids=torch.randint(5, V, (3, S)), segment_ids=torch.tensor([[0] * 4 + [1] * 4] * 3),
        attention_mask=torch.tensor([[1] * 8, [1] * 6 + [0] * 2, [1] * 8]),
        masked_positions=torch.tensor([[1, 2, 5, 7], [3, 0, 0, 0], [0, 0, 0, 0]]),
        masked_labels=torch.tensor([[6, 7, 8, 9], [10, -100, -100, -100], [-100] * 4]), order_labels=torch.tensor([0, 1, -100]),
    )  # fmt: skip


def test_four_tokens_by_hand():
    """The right token gets 1/2, 1/4 and 1/8, and one label is not to be predicted: (1 + 2 + 3) ln 2 / 3 = 2 ln 2."""
    logits = torch.tensor([[1 / 2, 1 / 4, 1 / 4], [1 / 4, 1 / 4, 1 / 2], [7 / 16, 1 / 8, 7 / 16], [0.9, 0.05, 0.05]]).log()
    assert mean_loss(logits, torch.tensor([0, 1, 1, -100])).item() == pytest.approx(2 * math.log(2), rel=1e-6)


@given(st.integers(0, 2**16), st.integers(1, 3), st.integers(1, 4), st.integers(2, 6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_loss_is_the_slow_mean_over_labelled_tokens(seed, rows, slots, classes):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, slots, classes, generator=generator)
    labels = torch.randint(-1, classes, (rows, slots), generator=generator)
    labels[labels < 0] = -100
    terms = [
        math.log(sum(math.exp(x) for x in logits[b, k].tolist())) - logits[b, k, labels[b, k]].item()
        for b in range(rows) for k in range(slots) if labels[b, k] >= 0
    ]  # fmt: skip
    assert mean_loss(logits, labels).item() == pytest.approx(sum(terms) / max(1, len(terms)), abs=1e-5)


def test_the_masked_token_head_by_hand(model):
    head, hidden = model.masked_token_head, torch.randn(5, H)
    inner = F.gelu(F.linear(hidden, head.dense.weight, head.dense.bias), approximate="tanh")
    inner = F.layer_norm(inner, (8,), head.norm.weight, head.norm.bias, eps=1e-12)
    expected = inner @ model.albert.embeddings.word.weight.T + head.decoder.bias
    torch.testing.assert_close(head(hidden), expected, atol=1e-5, rtol=1e-5)


def test_each_masked_token_weighs_the_same_however_many_its_row_has(model, batch):
    output = model(batch)
    hidden = model.albert(batch.token_ids, batch.segment_ids, batch.attention_mask).last_hidden
    log_p = model.masked_token_head(hidden).log_softmax(-1)  # here at every position
    expected = -(log_p[0, 1, 6] + log_p[0, 2, 7] + log_p[0, 5, 8] + log_p[0, 7, 9] + log_p[1, 3, 10]) / 5
    torch.testing.assert_close(output.masked_token_loss, expected)
    torch.testing.assert_close(output.loss, output.masked_token_loss + output.sentence_order_loss)


def test_losses_of_parts_weighted_by_their_counts_are_the_loss_of_the_whole(model, batch):
    """What accumulation and several workers rely on: divide by the global count, not by the number of parts."""
    parts = [batch.rows(slice(0, 1)), batch.rows(slice(1, 3))]
    outputs = [model(part) for part in parts]
    masked = sum(part.num_masked * output.masked_token_loss for part, output in zip(parts, outputs, strict=True))
    torch.testing.assert_close(masked / batch.num_masked, model(batch).masked_token_loss)
    assert not torch.allclose(sum(output.masked_token_loss for output in outputs) / 2, masked / batch.num_masked, atol=1e-2)


def test_only_masked_positions_get_a_gradient_through_the_masked_token_head(model, batch):
    seen = []
    model.albert.register_forward_hook(lambda _, __, output: seen.append(output.last_hidden))
    gradient = torch.autograd.grad(model(batch).masked_token_loss, seen[0])[0]
    masked = torch.zeros(3, S, dtype=torch.bool)
    masked[0, [1, 2, 5, 7]] = masked[1, 3] = True
    assert (gradient[~masked] == 0).all()  # exactly; position 0, which unused slots point at, included
    assert (gradient[masked].norm(dim=-1) > 1e-6).all()


def test_unused_slots_move_nothing_wherever_they_point(model, batch):
    unused = batch.masked_labels == -100
    elsewhere = torch.where(unused, torch.randint(0, S, unused.shape), batch.masked_positions)
    before, after = model(batch), model(replace(batch, masked_positions=elsewhere))
    assert not torch.allclose(before.masked_token_logits, after.masked_token_logits)
    assert torch.equal(before.loss, after.loss)
    gradient = torch.autograd.grad(after.loss, after.masked_token_logits)[0]
    assert (gradient[unused] == 0).all()
    assert (gradient[~unused] != 0).all()


def test_the_decoder_runs_on_masked_slots_only(model, batch):
    seen = []
    model.masked_token_head.decoder.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[:-1].numel()))
    assert model(batch).masked_token_logits.shape == (3, 4, V)
    assert seen == [3 * 4]


def test_the_order_of_the_slots_is_not_important(model, batch):
    back = replace(batch, masked_positions=batch.masked_positions.flip(1), masked_labels=batch.masked_labels.flip(1))
    torch.testing.assert_close(model(back).loss, model(batch).loss)
    assert torch.equal(model(back).masked_token_logits.flip(1), model(batch).masked_token_logits)


def test_without_masked_tokens_the_loss_is_0_and_so_is_every_gradient(model, batch):
    nothing = replace(batch, masked_labels=torch.full((3, 4), -100), order_labels=torch.full((3,), -100))
    output = model(nothing)
    assert (output.loss, output.masked_token_loss, output.sentence_order_loss) == (0, 0, 0)
    for gradient in torch.autograd.grad(output.loss, list(model.parameters())):
        assert (gradient == 0).all()


def test_the_order_loss_is_the_cross_entropy_of_label_0_in_order_and_1_swapped(model, batch):
    output = model(batch)
    (in_order, _), (_, swapped), _ = output.sentence_order_logits.softmax(-1).tolist()
    assert output.sentence_order_loss.item() == pytest.approx(-(math.log(in_order) + math.log(swapped)) / 2, rel=1e-5)


def test_pairs_without_an_order_are_ignored(model, batch):
    two = batch.rows(slice(0, 2))
    torch.testing.assert_close(model(batch).sentence_order_loss, model(two).sentence_order_loss)
    none = model(replace(batch, order_labels=torch.full((3,), -100)))
    assert none.sentence_order_loss == 0
    assert torch.equal(none.loss, none.masked_token_loss)


def test_swapping_the_two_classes_and_the_labels_together_changes_no_loss(model, batch):
    before = model(batch).sentence_order_loss
    other = replace(batch, order_labels=torch.tensor([1, 0, -100]))
    assert not torch.isclose(model(other).sentence_order_loss, before, atol=1e-3)
    with torch.no_grad():
        for parameter in model.sentence_order_head.parameters():
            parameter.copy_(parameter.flip(0).clone())
    torch.testing.assert_close(model(other).sentence_order_loss, before)


def test_the_order_loss_reaches_the_first_token_of_labelled_pairs_only(model, batch):
    seen = []
    model.albert.register_forward_hook(lambda _, __, output: seen.append(output.last_hidden))
    gradient = torch.autograd.grad(model(batch).sentence_order_loss, seen[0])[0].norm(dim=-1)
    assert (gradient[:2, 0] > 1e-6).all()
    assert (gradient[:, 1:] == 0).all()
    assert gradient[2, 0] == 0


def test_half_precision_logits_are_averaged_in_float32():
    logits, labels = torch.randn(4000, V).bfloat16(), torch.randint(0, V, (4000,))
    loss = mean_loss(logits, labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, mean_loss(logits.float(), labels))
