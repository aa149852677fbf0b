"""The plan is whole, its records hold its very runs, and an interrupted sitting goes on."""

import contextlib
import dataclasses
import json

import pytest
import torch

from albert_paper import measures
from albert_paper import plan as module
from albert_paper.outcomes import PARTS
from albert_paper.plan import PLAN, run_experiment, runs_of
from albert_paper.provenance import ROOT, here_and_now
from albert_paper.sweep import recorded_run

RESULTS = ROOT / "figures" / "results"
RECORDED = [name for name in PLAN if (RESULTS / f"{name}.json").exists()]
ROWS = {
    "shallow": {"H": 32, "L": 1, "E": 32},
    "deep": {"H": 32, "L": 2, "E": 32, "chain": [1]},
}
SETTINGS = {"corpus": "stories", "steps": 2, "batch_size": 4, "sequence_length": 32}


@pytest.mark.parametrize("name", PLAN)
def test_every_claim_says_what_decides_and_names_rows_that_are_there(name):
    plan = PLAN[name]
    needed = {"source", "setting", "measure", "seeds", "settings", "rows", "claims"}
    assert needed <= set(plan) <= needed | {"pilot", "card"} and hasattr(measures, plan["measure"])
    for claim in plan["claims"].values():
        assert {"says", "quote", "criterion", "least"} <= set(claim)
        for text in (*claim["criterion"], *claim.get("control", ())):
            _, low, high, _ = PARTS.fullmatch(text).groups()
            sides = f"{low} - {high}".replace(" + ", " - ").split(" - ")
            rows = [part for part in sides if not part.replace(".", "").isdigit()]
            assert rows and set(rows) <= set(plan["rows"]), text


@pytest.mark.parametrize("name", PLAN)
def test_every_row_can_be_run_and_no_pilot_seed_decides(name):
    plan = PLAN[name]
    assert len(runs_of(plan)) == len(plan["rows"]) * len(plan["seeds"])
    assert not set(plan["seeds"]) & set(plan.get("pilot", {}).get("seeds", ()))
    assert all(run.model_config(4000) for run in runs_of(plan))


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_holds_the_very_runs_that_are_planned_at_the_best_rates_of_its_pilots(name):
    plan, record = PLAN[name], json.loads((RESULTS / f"{name}.json").read_text())
    assert [recorded_run(run) for run in record["runs"]] == runs_of(plan)
    tried = {}
    for run in record.get("pilots", []):
        losses = tried.setdefault(run["row"], {}).setdefault(run["learning_rate"], [])
        losses.append(run["held_out_masked_token_loss"])
        assert run["seed"] in plan["pilot"]["seeds"]
    assert list(tried) == plan.get("pilot", {}).get("rows", [])
    for row, losses in tried.items():
        assert sorted(losses) == plan["pilot"]["rates"]
        best = min(sorted(losses), key=lambda rate: sum(losses[rate]))
        assert (plan["settings"] | plan["rows"][row])["learning_rate"] == best


def test_an_interrupted_sitting_leaves_a_record_from_which_another_machine_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(
        PLAN, "tiny", {"measure": "scores", "seeds": [20, 21], "rows": ROWS, "settings": SETTINGS}
    )
    done = []

    def sweep(runs, measure, folder, device):
        for run in runs:
            if (path := folder / f"{run.key(measure)}.json").exists():
                continue
            if len(done) in (1, 3):  # interrupted twice
                done.append("interrupted")
                raise KeyboardInterrupt
            done.append(run.row)
            result = dataclasses.asdict(run) | {"held_out_masked_token_loss": run.learning_rate}
            result |= {"training_seconds": 1.0} | here_and_now(torch.device("cpu"))
            module.write_json(path, result)
        return module.results(runs, measure, folder)

    monkeypatch.setattr(module, "sweep", sweep)
    for machine, runs in (("a", 1), ("b", 2), ("c", 4)):
        with contextlib.suppress(KeyboardInterrupt):
            run_experiment("tiny", tmp_path, tmp_path / machine, "cpu")
        record = json.loads((tmp_path / "results/tiny.json").read_text())
        assert len(record["runs"]) == runs and record["provenance"]["commit"]
    assert done.count("interrupted") == 2 and len(done) == 6, "nothing is done twice"


def test_an_unknown_experiment_and_a_missing_card_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="there is no experiment 'tabel5'; there are"):
        run_experiment("tabel5", tmp_path, tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="there is no device 'cuda:0'"):
        run_experiment("embedding_gpu", tmp_path, tmp_path)
