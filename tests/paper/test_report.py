"""CLAIMS.md follows from the records, and the records from the plans."""

import dataclasses
import json
import re
from pathlib import Path

import PIL.Image
import pytest
from matplotlib import pyplot as plt

from albert_paper import counts, published
from albert_paper.claims import comparison
from albert_paper.outcomes import ACCURACIES, Question, Scope, judge_family, tail
from albert_paper.page import MARKERS, WORDS, claims_page, pictures, summary, write_report
from albert_paper.pictures import printed
from albert_paper.plan import EXPERIMENTS, PLANNED, PROFILES
from albert_paper.report import read_report
from tests.paper import recompute

FIGURES = Path(__file__).resolve().parents[2] / "figures"
REPORT = read_report(FIGURES)
RECORDS = [(entry, profile) for entry in REPORT.entries for profile in entry.records]
each_record = pytest.mark.parametrize(
    ("entry", "profile"), RECORDS, ids=lambda part: getattr(part, "name", part)
)


def test_the_page_is_what_the_records_say():
    assert (FIGURES / "CLAIMS.md").read_text(encoding="utf-8") == claims_page(REPORT), (
        "run 'python -m albert_paper claims'"
    )


def test_the_page_says_how_many_runs_were_still_falling():
    runs = json.loads((FIGURES / "results" / "order_laptop.json").read_text())["runs"]
    flat = sum(run["training_curve"][-2][1] - run["training_curve"][-1][1] < 0.01 for run in runs)
    assert f"Flat at the end: {flat} of {len(runs)} runs." in claims_page(REPORT)


def test_the_readme_counts_the_same_outcomes():
    block = (
        (FIGURES.parent / "README.md")
        .read_text(encoding="utf-8")
        .split(MARKERS[0])[1]
        .split(MARKERS[1])[0]
    )
    assert block.strip() == summary(REPORT), "run 'python -m albert_paper claims'"


def test_every_picture_is_of_its_record():
    for name, (figure, alt) in pictures(REPORT):
        plt.close(figure)
        with PIL.Image.open(FIGURES / f"{name}.png") as drawn:
            assert drawn.info["Description"] == alt, "run 'python -m albert_paper claims'"


def test_a_script_that_knows_nothing_of_the_library_computes_every_outcome_again():
    assert recompute.outcomes(FIGURES.parent) == {
        key: outcome.word for key, outcome in REPORT.outcomes.items()
    }


