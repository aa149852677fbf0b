"""A run trains in stages, goes on after an interruption, and looks at itself on the way."""

import dataclasses
from types import SimpleNamespace

import pytest
import torch

from albert_edu import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import pretrain as loop
from albert_paper import measures, training_run
from albert_paper.plan import run_of_row
from albert_paper.stacking import start_from
from albert_paper.training_run import Run
from tests.support import same_bits

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}
THEN = (("dropout", 0.0), ("steps", 3))
IN_STAGES = Run("a", **SHORT, grown=((1, 3),), config=(("hidden_dropout", 0.1),), then=THEN)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_measures")]


@pytest.fixture
def checkpoint_at_every_step(monkeypatch):
    settings = Run.settings

    def often(*of):
        return dataclasses.replace(settings(*of), checkpoint_every=1)

    monkeypatch.setattr(Run, "settings", often)


def interrupted(function, call: int):
    """The function, interrupted in its call of this number; it counts its calls."""

    def counted(*arguments):
        counted.calls += 1
        if counted.calls == call:
            raise KeyboardInterrupt
        return function(*arguments)

    counted.calls = 0
    return counted


def test_a_row_says_where_it_departs_from_its_settings():
    row = {"H": 64, "L": 6, "chain": [1, 3], "dropout": 0.1, "then": {"steps": 20, "dropout": 0.0}}
    run = run_of_row("deep", seed=3, steps=60, learning_rate=1e-3, **row)
    assert (run.steps, run.seed, run.learning_rate) == (60, 3, 1e-3)
    assert run.grown == ((1, 60), (3, 60)), "each depth of a chain has all the steps"
    assert dict(run.config)["hidden_dropout"] == 0.1 and dict(run.config)["num_layers"] == 6
    assert dict(run.then) == {"steps": 20, "dropout": 0.0}


def test_a_run_of_one_stage_is_plain_pretraining_to_the_last_bit():
    run = Run("a", **SHORT, config=(("hidden_dropout", 0.5),))
    text = run.text()
    torch.manual_seed(0)
    plain = AlbertForPretraining(run.model_config(len(text.tokenizer)))
    history = loop.pretrain(plain, run.stream(text), run.settings(run.stages()[0]), device="cpu")
    trained = run.train()
    steps, losses = history.column("masked_token_loss")
    expected = dict(zip(steps, losses, strict=True))
    assert same_bits(plain, trained.model)
    assert dict(trained.curve) == pytest.approx(expected, abs=1e-4)


def test_step_t_of_a_run_in_stages_reads_batch_t_at_whatever_depth_and_length(monkeypatch):
    read = []
    real = PretrainingStream.batch

    def batch(stream, step):
        read.append(real(stream, step))
        return read[-1]

    monkeypatch.setattr(PretrainingStream, "batch", batch)
    run = Run("a", **SHORT, grown=((1, 2, 1e-3, 24), (1, 3)), then=THEN)
    trained = run.train()
    monkeypatch.setattr(PretrainingStream, "batch", real)
    config = trained.model.config
    assert config.hidden_dropout == config.attention_dropout == 0
    assert [step for step, _ in trained.curve] == [*range(1, 13)], "2 + 3 + 4 + 3, one curve"
    for step, found in enumerate(read):
        shape = {"batch_size": 5, "sequence_length": 24} if step < 2 else {}
        expected = run.stream(trained.text, **shape).batch(step)
        assert torch.equal(found.token_ids, expected.token_ids)


def test_a_stage_starts_from_the_one_before_it():
    shallow = Run("a", **SHORT | {"steps": 2}, config=(("num_layers", 1), ("share", "none")))
    last = {"learning_rate": 0.0, "config": (("share", "none"),)}  # it moves nothing
    deeper = dataclasses.replace(shallow, grown=((1, 2, shallow.learning_rate),), **last)
    deep = deeper.train().model
    assert same_bits(deep, start_from(shallow.train().model, deep.config))


@pytest.fixture(scope="module")
def whole():
    """A run in stages that nobody interrupts."""
    return IN_STAGES.train()


