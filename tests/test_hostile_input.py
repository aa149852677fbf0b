"""Folders and files that cannot be get one error that names its cause, and no file changes.

The rows are tables, because what counts is how many kinds there are.
"""

import json
import os
import shutil
from math import nan
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from albert_paper.page import write_report
from tests.support import snapshot

SHAPE = dict(embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, max_positions=32)
RUN = TrainSettings(steps=4, checkpoint_every=2)


def put(name: str, content: str | bytes):
    """Write a file with this content."""
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def pipe(name: str):
    """Put a named pipe in the place of a file."""

    def make(folder: Path):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return make


def fields(name: str = "config.json", **changes):
    """Write a JSON file again with other values of some fields."""

    def make(folder: Path):
        known = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(known | changes))

    return make


def tensors(change, name: str = "model.safetensors"):
    """Write a safetensors file again with what ``change`` makes of its tensors."""

    def make(folder: Path):
        with safe_open(folder / name, "pt") as file:
            metadata = file.metadata()
        save_file(change(load_file(folder / name)), folder / name, metadata)

    return make


def pooler(change):
    return tensors(
        lambda read: read | {"albert.pooler.weight": change(read["albert.pooler.weight"].clone())}
    )


@pytest.fixture(scope="session")
def written(story_text, tmp_path_factory) -> Path:
    """A folder with a pre-trained model and a run of two checkpoints."""
    folder = tmp_path_factory.mktemp("written")
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    model = AlbertForPretraining(AlbertConfig(vocab_size=len(story_text.tokenizer), **SHAPE))
    pretrain(model, stream, RUN, folder / "run", "cpu")
    (folder / "run" / ".lock").unlink()
    save_pretrained(model, story_text.tokenizer, folder / "model")
    return folder


EXTRA = "albert.encoder.albert_layer_groups.1.albert_layers.0.ffn.weight"
MODELS = {  # what the error says: what is done to the folder
    r"implies floats of \(100000, 8\)": fields(vocab_size=10**5),
    "num_layers must be a whole number": fields(num_hidden_layers=10**6),
    "hidden_size.* None": fields(hidden_size=None),
    "vocab_size.* None": put("config.json", '{"model_type": "albert"}'),
    "num_groups must be a whole number": fields(num_hidden_groups=0),
    "config.json cannot .*activation": fields(hidden_act=["x"]),
    "pruned_heads must be": fields(pruned_heads={"0": [1]}),
    "quantization_config must be": fields(quantization_config={"bits": 4}),
    "hidden_dropout": fields(hidden_dropout_prob=None),
    "position_embedding_type must be one of absolute": fields(
        position_embedding_type="relative_key"
    ),
    "is_decoder must be one of .* got True": fields(is_decoder=True),
    "tie_word_embeddings must be": fields(tie_word_embeddings=False),
    "model_type must be one of albert, bert": fields(model_type=["albert"]),
    "add_cross_attention must be": fields(add_cross_attention=True),
    "inner_group_num must be one of 1": fields(inner_group_num=2),
    r"holds \[1\] and not an object": put("config.json", "[1]"),
    "config.json cannot be used": put("config.json", '{"a'),
    "config.json cannot .*recursion": put("config.json", "[" * 99_999),
    "config.json is not a regular": pipe("config.json"),
    "has no config.json": lambda f: (f / "config.json").unlink(),
    "model.safetensors cannot be used": put("model.safetensors", "<html>"),
    "is no folder, no shipped model": shutil.rmtree,
    "model.safetensors is not a regular": pipe("model.safetensors"),
    "spiece.model is not a": pipe("spiece.model"),
    "SentencePiece model cannot be used": put("spiece.model", "version https://git-lfs"),
    "has NaN": pooler(lambda t: t.fill_(nan)),
    "pooler.weight of .* has NaN or inf": pooler(lambda t: t.double().fill_(1e300)),
    r"as torch.int8, config.json implies floats of \(16, 16\)": pooler(lambda t: t.char()),
    "as torch.float8": pooler(lambda t: t.to(torch.float8_e4m3fn)),
    r"has shape \(1, 16, 16\)": pooler(lambda t: t[None]),
    f"has {EXTRA}, and the model of its config.json has no place": tensors(
        lambda read: read | {EXTRA: torch.zeros(2)}
    ),
    "has predictions.decoder.bias, and the model": tensors(
        lambda read: read | {"predictions.decoder.bias": read["predictions.bias"] + 1}
    ),
    "lacks albert.*Is it another kind of model": tensors(
        lambda read: {f"module.{name}": read[name] for name in read}
    ),
}