def test_the_script_imports_nothing_of_the_library():
    source = Path(recompute.__file__).read_text(encoding="utf-8")
    imports = {
        line.split()[1].split(".")[0]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imports <= {"json", "math", "sys", "tomllib", "pathlib", "numpy"}


def test_reproduced_and_contradicted_are_kept_for_claims_asked_at_their_own_scale():
    for key, question in REPORT.questions.items():
        word = REPORT.outcomes[key].word
        assert question.scope in Scope.__args__ and any(word.startswith(known) for known in WORDS)
        assert (word in ("reproduced", "contradicted")) <= (
            question.scope in ("exact", "same question")
        )


def test_every_headline_printed_number_and_remark_is_of_a_claim_that_is_there():
    assert len(REPORT.headline) == 15
    named = {
        line[name] for line in REPORT.headline for name in ("claim", "earlier") if name in line
    }
    assert named | REPORT.paper.keys() | REPORT.remarks.keys() <= REPORT.questions.keys()


def test_no_measured_number_is_typed_into_a_remark():
    words = re.sub(
        r"{.*?}", "", " ".join(REPORT.remarks.values()).replace('"Would already score 0.75"', "")
    )
    assert not re.search(r"\d\.\d", words), "write {row: column} instead"


@each_record
def test_no_criterion_was_changed_after_its_runs(entry, profile):
    record = entry.records[profile]
    if "plan" in record:
        assert record["plan"] == entry.experiment.section
        return
    assert entry.name in EXPERIMENTS, "older than the rules"
    criteria = {claim["claim"]: claim["criterion"] for claim in record["claims"]}
    assert criteria == {
        claim["text"]: claim["criterion"] for claim in entry.experiment.section["claims"]
    }


@each_record
def test_a_record_holds_the_very_runs_that_are_planned(entry, profile):
    record = entry.records[profile]
    assert record["experiment"] == entry.name and record["profile"] == profile
    if entry.experiment.instead:
        return
    planned = [
        json.loads(json.dumps(dataclasses.asdict(run)))
        for run in entry.experiment.runs(profile, record.get("rates"))
    ]
    recorded = [
        {name: run.get(name, planned[0][name]) for name in planned[0]} for run in record["runs"]
    ]
    assert (
        recorded == planned
        if entry.name in EXPERIMENTS
        else all(run in planned for run in recorded)
    )


@pytest.mark.parametrize("name", [*EXPERIMENTS, *PLANNED])
def test_a_plan_is_whole(name):
    experiment = (EXPERIMENTS | PLANNED)[name]
    questions = next(entry for entry in REPORT.entries if entry.name == name).questions
    assert (
        questions and set(experiment.budgets) <= set(PROFILES) and experiment.question.endswith("?")
    )
    for profile in () if experiment.instead else experiment.budgets:
        runs = experiment.runs(profile)
        rows = {run.row for run in runs}
        assert len({(run.row, run.seed) for run in runs}) == len(runs), "a row's seed is run once"
        assert len({run.key(experiment.measure) for run in runs}) == len(runs), (
            "no two rows are the same training"
        )
        parts = [
            part for question in questions for part in (*question.criterion, *question.control)
        ]
        for part in parts:
            assert part.column.endswith(ACCURACIES) == (
                REPORT.columns[part.column][1] == "accuracy"
            ), "words and a unit"
        assert {
            side for part in parts for side in (part.low, part.high) if isinstance(side, str)
        } <= rows
    for reference in experiment.published.values():
        assert isinstance(printed(reference), int | float), (
            "a single printed number stands beside a row"
        )


def test_what_a_row_trains_in_all_is_the_same_however_it_is_stacked_where_depths_share_a_budget():
    runs = EXPERIMENTS["table11"].runs("laptop")
    assert {run.steps + sum(steps for _, steps in run.grown) for run in runs} == {3000}


LOSS = "held_out_masked_token_loss"
NOISE = [0.01, -0.01, 0.005, -0.005, 0.0, 0.002, -0.002, 0.004]


def question(criterion: str, **fields) -> Question:
    fields = {
        "key": "toy.a",
        "text": "",
        "source": "",
        "scope": "small-scale analogue",
        "least": 0.02,
    } | fields
    return Question(criterion=(comparison(criterion),), **fields)


def runs(**rows: list[float]) -> list[dict]:
    return [
        {"row": row, "seed": seed, LOSS: value}
        for row, values in rows.items()
        for seed, value in enumerate(values)
    ]


def word(asked: Question, results: list[dict]) -> str:
    return judge_family([asked], {"toy.a": results}, {})["toy.a"].word


@pytest.mark.parametrize(
    ("criterion", "level", "noise", "fields", "outcome"),
    [
        ("a < b", 2.1, 1, {}, "agrees"),
        ("a < b", 1.9, 1, {}, "opposes"),
        ("a < b", 2.0, 20, {}, "undecided"),
        ("a < b", 2.001, 1, {}, "no difference larger than 0.02"),
        ("a < b", 2.01, 0.01, {}, "no difference larger than 0.02"),  # though it is surely not zero
        ("b = 0.5 +- 0.05", 0.5, 1, {}, "agrees"),
        ("b = 0.5 +- 0.05", 0.7, 1, {}, "opposes"),
        ("b = 0.5 +- 0.05", 0.5, 30, {}, "undecided"),
        (
            "a < b",
            2.2,
            1,
            {"control": (comparison(f"{LOSS}: 2.5 < b"),)},
            "void: the control failed",
        ),
        ("a < b", 2.1, 1, {"scope": "same question"}, "reproduced"),
        ("a < b", 2.1, 1, {"scope": "other setting"}, "agrees"),
    ],
)
def test_outcomes_follow_the_sign_the_spread_and_what_matters(
    criterion, level, noise, fields, outcome
):
    results = runs(a=[2.0] * 8, b=[level + noise * x for x in NOISE])
    assert word(question(f"{LOSS}: {criterion}", **fields), results) == outcome


@pytest.mark.parametrize(
    ("a", "b", "end"), [(0.985, 0.995, "100%"), (0.49, 0.51, "chance"), (0.9, 0.995, "")]
)
def test_two_rows_of_accuracies_at_the_same_end_of_their_scale_decide_nothing(a, b, end):
    results = [
        run | {"accuracy": run[LOSS]} for run in runs(a=[a] * 8, b=[b + x / 10 for x in NOISE])
    ]
    assert word(question("accuracy: a < b"), results) == (
        f"void: both rows at {end}" if end else "agrees"
    )


def test_pairs_with_a_stuck_run_are_counted_apart_and_many_of_them_void_a_claim():
    asked = question(f"{LOSS}: a < b", stuck=3.9)
    results = runs(a=[2.0] * 8, b=[2.1 + x for x in NOISE[:-1]] + [3.95])
    compared = judge_family([asked], {"toy.a": results}, {})["toy.a"].parts[0]
    assert (compared.stuck_pairs, compared.difference.n, compared.with_stuck.n) == (1, 7, 8)
    assert word(asked, results) == "agrees"
    assert word(asked, runs(a=[2.0] * 8, b=[2.1] * 5 + [3.95] * 3)) == "void: too many stuck runs"


def test_a_claim_of_equality_is_favoured_by_the_seeds_within_its_range():
    equal = {"toy.a": runs(b=[2.1 + x for x in NOISE])}
    assert (
        judge_family([question(f"{LOSS}: b = 2.1 +- 0.006")], equal, {})["toy.a"]
        .parts[0]
        .favourable
        == 6
    )


def test_a_test_sample_that_all_seeds_share_widens_the_interval():
    results = runs(a=[0.60] * 8, b=[0.62] * 8)
    alone, shared = (
        judge_family([question(f"{LOSS}: a < b", items=items)], {"toy.a": results}, {})[
            "toy.a"
        ].parts[0]
        for items in (0, 1000)
    )
    assert alone.difference.half == pytest.approx(0) and 0.04 < shared.difference.half < 0.06


def test_claims_that_are_not_run_count_in_the_correction():
    asked = [question(f"{LOSS}: a < b", key=f"toy.{number}") for number in range(40)]
    results = runs(a=[2.0] * 4, b=[2.1, 2.13, 2.07, 2.11])
    alone = judge_family(asked[:1], {"toy.0": results}, {})["toy.0"]
    among = judge_family(asked, {"toy.0": results}, {each.key: "not run" for each in asked[1:]})[
        "toy.0"
    ]
    assert among.p == pytest.approx(40 * alone.p) and (alone.word, among.word) == (
        "agrees",
        "undecided",
    )


@pytest.mark.parametrize(
    ("t", "freedom", "chance"),
    [(12.706, 1, 0.025), (2.262, 9, 0.025), (1.833, 9, 0.05), (-2.262, 9, 0.975)],
)
def test_tails_are_those_of_the_printed_table(t, freedom, chance):
    assert tail(t, freedom) == pytest.approx(chance, rel=1e-3)


def test_the_profile_with_most_seeds_decides_and_the_larger_one_in_a_tie():
    table2, table4 = (entry for entry in REPORT.entries if entry.name in ("table2", "table4"))
    assert {len(record["provenance"]["seeds"]) for record in table2.records.values()} == {3, 5}
    assert (
        table2.deciding(table2.questions[0]) == "quick"
        and table4.deciding(table4.questions[0]) == "laptop"
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("loss: a < b", ("loss", "a", "b", 0, 0)),
        ("x: 0.5 < a, E=H/4", ("x", 0.5, "a, E=H/4", 0, 0)),
        ("x: a < b + 0.02", ("x", "a", "b", -0.02, 0)),
        ("x: a = 0.5 +- 0.05", ("x", "a", 0.5, 0, 0.05)),
    ],
)
def test_a_criterion_is_read_as_it_was_written_down(text, parts):
    assert comparison(text) == (text, *parts)


