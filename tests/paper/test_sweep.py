"""A sweep does each run once, names the one that fails, and keeps what it measured."""

import dataclasses

import pytest
import torch

from albert_edu.training.step import NonFiniteLoss
from albert_paper import pool
from albert_paper import sweep as module
from albert_paper.measures import order_cross
from albert_paper.sweep import Run, sweep

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_measures")]


def weight_norm(model, text, run) -> dict:
    norms = [parameter.detach().norm() for parameter in model.parameters()]
    return {"norm": float(torch.stack(norms).sum())}


def test_a_run_is_done_once_and_its_result_found_again(tmp_path, monkeypatch):
    runs = [Run("a", seed=0, **SHORT), Run("b", seed=1, **SHORT)]
    first = sweep(runs, weight_norm, tmp_path)
    monkeypatch.setattr(Run, "train", lambda *_: pytest.fail("it was done already"))
    assert sweep(runs, weight_norm, tmp_path) == first
    assert first[0]["norm"] != first[1]["norm"]
    checkpoints = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert not checkpoints, "those of finished runs are cleared away"


def test_only_what_changes_the_result_changes_its_name():
    run = Run("a", **SHORT)
    assert run.key(weight_norm) == Run("another row", **SHORT).key(weight_norm)
    changed = ({"steps": 5}, {"seed": 1}, {"config": (("share", "none"),)})
    names = {run.key(weight_norm), run.key(order_cross)}
    for change in changed:
        names.add(dataclasses.replace(run, **change).key(weight_norm))
    assert len(names) == 5


def test_a_run_that_fails_is_named(tmp_path, monkeypatch):
    def diverge(*_):
        raise NonFiniteLoss("the loss at step 3 is nan")

    monkeypatch.setattr(Run, "train", diverge)
    with pytest.raises(RuntimeError, match=r"wide, seed 7 .*: NonFiniteLoss: the loss at step 3"):
        sweep([Run("wide", **SHORT, seed=7)], weight_norm, tmp_path)


def test_processes_of_their_own_give_the_same_numbers(tmp_path, monkeypatch):
    run = Run("SOP", **SHORT)
    (here,) = sweep([run], weight_norm, tmp_path / "here")
    monkeypatch.setattr(module, "run_all", pool.run_all)
    monkeypatch.setenv("ALBERT_EDU_PROCESSES", "1")
    (alone,) = sweep([run], weight_norm, tmp_path / "processes")
    untimed = {"training_seconds": 0, "cpu_seconds": 0}
    assert alone | untimed == here | untimed
