"""The plan is whole, its records hold its very runs, and an interrupted sitting goes on."""

import dataclasses
import json

import pytest
import torch

from albert_paper import measures
from albert_paper import plan as module
from albert_paper.outcomes import PARTS
from albert_paper.plan import PLAN, Experiment, best_rates, run_experiment
from albert_paper.provenance import ROOT, here_and_now
from albert_paper.sweep import recorded_run
from tests.support import run_here

RESULTS = ROOT / "figures" / "results"
RECORDED = [name for name in PLAN if (RESULTS / f"{name}.json").exists()]
ROWS = {
    "shallow": {"H": 32, "L": 1, "E": 32},
    "deep": {"H": 32, "L": 2, "E": 32, "chain": [1], "rate_of": "shallow"},
}
SETTINGS = {"corpus": "stories", "steps": 2, "batch_size": 4, "sequence_length": 32}


def tiny(**changes) -> Experiment:
    pilot = {"rates": [1e-3, 2e-3], "seeds": [101], "rows": ["shallow"]}
    plan = Experiment("scores", [20, 21], ROWS, SETTINGS, "", "", pilot)
    return dataclasses.replace(plan, **changes)


@pytest.mark.parametrize("name", PLAN)
def test_every_claim_says_what_decides_and_names_rows_that_are_there(name):
    plan = PLAN[name]
    for claim in plan.claims.values():
        assert {"says", "quote", "criterion", "least"} <= set(claim)
        for text in (*claim["criterion"], *claim.get("control", ())):
            _, low, high, _ = PARTS.fullmatch(text).groups()
            sides = f"{low} - {high}".replace(" + ", " - ").split(" - ")
            rows = [part for part in sides if not part.replace(".", "").isdigit()]
            assert rows and set(rows) <= set(plan.rows), text


@pytest.mark.parametrize("name", PLAN)
def test_every_row_can_be_run_and_no_pilot_seed_decides(name):
    plan = PLAN[name]
    tuned = {row: 1e-3 for row in plan.pilot.get("rows", ())}
    assert len(plan.runs(tuned)) == len(plan.rows) * len(plan.seeds)
    assert not set(plan.seeds) & set(plan.pilot.get("seeds", ()))
    assert all(run.model_config(4000) for run in (*plan.runs(tuned), *plan.pilots()))


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_holds_the_very_runs_that_are_planned_at_the_best_rates_of_its_pilots(name):
    plan, record = PLAN[name], json.loads((RESULTS / f"{name}.json").read_text())
    rates = best_rates(record.get("pilots", []))
    assert [recorded_run(run) for run in record["runs"]] == plan.runs(rates)
    assert {recorded_run(run) for run in record.get("pilots", [])} == set(plan.pilots())
    for row, rate in rates.items():
        assert (plan.settings | plan.rows[row]).get("learning_rate", rate) == rate


def test_the_rate_of_the_best_pilot_is_used_and_lent_to_rows_that_name_it():
    assert {run.learning_rate for run in tiny().runs({"shallow": 2e-3})} == {2e-3}
    with pytest.raises(ValueError, match="'shallow' has no learning rate"):
        tiny().runs({})


def test_an_interrupted_sitting_leaves_a_record_from_which_another_machine_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(PLAN, "tiny", tiny())
    done = []

    def sweep(runs, measure, folder, device):
        for run in runs:
            if (path := folder / f"{run.key(measure)}.json").exists():
                continue
            if len(done) in (1, 4):  # interrupted twice
                done.append("interrupted")
                raise KeyboardInterrupt
            done.append(run.row)
            result = dataclasses.asdict(run) | {"held_out_masked_token_loss": run.learning_rate}
            result |= {"training_seconds": 1.0} | here_and_now(torch.device("cpu"))
            module.write_json(path, result)
        return module.results(runs, measure, folder)

    monkeypatch.setattr(module, "sweep", sweep)
    for machine, (pilots, runs) in (("a", (1, 0)), ("b", (2, 1)), ("c", (2, 4))):
        try:
            run_experiment("tiny", tmp_path, tmp_path / machine, "cpu")
        except KeyboardInterrupt:
            pass
        record = json.loads((tmp_path / "results/tiny.json").read_text())
        assert (len(record["pilots"]), len(record["runs"])) == (pilots, runs)
        assert record["planned_runs"] == 4 and record["measure"] == "scores"
    assert done.count("interrupted") == 2 and len(done) == 8, "nothing is done twice"
    assert record["rates"] == {"shallow": 1e-3}


def test_an_unknown_experiment_and_a_missing_card_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="there is no experiment 'tabel5'; there are"):
        run_experiment("tabel5", tmp_path, tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="there is no device 'cuda'"):
        run_experiment("embedding_gpu", tmp_path, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["nsp_order", "few_labels", "price", "third_domain_laptop", "dropout_laptop"]
)
def test_what_is_planned_runs_at_toy_size(name, tmp_path, monkeypatch):
    monkeypatch.setattr(measures, "MEASURED", 1)
    monkeypatch.setattr(measures, "FINETUNED", {"steps": 2, "warmup_steps": 1})
    monkeypatch.setattr("albert_paper.sweep.run_all", run_here)
    plan, short = PLAN[name], {"steps": 3, "batch_size": 4, "learning_rate": 1e-3}
    small = {"H": 32, "L": 1, "E": 32} | short
    rows = {row: changes | small for row, changes in list(plan.rows.items())[:2]}
    short = {"rows": rows, "seeds": [20], "pilot": {}, "settings": plan.settings | short}
    monkeypatch.setitem(PLAN, name, dataclasses.replace(plan, **short))
    record = json.loads(run_experiment(name, tmp_path, tmp_path, "cpu").read_text())
    assert len(record["runs"]) == 2 and record["provenance"]["commit"]
