"""The command line does what its help says, and says what is wrong without a traceback."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from albert_course import doctor, folder
from albert_course.assignments import commands
from albert_edu.cli import build_parser
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import model_folder
from albert_edu.training.settings import TrainSettings
from tests.support import HOUR, main, same_bits

QUICK = "--steps 6 --checkpoint-every 2 --batch-size 4 --sequence-length 32"


def pretrain(out, *more) -> int:
    return main(["pretrain", "--corpus", "stories", *QUICK.split(), "--out", str(out), *more])


def test_pretrain_leaves_a_model_that_transformers_loads_and_metrics_line_by_line(tmp_path, capsys):
    from transformers import AlbertForPreTraining

    assert pretrain(tmp_path) == 0
    AlbertForPreTraining.from_pretrained(tmp_path)
    records = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert records[-1]["step"] == 6 and "held_out_sentence_order_accuracy" in records[-1]
    said = capsys.readouterr().out
    assert "unigram baseline: MLM loss" in said
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert pretrain(tmp_path) == 0, "the same command again goes on, and here has nothing to do"
    assert before == {path: path.read_bytes() for path in before}
    assert capsys.readouterr().out == said


def test_a_warning_on_the_command_line_is_a_sentence_without_a_file_and_a_line(tmp_path):
    shutil.copytree(model_folder("laptop"), tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors |= {"head.weight": torch.zeros(1)}
    save_file(tensors, tmp_path / "model.safetensors")
    command = [sys.executable, "-m", "albert_edu", "fill", "the united [MASK]"]
    command += ["--model", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stderr == "warning: 1 tensors are not used, for example head.weight.\n"


def test_a_reader_such_as_head_that_has_read_enough_ends_a_command_without_a_word():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", "albert_course", "doctor"], **pipes) as ended:
        ended.stdout.close()
        assert (ended.stderr.read(), ended.wait()) == (b"", 141)


def test_flags_have_the_defaults_of_the_settings_but_for_how_often():
    given = vars(build_parser().parse_args(["pretrain", "--out", "x"]))
    usual = vars(TrainSettings(1))
    same = (given.keys() & usual.keys()) - {"steps", "checkpoint_every", "warmup_steps"}
    assert {"learning_rate", "seed"} < same
    assert all(given[name] == usual[name] for name in same)


def test_doctor_finds_this_machine_well(capsys):
    assert main(["doctor"]) == 0
    assert "all is well" in capsys.readouterr().out


def test_doctor_names_what_is_wrong_and_the_cure_and_goes_on(capsys):
    def broken():
        raise doctor.Trouble("no disk. Buy one.")

    def crashing():
        raise KeyError("fonts")

    checks = {"disk": broken, "fonts": crashing, "Python": doctor.CHECKS["Python"]}
    assert doctor.examine(checks) == 1
    out = capsys.readouterr().out
    for part in ("FAIL  disk       no disk. Buy one.", "KeyError", "OK    Python", "2 of 3"):
        assert part in out


def test_doctor_has_a_cure_for_an_installation_that_broke_off(capsys):
    def without_torch():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    def without_metadata():
        raise doctor.importlib.metadata.PackageNotFoundError("albert-edu")

    assert doctor.examine({"device": without_torch, "packages": without_metadata}) == 1
    said = capsys.readouterr().out
    assert said.count("is not installed. Run make lab, or: ") == 2
    assert "torch is not" in said and "albert-edu is not" in said


def test_doctor_reports_a_package_outside_its_range_or_missing(monkeypatch, capsys):
    for here, found in (("0.0.1", [SimpleNamespace(version="0.0.1")]), ("none", [])):
        monkeypatch.setattr(
            doctor.importlib.metadata, "distributions", lambda name, f=found: iter(f)
        )
        assert doctor.examine({"packages": doctor.check_packages}) == 1
        assert re.search(rf"torch\S+ is needed, {here} is here", capsys.readouterr().out)


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


def test_doctor_asks_for_the_course_as_a_kernel_does_and_not_from_its_folder(monkeypatch, capsys):
    """``python -m`` finds what lies in its folder; a notebook in work/ finds what is installed."""
    places = {
        "": "find no course: was it moved? In ",
        "/old/albert_course/__init__.py": "/old/albert",
    }
    for printed, words in places.items():
        answer = SimpleNamespace(returncode=0 if printed else 1, stdout=f"{printed}\n")
        with monkeypatch.context() as patch:
            patch.setattr(doctor.subprocess, "run", lambda *_, a=answer, **__: a)
            assert doctor.examine({"course": doctor.check_course}) == 1
        assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModuleNotFoundError("no", name="nbgrader"), r'^nbgrader is not installed.*\[test\]"$'),
        (PermissionError(13, "no", "notebooks/x"), "^PermissionError: .*'notebooks/x'$"),
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


@pytest.mark.slow
def test_an_interrupted_sweep_leaves_a_record_and_says_that_it_goes_on(tmp_path):
    command = [sys.executable, *"-m albert_paper run labels --runs".split(), str(tmp_path)]
    in_background = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as a shell does with &
    sweep = subprocess.Popen(
        [*in_background, *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"ALBERT_EDU_PROCESSES": "1"},
    )
    while not list(tmp_path.glob("sweeps/*/stage-1")):  # until its runs train
        assert sweep.poll() is None
        time.sleep(0.2)
    sweep.send_signal(signal.SIGINT)
    _, error = sweep.communicate(timeout=HOUR)
    assert sweep.returncode == 130 and "the same command goes on" in error
    record = json.loads((tmp_path / "results" / "labels.json").read_text())
    assert record["runs"] == [] and len(record["pilots"]) < 9, "the same command goes on"


VERBS = "start 03, start 03 --assignment, notebooks 00, claims, assignments build"


@pytest.mark.parametrize(
    "command", [*VERBS.split(", "), "assignments grade .", "assignments report"]
)
def test_without_a_clone_a_command_says_that_it_needs_one_and_writes_nothing(
    command, tmp_path, monkeypatch, capsys
):
    installed = tmp_path / "site-packages" / "albert_edu"
    monkeypatch.setattr(folder, "__file__", str(installed / "folder.py"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(command.split()) == 2
    error = capsys.readouterr().err
    assert "course's folder" in error or "grade a folder first" in error
    assert len(error.splitlines()) == 1 and [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_every_flag_of_pretrain_reaches_the_training(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(
        "albert_edu.cli.pretrain", lambda *all: given.extend(all) or pytest.fail("enough")
    )
    flags = "--corpus stories --steps 40 --optimizer lamb --learning-rate 0.5 --warmup-steps 3"
    flags += " --accumulate 2 --gradient-checkpointing --checkpoint-every 7 --seed 9"
    flags += " --objective nsp --batch-size 4 --sequence-length 32"
    with pytest.raises(pytest.fail.Exception):
        main(["pretrain", *flags.split(), "--out", str(tmp_path)])
    model, stream, settings, *_, held_out = given
    told = dict(steps=40, optimizer="lamb", learning_rate=0.5, warmup_steps=3, accumulate=2)
    told |= dict(gradient_checkpointing=True, checkpoint_every=7, seed=9)
    assert vars(settings).items() >= told.items()
    assert (stream.seed, held_out.seed, stream.objective) == (9, 1_000_009, "nsp")
    torch.manual_seed(9)
    assert same_bits(AlbertForPretraining(model.config), model)