@pytest.mark.parametrize("calls", [4, 7, 10])
def test_a_run_interrupted_in_any_stage_ends_with_the_same_bits_and_curve(
    tmp_path, calls, whole, monkeypatch, checkpoint_at_every_step
):
    step = interrupted(loop.forward_backward, calls)
    monkeypatch.setattr(loop, "forward_backward", step)
    with pytest.raises(KeyboardInterrupt):
        IN_STAGES.train(tmp_path)
    again = IN_STAGES.train(tmp_path)
    assert same_bits(whole.model, again.model)
    assert again.curve == whole.curve
    assert step.calls == 10 + 1, "finished steps are not repeated"


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ({"then": (("dropout", 0.1), ("steps", 3))}, 3),
        ({"then": ()}, 0),
        ({"steps": 5}, 5 + 3),
        ({"grown": ((1, 3), (2, 3))}, 3 + 4 + 3),
        ({"config": (("hidden_dropout", 0.1), ("num_layers", 3))}, 4 + 3),
        ({"seed": 1}, 10),
        ({"warmup": 0.5}, 10),
        ({"watch": "held_out_scores"}, 10),
    ],
)
def test_stages_that_two_runs_have_in_common_are_trained_once(tmp_path, change, steps, monkeypatch):
    """To the last bit and record. What the depth is comes with a stage, and is no other beginning."""
    other = dataclasses.replace(IN_STAGES, **change)
    alone = other.train()
    count = interrupted(loop.forward_backward, 0)
    monkeypatch.setattr(loop, "forward_backward", count)
    finished = tmp_path / "finished"
    IN_STAGES.train(tmp_path / "one", finished=finished)
    assert count.calls == 10
    found = other.train(tmp_path / "two", finished=finished)
    assert count.calls == 10 + steps
    assert same_bits(alone.model, found.model)
    assert found.curve == alone.curve
    assert found.watched == alone.watched


def test_an_interrupted_run_goes_on_where_it_was_and_not_from_what_another_left(
    tmp_path, monkeypatch, checkpoint_at_every_step
):
    other = dataclasses.replace(IN_STAGES, then=())
    step = interrupted(loop.forward_backward, 2)
    monkeypatch.setattr(loop, "forward_backward", step)
    with pytest.raises(KeyboardInterrupt):
        other.train(tmp_path / "two", finished=tmp_path / "finished")
    IN_STAGES.train(tmp_path / "one", finished=tmp_path / "finished")
    found = other.train(tmp_path / "two", finished=tmp_path / "finished")
    assert step.calls == 2 + 10 + 2, "stage 1 goes on after its first step, stage 2 is taken up"
    assert found.curve == other.train().curve


def test_what_is_watched_goes_on_after_an_interruption(
    tmp_path, monkeypatch, checkpoint_at_every_step
):
    run = Run("a", **SHORT, watch="held_out_scores", watch_every=2)
    whole = run.train()
    monkeypatch.setattr(measures, "held_out_scores", interrupted(measures.held_out_scores, 2))
    with pytest.raises(KeyboardInterrupt):
        run.train(tmp_path)
    again = run.train(tmp_path)
    assert again.watched == whole.watched
    assert len(again.watched) == 2
    assert again.total("cpu_seconds") > 0


@pytest.mark.parametrize(("steps", "watch_every"), [(1500, 100), (6000, 500), (2000, 0), (30, 0)])
def test_a_checkpoint_lies_where_cpu_seconds_are_counted(steps, watch_every):
    run = Run("a", steps=steps, watch="health_so_far", watch_every=watch_every)
    settings = run.settings(run.stages()[0])
    assert settings.checkpoint_every % settings.evaluate_every == 0


def test_a_run_trains_with_the_masks_the_decay_and_the_dropout_that_it_names(monkeypatch):
    told = []

    def pretrain(model, stream, settings, *rest, **named):
        config = model.config
        dropout = config.hidden_dropout, config.attention_dropout
        told.append((stream.mask_rate, stream.max_ngram, settings.weight_decay, *dropout))
        return SimpleNamespace(records=[])

    monkeypatch.setattr(training_run, "pretrain", pretrain)
    run = Run("a", **SHORT, mask_rate=0.3, max_ngram=1, weight_decay=0.2)
    dropped = (("hidden_dropout", 0.1), ("attention_dropout", 0.1))
    then = (("dropout", 0.0), ("steps", 3))
    grown = ((1, 3, 1e-3, 24, 0.45, 2),)
    dataclasses.replace(run, config=dropped, then=then, grown=grown).train()
    assert told == [(0.45, 2, 0.2, 0.1, 0.1), (0.3, 1, 0.2, 0.1, 0.1), (0.3, 1, 0.2, 0.0, 0.0)]
