"""The plan as data: every section is complete, its runs are new, and an interrupted sitting leaves a record to go on from."""

import dataclasses
import json

import pytest

from albert_paper import experiments as module
from albert_paper import measures
from albert_paper.claims import cell, comparison
from albert_paper.experiments import run_experiment
from albert_paper.plan import ALL, EXPERIMENTS, PLANNED, Experiment, Profile
from tests.support import run_here

ROWS = {
    "shallow": {"H": 32, "L": 1, "E": 32},
    "deep": {"H": 32, "L": 2, "E": 32, "chain": [1], "rate_of": "shallow"},
}


def tiny(seeds: tuple[int, ...], pilot_seeds: tuple[int, ...]) -> Experiment:
    settings = {"corpus": "stories", "steps": 2, "batch_size": 4, "sequence_length": 32}
    return Experiment(
        "Is it?",
        rows=ROWS,
        measure=measures.scores,
        budgets={"laptop": Profile(seeds, settings)},
        rates=(1e-3, 2e-3),
        pilot_seeds=pilot_seeds,
        section={"rows": ROWS},
    )


@pytest.mark.parametrize("name", PLANNED)
def test_every_claim_of_the_plan_says_what_it_quotes_how_it_differs_and_what_decides(name):
    for claim in PLANNED[name].section["claims"].values():
        assert {"text", "quote", "differs", "criterion", "least"} <= set(claim)


def test_evaluation_seeds_are_in_no_pilot_and_in_no_older_record():
    used = {
        seed
        for plan in EXPERIMENTS.values()
        for budget in plan.budgets.values()
        for seed in budget.seeds
    }
    for experiment in PLANNED.values():
        (budget,) = experiment.budgets.values()
        seeds = budget.seeds
        assert len(seeds) >= (3 if "gpu" in experiment.budgets else 8) and not set(seeds) & (
            used | {*experiment.pilot_seeds}
        )


def test_the_rate_with_the_lowest_mean_pilot_loss_is_used_and_lent_to_rows_that_name_it():
    pilots = [
        {"row": "shallow", "learning_rate": rate, "held_out_masked_token_loss": loss}
        for rate, loss in ((1e-3, 3.0), (1e-3, 2.0), (2e-3, 2.6), (2e-3, 2.2))
    ]
    assert tiny((20,), (101, 102)).tuned_rates(pilots) == {"shallow": 2e-3, "deep": 2e-3}


def test_an_interrupted_sitting_leaves_a_record_from_which_another_machine_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(measures, "MEASURED", 2)
    monkeypatch.setitem(ALL, "tiny", tiny((20, 21), (101,)))
    done = []

    def sweep(runs, measure, folder, device):
        for run in runs:
            if (path := folder / f"{run.key(measure)}.json").exists():
                continue
            if len(done) in (3, 6):  # interrupted twice
                done.append("interrupted")
                raise KeyboardInterrupt
            done.append(run.row)
            module.write_json(
                path,
                {
                    **dataclasses.asdict(run),
                    "held_out_masked_token_loss": 2.0,
                    "seconds": 1.0,
                    "device": "here",
                    "commit": "c",
                    "date": "d",
                },
            )
        return [
            json.loads((folder / f"{run.key(measure)}.json").read_text()) | {"row": run.row}
            for run in runs
        ]

    monkeypatch.setattr(module, "sweep", sweep)
    for sitting in ("a", "b"):
        with pytest.raises(KeyboardInterrupt):
            run_experiment("tiny", "laptop", tmp_path / "figures", tmp_path / sitting)
    record = json.loads(
        run_experiment("tiny", "laptop", tmp_path / "figures", tmp_path / "c").read_text()
    )
    assert len(record["runs"]) == record["planned_runs"] == 4
    assert len([row for row in done if row != "interrupted"]) == 6, "no run was done twice"


def test_a_record_made_under_another_plan_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(ALL, "tiny", tiny((20,), (101,)))
    record = tmp_path / "results" / "tiny_laptop.json"
    for before in ({"plan": {"rows": {}}, "pilots": [], "runs": []}, {"claims": [], "runs": []}):
        module.write_json(record, before)
        with pytest.raises(ValueError, match="another plan"):
            run_experiment("tiny", "laptop", tmp_path, tmp_path)
        assert json.loads(record.read_text()) == before


@pytest.mark.parametrize(
    ("name", "profile", "place", "key"),
    [
        ("table4", "quick", 0, "8ea19b40a77e59f0"),
        ("table11", "laptop", -1, "a17f6c0d40ea57c6"),
    ],
)
def test_what_was_trained_before_the_plan_became_data_is_found_again(name, profile, place, key):
    experiment = EXPERIMENTS[name]
    planned = experiment.runs(profile)[place]
    assert planned.key(experiment.measure) == key
    recorded = module.recorded_run(json.loads(json.dumps(dataclasses.asdict(planned))))
    assert recorded == planned


ON_ONE_CARD = [
    name for name, experiment in PLANNED.items() if "gpu" in experiment.budgets and experiment.rows
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_ONE_CARD)
def test_what_is_planned_for_a_card_runs_at_toy_size_on_a_core(name, tmp_path, monkeypatch):
    def toy(changes: dict) -> dict:
        small = {"H": 32 * max(1, changes["H"] // 512), "E": 32, "L": min(changes["L"], 5)}
        chain = {"chain": [1, 2]} if "chain" in changes else {}
        then = {"then": {**changes["then"], "steps": 2}} if "then" in changes else {}
        return (
            {name: value for name, value in changes.items() if name != "steps"}
            | small
            | chain
            | then
        )

    monkeypatch.setattr("albert_paper.sweep.run_all", run_here)
    monkeypatch.setattr(measures, "MEASURED", 1)
    experiment = PLANNED[name]
    rows = {row: toy(changes) for row, changes in experiment.rows.items()}
    settings = experiment.budgets["gpu"].settings | {
        "corpus": "stories",
        "steps": 2,
        "batch_size": 4,
        "sequence_length": 32,
    }
    settings = {
        name: value for name, value in settings.items() if name not in ("vocab_size", "vocabulary")
    }
    rows = {
        row: {name: value for name, value in changes.items() if name != "corpus"}
        for row, changes in rows.items()
    }
    small = dataclasses.replace(experiment, rows=rows, budgets={"gpu": Profile((20,), settings)})
    monkeypatch.setitem(ALL, name, small)
    record = json.loads(run_experiment(name, "gpu", tmp_path, tmp_path, "cpu").read_text())
    assert len(record["runs"]) == record["planned_runs"] == len(rows)
    for claim in experiment.section["claims"].values():
        for part in map(comparison, (*claim["criterion"], *claim.get("control", ()))):
            assert all(
                isinstance(cell(run, part.column), int | float)
                for run in record["runs"]
                if run["row"] in (part.low, part.high)
            ), part
