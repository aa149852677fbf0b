"""Stopping and going on: the same bits, whatever happened to the files in between; and what is refused."""

import copy
import errno
import hashlib
import inspect
import json
import math
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training import checkpoint as module
from albert_edu.training.checkpoint import CheckpointError, find_damage, load_checkpoint, newest_checkpoint, save_checkpoint
from albert_edu.training.pretrain import NonFiniteLoss, pretrain
from albert_edu.training.settings import PretrainSettings, make_optimizer

quick = settings(max_examples=15, deadline=None, derandomize=True)
SIZES = dict(vocab_size=190, embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, max_positions=32)
RUN = dict(steps=12, learning_rate=1e-3, warmup_steps=2, checkpoint_every=3, log_every=2)


class PulledPlug(BaseException):
    """Like a kill, it is no Exception: nothing in the library catches it."""


def tiny(seed: int = 0, **changes) -> AlbertForPretraining:
    torch.manual_seed(seed)
    return AlbertForPretraining(AlbertConfig(**{**SIZES, **changes}))


def weights(model: AlbertForPretraining) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def same_bits(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def stopping(stream: PretrainingStream, at: int | None, how: type[BaseException] = PulledPlug) -> PretrainingStream:
    """The same stream, until step ``at`` asks for its batch."""
    short = copy.copy(stream)

    def batch(step: int):
        if step == at:
            raise how
        return stream.batch(step)

    short.batch = batch
    return short


def train(stream, folder=None, model=None, stop_at=None, metrics_file=None, **changes) -> AlbertForPretraining | None:
    """The trained model, or None if the run was stopped."""
    model = model or tiny()
    try:
        pretrain(model, stopping(stream, stop_at), PretrainSettings(**{**RUN, **changes}), folder, "cpu", metrics_file=metrics_file)
    except PulledPlug:
        return None
    return model


def metrics(file: Path) -> list[dict]:
    records = [json.loads(line) for line in file.read_text().splitlines()]
    return [{name: value for name, value in record.items() if name != "tokens_per_second"} for record in records]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What fsync is for cannot be seen without pulling a real plug; test_kill.py leaves it on."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def stream(story_text) -> PretrainingStream:
    return PretrainingStream(story_text.train, story_text.tokenizer, "sop", batch_size=4, sequence_length=32)


@pytest.fixture(scope="module")
def uninterrupted(stream, tmp_path_factory) -> dict[str, torch.Tensor]:
    return weights(train(stream))


@pytest.fixture
def stopped(stream, tmp_path) -> Path:
    """The checkpoints of a run that was stopped after 8 steps: those of steps 3 and 6."""
    assert train(stream, tmp_path / "run", stop_at=8) is None
    assert names(tmp_path / "run") == ["step-00000003", "step-00000006"]
    return tmp_path / "run"


@pytest.mark.parametrize("options", [
    {"optimizer": "adamw"},
    {"optimizer": "lamb"},
    {"optimizer": "adamw", "accumulate": 2, "dropout": 0.1},
    {"optimizer": "lamb", "accumulate": 2, "dropout": 0.1},
], ids=str)  # fmt: skip
def test_a_run_stopped_three_times_ends_with_the_bits_and_the_metrics_of_one_that_was_not(stream, tmp_path, options):
    dropout = options.pop("dropout", 0.0)
    shape = dict(hidden_dropout=dropout, attention_dropout=dropout)
    whole = train(stream, None, tiny(**shape), metrics_file=tmp_path / "whole.jsonl", **options)
    folder, file = tmp_path / "run", tmp_path / "metrics.jsonl"
    for stop_at in (1, 7, 11):  # before the first checkpoint, between two records, on the last step
        # After the first stop the weights must come from the checkpoint: the model handed in starts elsewhere.
        assert train(stream, folder, tiny(0 if stop_at <= 7 else 5, **shape), stop_at, file, **options) is None
    after = train(stream, folder, tiny(6, **shape), None, file, **options)
    assert same_bits(weights(after), weights(whole))
    assert metrics(file) == metrics(tmp_path / "whole.jsonl")
    assert [record["step"] for record in metrics(file)] == [2, 4, 6, 8, 10, 12]


def test_a_finished_run_is_not_trained_again_and_hands_back_its_history(stream, tmp_path):
    first, second, run = tiny(), tiny(5), PretrainSettings(**RUN)
    history = pretrain(first, stream, run, tmp_path, "cpu")
    again = pretrain(second, stopping(stream, 0, AssertionError), run, tmp_path, "cpu")
    assert same_bits(weights(first), weights(second)) and again.records == history.records


def test_the_newest_two_checkpoints_are_kept_and_nothing_else(stream, tmp_path):
    train(stream, tmp_path)
    assert names(tmp_path) == ["step-00000009", "step-00000012"]
    assert all(find_damage(path) is None for path in tmp_path.glob("step-*"))


def truncate(path: Path):
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def flip_a_byte(path: Path, name: str = "optimizer.safetensors"):
    content = bytearray((path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (path / name).write_bytes(bytes(content))


DAMAGES = {
    "model.safetensors does not match": truncate,
    "optimizer.safetensors does not match": flip_a_byte,
    "training_state.json does not match": lambda path: flip_a_byte(path, "training_state.json"),
}


def seal(path: Path, name: str, content: bytes):
    """Replace a file of a checkpoint and write a checksum that matches."""
    (path / name).write_bytes(content)
    checksums = json.loads((path / "checksums.json").read_text())
    checksums[name] = hashlib.sha256(content).hexdigest()
    (path / "checksums.json").write_text(json.dumps(checksums))


def rewrite_state(path: Path, **changes):
    state = json.loads((path / "training_state.json").read_text()) | changes
    seal(path, "training_state.json", json.dumps(state).encode())


@pytest.mark.parametrize("said", DAMAGES)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(stream, stopped, uninterrupted, said):
    DAMAGES[said](stopped / "step-00000006")
    with pytest.warns(UserWarning, match=rf"step-00000006 is damaged \(.*{said}"):
        assert newest_checkpoint(stopped) == stopped / "step-00000003"
    assert (stopped / "step-00000006").exists()  # it may hold what somebody wants to rescue
    with pytest.warns(UserWarning, match="going back to the one before it"):
        model = train(stream, stopped, tiny(5))
    assert same_bits(weights(model), uninterrupted)
    assert names(stopped) == ["step-00000009", "step-00000012"]


def test_when_all_are_damaged_each_is_named_and_training_starts_from_step_0(stream, stopped, uninterrupted):
    for path in stopped.glob("step-*"):
        truncate(path)
    with pytest.warns(UserWarning) as caught:
        model = train(stream, stopped)
    assert [str(w.message).split(" is damaged")[0] for w in caught] == ["checkpoint step-00000006", "checkpoint step-00000003"]
    assert same_bits(weights(model), uninterrupted)


def test_a_new_checkpoint_outlives_damaged_ones_of_later_steps(stream, stopped):
    for path in stopped.glob("step-*"):
        truncate(path)
    with pytest.warns(UserWarning):
        assert train(stream, stopped, checkpoint_every=2, stop_at=2) is None  # saved at step 2; 3 and 6 lie there, damaged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        newest = newest_checkpoint(stopped)
    assert newest is not None and newest.name == "step-00000002"


def test_what_a_kill_left_half_written_is_no_checkpoint_and_is_cleared_away(stream, stopped, uninterrupted):
    leftover = stopped / ".writing-00000009"
    shutil.copytree(stopped / "step-00000003", leftover)
    assert newest_checkpoint(stopped).name == "step-00000006"
    assert same_bits(weights(train(stream, stopped, tiny(5))), uninterrupted)
    assert not leftover.exists()


def die_in_save_checkpoint(lines: int):
    """A trace function that pulls the plug before the (lines + 1)-th line that save_checkpoint runs."""
    seen = 0

    def before_a_line(frame, event, _):
        nonlocal seen
        seen += event == "line"
        if seen > lines:
            raise PulledPlug
        return before_a_line

    return lambda frame, *_: before_a_line if frame.f_code is inspect.unwrap(module.save_checkpoint).__code__ else None


def test_death_before_any_line_of_saving_leaves_a_whole_checkpoint(stream, tmp_path):
    model = tiny()
    optimizer = make_optimizer(model, PretrainSettings(**RUN))
    for step in (3, 6):
        save_checkpoint(tmp_path / "before", step, model, stream.tokenizer, optimizer, {})
    died, lines = True, -1
    while died:
        died, lines = False, lines + 1
        folder, tracer = shutil.copytree(tmp_path / "before", tmp_path / str(lines)), sys.gettrace()
        sys.settrace(die_in_save_checkpoint(lines))
        try:
            save_checkpoint(folder, 9, model, stream.tokenizer, optimizer, {})
        except PulledPlug:
            died = True
        finally:
            sys.settrace(tracer)
        newest = newest_checkpoint(folder)  # a warning would be an error here: nothing that looks whole is damaged
        assert newest.name in ("step-00000006", "step-00000009")
        assert load_checkpoint(newest, tiny(5), optimizer)["step"] == int(newest.name[-8:])
    assert lines > 15 and names(folder) == ["step-00000006", "step-00000009"]


def no_space(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_says_which_step_and_what_is_kept_and_loses_nothing(stream, stopped, uninterrupted, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(module, "save_file", no_space)
        with pytest.raises(CheckpointError, match=r"step 9 to .*No space left on device.*kept: step-00000003, step-00000006\."):
            train(stream, stopped, tiny(5))
    assert names(stopped) == ["step-00000003", "step-00000006"]  # and no temporary folder
    assert all(find_damage(path) is None for path in stopped.glob("step-*"))
    assert same_bits(weights(train(stream, stopped, tiny(5))), uninterrupted)  # space was made


def test_a_full_disk_at_the_first_checkpoint_says_that_none_is_kept(stream, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "save_file", no_space)
    with pytest.raises(CheckpointError, match=r"step 3 to .*kept: none\."):
        train(stream, tmp_path)
    assert names(tmp_path) == []


def test_the_systems_own_limit_on_a_files_size_is_reported_the_same_way(stream, stopped):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(CheckpointError, match=r"step 9 to .*kept: step-00000003, step-00000006\."):
            train(stream, stopped, tiny(5))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(stopped) == ["step-00000003", "step-00000006"]
    assert all(find_damage(path) is None for path in stopped.glob("step-*"))


@pytest.mark.parametrize("changes, said", [
    ({"num_layers": 3}, "num_layers was 2, is 3"),
    ({"hidden_size": 32}, "hidden_size was 16, is 32"),
    ({"share": "none"}, "share was all, is none"),
    ({"hidden_dropout": 0.1}, "hidden_dropout was 0.0, is 0.1"),
    ({"vocab_size": 210}, "vocab_size was 190, is 210"),
], ids=str)  # fmt: skip
def test_a_checkpoint_of_another_config_is_refused_with_both_values(stream, stopped, changes, said):
    with pytest.raises(CheckpointError, match=rf"step-00000006 .*another config: .*{said}"):
        train(stream, stopped, tiny(**changes))


@pytest.mark.parametrize("changes, said", [
    ({"learning_rate": 2e-3}, "learning_rate was 0.001, is 0.002"),
    ({"steps": 24}, "steps was 12, is 24"),
    ({"optimizer": "lamb"}, "optimizer was adamw, is lamb"),
    ({"accumulate": 2, "seed": 4}, "accumulate was 1, is 2, seed was 0, is 4"),
], ids=str)  # fmt: skip
def test_a_checkpoint_of_other_settings_is_refused_with_both_values(stream, stopped, changes, said):
    with pytest.raises(CheckpointError, match=rf"step-00000006 belongs to another run: {said}\."):
        train(stream, stopped, **changes)


def another(stream: PretrainingStream, what: str) -> PretrainingStream:
    corpus, tokenizer, options = stream.corpus, stream.tokenizer, {"objective": "sop", "batch_size": 4, "sequence_length": 32}
    if what == "corpus":
        tokens = np.array(corpus.tokens)
        tokens[17] = tokens[18]  # a single piece
        corpus = TokenizedCorpus(tokens, corpus.sentences, corpus.documents, corpus.topics)
    elif what == "tokenizer":
        letters = np.random.default_rng(0).choice(list("abcdefghij"), size=(300, 5))
        tokenizer = AlbertTokenizer.train(map("".join, letters), 190)
    else:
        options[what] = {"objective": "nsp", "batch_size": 6, "sequence_length": 30, "seed": 7}[what]
    return PretrainingStream(corpus, tokenizer, **options)


@pytest.mark.parametrize("what", ["corpus", "tokenizer", "objective", "batch_size", "sequence_length", "seed"])
def test_a_checkpoint_of_another_stream_is_refused_with_both_values(stream, stopped, what):
    other = another(stream, what)
    was, now = stream.settings[what], other.settings[what]
    assert was != now
    with pytest.raises(CheckpointError, match=rf"step-00000006 belongs to another run: {what} was {was}, is {now}\."):
        train(other, stopped)


def test_another_held_out_text_is_noticed_and_a_checkpoint_that_names_none_goes_on(stream, stopped, uninterrupted):
    rewrite_state(stopped / "step-00000006", held_out={"held_out": "another text"})
    with pytest.raises(CheckpointError, match=r"belongs to another run: held_out was another text, is None\."):
        train(stream, stopped)
    state = json.loads((stopped / "step-00000006" / "training_state.json").read_text())
    del state["held_out"]
    seal(stopped / "step-00000006", "training_state.json", json.dumps(state).encode())
    assert same_bits(weights(train(stream, stopped)), uninterrupted)


def test_a_second_process_in_the_same_folder_is_refused_and_the_first_goes_on(stream, tmp_path, uninterrupted):
    second = []

    def batch(step: int):
        if step == 5:
            with pytest.raises(CheckpointError, match="another process is training in"):
                train(stream, tmp_path, tiny(5))
            second.append(step)
        return stream.batch(step)

    first = copy.copy(stream)
    first.batch = batch
    assert same_bits(weights(train(first, tmp_path)), uninterrupted) and second == [5]


@pytest.mark.parametrize(("dtype", "changes", "message"), [
    (torch.float32, {"learning_rate": 2e-3}, "another run"),
    (torch.float64, {}, r"step-00000006 holds torch.float32, the model torch.float64: use model.to\(torch.float32\), or another"),
])  # fmt: skip
def test_a_refused_checkpoint_leaves_the_model_and_the_folder_as_they_were(stream, stopped, dtype, changes, message):
    model = tiny(5).to(dtype)
    before, files = weights(model), {path: path.stat().st_mtime_ns for path in stopped.rglob("step*/*")}
    with pytest.raises(CheckpointError, match=message):
        train(stream, stopped, model, **changes)
    assert same_bits(weights(model), before)
    assert {path: path.stat().st_mtime_ns for path in stopped.rglob("step*/*")} == files


def test_a_checkpoint_is_a_transformers_folder(stream, tmp_path):
    transformers = pytest.importorskip("transformers")
    model = train(stream, tmp_path).eval()
    theirs, told = transformers.AlbertForPreTraining.from_pretrained(tmp_path / "step-00000012", output_loading_info=True)
    assert not any(told.get(key) for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    batch = stream.batch(99)
    with torch.no_grad():
        hidden = model.albert(batch.token_ids, batch.segment_ids, batch.attention_mask).last_hidden
        output = theirs.albert(batch.token_ids, batch.attention_mask, batch.segment_ids).last_hidden_state
    torch.testing.assert_close(output, hidden, rtol=0, atol=1e-5)
    assert AlbertTokenizer.load(tmp_path / "step-00000012").fingerprint == stream.tokenizer.fingerprint


@st.composite
def shapes(draw) -> dict:
    layers = draw(st.integers(1, 4))
    return dict(
        num_layers=layers, num_groups=draw(st.integers(1, layers)),
        share=draw(st.sampled_from(["all", "attention", "ffn", "none"])), embedding_size=draw(st.sampled_from([8, 16])),
        ffn_size=draw(st.sampled_from([None, 24])), hidden_dropout=draw(st.sampled_from([0.0, 0.1])),
        activation=draw(st.sampled_from(["gelu_tanh", "gelu_erf"])),
    )  # fmt: skip


@quick
@given(shapes(), st.sampled_from(["adamw", "lamb"]))
@example({"num_layers": 3, "share": "attention"}, "lamb")  # what transformers cannot say is kept in our own words
@example({"num_layers": 1, "share": "none"}, "adamw")
@example({"num_layers": 2, "share": "all", "num_groups": 2}, "adamw")
@example({"num_layers": 4, "share": "none", "num_groups": 2}, "adamw")
def test_any_model_goes_on_from_its_own_checkpoint(shape, optimizer_name):
    run = PretrainSettings(steps=4, optimizer=optimizer_name)
    model, other = tiny(0, **shape), tiny(1, **shape)
    ours, theirs = make_optimizer(model, run), make_optimizer(other, run)
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    ours.step()
    with tempfile.TemporaryDirectory() as folder:
        path = save_checkpoint(folder, 1, model, None, ours, {"note": "0.1 ü"})
        assert load_checkpoint(path, other, theirs).items() >= {"step": 1, "note": "0.1 ü"}.items()
    assert same_bits(weights(model), weights(other))
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        p.grad = q.grad = torch.randn_like(p)
    ours.step()
    theirs.step()
    assert same_bits(weights(model), weights(other))  # the optimizer's state came along


@pytest.mark.parametrize("cause", ["one weight", "learning rate"])
def test_after_a_loss_that_is_not_finite_the_last_good_checkpoint_is_there_and_good(stream, tmp_path, cause):
    model, poisoned = tiny(), copy.copy(stream)

    def batch(step: int):
        if step == 4 and cause == "one weight":
            model.albert.pooler.weight.data[0, 0] = math.nan
        return stream.batch(step)

    poisoned.batch = batch
    rate = 1e37 if cause == "learning rate" else 1e-3
    with pytest.raises(NonFiniteLoss):
        train(poisoned, tmp_path, model, checkpoint_every=2, learning_rate=rate)
    if cause == "one weight":
        assert names(tmp_path) == ["step-00000002", "step-00000004"]
        assert train(stream, tmp_path, tiny(5), checkpoint_every=2)  # and training goes on from it
    for path in tmp_path.glob("step-*"):
        restored, _ = load_pretrained(path)
        assert restored(stream.batch(0)).loss.isfinite()
        assert all(tensor.isfinite().all() for tensor in load_file(path / "optimizer.safetensors").values())


def test_going_on_leaves_the_callers_random_state_and_no_file_open(story_text, tmp_path):
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    config = AlbertConfig.named("albert-tiny", **(SIZES | {"vocab_size": len(story_text.tokenizer)}))
    pretrain(AlbertForPretraining(config), stream, PretrainSettings(**RUN), tmp_path, "cpu")
    again = AlbertForPretraining(config)
    optimizer, state = make_optimizer(again, PretrainSettings(**RUN)), torch.get_rng_state()
    path = newest_checkpoint(tmp_path)
    load_checkpoint(path, again, optimizer)
    assert torch.equal(torch.get_rng_state(), state)
    if (maps := Path("/proc/self/maps")).exists():  # a mapped file could not be deleted on Windows
        assert str(path / "optimizer.safetensors") not in maps.read_text()


def test_a_checkpoint_knows_what_was_trained_since_the_last_record(story_text, tmp_path):
    """Or a run in many sittings would count the first steps of each, with its compiling, for all of them."""
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    config = AlbertConfig.named("albert-tiny", **(SIZES | {"vocab_size": len(story_text.tokenizer)}))
    pretrain(AlbertForPretraining(config), stream, PretrainSettings(**(RUN | {"log_every": 4})), tmp_path, "cpu")
    states = {state["step"]: state for state in map(module.read_state, tmp_path.glob("step-*"))}
    assert {step: state["tokens"] for step, state in states.items()} == {9: 4 * 32, 12: 0} and states[9]["elapsed"] > 0
