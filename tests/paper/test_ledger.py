"""CLAIMS.md follows from the records, and the records from the plan."""

import dataclasses
import json
from pathlib import Path

import PIL.Image
import pytest

from albert_edu.paper import counts, published
from albert_edu.paper.claims import Claim, Less
from albert_edu.paper.experiments import PROFILES, Experiment
from albert_edu.paper.ledger import MARKERS, OPEN, Entry, claims_page, entries, picture, printed, summary, write_ledger
from albert_edu.paper.plan import EXPERIMENTS
from albert_edu.paper.published import TABLES

FIGURES = Path(__file__).resolve().parents[2] / "figures"
LEDGER = entries(FIGURES)
RECORDS = [(entry, profile) for entry in LEDGER for profile in entry.records]
each_record = pytest.mark.parametrize(("entry", "profile"), RECORDS, ids=lambda part: getattr(part, "name", part))


def test_the_page_is_what_the_records_say():
    assert (FIGURES / "CLAIMS.md").read_text(encoding="utf-8") == claims_page(LEDGER), "run 'python -m albert_edu claims'"


def test_the_readme_summarises_the_same_records():
    told = (FIGURES.parent / "README.md").read_text(encoding="utf-8").split(MARKERS[0])[1].split(MARKERS[1])[0]
    assert told.strip() == summary(LEDGER), "run 'python -m albert_edu claims'"


@each_record
def test_every_picture_is_of_its_record(entry, profile):
    if entry.experiment.drawn:
        _, alt = picture(entry, profile, entry.records[profile])
        with PIL.Image.open(FIGURES / f"{entry.name}_{profile}.png") as drawn:
            assert drawn.info["Description"] == alt, "run 'python -m albert_edu claims'"


@each_record
def test_no_criterion_was_changed_after_its_runs(entry, profile):
    stood = {claim["claim"]: claim["criterion"] for claim in entry.records[profile]["claims"]}
    assert stood == {claim.text: [str(part) for part in claim.criterion] for claim in entry.experiment.claims}


@each_record
def test_a_record_holds_the_very_runs_that_are_planned(entry, profile):
    record = entry.records[profile]
    assert record["experiment"] == entry.name and record["profile"] == profile
    if entry.experiment.instead:
        return
    planned = [json.loads(json.dumps(dataclasses.asdict(run))) for run in entry.experiment.runs(profile)]
    for plan, run in zip(planned, record["runs"], strict=True):
        assert plan == {name: run.get(name, plan[name]) for name in plan}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_plan_is_whole(name):
    experiment = EXPERIMENTS[name]
    assert experiment.claims and set(experiment.budgets) <= set(PROFILES) and experiment.question.endswith("?")
    for profile in () if experiment.instead else experiment.budgets:
        runs = experiment.runs(profile)
        rows = {run.row for run in runs}
        assert len({(run.row, run.seed) for run in runs}) == len(runs), "a row's seed is run once"
        assert len({run.key(experiment.measure) for run in runs}) == len(runs), "no two rows are the same training"
        sides = {side for claim in experiment.claims for part in claim.criterion for side in (part.low, part.high)}
        assert {side for side in sides if isinstance(side, str)} <= rows
    for row in experiment.published:
        assert experiment.instead or any(run.row == row for profile in experiment.budgets for run in experiment.runs(profile))
        assert isinstance(printed(experiment, row), int | float), "a single printed number stands beside a row"


def test_what_a_row_trains_in_all_is_the_same_however_it_is_grown():
    runs = EXPERIMENTS["table11"].runs("laptop")
    assert {run.steps + sum(steps for _, steps in run.grown) for run in runs} == {3000}


def small(verdicts: dict[str, list[float]]) -> Entry:
    """An experiment with one claim, a < b, and a record of each profile with b - a as given."""
    experiment = Experiment("Is it?", (Claim("a is less.", "Table 3", (Less("loss", "a", "b"),)),), "loss",
                            published={"a": ("3", "Avg", "all", 128)})  # fmt: skip
    made = {"device": "CPU", "seconds": 60, "versions": {"torch": "2"}, "commit": "abc", "date": "2026-01-01"}

    def runs(gaps: list[float]) -> list[dict]:
        pairs = [(seed, row, extra) for seed, gap in enumerate(gaps) for row, extra in (("a", 0.0), ("b", gap))]
        return [{"row": row, "seed": seed, "loss": 1.0 + extra} for seed, row, extra in pairs]

    records = {profile: {"provenance": made, "runs": runs(gaps)} for profile, gaps in verdicts.items()}
    return Entry("small", experiment, records)


def test_the_largest_budget_has_the_word_whether_it_decides_or_not():
    claim = small({}).experiment.claims[0]
    assert small({}).verdict(claim) == (OPEN, "")
    assert small({"quick": [0.1, -0.1, 0.0]}).verdict(claim) == ("not at this scale", "quick")
    assert small({"quick": [-0.1, -0.11, -0.1], "laptop": [0.1, 0.11, 0.1]}).verdict(claim) == ("reproduced", "laptop")
    assert small({"quick": [-0.1, -0.11, -0.1], "laptop": [0.1, -0.1, 0.0]}).verdict(claim) == ("not at this scale", "laptop")


def test_the_page_shows_ours_beside_the_papers_number():
    page = claims_page([small({"quick": [0.1, 0.1, 0.1]})])
    assert f"| a | {TABLES['3'].value('Avg', 'all', 128)} (Avg, Table 3) | 1.000 ± 0.000 (n=3) |" in page
    assert "| `loss: a < b` | 0.100 ± 0.000 (n=3) | reproduced |" in page


def test_a_printed_count_that_fits_no_count_contradicts_its_claim(monkeypatch):
    printed = published.printed_and_counted()
    monkeypatch.setattr(counts, "printed_and_counted", lambda: [
        row._replace(printed=95) if (row.table, row.row) == ("3", "share=all, E=128") else row for row in printed])  # fmt: skip
    first, second, *_ = EXPERIMENTS["counts"].claims
    rows = counts.counted_rows()
    assert (first.verdict(rows), second.verdict(rows)) == ("contradicted", "reproduced")


def test_a_run_of_two_tables_costs_its_seconds_once():
    one, two = small({"quick": [0.1, 0.1, 0.1]}), small({"quick": [0.1, 0.1, 0.1]})
    for entry in (one, two):
        for run in entry.records["quick"]["runs"]:
            run |= {"row": f"{entry is one} {run['row']}", "seconds": 600}
    assert "Recorded with `quick`: 1.0 core hours." in summary([one])
    assert "Recorded with `quick`: 1.0 core hours." in summary([one, two])


def test_the_ledger_is_written_from_records_alone(tmp_path):
    (tmp_path / "figures" / "results").mkdir(parents=True)
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{MARKERS[0]}\nold\n{MARKERS[1]}\nafter\n")
    page = write_ledger(tmp_path / "figures", readme).read_text()
    claims = sum(len(experiment.claims) for experiment in EXPERIMENTS.values())
    assert page.count(OPEN) >= claims and f"{claims} {OPEN}." in readme.read_text()
    before, rest = readme.read_text().split(MARKERS[0])
    assert (before, rest.split(MARKERS[1])[1]) == ("before\n", "\nafter\n") and "old" not in rest
