"""The plan is whole, its records hold its very runs, and an interrupted sitting goes on."""

import contextlib
import dataclasses
import json
from copy import deepcopy

import pytest
import torch

from albert_edu.analysis.counting import count_parameters
from albert_paper import measures, tuning
from albert_paper import plan as module
from albert_paper.criterion import parse
from albert_paper.plan import (
    PAGE,
    PLAN,
    UNJUDGED,
    run_experiment,
    runs_of,
)
from albert_paper.provenance import ROOT, here_and_now
from albert_paper.sweep import recorded_run
from albert_paper.training_run import Run

RESULTS = ROOT / "figures" / "results"
FIRST = json.loads((ROOT / "figures" / "outcomes.json").read_text(encoding="utf-8"))
ROWS = {
    "shallow": {"H": 32, "L": 1, "E": 32},
    "deep": {"H": 32, "L": 2, "E": 32, "chain": [1]},
}
SETTINGS = {"corpus": "stories", "steps": 2, "batch_size": 4, "sequence_length": 32}


def check_rows_are_there(comparison: str, plan: dict) -> None:
    _, low, high, _ = parse(comparison)
    sides = f"{low} - {high}".replace(" + ", " - ").split(" - ")
    rows = [part for part in sides if not part.replace(".", "").isdigit()]
    assert rows and set(rows) <= set(plan["rows"]), comparison


@pytest.mark.parametrize("name", [*PLAN, *UNJUDGED])
def test_a_section_is_whole_and_its_comparisons_name_rows_that_are_there(name):
    plan = (PLAN | UNJUDGED)[name]
    needed = {"source", "setting", "measure", "first_seed", "n", "settings", "rows", "claims"}
    assert needed <= set(plan) <= needed | {"tune", "card", "text"} and callable(
        getattr(measures, plan["measure"])
    )
    if watch := plan["settings"].get("watch"):
        assert callable(getattr(measures, watch))
    for key, claim in plan["claims"].items():
        assert {"says", "quote", "criterion", "least"} <= set(claim)
        assert claim.get("test", "t") in ("t", "rank", "sign")
        assert ("paper" in claim) == (f"{name}.{key}" in PAGE)
        assert "before" not in claim or claim["before"] in FIRST
        for text in (*claim["criterion"], *claim.get("control", ()), *claim.get("also", ())):
            check_rows_are_there(text, plan)


RECORDED = [
    name
    for name, section in PLAN.items()
    if (RESULTS / f"{name}.json").exists()
    and len(json.loads((RESULTS / f"{name}.json").read_text())["runs"]) == len(runs_of(section))
]


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_holds_the_very_runs_that_are_planned_at_the_rates_of_its_pilots(name):
    plan = deepcopy(PLAN[name])
    record = json.loads((RESULTS / f"{name}.json").read_text())
    settled = tuning.settle(plan, module.run_of_row, lambda asked: told(asked, record), record)
    assert [recorded_run(run) for run in record["runs"]] == runs_of(settled)


def told(asked: list[Run], record: dict) -> list[dict]:
    """The recorded results of pilots. StopIteration for one that was not made."""
    pilots = [(recorded_run(result), result) for result in record.get("pilots", [])]
    return [next(result for run, result in pilots if run == one) for one in asked]


def test_the_family_of_the_correction_is_the_rows_of_the_page_and_they_are_at_most_twenty():
    every = {f"{name}.{key}" for name, plan in PLAN.items() for key in plan["claims"]}
    assert set(PAGE) <= every
    assert len(PAGE) == len(set(PAGE)) <= 20


def test_a_row_of_the_first_plan_is_asked_again_at_most_once():
    before = []
    for plan in PLAN.values():
        before += [claim["before"] for claim in plan["claims"].values() if "before" in claim]
    rows = {key for key, claim in FIRST.items() if "paper" in claim}
    assert set(before) <= rows
    assert len(before) == len(set(before))
    not_asked = {row.split(".")[0] for row in rows - set(before)}
    assert not not_asked & {"nsp_order", "few_labels"}


@pytest.mark.parametrize("name", PLAN)
def test_the_seeds_of_the_plan_are_new_and_its_pilots_have_their_own(name):
    plan = PLAN[name]
    used = set()
    for record in {key.split(".")[0] for key in FIRST}:
        made = json.loads((RESULTS / f"{record}.json").read_text())
        used |= {run["seed"] for run in made["runs"] + made.get("pilots", [])}
    seeds = {run.seed for run in runs_of(plan)}
    pilots = set(plan.get("tune", {}).get("seeds", ()))
    assert not seeds & used
    assert not pilots & (used | seeds)
    assert min(pilots, default=401) >= 401
    assert min(seeds) == 30
    assert len(runs_of(plan)) == sum(row.get("n", plan["n"]) for row in plan["rows"].values())


