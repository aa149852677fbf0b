"""The measurement behind Figure 1, against a loop over single tokens, and the things that must not enter it."""

import json
import math
from dataclasses import replace

import pytest
import torch

from albert_edu.analysis.similarity import layer_similarity
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch

V, S, L = 60, 10, 3
MEASURES = ("l2", "l2_std", "angle_degrees", "angle_std", "cosine", "cls_l2", "cls_angle_degrees", "update_cosine")


def model_of(**changes) -> AlbertForPretraining:
    shape = dict(vocab_size=V, embedding_size=8, hidden_size=16, num_layers=L, num_heads=2, max_positions=16)
    model = AlbertForPretraining(AlbertConfig(**(shape | changes)))
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=0.3)
    return model.eval()


@pytest.fixture(params=["all", "none"])
def model(request) -> AlbertForPretraining:
    return model_of(share=request.param)


@pytest.fixture
def batch() -> PretrainingBatch:
    """Sequences of 10, 7 and 4 tokens with three, one and no masked tokens."""
    mask = (torch.arange(S) < torch.tensor([10, 7, 4])[:, None]).long()
    return PretrainingBatch(
        token_ids=torch.randint(5, V, (3, S)) * mask, segment_ids=(torch.arange(S) >= 3).long() * mask, attention_mask=mask,
        masked_positions=torch.tensor([[1, 4, 9], [5, 0, 0], [0, 0, 0]]),
        masked_labels=torch.tensor([[6, 7, 8], [9, -100, -100], [-100, -100, -100]]), order_labels=torch.tensor([0, 1, -100]),
    )  # fmt: skip


def assert_same(one, other):
    for name in MEASURES:
        torch.testing.assert_close(getattr(one, name), getattr(other, name), atol=1e-4, rtol=1e-5)


