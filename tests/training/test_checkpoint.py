"""Stopping and going on: the same bits, whatever happened to the files; and what is refused."""

import copy
import inspect
import json
import math
import os
import shutil
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import checkpoint as module
from albert_edu.training.checkpoint import CheckpointError, resume, save_checkpoint
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, make_optimizer
from albert_edu.training.step import NonFiniteLoss
from tests.support import metrics, same_bits, tiny, weights

RUN = dict(steps=12, learning_rate=1e-3, warmup_steps=2, checkpoint_every=3, log_every=2)
MAPS = Path("/proc/self/maps")


class PulledPlug(BaseException):
    """Like a kill, it is no Exception: nothing in the library catches it."""


def pull_the_plug():
    raise PulledPlug


def watched(stream: PretrainingStream, at: int | None, act=pull_the_plug) -> PretrainingStream:
    """The same stream, but that ``act`` is called before the batch of step ``at``."""
    other = copy.copy(stream)

    def batch(step: int):
        if step == at:
            act()
        return stream.batch(step)

    other.batch = batch
    return other


def train(stream, folder=None, model=None, stop_at=None, held_out=None, **changes):
    """The trained model, or None if the run was stopped."""
    model = model or tiny()
    run = TrainSettings(**(RUN | changes))
    try:
        pretrain(model, watched(stream, stop_at), run, folder, "cpu", held_out)
    except PulledPlug:
        return None
    return model


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What fsync is for cannot be seen without pulling a real plug; notebook 07 leaves it on."""
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
    "shape, options",
    [
        ({"hidden_dropout": 0.1, "attention_dropout": 0.1}, {"optimizer": "lamb", "accumulate": 2}),
        ({"share": "none", "embedding_size": 16}, {}),
        ({"share": "attention", "hidden_dropout": 0.1}, {"accumulate": 2}),
    ],
    ids=str,
)
def test_a_run_stopped_three_times_ends_with_the_bits_and_metrics_of_one_that_was_not(
    stream, tmp_path, shape, options
):
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
    again = train(stream, folder, tiny(7, **shape), stop_at=0, **options)
    assert same_bits(again, whole), "a finished run is not trained again"


def test_a_damaged_checkpoint_is_named_and_once_it_is_moved_away_the_one_before_it_is_used(
    stream, stopped, uninterrupted
):
    """What counts as damage is in test_hostile_input.py."""
    os.truncate(stopped / "step-00000006" / "model.safetensors", 5_000)
    with pytest.raises(CheckpointError, match=r"step-00000006 cannot be used.*Move it away"):
        train(stream, stopped, tiny(5))
    (stopped / "step-00000006").rename(stopped / "step-00000006.bad")
    assert same_bits(train(stream, stopped, tiny(5)), uninterrupted)
    assert names(stopped) == ["step-00000006.bad", "step-00000009", "step-00000012"]


def test_the_newest_checkpoint_is_that_of_the_highest_step(tmp_path):
    for step in (99_999_998, 99_999_999, 100_000_000):
        (tmp_path / f"step-{step:08d}").mkdir()
    assert module.newest_checkpoint(tmp_path).name == "step-100000000"
    assert [module.step_of(path) % 100 for path in module.checkpoints_in(tmp_path)] == [98, 99, 0]


def test_the_seconds_before_a_stop_are_counted(stream, stopped):
    place = stopped / "step-00000006" / "training_state.json"
    state = json.loads(place.read_text())
    assert 0 <= state["seconds"] <= sum(record["seconds"] for record in state["records"]) + 60
    place.write_text(json.dumps(state | {"seconds": 1e6}))
    train(stream, stopped)
    records = json.loads((stopped / "step-00000012" / "training_state.json").read_text())["records"]
    assert [record["seconds"] > 1e6 for record in records] == [False] * 3 + [True] + [False] * 2


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
    optimizer = make_optimizer(model, TrainSettings(**RUN))
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


def test_a_checkpoint_of_another_run_is_refused_with_both_values_and_the_model_stays(
    stream, stopped
):
    """test_batches.py says which streams are another, test_hostile_input.py that no file changes."""
    nsp = PretrainingStream(stream.corpus, stream.tokenizer, "nsp", 4, 32)
    for said, changes in {
        "num_layers was 2, is 3": dict(model=tiny(num_layers=3)),
        "share was all, is none": dict(model=tiny(share="none")),
        "hidden_dropout was 0.0, is 0.1": dict(model=tiny(hidden_dropout=0.1)),
        "precision was torch.float32, is torch.float64": dict(model=tiny(5).double()),
        "optimizer was adamw, is lamb": dict(optimizer="lamb"),
        "steps was 12, is 24, accumulate was 1, is 2": dict(accumulate=2, steps=24),
        "objective was sop, is nsp": dict(stream=nsp),
        r"held_out was None, is \w+": dict(held_out=stream),
    }.items():
        given = dict(stream=stream, folder=stopped, model=tiny(5)) | changes
        before = weights(given["model"])
        with pytest.raises(CheckpointError, match=rf"step-00000006 .* another run: {said}\."):
            train(**given)
        assert same_bits(given["model"], before)


def test_a_second_process_in_the_same_folder_is_refused_and_the_first_goes_on(
    stream, tmp_path, uninterrupted
):
    second = []

    def begin():
        with pytest.raises(CheckpointError, match="another process trains in"):
            train(stream, tmp_path, tiny(5))
        second.append("refused")

    assert same_bits(train(watched(stream, 5, begin), tmp_path), uninterrupted) and second


def test_after_a_weight_that_is_not_finite_the_last_good_checkpoint_is_there_and_good(
    stream, tmp_path
):
    model = tiny()
    poisoned = watched(stream, 4, lambda: model.albert.pooler.weight.data[0].fill_(math.nan))
    with pytest.raises(NonFiniteLoss, match=r"step 4\b.*weights of albert\.pooler\.weight"):
        train(poisoned, tmp_path, model, checkpoint_every=2)
    assert names(tmp_path) == ["step-00000002", "step-00000004"]
    for file in tmp_path.glob("step-*/*.safetensors"):
        assert all(tensor.isfinite().all() for tensor in load_file(file).values())
    assert train(stream, tmp_path, tiny(5), checkpoint_every=2)  # and training goes on from it


@pytest.mark.skipif(not MAPS.exists(), reason="needs Linux's list of mapped files")
def test_going_on_leaves_no_file_open_because_windows_deletes_none_that_is(stopped):
    model = tiny(5)
    optimizer = make_optimizer(model, TrainSettings(**RUN))
    resume(stopped, model, optimizer, {})
    assert str(stopped) not in MAPS.read_text()
