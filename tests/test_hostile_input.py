"""Bad input of every kind gets one error that names its cause, and no file changes.

The rows are tables, because what counts is how many kinds there are. Settings are checked by the classes as users have
them, without the type checks of the test suite, which would speak first.
"""

import importlib.util
import json
import os
import re
import shutil
from functools import partial
from math import inf, nan
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import albert_course.cli
import albert_edu
from albert_course.assignments import SOURCES
from albert_course.assignments.submissions import Unreadable, mend
from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from albert_edu.text.sentences import split_sentences
from albert_edu.text.stories import stories
from albert_edu.training.metrics import label_scores
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from albert_paper.page import write_report
from tests.support import main

SHAPE = dict(embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, max_positions=32)
RUN = TrainSettings(steps=4, checkpoint_every=2)
NAME = "04_shared_layers.ipynb"
LIBRARY = Path(albert_edu.__file__).parent


def unchecked(module: str):
    """The module as users have it."""
    spec = importlib.util.spec_from_file_location(
        f"unchecked_{Path(module).name}", LIBRARY / f"{module}.py"
    )
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


STREAM = unchecked("text/batches").PretrainingStream
SETTINGS = {
    unchecked("config").AlbertConfig: {
        "hidden_dropout": (1.0, -0.1, nan, None),
        "attention_dropout": (-0.1, "0.1"),
        "init_std": (0.0, -0.02),
        "layer_norm_eps": (-1, nan, "1e-12", None),
        "pad_id": (-1, "a", 30_000),
        "share": ("layers", None),
        "activation": ("relu", None),
        "vocab_size": (0, 2.0, "4", True, 10**9),
    },
    partial(unchecked("training/settings").TrainSettings, steps=10): {
        "steps": (2.5, -1, "10", nan),
        "learning_rate": (nan, inf, -1, "1e-3"),
        "warmup_steps": (-1, 11),
        "optimizer": ("sgd",),
        "precision": ("float16",),
        "compile": ("yes",),
        "weight_decay": (-1, nan),
        "seed": (-1, 1.5),
        "clip_norm": (-1.0, nan),
        "accumulate": (0, 10**9),
        "log_every": (-1,),
    },
    partial(unchecked("training/finetune").finetune, None, None, None): {"batch_size": (0, 2.0)},
    partial(STREAM, None, None): {
        "negatives": ("friends",),
        "batch_size": (0, 1, 10**6 + 1),
        "sequence_length": (0, 8193, 70_000),
        "seed": (-1, 2**40 + 1),
        "skip": (-1,),
        "short_probability": (7.0, nan),
    },
    stories: {
        "num_documents": (0, 10**6 + 1),
        "num_scripts": (0, 10**8),
        "topic_strength": (1.1, nan),
        "order_strength": (-0.1,),
        "topic_nouns": (-1,),
        "seed": (-1, 2**32 + 1),
    },
    partial(unchecked("training/lamb").Lamb, [], lr=0.1): {
        "lr": (-0.1, nan, "x"),
        "eps": (-1.0,),
        "weight_decay": (-1.0,),
    },
    partial(unchecked("text/corpora").hold_out, None): {"fraction": (-0.1, nan, None)},
    partial(unchecked("text/prepare").prepare, "stories"): {"vocab_size": ("9", 65_537)},
    partial(STREAM.batch, None): {"step": (-1, 1.5, 2**40 + 1)},
    unchecked("text/sentences").split_sentences: {"text": (None, 3, b"text")},
    partial(unchecked("text/tokenizer").AlbertTokenizer.encode, None): {"text": (None, 3)},
    partial(flops_per_token, AlbertConfig()): {"sequence_length": (-1,)},
}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (kind, field, value)
        for kind in SETTINGS
        for field, values in SETTINGS[kind].items()
        for value in values
    ],
    ids=lambda part: getattr(getattr(part, "func", part), "__name__", repr(part)),
)
def test_a_setting_that_cannot_be_is_refused_with_its_name_and_value(kind, field, value):
    with pytest.raises(ValueError, match=rf"{field} must be .* got {re.escape(repr(value))}\.$"):
        kind(**{field: value})


def put(name: str, content: str | bytes):
    return lambda folder: (folder / name).write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )


def pipe(name: str):
    return lambda folder: [(folder / name).unlink(missing_ok=True), os.mkfifo(folder / name)]


def fields(name: str = "config.json", **changes):
    return lambda folder: put(name, json.dumps(json.loads((folder / name).read_text()) | changes))(
        folder
    )


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


