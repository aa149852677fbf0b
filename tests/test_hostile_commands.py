"""Commands that cannot be: one sentence, code 2, and no file changes."""

import re
from pathlib import Path

import pytest

import albert_course.cli
from tests.support import main, snapshot

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
        (tmp_path / name).write_text("precious")
    before = snapshot(tmp_path)
    assert main([*command.split(), "--out", str(tmp_path)]) == 2
    assert "Give another --out" in capsys.readouterr().err and snapshot(tmp_path) == before
