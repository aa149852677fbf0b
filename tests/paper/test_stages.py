"""Stages that several runs have in common: who may take them up, and when they go."""

import dataclasses

import pytest
import torch

from albert_paper import plan as module
from albert_paper.plan import PLAN, for_stages, run_experiment, run_of_row
from albert_paper.sweep import seeds_side_by_side, sweep
from albert_paper.training_run import Run

SHORT = {"steps": 4, "batch_size": 4, "sequence_length": 32}
TEXTS = ("stories", "stories:topic_nouns=3")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_measures")]


def weight_norm(model, text, run) -> dict:
    norms = [parameter.detach().norm() for parameter in model.parameters()]
    return {"norm": float(torch.stack(norms).sum())}


def test_finished_stages_are_taken_up_by_the_same_code_on_the_same_device_alone(
    tmp_path, monkeypatch
):
    staged = [run_of_row("deep", 3, steps=6, L=6, chain=[1, 3])]
    cpu, card = torch.device("cpu"), torch.device("cuda")
    monkeypatch.setattr(module, "commit", lambda: "first")
    places = {for_stages(staged, tmp_path, device) for device in (cpu, card)}
    monkeypatch.setattr(module, "commit", lambda: "second")
    places.add(for_stages(staged, tmp_path, cpu))
    assert len(places) == 3 and None not in places
    assert for_stages([run_of_row("plain", 3, steps=6, L=6)], tmp_path, cpu) is None
    monkeypatch.setattr(module, "commit", lambda: "second+")
    assert for_stages(staged, tmp_path, cpu) is None, "not committed"


def test_what_runs_have_left_for_others_goes_when_all_are_done(tmp_path, monkeypatch):
    rows = {name: {"H": 64, "L": 2, "E": 64, "chain": [1]} for name in ("one", "other")}
    section = {"measure": "scores", "first_seed": 20, "n": 1, "settings": SHORT, "rows": rows}
    monkeypatch.setitem(PLAN, "tiny", section)
    monkeypatch.setattr(module, "commit", lambda: "first")
    places = []

    def sweep(runs, measure, folder, device, finished):
        finished.mkdir(parents=True)
        places.append(finished)

    monkeypatch.setattr(module, "sweep", sweep)
    run_experiment("tiny", tmp_path, tmp_path / "runs", "cpu")
    assert places and not (tmp_path / "runs" / "stages" / "tiny").exists()


def test_runs_that_may_share_a_stage_do_not_train_at_the_same_time():
    runs = [Run(row, **SHORT, seed=seed) for seed in (30, 31, 32) for row in ("a", "b")]
    ordered = [(run.seed, run.row) for run in seeds_side_by_side(runs, 2)]
    assert ordered == [(30, "a"), (31, "a"), (30, "b"), (31, "b"), (32, "a"), (32, "b")]
    assert seeds_side_by_side(runs, 1) == runs


def test_a_branch_is_trained_from_what_its_sweep_has_kept(tmp_path):
    rows = {name: Run(name, **SHORT, then=(("corpus", name), ("steps", 2))) for name in TEXTS}
    apart = sweep([*rows.values()], weight_norm, tmp_path / "apart")
    together = sweep(
        [*rows.values()], weight_norm, tmp_path / "together", finished=tmp_path / "kept"
    )
    for one, other in zip(apart, together, strict=True):
        assert one["norm"] == other["norm"]
    assert len(list((tmp_path / "kept").iterdir())) == 3, "one beginning and two ends"


def test_a_stage_is_named_by_all_that_its_weights_depend_on():
    run = Run("a", **SHORT, grown=((1, 3),))
    changes = (
        {"optimizer": "lamb"},
        {"optimizer": "lamb, slow vectors"},
        {"corpus": "sotu"},
        {"vocab_size": 120},
        {"objective": "nsp"},
        {"negatives": "topic"},
        {"batch_size": 5},
        {"learning_rate": 1e-3},
        {"weight_decay": 0.1},
        {"warmup": 0.2},
        {"mask_rate": 0.3},
        {"max_ngram": 1},
        {"seed": 1},
        {"config": (("hidden_dropout", 0.1),)},
    )
    names = {run.stage_key(1), *(dataclasses.replace(run, **one).stage_key(1) for one in changes)}
    assert len(names) == len(changes) + 1
