"""Stopping and going on: the same bits, whatever happened to the files; and what is refused."""

import copy
import inspect
import math
import os
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import checkpoint as module
from albert_edu.training.checkpoint import CheckpointError, resume, save_checkpoint
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings, make_optimizer
from albert_edu.training.step import NonFiniteLoss
from tests.support import metrics, same_bits, tiny, weights

RUN = dict(steps=12, learning_rate=1e-3, warmup_steps=2, checkpoint_every=3, log_every=2)


class PulledPlug(BaseException):
    """Like a kill, it is no Exception: nothing in the library catches it."""


def stopping(stream: PretrainingStream, at: int | None, how=PulledPlug) -> PretrainingStream:
    """The same stream, until step ``at`` asks for its batch."""
    short = copy.copy(stream)

    def batch(step: int):
        if step == at:
            raise how
        return stream.batch(step)

    short.batch = batch
    return short


def train(stream, folder=None, model=None, stop_at=None, **changes):
    """The trained model, or None if the run was stopped."""
    model = model or tiny()
    run = PretrainSettings(**(RUN | changes))
    try:
        pretrain(model, stopping(stream, stop_at), run, folder, "cpu")
    except PulledPlug:
        return None
    return model


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What fsync is for cannot be seen without pulling a real plug; test_kill.py leaves it on."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def stream(story_text) -> PretrainingStream:
    return PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)


@pytest.fixture(scope="module")
def uninterrupted(stream) -> AlbertForPretraining:
    return train(stream)


@pytest.fixture
def stopped(stream, tmp_path) -> Path:
    """The checkpoints of a run that was stopped after 8 steps: those of steps 3 and 6."""
    assert train(stream, tmp_path / "run", stop_at=8) is None
    assert names(tmp_path / "run") == ["step-00000003", "step-00000006"]
    return tmp_path / "run"


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "adamw"},
        {"optimizer": "lamb"},
        {"optimizer": "adamw", "accumulate": 2, "dropout": 0.1},
        {"optimizer": "lamb", "accumulate": 2, "dropout": 0.1},
    ],
    ids=str,
)
def test_a_run_stopped_three_times_ends_with_the_bits_and_metrics_of_one_that_was_not(
    stream, tmp_path, options
):
    dropout = options.pop("dropout", 0.0)
    shape = dict(hidden_dropout=dropout, attention_dropout=dropout)
    whole = train(stream, tmp_path / "whole", tiny(**shape), **options)
    folder = tmp_path / "run"
    for stop_at in (1, 7, 11):  # before the first checkpoint, between two records, on the last step
        # After the first stop the weights come from the checkpoint: the model starts elsewhere.
        model = tiny(0 if stop_at <= 7 else 5, **shape)
        assert train(stream, folder, model, stop_at, **options) is None
    after = train(stream, folder, tiny(6, **shape), **options)
    records, expected = (metrics(tmp_path / run / "step-00000012") for run in ("run", "whole"))
    assert same_bits(after, whole) and records == expected
    assert [record["step"] for record in records] == [2, 4, 6, 8, 10, 12]


def test_a_finished_run_is_not_trained_again_and_hands_back_its_history(stream, tmp_path):
    first, second, run = tiny(), tiny(5), PretrainSettings(**RUN)
    history = pretrain(first, stream, run, tmp_path, "cpu")
    again = pretrain(second, stopping(stream, 0, AssertionError), run, tmp_path, "cpu")
    assert same_bits(first, second) and again.records == history.records


def test_a_damaged_checkpoint_is_named_and_once_it_is_moved_away_the_one_before_it_is_used(
    stream, stopped, uninterrupted
):
    """What counts as damage is in test_hostile_input.py."""
    os.truncate(stopped / "step-00000006" / "model.safetensors", 5_000)
    with pytest.raises(CheckpointError, match=r"step-00000006 is damaged.*Move it away"):
        train(stream, stopped, tiny(5))
    shutil.move(stopped / "step-00000006", stopped.parent)
    assert same_bits(train(stream, stopped, tiny(5)), uninterrupted)
    assert names(stopped) == ["step-00000009", "step-00000012"]


def die_in_save_checkpoint(lines: int):
    """A trace function that pulls the plug before line number lines + 1 of save_checkpoint runs."""
    seen, code = 0, inspect.unwrap(module.save_checkpoint).__code__

    def before_a_line(frame, event, _):
        nonlocal seen
        seen += event == "line"
        if seen > lines:
            raise PulledPlug
        return before_a_line

    return lambda frame, *_: before_a_line if frame.f_code is code else None


def test_death_before_any_line_of_saving_leaves_a_whole_checkpoint_and_nothing_in_the_way(
    stream, tmp_path
):
    model = tiny()
    optimizer = make_optimizer(model, PretrainSettings(**RUN))
    for step in (3, 6):
        save_checkpoint(tmp_path / "before", step, model, optimizer, {})
    died, lines = True, -1
    while died:
        died, lines = False, lines + 1
        folder, tracer = shutil.copytree(tmp_path / "before", tmp_path / str(lines)), sys.gettrace()
        sys.settrace(die_in_save_checkpoint(lines))
        try:
            save_checkpoint(folder, 9, model, optimizer, {})
        except PulledPlug:
            died = True
        finally:
            sys.settrace(tracer)
        step = resume(folder, tiny(5), optimizer, {})["step"]
        assert step in (6, 9)
        save_checkpoint(folder, 12, model, optimizer, {})
        assert names(folder) == [f"step-{step:08d}", "step-00000012"]
    assert lines > 15


