"""The measurement behind Figure 1, against a loop over single tokens; it changes nothing."""

import json
import math
from itertools import pairwise
from statistics import mean, stdev

import pytest
import torch

from albert_edu.analysis.similarity import _step, layer_similarity
from albert_edu.batch import PretrainingBatch
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining
from tests.model.batches import V, masked_batch
from tests.support import randomised, same_bits, tiny, weights

L = 3
MEASURES = "l2 l2_std angle_degrees angle_std".split()


def model_of(**changes) -> AlbertForPretraining:
    return randomised(tiny(**({"vocab_size": V, "num_layers": L} | changes)), std=0.3)


@pytest.fixture(params=["all", "none"])
def model(request) -> AlbertForPretraining:
    return model_of(share=request.param)


batch = pytest.fixture(masked_batch)


def assert_same(one, other):
    for name in MEASURES:
        torch.testing.assert_close(getattr(one, name), getattr(other, name), atol=1e-4, rtol=1e-5)


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(a @ b / math.sqrt(a @ a * (b @ b)))


@torch.no_grad()
def slow_similarity(model: AlbertForPretraining, batch: PretrainingBatch, beyond: int) -> dict:
    """One token at a time: put masked tokens back, compare its vector before and after a layer."""
    ids = batch.token_ids.clone()
    for b, k in (batch.masked_labels != -100).nonzero().tolist():
        ids[b, batch.masked_positions[b, k]] = batch.masked_labels[b, k]
    encoder, keep = model.albert.encoder, batch.attention_mask.bool()
    inputs = ids, batch.segment_ids, batch.attention_mask
    states = list(model.albert(*inputs, return_hidden_states=True).hidden_states)
    for _ in range(beyond):
        states.append(encoder.ffn[-1](encoder.attention[-1](states[-1], keep)))
    states = [state.double() for state in states]
    tokens = [(b, s) for b, s in batch.attention_mask.nonzero().tolist() if s > 0]
    rows = {name: [] for name in MEASURES}
    for before, after in pairwise(states):
        l2 = [math.dist(before[place], after[place]) for place in tokens]
        angles = [math.degrees(math.acos(cosine(before[p], after[p]))) for p in tokens]
        rows["l2"].append(mean(l2))
        rows["l2_std"].append(stdev(l2))
        rows["angle_degrees"].append(mean(angles))
        rows["angle_std"].append(stdev(angles))
    return rows


@pytest.mark.parametrize("beyond", [0, 2])
def test_every_curve_is_the_slow_mean_over_tokens_other_than_cls_and_padding(model, batch, beyond):
    result = layer_similarity(model, *batch.unmasked(), beyond=beyond)
    expected = slow_similarity(model, batch, beyond)
    for name in MEASURES:
        slow = torch.tensor(expected[name]).double()
        torch.testing.assert_close(getattr(result, name), slow, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("training", [True, False])
def test_measuring_is_without_dropout_keeps_no_graph_and_leaves_the_model_alone(batch, training):
    model = model_of(hidden_dropout=0.5, attention_dropout=0.5)
    expected = layer_similarity(model.eval(), *batch.unmasked())
    before = weights(model)
    result = layer_similarity(model.train(training), *batch.unmasked())
    assert_same(result, expected)
    assert all(module.training == training for module in model.modules())
    assert same_bits(model, before) and all(p.grad is None for p in model.parameters())
    assert not any(getattr(result, name).requires_grad for name in MEASURES)


def test_results_are_stored_as_plain_numbers(model, batch):
    result = layer_similarity(model, *batch.unmasked(), beyond=1)
    stored = json.loads(json.dumps(result.as_lists(), allow_nan=False))
    assert [*stored] == MEASURES
    assert stored["l2"] == pytest.approx(result.l2.tolist(), abs=1e-4)


def test_a_thousandth_of_a_degree_is_told_from_none():
    before = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    turn = torch.tensor(1e-3).deg2rad()
    after = before + turn * before.flip(1)
    assert _step(before, after)[2] == pytest.approx(1e-3, rel=1e-3)


def test_what_cannot_be_measured_is_refused(model, batch):
    ids, segments, mask = batch.unmasked()
    with pytest.raises(InputError, match="there must be two tokens to measure"):
        layer_similarity(model, ids[:1, :2], segments[:1, :2], mask[:1, :2])
    with pytest.raises(InputError, match="two tokens"):
        layer_similarity(model, ids, segments, torch.zeros_like(mask))
    with pytest.raises(InputError, match=r"beyond must be a whole number from 0 .* got -1"):
        layer_similarity(model, ids, segments, mask, beyond=-1)