def test_a_printed_count_that_fits_no_count_contradicts_its_claim(monkeypatch):
    counted = published.printed_and_counted()
    monkeypatch.setattr(
        counts,
        "printed_and_counted",
        lambda: [
            row._replace(printed=95) if (row.table, row.row) == ("3", "share=all, E=128") else row
            for row in counted
        ],
    )
    asked, rows = [REPORT.questions[f"counts.{number}"] for number in (1, 2)], counts.counted_rows()
    judged = judge_family(asked, {q.key: rows for q in asked}, {})
    assert [judged[q.key].word for q in asked] == ["contradicted", "reproduced"]


def test_the_report_is_written_without_any_record(tmp_path):
    (tmp_path / "figures" / "results").mkdir(parents=True)
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{MARKERS[0]}\nold\n{MARKERS[1]}\nafter\n")
    page = write_report(tmp_path / "figures", readme).read_text()
    assert page.count("not run") >= len(REPORT.questions) and "old" not in readme.read_text()
    before, rest = readme.read_text().split(MARKERS[0])
    assert (before, rest.split(MARKERS[1])[1]) == ("before\n", "\nafter\n")
    readme.write_text("a project of its own")
    assert (
        write_report(tmp_path / "figures", readme).exists()
        and readme.read_text() == "a project of its own"
    )
