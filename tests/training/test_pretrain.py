"""The training loop: what a step is, and what it may depend on."""

import subprocess
import sys

import pytest
import torch

from albert_edu.analysis.counting import saved_bytes
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import pretrain as module
from albert_edu.training.history import History
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from albert_edu.training.step import forward_backward
from albert_edu.training.workers import Workers
from tests.support import same_bits, timeless, tiny, weights
from tests.training.runs import DROPOUT, lopsided_stream, small_stream, trained


def distance(one: dict, other: dict) -> float:
    return max((one[name] - other[name]).abs().max().item() for name in one)


stream = pytest.fixture(small_stream)
lopsided = pytest.fixture(lopsided_stream)


@pytest.fixture
def gradient_descent(monkeypatch):
    """With plain gradient descent and rate 1 the step is the gradient."""
    monkeypatch.setattr(
        module,
        "make_optimizer",
        lambda model, settings: torch.optim.SGD(model.parameters(), lr=1.0),
    )


def test_cutting_a_batch_into_parts_changes_no_weight(lopsided):
    # Because Adam's m / sqrt(v) blows the rounding of a tiny gradient up to 1e-6 of float32.
    def in_float64(accumulate: int) -> tuple[dict, History]:
        return trained(lopsided, tiny().double(), accumulate=accumulate)

    whole, history = in_float64(1)
    for parts in (2, 11):  # with 11 some have no sequence
        cut, cut_history = in_float64(parts)
        assert distance(whole, cut) < 1e-6  # a mean of the parts' means would be 1e-4 away
        for a, b in zip(*(timeless(each.records) for each in (history, cut_history)), strict=True):
            assert a == pytest.approx(b, rel=1e-5)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_gradient_is_that_of_the_loss_and_clipping_shortens_it_as_a_whole(
    stream, gradient_descent, accumulate
):
    start, step = tiny(), dict(steps=1, learning_rate=1.0, accumulate=accumulate)
    start(stream.batch(0)).loss.backward()

    def gradient(clip: float) -> tuple[torch.Tensor, float]:
        after, history = trained(stream, clip_norm=clip, **step)
        moved = [(before - after[name]).flatten() for name, before in weights(start).items()]
        return torch.cat(moved), history.last("gradient_norm")

    expected = torch.cat([p.grad.flatten() for p in start.parameters()])
    norm = expected.norm().item()
    for clip, factor in ((1e9, 1), (0.0, 1), (0.01, 0.01 / norm)):  # 0 never clips
        clipped, recorded = gradient(clip)  # the record has the norm before clipping
        torch.testing.assert_close(clipped, expected * factor, rtol=1e-3, atol=2e-7)
        assert recorded == pytest.approx(norm, rel=1e-4) and norm > 0.1


def test_bfloat16_stays_finite_keeps_float32_weights_and_stays_near_float32(stream):
    (exact, history), (rounded, half) = trained(stream), trained(stream, precision="bfloat16")
    assert all(w.dtype == torch.float32 and w.isfinite().all() for w in rounded.values())
    loss = history.last("masked_token_loss")
    assert half.last("masked_token_loss") == pytest.approx(loss, abs=0.05)
    assert not same_bits(exact, rounded)  # it did use it


def test_the_applications_of_a_shared_block_add_up_their_gradients_in_float32(stream):
    model = tiny()
    settings = TrainSettings(steps=1, precision="bfloat16")
    forward_backward(model, stream.batch(0), settings, 0, Workers())
    gradient = model.albert.encoder.ffn[0].up.weight.grad
    assert not torch.equal(gradient, gradient.bfloat16().float())  # a sum in bfloat16 would be one


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_without_an_order_objective_the_pooler_and_the_order_head_stay(story_text, optimizer):
    # A gradient of zeros is not no gradient: LAMB would shrink these matrices at every step.
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "none", 8, 32)
    before, after = weights(tiny()), trained(stream, optimizer=optimizer)[0]
    order = {name for name in before if name.startswith(("albert.pooler", "sentence_order_head"))}
    assert {name for name in before if torch.equal(before[name], after[name])} == order