@pytest.mark.parametrize("name", PLAN)
def test_every_row_of_the_plan_has_a_rate_from_somewhere(name):
    plan = PLAN[name]
    tune = plan.get("tune")
    for row, changes in plan["rows"].items():
        if tune is None:
            assert "learning_rate" in changes
        elif "stages" in tune:
            assert set(changes["chain"]) | {changes["L"]} <= set(tune["stages"])
        else:
            assert tune.get("same", {}).get(row, row) in tune["rows"]
    assert all(run.model_config(4000) for run in runs_of(plan))


def test_the_wide_albert_has_seven_tenths_of_the_parameters_of_the_bert():
    runs = {run.row: run for run in runs_of(PLAN["ratio"])}
    parameters = {}
    for row in ("wide ALBERT", "BERT"):
        parameters[row] = count_parameters(runs[row].model_config(190)).total
    assert 0.69 < parameters["wide ALBERT"] / parameters["BERT"] < 0.71


def test_the_arms_of_a_depth_have_equally_many_steps():
    steps = {sum(stage.steps for stage in run.stages()) for run in runs_of(PLAN["layers"])}
    assert steps == {3600}


def interrupted_sweep(asked: list[Run], at: set[int]):
    """A sweep without training, interrupted at the runs of these numbers; ``asked`` gets them all.

    The largest learning rate is the best.
    """

    def sweep(runs, measure, folder, device, finished):
        for run in runs:
            if (path := folder / f"{run.key(measure)}.json").exists():
                continue
            asked.append(run)
            if len(asked) in at:
                raise KeyboardInterrupt
            result = dataclasses.asdict(run) | {"held_out_masked_token_loss": -run.learning_rate}
            result |= {"training_seconds": 1.0} | here_and_now(torch.device("cpu"))
            module.write_json(path, result)
        return module.results(runs, measure, folder)

    return sweep


def test_an_interrupted_sitting_leaves_a_record_from_which_another_machine_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(
        PLAN,
        "tiny",
        {"measure": "scores", "first_seed": 20, "n": 2, "rows": ROWS, "settings": SETTINGS},
    )
    asked: list[Run] = []
    monkeypatch.setattr(module, "sweep", interrupted_sweep(asked, at={2, 4}))
    for machine, runs in (("a", 1), ("b", 2), ("c", 4)):
        with contextlib.suppress(KeyboardInterrupt):
            run_experiment("tiny", tmp_path, tmp_path / machine, "cpu")
        record = json.loads((tmp_path / "results/tiny.json").read_text())
        assert len(record["runs"]) == runs and record["provenance"]["commit"]
    assert len(asked) == 4 + 2, "nothing is done twice"


def test_a_section_is_carried_out_with_its_pilots_and_the_record_keeps_all_of_it(
    tmp_path, monkeypatch
):
    tune = {"rates": [1e-3, 2e-3], "seeds": [401], "rows": ["shallow", "deep"]}
    section = {"measure": "scores", "first_seed": 30, "n": 2, "settings": SETTINGS, "tune": tune}
    section["rows"] = {"shallow": ROWS["shallow"], "deep": ROWS["deep"] | {"n": 1}}
    monkeypatch.setitem(PLAN, "tiny", section)
    monkeypatch.setattr(tuning, "WIDENED", 1)
    asked: list[Run] = []
    monkeypatch.setattr(module, "sweep", interrupted_sweep(asked, at={5}))
    with contextlib.suppress(KeyboardInterrupt):
        run_experiment("tiny", tmp_path, tmp_path / "a", "cpu")
    path = tmp_path / "results/tiny.json"
    assert len(json.loads(path.read_text())["pilots"]) == 4
    run_experiment("tiny", tmp_path, tmp_path / "b", "cpu")
    record = json.loads(path.read_text())
    assert {(run["row"], run["learning_rate"], run["seed"]) for run in record["pilots"]} == {
        (row, rate, 401) for row in ROWS for rate in (1e-3, 2e-3, 4e-3)
    }
    assert record["rates"]["deep"] == {
        "learning_rate": 4e-3,
        "scores": [[1e-3, -1e-3], [2e-3, -2e-3], [4e-3, -4e-3]],
        "at_edge": True,
    }
    assert [(run["row"], run["seed"]) for run in record["runs"]] == [
        ("shallow", 30),
        ("deep", 30),
        ("shallow", 31),
    ]
    assert all(run["learning_rate"] == 4e-3 for run in record["runs"])
    assert record["plan"]["tune"] == tune
    assert len(asked) == 6 + 1 + 3, "nothing is done twice"


def test_an_unknown_experiment_and_a_missing_card_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="there is no experiment 'tabel5'; there are"):
        run_experiment("tabel5", tmp_path, tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="there is no device 'cuda:0'"):
        run_experiment("embedding_gpu", tmp_path, tmp_path)