def test_a_full_disk_says_which_step_and_loses_nothing(stream, stopped, uninterrupted):
    """The system's limit on the size of a file stands in for the disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(CheckpointError, match=r"step 9 to .*Free some space"):
            train(stream, stopped, tiny(5))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(stopped) == ["step-00000003", "step-00000006"]  # and no temporary folder
    assert same_bits(train(stream, stopped, tiny(5)), uninterrupted)  # space was made


@pytest.mark.parametrize(
    "shape, changes, said",
    [
        ({"num_layers": 3}, {}, "belongs to another run: num_layers was 2, is 3"),
        ({"share": "none"}, {}, "belongs to another run: share was all, is none"),
        ({"hidden_dropout": 0.1}, {}, "another run: hidden_dropout was 0.0, is 0.1"),
        ({}, {"optimizer": "lamb"}, "belongs to another run: optimizer was adamw, is lamb"),
        ({}, {"accumulate": 2, "steps": 24}, "run: steps was 12, is 24, accumulate was 1, is 2"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_model_or_of_other_settings_is_refused_with_both_values(
    stream, stopped, shape, changes, said
):
    with pytest.raises(CheckpointError, match=rf"step-00000006 .*{said}\."):
        train(stream, stopped, tiny(**shape), **changes)


def test_a_checkpoint_of_another_stream_is_refused_with_both_values(stream, stopped):
    """test_batches.py says which streams are another."""
    other = PretrainingStream(stream.corpus, stream.tokenizer, "nsp", 4, 32)
    with pytest.raises(CheckpointError, match=r"to another run: objective was sop, is nsp\."):
        train(other, stopped)


def test_another_held_out_text_is_noticed(stream, stopped):
    with pytest.raises(CheckpointError, match=r"to another run: held_out was None, is \w+\."):
        pretrain(tiny(), stream, PretrainSettings(**RUN), stopped, "cpu", held_out=stream)


def test_a_second_process_in_the_same_folder_is_refused_and_the_first_goes_on(
    stream, tmp_path, uninterrupted
):
    second = []

    def batch(step: int):
        if step == 5:
            with pytest.raises(CheckpointError, match="another process is training in"):
                train(stream, tmp_path, tiny(5))
            second.append(step)
        return stream.batch(step)

    first = copy.copy(stream)
    first.batch = batch
    assert same_bits(train(first, tmp_path), uninterrupted) and second == [5]


def test_a_refused_checkpoint_leaves_the_model_as_it_was(stream, stopped):
    """test_hostile_input.py says the same of the folder."""
    model = tiny(5).double()
    before = weights(model)
    with pytest.raises(CheckpointError, match=r"precision was torch.float32, is torch.float64\."):
        train(stream, stopped, model)
    assert same_bits(model, before)


@pytest.mark.parametrize(
    "shape",
    [{"share": "attention"}, {"share": "none", "embedding_size": 16}, {"num_groups": 2}],
    ids=str,
)
@pytest.mark.parametrize("optimizer_name", ["adamw", "lamb"])
def test_any_model_goes_on_from_its_own_checkpoint(shape, optimizer_name, tmp_path):
    run = PretrainSettings(steps=4, optimizer=optimizer_name)
    model, other = tiny(0, **shape), tiny(1, **shape)
    ours, theirs = make_optimizer(model, run), make_optimizer(other, run)
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    ours.step()
    save_checkpoint(tmp_path, 1, model, ours, {"note": "0.1 ü"})
    state = resume(tmp_path, other, theirs, {})
    assert state.items() >= {"step": 1, "note": "0.1 ü"}.items()
    assert same_bits(model, other)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        p.grad = q.grad = torch.randn_like(p)
    ours.step()
    theirs.step()
    assert same_bits(model, other)  # the optimizer's state came along


def test_after_a_loss_that_is_not_finite_the_last_good_checkpoint_is_there_and_good(
    stream, tmp_path
):
    model, poisoned = tiny(), copy.copy(stream)

    def batch(step: int):
        if step == 4:
            model.albert.pooler.weight.data[0, 0] = math.nan
        return stream.batch(step)

    poisoned.batch = batch
    with pytest.raises(NonFiniteLoss):
        train(poisoned, tmp_path, model, checkpoint_every=2)
    assert names(tmp_path) == ["step-00000002", "step-00000004"]
    for file in tmp_path.glob("step-*/*.safetensors"):
        assert all(tensor.isfinite().all() for tensor in load_file(file).values())
    assert train(stream, tmp_path, tiny(5), checkpoint_every=2)  # and training goes on from it


def test_going_on_leaves_the_callers_random_state_and_no_file_open(stopped):
    model = tiny(5)
    optimizer, state = make_optimizer(model, PretrainSettings(**RUN)), torch.get_rng_state()
    resume(stopped, model, optimizer, {})
    assert torch.equal(torch.get_rng_state(), state)
    if (maps := Path("/proc/self/maps")).exists():  # a mapped file could not be deleted on Windows
        assert str(stopped) not in maps.read_text()