def assert_refused(folder: Path, message: str, act):
    """``act`` raises what the course raises, with that message, and changes nothing in the folder."""
    before = snapshot(folder)
    with pytest.raises((ValueError, RuntimeError), match=message):
        act()
    assert snapshot(folder) == before


@pytest.mark.parametrize("message", MODELS)
def test_a_folder_that_cannot_be_is_refused_by_name(written, tmp_path, message):
    MODELS[message](shutil.copytree(written / "model", tmp_path / "model"))
    assert_refused(tmp_path, message, lambda: load_pretrained(tmp_path / "model"))


STATE, OPTIMIZER = "training_state.json", "optimizer.safetensors"
CHECKPOINTS = [  # what the error says: what is done to the newest of two
    ("SafetensorError", lambda f: os.truncate(f / "model.safetensors", 50)),
    ("No such file", lambda f: (f / "model.safetensors").unlink()),
    ("SafetensorError", lambda f: os.truncate(f / OPTIMIZER, 5_000)),
    ("Unterminated string", put(STATE, '{"a')),
    ("Type(Check)?Error", put(STATE, "[]")),
    ("KeyError", put(STATE, "{}")),
    ("not enough", tensors(lambda read: {n.partition(".")[2]: read[n] for n in read}, OPTIMIZER)),
    ("size mismatch", pooler(lambda t: t[None])),
    ("belongs to another run: steps was None, is 4", fields(STATE, settings={})),
]


@pytest.mark.parametrize(("message", "damage"), CHECKPOINTS)
def test_a_checkpoint_that_is_damaged_or_of_another_run_is_named_and_nothing_is_lost(
    written, tmp_path, message, damage, story_text
):
    folder = shutil.copytree(written / "run", tmp_path / "run")
    damage(folder / "step-00000004")
    put(".lock", "")(folder)
    model = AlbertForPretraining(AlbertConfig(vocab_size=len(story_text.tokenizer), **SHAPE))
    stream = PretrainingStream(story_text.train, story_text.tokenizer, "sop", 4, 32)
    message = f"step-00000004 .*{message}"
    assert_refused(tmp_path, message, lambda: pretrain(model, stream, RUN, folder, "cpu"))


@pytest.mark.parametrize(
    ("message", "name", "content"),
    [
        ("no folder that holds .txt", "a.md", "x"),
        ("one document cannot be", "a.txt", "One sentence."),
    ],
)
def test_text_that_cannot_be_used_is_refused_by_name(tmp_path, monkeypatch, message, name, content):
    """tests/text/test_files.py has the kinds of files."""
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text").mkdir()
    put(name, content)(tmp_path / "text")
    assert_refused(tmp_path / "text", message, lambda: prepare(tmp_path / "text", 24))


def test_a_damaged_record_is_named_and_no_page_is_written(tmp_path):
    (tmp_path / "figures" / "results").mkdir(parents=True)
    for content, message in (
        ("{", "cannot be used"),
        ("[]", r"holds \[\] and not"),
        ("{}", "lacks the runs of an experiment"),
    ):
        put("figures/results/hidden.json", content)(tmp_path)
        assert_refused(tmp_path, f"hidden.json {message}", lambda: write_report(tmp_path))
