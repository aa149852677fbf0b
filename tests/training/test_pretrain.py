"""The training loop: what a step is and may depend on, what it writes down, and how it stops."""

import copy
import math
import subprocess
import sys

import pytest
import torch

from albert_edu.analysis.counting import saved_bytes
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.training import pretrain as module
from albert_edu.training.evaluate import MARGIN, Baselines, evaluate
from albert_edu.training.history import History
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, learning_rate
from albert_edu.training.step import NonFiniteLoss, forward_backward
from albert_edu.training.workers import Workers, pick_device
from tests.support import same_bits, timeless, tiny, weights

DROPOUT = {"hidden_dropout": 0.1, "attention_dropout": 0.1}


def distance(one: dict, other: dict) -> float:
    return max((one[name] - other[name]).abs().max().item() for name in one)


@pytest.fixture
def stream(story_text) -> PretrainingStream:
    return PretrainingStream(story_text.train, story_text.tokenizer, "sop", 8, 32)


@pytest.fixture
def gradient_descent(monkeypatch):
    """With plain gradient descent and rate 1 the step is the gradient."""
    monkeypatch.setattr(
        module,
        "make_optimizer",
        lambda model, settings: torch.optim.SGD(model.parameters(), lr=1.0),
    )


@pytest.fixture
def lopsided(stream) -> PretrainingStream:
    """Every other sequence has one masked token left, so the parts of a batch differ in that."""
    whole = stream.batch

    def batch(step: int):
        made = whole(step)
        made.masked_labels[1::2, 1:] = IGNORE
        return made

    stream.batch = batch
    return stream


def trained(stream, model=None, held_out=None, **settings) -> tuple[dict, History]:
    model = model or tiny()
    run = TrainSettings(**{"steps": 4, "learning_rate": 1e-3, "log_every": 2, **settings})
    history = pretrain(model, stream, run, None, "cpu", held_out)
    return weights(model), history


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_cutting_a_batch_into_parts_changes_no_weight(lopsided, optimizer):
    # Because Adam's m / sqrt(v) blows the rounding of a tiny gradient up to 1e-6 of float32.
    def in_float64(accumulate: int) -> tuple[dict, History]:
        return trained(lopsided, tiny().double(), optimizer=optimizer, accumulate=accumulate)

    whole, history = in_float64(1)
    for parts in (2, 4, 11):  # with 11 some have no sequence
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
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_gradient_checkpointing_stores_less_and_changes_no_bit(stream, changes, dropout):
    ends, stored = [], []
    for recompute in (False, True):
        model = tiny(hidden_dropout=dropout, attention_dropout=dropout, **changes)
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
model.albert.encoder.recompute = True
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


def test_watching_more_closely_changes_no_weight(stream, story_text, tmp_path):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    model = tiny(**DROPOUT)
    often = dict(checkpoint_every=1, log_every=1, evaluate_every=1)
    run = TrainSettings(4, 1e-3, **often)
    pretrain(model, stream, run, tmp_path, "cpu", held_out)
    assert same_bits(model, trained(stream, tiny(**DROPOUT))[0])


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_record_is_the_mean_over_all_tokens_since_the_last_record(lopsided, accumulate):
    # At rate 0 the weights stand still, so evaluation of these batches gives the same numbers.
    model, run = tiny(), dict(learning_rate=0.0, steps=5, log_every=3, accumulate=accumulate)
    history = trained(lopsided, model, **run)[1]
    assert [record["step"] for record in history.records] == [3, 5]
    later = copy.copy(lopsided)
    later.batch = lambda step: lopsided.batch(step + 3)
    for record, stream, batches in zip(history.records, (lopsided, later), (3, 2), strict=True):
        expected = evaluate(model, stream, batches)
        both = expected.keys() & record.keys()
        assert {"masked_token_loss", "sentence_order_accuracy"} <= both
        for name in both:
            assert record[name] == pytest.approx(expected[name], rel=1e-5), name


def test_a_record_has_the_rate_of_its_step_and_the_scores_of_its_weights(stream, story_text):
    held_out = PretrainingStream(story_text.held_out, story_text.tokenizer, "sop", 4, 32)
    model = tiny()
    settings = dict(steps=7, log_every=3, warmup_steps=2, evaluate_every=4)
    history = trained(stream, model, held_out, **settings)[1]
    assert history.column("masked_token_loss")[0] == [3, 6, 7]
    assert history.column("held_out_masked_token_loss")[0] == [4, 7]
    run = TrainSettings(learning_rate=1e-3, **settings)
    assert history.column("learning_rate")[1] == [learning_rate(step, run) for step in (2, 5, 6)]
    after = evaluate(model, held_out)
    last = history.records[-1]  # measured on the weights that it returns
    assert {name: last[f"held_out_{name}"] for name in after} == after
    assert min(history.column("seconds")[1]) > 0 and model.training