@pytest.mark.parametrize(
    "changes", [{"num_layers": 4}, {"num_layers": 4, "share": "none"}], ids=str
)
def test_gradient_checkpointing_stores_less_and_changes_no_bit(stream, changes):
    ends, stored = [], []
    for recompute in (False, True):
        model = tiny(**DROPOUT, **changes)
        settings = TrainSettings(3, 1e-3, gradient_checkpointing=recompute, accumulate=2)
        pretrain(model, stream, settings, None, "cpu", describe=None)
        ends.append(weights(model))
        stored.append(saved_bytes(lambda model=model: model(stream.batch(0)), model))
    assert same_bits(*ends) and stored[1] < stored[0] / 2


def test_the_training_step_alone_is_compiled(monkeypatch, stream):
    calls = []

    def compile_nothing(model):
        wrapper = torch.nn.Sequential(model)
        wrapper.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled()))
        return wrapper

    monkeypatch.setattr(torch, "compile", compile_nothing)
    fast, plain = (
        trained(stream, held_out=stream, evaluate_every=1, compile=way)[0] for way in (True, False)
    )
    assert calls == [True] * 4 and same_bits(fast, plain)


ONE_GRAPH = """
import functools, torch
from albert_edu import AlbertConfig, AlbertForPretraining
from albert_edu.training.settings import compiled
from albert_paper.bench import random_batch
torch.compile = functools.partial(torch.compile, backend="eager", fullgraph=True)
model = AlbertForPretraining(AlbertConfig.named("albert-tiny"))
compiled(model)(random_batch("albert-tiny", 2)).loss.backward()
model.albert.encoder.gradient_checkpointing = True
compiled(model)(random_batch("albert-tiny", 2)).loss.backward()
"""


def test_the_model_compiles_to_one_graph():
    # In a process of its own: the tests' checks of shapes would break the graph.
    assert subprocess.run([sys.executable, "-c", ONE_GRAPH]).returncode == 0


def test_the_seed_decides_dropout_and_the_callers_random_state_neither_decides_nor_changes(stream):
    def run(seed: int, callers: int) -> dict:
        model = tiny(**DROPOUT)
        torch.manual_seed(callers)
        state = torch.get_rng_state()
        after = trained(stream, model, seed=seed)[0]
        assert torch.equal(torch.get_rng_state(), state)
        return after

    assert same_bits(run(0, callers=1), run(0, callers=2))
    assert not same_bits(run(0, callers=1), run(1, callers=1))


def test_dropout_differs_from_step_to_step(stream):
    first, seen, model = stream.batch(0), [], tiny(hidden_dropout=0.5)
    stream.batch = lambda step: first
    dropout = model.albert.embeddings.dropout
    dropout.register_forward_hook(lambda layer, inputs, output: seen.append(output == 0))
    trained(stream, model, steps=2, learning_rate=0.0)
    assert 0.4 < seen[0].float().mean() < 0.6 and not torch.equal(*seen)


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (3, 5), (0, 30), (25, 30)])
def test_batches_built_ahead_for_a_card_are_each_step_once_and_in_order(stream, start, stop):
    """No card here, so they go to "meta", which keeps shapes; what the stream is asked counts."""
    requests, whole = [], stream.batch
    stream.batch = lambda step: requests.append(step) or whole(step)
    batches = dict(module._batches(stream, range(start, stop), torch.device("meta")))
    assert all(batch.token_ids.is_meta for batch in batches.values())
    assert [*batches] == sorted(requests) == list(range(start, stop))


def test_another_optimizer_can_take_the_place_of_the_one_in_the_settings(stream):
    built = []

    def build(model, settings) -> torch.optim.Optimizer:
        built.append(torch.optim.SGD(model.parameters(), lr=1.0))
        return built[-1]

    pretrain(tiny(), stream, TrainSettings(steps=2), describe=None, build_optimizer=build)
    assert len(built) == 1 and built[0].param_groups[0]["lr"] == pytest.approx(5e-4), (
        "its last rate"
    )