def distance(a: list[float], b: list[float]) -> float:
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def mean_and_std(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


@torch.no_grad()
def slow_similarity(model: AlbertForPretraining, batch: PretrainingBatch, beyond: int) -> dict[str, list[float]]:
    """One token at a time: put masked tokens back, then compare a token's vector before and after each layer."""
    ids = batch.token_ids.clone()
    for b, k in (batch.masked_labels != -100).nonzero().tolist():
        ids[b, batch.masked_positions[b, k]] = batch.masked_labels[b, k]
    states = list(model.albert(ids, batch.segment_ids, batch.attention_mask, return_hidden_states=True).hidden_states)
    encoder, keep = model.albert.encoder, batch.attention_mask.bool()
    for _ in range(beyond):
        states.append(encoder.ffn[-1](encoder.attention[-1](states[-1], keep)))
    states = [state.tolist() for state in states]
    tokens = [(b, s) for b, s in batch.attention_mask.nonzero().tolist() if s > 0]
    rows = {name: [] for name in MEASURES}
    for step in range(1, len(states)):
        before, after = states[step - 1], states[step]
        l2 = mean_and_std([distance(before[b][s], after[b][s]) for b, s in tokens])
        angle = mean_and_std([math.degrees(math.acos(cosine(before[b][s], after[b][s]))) for b, s in tokens])
        rows["l2"].append(l2[0])
        rows["l2_std"].append(l2[1])
        rows["angle_degrees"].append(angle[0])
        rows["angle_std"].append(angle[1])
        rows["cosine"].append(sum(cosine(before[b][s], after[b][s]) for b, s in tokens) / len(tokens))
        cls = [(before[b][0], after[b][0]) for b in range(len(ids))]
        rows["cls_l2"].append(sum(distance(*pair) for pair in cls) / len(cls))
        rows["cls_angle_degrees"].append(sum(math.degrees(math.acos(cosine(*pair))) for pair in cls) / len(cls))
        if step > 1:
            moves = [[[y - x for x, y in zip(states[i - 1][b][s], states[i][b][s], strict=True)] for i in (step - 1, step)]
                     for b, s in tokens]  # fmt: skip
            rows["update_cosine"].append(sum(cosine(*pair) for pair in moves) / len(moves))
    return rows


@pytest.mark.parametrize("beyond", [0, 2])
def test_every_curve_is_the_slow_mean_over_tokens_other_than_cls_and_padding(model, batch, beyond):
    result, expected = layer_similarity(model, batch, beyond), slow_similarity(model, batch, beyond)
    assert result.num_layers == L
    for name in MEASURES:
        torch.testing.assert_close(getattr(result, name), torch.tensor(expected[name]).double(), atol=1e-4, rtol=1e-4)


def test_going_beyond_the_last_layer_leaves_the_first_steps_alone(model, batch):
    trained, longer = layer_similarity(model, batch), layer_similarity(model, batch, beyond=4)
    assert (len(trained.l2), len(longer.l2), len(longer.update_cosine)) == (L, L + 4, L + 3)
    for name in MEASURES:
        usual = len(getattr(trained, name))
        torch.testing.assert_close(getattr(longer, name)[:usual], getattr(trained, name))


def test_one_layer_makes_one_step_and_no_turn(batch):
    result = layer_similarity(model_of(num_layers=1), batch)
    assert (result.l2.shape, result.update_cosine.shape) == ((1,), (0,))


def test_what_stands_in_masked_places_and_in_the_padding_does_not_matter(model, batch):
    ids = batch.token_ids.clone()
    ids[0, [1, 4, 9]], ids[1, 5] = 4, 4  # [MASK]
    padding = batch.attention_mask == 0
    garbage = torch.where(padding, torch.randint(5, V, ids.shape), ids)
    assert_same(layer_similarity(model, replace(batch, token_ids=garbage)), layer_similarity(model, batch))


def test_labels_of_the_pair_and_unused_slots_do_not_matter(model, batch):
    other = replace(batch, order_labels=1 - batch.order_labels.clamp(min=0), masked_positions=torch.where(
        batch.masked_labels == -100, 2, batch.masked_positions))  # fmt: skip
    assert_same(layer_similarity(model, other), layer_similarity(model, batch))


def test_unmasked_tokens_do_matter(model, batch):
    ids = batch.token_ids.clone()
    ids[0, 2] = ids[0, 2] % (V - 5) + 5
    assert not torch.allclose(layer_similarity(model, replace(batch, token_ids=ids)).l2, layer_similarity(model, batch).l2)


def test_at_equal_norms_the_distance_is_the_chord_of_the_angle(batch):
    """At unit gain every output has norm sqrt(H), so L2 = 2 sqrt(H) sin(angle / 2); not so from the embedding."""
    model = model_of()
    for block in (*model.albert.encoder.attention, *model.albert.encoder.ffn):
        torch.nn.init.ones_(block.norm.weight)
        torch.nn.init.zeros_(block.norm.bias)
    result = layer_similarity(model, batch.rows(slice(0, 1)), beyond=2)  # one sequence, so that [CLS] is no mean
    chord = 2 * math.sqrt(16) * torch.sin(torch.deg2rad(result.cls_angle_degrees) / 2)
    torch.testing.assert_close(result.cls_l2[1:], chord[1:], atol=1e-4, rtol=1e-4)
    assert (result.cls_l2[0] - chord[0]).abs() > 0.1
    assert (result.cls_angle_degrees > 1).all()


def test_layers_that_add_nothing_stand_still(batch):
    model = model_of()
    for block in (*model.albert.encoder.attention, *model.albert.encoder.ffn):
        last = block.output if hasattr(block, "output") else block.down
        for parameter, value in ((last.weight, 0), (last.bias, 0), (block.norm.weight, 1), (block.norm.bias, 0)):
            torch.nn.init.constant_(parameter, value)
    result = layer_similarity(model, batch)
    still = torch.zeros(L - 1).double()
    torch.testing.assert_close(result.l2[1:], still, atol=1e-4, rtol=0)
    torch.testing.assert_close(result.angle_degrees[1:], still, atol=1e-2, rtol=0)
    torch.testing.assert_close(result.cosine[1:], still + 1)


def test_a_layer_that_swings_back_has_a_turn_of_minus_one_and_a_steady_one_of_plus_one(batch):
    """Layers replaced by movements we know: x -> -x turns by 180 degrees each time; x -> 2x never turns."""
    for factor, angle, turn in ((-1.0, 180.0, -1.0), (2.0, 0.0, 1.0)):
        model = model_of()
        model.albert.encoder.steps = lambda x, keep, beyond, factor=factor: (x * factor ** (i + 1) for i in range(L + beyond))
        result = layer_similarity(model, batch, beyond=1)
        torch.testing.assert_close(result.angle_degrees, torch.full((L + 1,), angle).double(), atol=1e-3, rtol=0)
        torch.testing.assert_close(result.update_cosine, torch.full((L,), turn).double())


def test_the_encoder_alone_and_the_pre_training_model_give_the_same(model, batch):
    assert_same(layer_similarity(model.albert, batch), layer_similarity(model, batch))


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_while_measuring_and_the_model_is_left_as_it_was(batch, training):
    model = model_of(hidden_dropout=0.5, attention_dropout=0.5)
    expected = layer_similarity(model.eval(), batch)
    model.train(training)
    assert_same(layer_similarity(model, batch), expected)
    assert all(module.training == training for module in model.modules())


def test_a_measurement_that_fails_leaves_the_model_as_it_was(batch):
    model = model_of(max_positions=S - 1).train()
    with pytest.raises(ValueError, match="max_positions"):
        layer_similarity(model, batch)
    assert all(module.training for module in model.modules())


def test_measuring_keeps_no_graph_and_touches_no_weight(model, batch):
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    result = layer_similarity(model, batch)
    assert not any(getattr(result, name).requires_grad for name in MEASURES)
    assert all(torch.equal(parameter, before[name]) and parameter.grad is None for name, parameter in model.named_parameters())


def test_results_are_stored_as_plain_numbers(model, batch):
    result = layer_similarity(model, batch, beyond=1)
    stored = json.loads(json.dumps(result.as_lists(), allow_nan=False))
    assert stored.keys() == {"num_layers", *MEASURES}
    assert stored["num_layers"] == L
    for name in MEASURES:
        torch.testing.assert_close(torch.tensor(stored[name]).double(), getattr(result, name), atol=1e-4, rtol=0)