def test_the_verdict_reads_the_held_out_loss_if_there_is_one_and_knows_a_run_of_no_steps(stream):
    assert trained(stream, steps=0)[1].verdict().startswith("not trained")
    history = History(Baselines(5.3, 4.3, 4.0), [{"step": 1, "masked_token_loss": 4.0}])
    assert history.verdict().startswith("below the unigram baseline")
    history.records.append({"step": 2, "held_out_masked_token_loss": 4.3 - MARGIN / 2})
    assert history.verdict().startswith("not below the unigram baseline")
    assert history.column("masked_token_loss") == ([1], [4.0])


def test_a_device_is_the_cpu_unless_there_is_a_card_or_one_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert {str(pick_device(name)) for name in (None, "auto", torch.device("cpu"))} == {"cpu"}
    for name in ("tpu", "meta", "cuda:99", ""):
        with pytest.raises(ValueError, match=f"no device '{name}' on which torch .* Give cpu or"):
            pick_device(name)


def test_each_worker_has_a_card_of_its_own(monkeypatch):
    def zeros(*size, dtype, device):
        if str(device) == "cuda:4":
            raise RuntimeError("invalid device ordinal")
        return torch.ones(*size)

    monkeypatch.setattr(torch, "zeros", zeros)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert {str(pick_device(name)) for name in ("auto", torch.device("cuda"))} == {"cuda:0"}
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert str(pick_device("cuda")) == "cuda:0", "one process is no worker of torchrun"
    for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "5")
    assert [str(pick_device(name)) for name in ("auto", "cuda", "cpu")] == ["cuda:3"] * 2 + ["cpu"]
    monkeypatch.setenv("LOCAL_RANK", "4")
    with pytest.raises(ValueError, match=r"'cuda:4'.* at most as many workers as .* cards"):
        pick_device("auto")


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (3, 5), (0, 30), (25, 30)])
def test_batches_built_ahead_for_a_card_are_each_step_once_and_in_order(stream, start, stop):
    """No card here, so they go to "meta", which keeps shapes; what the stream is asked counts."""
    requests, whole = [], stream.batch
    stream.batch = lambda step: requests.append(step) or whole(step)
    batches = dict(module._batches(stream, range(start, stop), torch.device("meta")))
    assert all(batch.token_ids.is_meta for batch in batches.values())
    assert [*batches] == sorted(requests) == list(range(start, stop))


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"max_positions": 16}, r"sequence of 32 tokens.*max_positions is 16"),
        ({"vocab_size": 150}, r"the tokenizer has 190 tokens, the model's vocab_size is 150"),
    ],
)
def test_a_model_smaller_than_what_the_stream_holds_is_refused_by_name(stream, size, message):
    with pytest.raises(ValueError, match=message):
        trained(stream, tiny(**size))


def test_a_gradient_that_is_not_finite_stops_the_run_before_the_step_and_is_named(stream):
    model, factors = tiny(), iter([1, 1, 1, math.inf])
    model.masked_token_head.dense.bias.register_hook(lambda gradient: gradient * next(factors))
    with pytest.raises(NonFiniteLoss, match=r"step 3\b.*gradient of masked_token_head\.dense\."):
        trained(stream, model, steps=6)
    assert all(w.isfinite().all() for w in weights(model).values())


def test_weights_ruined_by_the_last_step_are_no_result(stream, tmp_path, monkeypatch):
    model, make = tiny(), module.make_optimizer

    def ruinous(model, settings):
        optimizer = make(model, settings)
        optimizer.register_step_post_hook(lambda *_: model.albert.pooler.bias.data.fill_(math.inf))
        return optimizer

    monkeypatch.setattr(module, "make_optimizer", ruinous)
    with pytest.raises(NonFiniteLoss, match=r"albert\.pooler\.bias"):
        pretrain(model, stream, TrainSettings(1), tmp_path, "cpu")
    assert not list(tmp_path.glob("step-*"))  # nor kept as a good checkpoint


def test_what_is_observed_goes_into_the_records_and_changes_no_bit(stream):
    seen = []

    def observe(model) -> dict:
        seen.append(model.training)
        return {"norm": model.sentence_order_head.weight.norm().item()}

    plain, watched = tiny(), tiny()
    settings = TrainSettings(steps=5, log_every=5, evaluate_every=2)
    pretrain(plain, stream, settings, describe=None)
    history = pretrain(watched, stream, settings, describe=None, observe=observe)
    assert history.column("norm")[0] == [2, 4, 5] and seen == [True] * 3
    assert same_bits(plain, watched)


def test_another_optimizer_can_take_the_place_of_the_one_in_the_settings(stream):
    built = []

    def build(model, settings) -> torch.optim.Optimizer:
        built.append(torch.optim.SGD(model.parameters(), lr=1.0))
        return built[-1]

    pretrain(tiny(), stream, TrainSettings(steps=2), describe=None, build_optimizer=build)
    assert len(built) == 1 and built[0].param_groups[0]["lr"] == pytest.approx(5e-4), (
        "its last rate"
    )
