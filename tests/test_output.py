"""What was trained is kept: the folder is tried before training, and no failure at the end loses it."""

import errno
import json
import os
import re
from pathlib import Path

import pytest

from albert_edu import output
from albert_edu.errors import InputError, RunError
from albert_edu.model import interchange
from albert_edu.output import WRITING, check_empty, try_writing, write_whole
from tests.support import main


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def write(folder: Path) -> str:
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("weights")
    return "said"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_trial_leaves_nothing_and_makes_no_folder(tmp_path):
    (tmp_path / "there").mkdir()
    for folder in (tmp_path / "there", tmp_path / "not" / "yet" / "there"):
        try_writing(folder, 1_000_000)
    assert names(tmp_path) == {"there"} and not names(tmp_path / "there")


@pytest.mark.parametrize("place", ["file", "file/out", "file/deep/er/out"])
def test_a_folder_that_cannot_be_is_refused_and_nothing_is_left(tmp_path, place):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match=rf"{place} takes no files: .*Give another --out\.$"):
        try_writing(tmp_path / place)
    assert (tmp_path / "file").read_text() == "precious" and names(tmp_path) == {"file"}


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="a system without fallocate")
def test_a_full_disk_is_told_with_what_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"takes no files of 7 MB: No space left on device\."):
        try_writing(tmp_path / "out", 7_000_000)
    monkeypatch.delattr(os, "posix_fallocate")
    try_writing(tmp_path / "out", 7_000_000)
    with pytest.raises(InputError, match="No space left on device"):
        try_writing(tmp_path / "out", 10**18)
    assert not names(tmp_path)


def test_a_folder_is_written_whole_beside_what_it_holds(tmp_path):
    out = tmp_path / "deep" / "out"
    assert write_whole(out, write) == (out, "said")
    assert names(out) == {"config.json", "model.safetensors"}
    (out / "checkpoints").mkdir()
    assert write_whole(out, write) == (out, "said") and "checkpoints" in names(out)


def test_what_a_broken_run_left_behind_does_not_stop_the_next(tmp_path):
    (tmp_path / WRITING).mkdir()
    (tmp_path / WRITING / "model.safetensors").write_text("half")
    check_empty(tmp_path)
    write_whole(tmp_path, write)
    assert (tmp_path / "model.safetensors").read_text() == "weights"
    with pytest.raises(InputError, match=r"is not empty, it has config\.json. Give another --out"):
        check_empty(tmp_path)


def test_what_cannot_be_written_is_written_elsewhere_and_said(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(output.tempfile, "gettempdir", lambda: str(elsewhere))

    def write_if_not(folder: Path) -> str:
        (folder / "half").write_text("x")
        return full() if WRITING in folder.parts else write(folder)

    said = r"out could not be written .*No space left.* What was trained is in .*elsewhere/albert-"
    with pytest.warns(UserWarning, match=said):
        kept, _ = write_whole(tmp_path / "out", write_if_not)
    assert kept.parent == elsewhere and (kept / "model.safetensors").read_text() == "weights"
    check_empty(tmp_path / "out")  # the same command may be given again
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("HOME", str(elsewhere))
    with pytest.raises(RunError, match=r"could not be written .*No space left.* nor any other"):
        write_whole(tmp_path / "out", full)


@pytest.fixture
def rows(tmp_path) -> Path:
    lines = [{"text": f"the senate {word}", "label": word} for word in ("met", "spoke")] * 4
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "rows.jsonl"


def finetune(rows: Path, out: Path) -> int:
    words = f"finetune --model laptop --data {rows} {rows} --steps 1 --batch-size 2 --out {out}"
    return main([*words.split(), "--sequence-length", "16"])


@pytest.mark.parametrize("command", ["finetune", "pretrain"])
def test_out_is_tried_before_anything_is_read_or_prepared(
    rows, command, tmp_path, monkeypatch, capsys
):
    for name in ("read_rows", "prepare"):
        monkeypatch.setattr(f"albert_edu.cli.{name}", lambda *_, **__: pytest.fail("too late"))
    out = rows / "out"  # under a file
    if command == "finetune":
        assert finetune(rows, out) == 2
    else:
        assert main(["pretrain", "--corpus", "stories", "--out", str(out)]) == 2
    assert re.search(r"/out takes no files: Not a directory", capsys.readouterr().err)
    assert names(tmp_path) == {"rows.jsonl"}


def test_a_pretrained_model_survives_a_disk_that_fills_up_and_the_command_says_that_it_moved(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(output.tempfile, "gettempdir", lambda: str(tmp_path))
    save = interchange.save_pretrained

    def save_if_not(model, tokenizer, folder, *more):
        return full() if WRITING in folder.parts else save(model, tokenizer, folder, *more)

    monkeypatch.setattr(interchange, "save_pretrained", save_if_not)
    words = f"pretrain --corpus stories --out {tmp_path / 'out'} --steps 1 --batch-size 2"
    with pytest.warns(UserWarning, match="What was trained is in") as told:
        assert main([*words.split(), "--sequence-length", "32"]) == 2
    kept = Path(re.search(r"trained is in (.*)\.$", str(told[0].message))[1])
    assert {"model.safetensors", "metrics.jsonl"} <= names(kept)
    assert f"model: {kept}" in capsys.readouterr().out


def test_a_fine_tuned_model_survives_a_disk_that_fills_up_and_scores_that_fail(
    rows, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(output.tempfile, "gettempdir", lambda: str(tmp_path))
    save = interchange.save_pretrained

    def save_if_not(model, tokenizer, folder, *more):
        return full() if WRITING in folder.parts else save(model, tokenizer, folder, *more)

    with monkeypatch.context() as patch:
        patch.setattr(interchange, "save_pretrained", save_if_not)
        with pytest.warns(UserWarning, match="What was trained is in") as told:
            assert finetune(rows, tmp_path / "out") == 2
    kept = Path(re.search(r"trained is in (.*)\.$", str(told[0].message))[1])
    assert {"model.safetensors", "finetune.json"} <= names(kept)
    assert f"model: {kept}" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr("albert_edu.cli.task_scores", full)
        assert finetune(rows, tmp_path / "out") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert (tmp_path / "out" / "model.safetensors").exists()
