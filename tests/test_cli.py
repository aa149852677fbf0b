"""The command line does what its help says, and says what is wrong without a traceback."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from albert_course import doctor, folder, notebooks
from albert_course.assignments import commands
from albert_edu.model.interchange import model_folder
from tests.support import main

QUICK = [
    "--steps",
    "6",
    "--checkpoint-every",
    "2",
    "--batch-size",
    "4",
    "--sequence-length",
    "32",
    "--evaluate-every",
    "0",
]


def pretrain(out, *more) -> int:
    return main(
        [
            "pretrain",
            "--corpus",
            "stories",
            "--preset",
            "albert-tiny",
            *QUICK,
            "--out",
            str(out),
            *more,
        ]
    )


def test_pretrain_leaves_a_model_that_transformers_loads_and_metrics_line_by_line(tmp_path, capsys):
    from transformers import AlbertForPreTraining

    assert pretrain(tmp_path) == 0
    AlbertForPreTraining.from_pretrained(tmp_path)
    records = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert records[-1]["step"] == 6 and "held_out_sentence_order_accuracy" in records[-1]
    assert "unigram baseline: MLM loss" in capsys.readouterr().out


def test_somebodys_finished_model_is_not_overwritten_unless_asked_for(tmp_path, capsys):
    pretrain(tmp_path)
    before = (tmp_path / "model.safetensors").read_bytes()
    assert (
        pretrain(tmp_path) == 0 and (tmp_path / "model.safetensors").read_bytes() == before
    )  # the same command again
    shutil.rmtree(tmp_path / "checkpoints")
    assert (
        pretrain(tmp_path, "--seed", "1") == 2
        and "no checkpoint to go on from" in capsys.readouterr().err
    )
    assert (tmp_path / "model.safetensors").read_bytes() == before
    assert pretrain(tmp_path, "--seed", "1", "--overwrite") == 0
    assert (tmp_path / "model.safetensors").read_bytes() != before


def test_another_setting_in_the_same_folder_is_refused_by_name(tmp_path, capsys):
    pretrain(tmp_path)
    assert pretrain(tmp_path, "--learning-rate", "0.5") == 2
    assert "learning_rate was 0.001, is 0.5" in capsys.readouterr().err


def test_sharing_that_transformers_cannot_express_is_trained_and_saved_all_the_same(tmp_path):
    assert pretrain(tmp_path, "--share", "ffn") == 0
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "albert_edu"


def test_a_deeper_model_starts_from_a_trained_one(tmp_path):
    pretrain(tmp_path / "two")
    warm = [
        "pretrain",
        "--corpus",
        "stories",
        *QUICK,
        "--warm-start",
        str(tmp_path / "two"),
        "--out",
        str(tmp_path / "four"),
    ]
    assert main([*warm, "--layers", "4"]) == 0
    assert json.loads((tmp_path / "four" / "config.json").read_text())["num_hidden_layers"] == 4
    streams = {
        name: json.loads(path.read_text())["stream"]
        for name in ("two", "four")
        for path in (tmp_path / name).rglob("training_state.json")
    }
    assert streams["four"] == streams["two"] | {"skip": 6}, (
        "a warm start goes on with fresh batches"
    )


def test_what_a_warm_start_decides_cannot_be_asked_for_beside_it(tmp_path, capsys):
    pretrain(tmp_path / "two")
    assert (
        pretrain(tmp_path / "other", "--warm-start", str(tmp_path / "two"), "--share", "none") == 2
    )
    assert "--warm-start decides what --share, --preset would" in capsys.readouterr().err
    (tmp_path / "two" / "spiece.model").unlink()
    assert (
        main(
            [
                "pretrain",
                "--corpus",
                "stories",
                "--warm-start",
                str(tmp_path / "two"),
                "--out",
                str(tmp_path / "other"),
            ]
        )
        == 2
    )
    assert "has no tokenizer" in capsys.readouterr().err


def test_a_run_that_started_from_other_weights_is_not_gone_on_with(tmp_path, capsys):
    pretrain(tmp_path / "one")
    pretrain(tmp_path / "two", "--seed", "1")
    for start, code in (("one", 0), ("two", 2)):
        warm = ["--warm-start", str(tmp_path / start), "--out", str(tmp_path / "three")]
        assert main(["pretrain", "--corpus", "stories", *QUICK, *warm]) == code
    assert "belongs to another run: origin was" in capsys.readouterr().err


def test_a_warning_on_the_command_line_is_a_sentence_without_a_file_and_a_line(tmp_path):
    shutil.copytree(model_folder("laptop"), tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors |= {"head.weight": torch.zeros(1)}
    save_file(tensors, tmp_path / "model.safetensors")
    command = [sys.executable, "-m", "albert_edu", "fill", "the united [MASK]"]
    command += ["--model", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stderr == "warning: 1 tensors are not used, for example head.weight.\n"


@pytest.mark.parametrize("command", ["albert_course doctor", "albert_edu inspect laptop"])
def test_a_reader_such_as_head_that_has_read_enough_ends_a_command_without_a_word(command):
    with subprocess.Popen(
        [sys.executable, "-m", *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ended:
        ended.stdout.close()
        assert (ended.stderr.read(), ended.wait()) == (b"", 141)


def test_doctor_finds_this_machine_well(capsys):
    assert main(["doctor"]) == 0
    assert "all is well" in capsys.readouterr().out


def test_doctor_names_what_is_wrong_and_the_cure_and_goes_on(capsys):
    def broken():
        raise doctor.Trouble("no disk. Buy one.")

    def crashing():
        raise KeyError("fonts")

    assert (
        doctor.examine({"disk": broken, "fonts": crashing, "Python": doctor.CHECKS["Python"]}) == 1
    )
    out = capsys.readouterr().out
    assert (
        "FAIL  disk       no disk. Buy one." in out
        and "KeyError" in out
        and "OK    Python" in out
        and "2 of 3" in out
    )


def test_doctor_reports_a_package_outside_its_range(monkeypatch, capsys):
    monkeypatch.setattr(doctor.importlib.metadata, "version", lambda name: "0.0.1")
    assert doctor.examine({"packages": doctor.check_packages}) == 1
    assert "torch 0.0.1 is outside" in capsys.readouterr().out


def test_doctor_names_a_kernel_of_another_python_and_a_course_of_another_folder(
    tmp_path, monkeypatch, capsys
):
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    other = KernelSpec(argv=["/elsewhere/bin/python", "-m", "ipykernel_launcher"])
    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", lambda *_: other)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_start_here.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    assert doctor.examine({name: doctor.CHECKS[name] for name in ("kernel", "course")}) == 1
    out = capsys.readouterr().out
    assert "runs /elsewhere/bin/python" in out and f"Notebooks are in {tmp_path}" in out


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModuleNotFoundError("no", name="nbgrader"), r"build needs nbgrader.*\[test\]"),
        (PermissionError(13, "no", "notebooks/x"), "notebooks/x may not be written"),
    ],
)
def test_a_missing_extra_and_a_read_only_clone_are_said_in_a_sentence(
    error, message, monkeypatch, capsys
):
    def fails(options):
        raise error

    monkeypatch.setattr(commands, "run_build", fails)
    assert main(["assignments", "build"]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_start_copies_a_notebook_once_and_never_overwrites_it(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "assignments" / "release").mkdir(parents=True)
    (tmp_path / "notebooks" / "00_start_here.ipynb").write_text(
        "f[0](x) [next](01_b.ipynb) ![](../figures/a.svg)"
    )
    monkeypatch.chdir(tmp_path)
    assert (
        tmp_path / notebooks.start("00")
    ).read_text() == "f[0](x) [next](../notebooks/01_b.ipynb) ![](../figures/a.svg)"
    for wrong, message in (
        (["00"], "may hold your"),
        (["77"], "There are: 00_start"),
        (["00", True], "here has no assignment"),
    ):
        with pytest.raises(ValueError, match=message):
            notebooks.start(*wrong)
    (tmp_path / "notebooks" / "assignments" / "release" / "00_start_here.ipynb").write_text(
        "[a](../../00_a.ipynb)"
    )
    copy = tmp_path / notebooks.start("00", assignment=True)
    assert (copy.parent.name, copy.read_text()) == ("me", "[a](../../notebooks/00_a.ipynb)")


@pytest.mark.slow
def test_an_interrupted_sweep_leaves_a_record_and_says_that_it_goes_on(tmp_path):
    command = ["-m", "albert_paper", "run", "few_labels", "--runs", str(tmp_path)]
    sweep = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("sweeps/*/checkpoints")):  # until its runs train
        assert sweep.poll() is None
        time.sleep(0.2)
    sweep.send_signal(signal.SIGINT)
    _, error = sweep.communicate(timeout=60)
    assert sweep.returncode == 130 and "the same command goes on" in error
    record = json.loads((tmp_path / "results" / "few_labels.json").read_text())
    assert len(record["runs"]) < record["planned_runs"]  # what the same command goes on from


@pytest.mark.parametrize(
    "command",
    [
        "start 03",
        "start 03 --assignment",
        "notebooks 00",
        "claims",
        "assignments build",
        "assignments grade .",
        "assignments report",
    ],
)
def test_without_a_clone_a_command_says_that_it_needs_one_and_writes_nothing(
    command, tmp_path, monkeypatch, capsys
):
    installed = tmp_path / "site-packages" / "albert_edu"
    monkeypatch.setattr(folder, "__file__", str(installed / "folder.py"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(command.split()) == 2
    assert (
        "course's folder" in (error := capsys.readouterr().err) or "grade a folder first" in error
    )
    assert len(error.splitlines()) == 1 and [path.name for path in tmp_path.rglob("*")] == ["empty"]
