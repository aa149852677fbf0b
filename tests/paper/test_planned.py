"""The plan as data: every section is complete, its runs are new, and an interrupted sitting leaves a record to go on from."""

import json

import pytest

from albert_edu.paper import measures
from albert_edu.paper import planned as module
from albert_edu.paper.planned import PLANNED, Planned, run_planned

TINY = {
    "measure": "scores", "rates": [1e-3, 2e-3],
    "settings": {"corpus": "stories", "steps": 2, "batch_size": 4, "sequence_length": 32},
    "rows": {"shallow": {"H": 32, "L": 1, "E": 32}, "deep": {"H": 32, "L": 2, "E": 32, "chain": [1], "rate_of": "shallow"}},
}  # fmt: skip


@pytest.mark.parametrize("name", PLANNED)
def test_every_claim_of_the_plan_says_what_it_quotes_how_it_differs_and_what_decides(name):
    for claim in PLANNED[name].section["claims"].values():
        assert claim["scope"] in ("exact", "same question", "small-scale analogue", "other setting")
        assert {"text", "quote", "differs", "criterion", "least"} <= set(claim)


def test_evaluation_seeds_are_in_no_pilot_and_in_no_older_record():
    for experiment in PLANNED.values():
        assert len(experiment.seeds) >= 8
        assert not set(experiment.seeds) & ({*experiment.pilot_seeds} | {*range(10)})


def test_the_rate_with_the_lowest_mean_pilot_loss_is_used_and_lent_to_rows_that_name_it():
    tiny = Planned("tiny", TINY, (20,), (101, 102))
    pilots = [{"row": "shallow", "learning_rate": rate, "held_out_masked_token_loss": loss}
              for rate, loss in ((1e-3, 3.0), (1e-3, 2.0), (2e-3, 2.6), (2e-3, 2.2))]  # fmt: skip
    assert tiny.rates(pilots) == {"shallow": 2e-3, "deep": 2e-3}


def test_an_interrupted_sitting_leaves_a_record_from_which_another_machine_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(measures, "MEASURED", 2)
    monkeypatch.setitem(PLANNED, "tiny", Planned("tiny", TINY, (20, 21), (101,)))
    done = []

    def sweep(runs, measure, folder, device):
        for run in runs:
            if (path := folder / f"{run.key(measure)}.json").exists():
                continue
            if len(done) in (3, 6):  # interrupted twice
                done.append("interrupted")
                raise KeyboardInterrupt
            done.append(run.row)
            module.write_json(path, {**module.dataclasses.asdict(run), "held_out_masked_token_loss": 2.0, "seconds": 1.0,
                                     "device": "here", "commit": "c", "date": "d"})  # fmt: skip
        return [json.loads((folder / f"{run.key(measure)}.json").read_text()) | {"row": run.row} for run in runs]

    monkeypatch.setattr(module, "sweep", sweep)
    for sitting in ("a", "b"):
        with pytest.raises(KeyboardInterrupt):
            run_planned("tiny", "laptop", tmp_path / "figures", tmp_path / sitting)
    record = json.loads(run_planned("tiny", "laptop", tmp_path / "figures", tmp_path / "c").read_text())
    assert len(record["runs"]) == record["planned_runs"] == 4
    assert len([row for row in done if row != "interrupted"]) == 6, "no run was done twice"


def test_a_record_made_under_another_plan_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(PLANNED, "tiny", Planned("tiny", TINY, (20,), (101,)))
    module.write_json(tmp_path / "results" / "tiny_laptop.json", {"plan": {"rows": {}}, "pilots": [], "runs": []})
    with pytest.raises(ValueError, match="another plan"):
        run_planned("tiny", "laptop", tmp_path, tmp_path)