def snapshot(folder: Path) -> dict:
    return {
        path: path.is_file() and path.stat().st_size < 1e8 and path.read_bytes()
        for path in folder.rglob("*")
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
    ("TypeError", put(STATE, "[]")),
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


@pytest.mark.parametrize("text", ["half \ud83d a pair", "\udc80", "\ud800"])
def test_half_of_a_pair_of_surrogates_is_refused_wherever_text_is_read(text, story_text):
    for read in (story_text.tokenizer.encode, split_sentences):
        with pytest.raises(ValueError, match=r"position .* surrogates not allowed"):
            read(text)


def test_a_damaged_record_is_named_and_no_page_is_written(tmp_path):
    (tmp_path / "figures" / "results").mkdir(parents=True)
    for content, message in (
        ("{", "cannot be used"),
        ("[]", r"holds \[\] and not"),
        ("{}", "lacks the runs of an experiment"),
    ):
        put("figures/results/gap.json", content)(tmp_path)
        assert_refused(tmp_path, f"gap.json {message}", lambda: write_report(tmp_path))


COMMANDS = {  # what the error says: a command, OUT is a folder that does not exist
    "preset must be one of albert-base-v1, .*, got 'albert-huge'": "pretrain --corpus stories --out OUT --preset albert-huge",
    r"'soto' is no corpus of ours \(sotu": "pretrain --corpus soto --out OUT",
    "no two neighbouring sentences fit": "pretrain --corpus stories --out OUT --sequence-length 8",
    "could not learn 5000 pieces of this text.* value <= ": "pretrain --corpus stories --out OUT --vocab-size 5000",
    "batch_size must be a whole number from 2": "pretrain --corpus stories --out OUT --batch-size 1000000000",
    "steps must be a whole number": "pretrain --corpus stories --out OUT --steps -1",
    "no device 'cuda:0' on which": "reproduce --device cuda",
    "is empty: give a name": "pretrain --corpus stories --out EMPTY",
    "is no folder, no shipped model": "inspect nowhere",
    "argument --data: expected 2 arguments": "finetune --model laptop --data a",
    "imdb is no .jsonl": "finetune --model laptop --data imdb a",
    "sequence_length must be .* from 8 to 128, got 7": "finetune --model laptop --data ROWS ROWS --sequence-length 7",
    "top must be a whole number from 1": "fill [MASK] --top 0",
    "there is no .MASK. in": "fill hello",
    "there is no folder": "assignments grade OUT",
    "no notebook starts": "start 77",
    "should hold STUDENT/NOTEBOOK": "assignments grade .",
}


@pytest.mark.parametrize("message", COMMANDS)
def test_a_command_that_cannot_be_ends_with_one_sentence_and_code_2(
    tmp_path, monkeypatch, capsys, message
):
    monkeypatch.chdir(tmp_path)
    rows = '{"text": "a", "label": 1}\n{"text": "b", "label": 2}\n'
    (tmp_path.parent / "rows.jsonl").write_text(rows)
    meant = {"EMPTY": "", "OUT": "out", "ROWS": "../rows.jsonl"}
    words = [meant.get(word, word) for word in COMMANDS[message].split()]
    try:
        code = main(words)
    except SystemExit as usage:  # argparse's
        code = usage.code
    said = capsys.readouterr().err
    assert code == 2 and re.search(message, said.splitlines()[-1]) and "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_an_error_that_nobody_expects_is_called_a_bug_and_its_trace_is_kept(monkeypatch, capsys):
    monkeypatch.setattr(albert_course.cli, "run_start", lambda options: {}["x"])
    assert main(["start", "00"]) == 2
    said = capsys.readouterr().err
    trace = Path(re.search(r"bug in the course \(KeyError.*trace is in (.*)\.$", said)[1])
    assert "KeyError: 'x'" in trace.read_text() and said.count("\n") == 1
    trace.unlink()


@pytest.mark.parametrize("ids", [[[0, 190]], [[-1]]])
def test_ids_that_the_tables_do_not_have_are_refused_with_their_sizes(ids):
    model = unchecked("model/albert").Albert(AlbertConfig(vocab_size=190, **SHAPE))
    with pytest.raises(
        ValueError, match=r"ids must be \[B,S\], of tokens below 190, of segments below 2 \(.*index"
    ):
        model(torch.tensor(ids))


NOTEBOOKS = {
    "no notebook that can be read": [
        "",
        "my dog ate it",
        "[]",
        "null",
        '{"cells": 1}',
        '{"cells": [null]}',
        "[" * 99_999,
        '{"cells": [{"metadata": {"nbgrader": []}}]}',
    ],
    "answer cells": ['{"cells": []}'],
}


@pytest.mark.parametrize(("message", "content"), [(m, c) for m in NOTEBOOKS for c in NOTEBOOKS[m]])
def test_a_submission_that_is_no_notebook_is_named(tmp_path, message, content):
    put(NAME, content)(tmp_path)
    with pytest.raises(Unreadable, match=message):
        mend(tmp_path / NAME, SOURCES / NAME)


PRETRAIN = "pretrain --corpus stories --steps 2"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (PRETRAIN, ["metrics.jsonl"]),
        (PRETRAIN, ["thesis.txt"]),
        (PRETRAIN, ["checkpoints/notes.txt"]),
        (PRETRAIN, ["model.safetensors", "checkpoints/.lock"]),
        (PRETRAIN, ["model.safetensors.index.json", "checkpoints/.lock"]),
        ("finetune --model laptop --steps 1 --data a b", ["finetune.json"]),
    ],
)
def test_training_writes_into_no_folder_that_holds_something_else(tmp_path, command, names, capsys):
    (tmp_path / "checkpoints").mkdir()
    for name in names:
        put(name, "precious")(tmp_path)
    before = snapshot(tmp_path)
    assert main([*command.split(), "--out", str(tmp_path)]) == 2
    assert "Give another --out" in capsys.readouterr().err and snapshot(tmp_path) == before


def test_a_head_of_ones_own_is_told_what_it_must_give():
    for predictions in (torch.zeros(6, 2), torch.zeros(6)):
        with pytest.raises(ValueError, match="a head's predict must give labels"):
            label_scores(predictions, torch.tensor([0, 1] * 3))
