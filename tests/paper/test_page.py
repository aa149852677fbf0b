"""The page says what the records say, and stays one page."""

import hashlib
import json
import re
import shutil
from copy import deepcopy

import pytest
from PIL import Image

from albert_paper.claims import finished_claims
from albert_paper.outcomes import judge
from albert_paper.page import write_report
from albert_paper.plan import PAGE as PAGE_ROWS
from albert_paper.plan import PLAN, UNJUDGED
from albert_paper.provenance import ROOT
from tests.paper import recompute

FIGURES = ROOT / "figures"
PAGE = (FIGURES / "CLAIMS.md").read_text(encoding="utf-8")
COMPARISONS = (FIGURES / "COMPARISONS.md").read_text(encoding="utf-8")
ROWS = {}  # of the table: our runs, the outcome, and that before
for line in re.findall(r"^\| .*COMPARISONS\.md#.*$", PAGE, re.M):
    _, _, ours, link, said = (cell.strip() for cell in line[1:-1].split("|"))
    outcome, row_key = re.fullmatch(r"\[(.+)\]\(COMPARISONS\.md#(\S+)\)", link).groups()
    ROWS[row_key] = ours, outcome, said
SECTIONS = dict(re.findall(r'<a id="(\S+)"></a>\n(.+?)(?=\n<a id=|\Z)', COMPARISONS, re.S))
FIRST = json.loads((FIGURES / "outcomes.json").read_text(encoding="utf-8"))
DECIDED = json.loads((FIGURES / "decided.json").read_text(encoding="utf-8"))
TAKEN_BACK = {  # and the word on the page of the runs, at commit 255f061
    "sharing_laptop.smaller": "not judged",
    "sharing_laptop.smoother": "undecided",
    "ratio_laptop.same_steps": "undecided",
    "third_domain_laptop.helps": "opposes",
    "nsp_order.sop_knows_topic": "undecided",
}


def before(key: str) -> str:
    """The key of what the first plan asked, "" where it did not ask."""
    name, claim = key.split(".")
    return PLAN[name]["claims"][claim].get("before", "")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page as the records make it now."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(FIGURES / "results", folder / "figures" / "results")
    shutil.copy(FIGURES / "outcomes.json", folder / "figures")
    write_report(folder)
    return folder


@pytest.mark.parametrize("name", ["CLAIMS.md", "COMPARISONS.md", "CAUSE.md", "decided.json"])
def test_the_page_is_what_the_records_say(written, name):
    assert (written / "figures" / name).read_text() == (FIGURES / name).read_text()


def test_every_picture_is_of_its_record_and_shown(written):
    shown = set(re.findall(r"\(claims/(\S+\.png)\)", COMPARISONS))
    assert shown == {path.name for path in (FIGURES / "claims").iterdir()}
    assert shown == {f"{key}.png" for key in DECIDED}
    for name in shown:
        kept, again = (
            Image.open(of / "claims" / name).text for of in (FIGURES, written / "figures")
        )
        assert kept == again and f"![{kept['Description']}](claims/{name})" in COMPARISONS


@pytest.fixture(scope="module")
def again():
    """What a script that knows nothing of the library computes from the records."""
    return {"first": recompute.first_outcomes(ROOT), "page": recompute.outcomes(ROOT)}


def test_a_script_computes_every_word_of_the_table_again(again):
    words = {key: found["word"] for key, found in again["page"].items()} | recompute.counted(ROOT)
    assert set(words) <= set(ROWS)
    for key, (_, word, _) in ROWS.items():
        assert word == (f"**{words[key]}**" if key in words else "not run yet"), key


@pytest.mark.parametrize(("name", "written"), [("first", FIRST), ("page", DECIDED)])
def test_the_script_computes_every_number_of_the_outcomes_again(again, name, written):
    assert written.keys() == again[name].keys() and written
    for key, found in written.items():
        expected = again[name][key]
        assert found["word"] == expected["word"], key
        assert found["p_holm"] == pytest.approx(expected["p"], rel=1e-6), key
        shown = found["parts"]
        if name == "page":
            shown = [part for parts in found["found"].values() for part in parts]
        for part, (mean, half, n) in zip(shown, expected["numbers"], strict=name == "page"):
            assert (part["mean"], part["half"]) == pytest.approx((mean, half), rel=1e-6), key
            assert part["n"] == n, key


def test_the_script_knows_the_exact_tests():
    """Of four values with one negative, the smallest: ranks 2 + 3 + 4 of 10 by hand, signs 5 of 16."""
    values = [1.0, 2.0, 3.0, -0.5]
    assert recompute.by_ranks(values) == 2 / 16
    assert recompute.by_signs(values) == 5 / 16
    assert recompute.by_ranks([1.0, 1.0, -1.0]) == 4 / 8  # ties: at least two of three positive


def test_the_script_imports_nothing_of_the_library():
    text = (ROOT / "tests/paper/recompute.py").read_text()
    assert not re.findall(r"^(?:import|from) (?:albert|scipy|pandas)", text, re.M)


def test_the_page_has_twenty_two_rows_and_at_most_three_thousand_words():
    assert len(ROWS) == len(PAGE_ROWS) + 2 <= 22
    assert len(PAGE.split()) <= 3000
    assert list(SECTIONS) == list(ROWS)


def test_what_has_not_run_has_no_outcome_and_shows_its_first_runs():
    for key in PAGE_ROWS:
        ours, word, _ = ROWS[key]
        assert (word == "not run yet") == (key not in DECIDED)
        if key not in DECIDED:
            first = FIRST.get(before(key), {"ours": ""})
            assert ours.strip("*").endswith(first["ours"]) and ours.startswith("*") == bool(
                before(key)
            )
            assert "![" not in SECTIONS[key]
    runs = json.loads((FIGURES / "results" / "stable.json").read_text())["runs"]
    assert finished_claims({"stable": runs}) and not finished_claims({"stable": runs[1:]})
    for wrong in ({"seed": 99}, {"row": "another"}, runs[1]):
        with pytest.raises(ValueError, match="runs that the plan has not, or one of them twice"):
            finished_claims({"stable": [runs[0] | wrong, *runs[1:]]})


def test_the_first_word_stands_beside_with_its_day_and_that_when_run_where_they_differ():
    for key in PAGE_ROWS:
        _, _, said = ROWS[key]
        if before(key):
            first = FIRST[before(key)]
            assert said.startswith(f"{first['word']} ({first['date'][-2:]} Nov")
            taken_back = TAKEN_BACK.get(before(key))
            assert said.endswith(f"; when run: {taken_back})" if taken_back else "Nov)")
            assert (f"it was *{taken_back}*" in SECTIONS[key]) == bool(taken_back)
        else:
            assert said == ""
    assert {before(key) for key in PAGE_ROWS} >= set(TAKEN_BACK)


def test_a_criterion_is_the_one_that_its_record_was_made_under():
    """But for three of the first plan that were exchanged, and two that were then taken back."""
    for found in (FIRST, DECIDED):
        for key, claim in found.items():
            name, last = key.split(".")
            record = json.loads((FIGURES / "results" / f"{name}.json").read_text())
            planned = record.get("plan", {}).get("claims", {}).get(last, {})
            assert planned or found is FIRST
            if planned and key not in TAKEN_BACK:
                assert claim["criterion"] == planned["criterion"], key
                assert claim.get("control", []) == planned.get("control", []), key


@pytest.mark.parametrize("name", sorted({key.split(".")[0] for key in DECIDED}))
def test_the_plan_of_a_record_is_the_plan_of_today_but_for_its_words(name):
    recorded = json.loads((FIGURES / "results" / f"{name}.json").read_text())["plan"]
    today = deepcopy(PLAN[name])
    for plan in (recorded, today):
        for claim in plan["claims"].values():
            for words in ("says", "paper", "printed", "ours", "note"):
                claim.pop(words, None)
    assert recorded == today


def test_what_the_first_plan_found_is_as_it_was():
    digest = hashlib.sha256((FIGURES / "outcomes.json").read_bytes()).hexdigest()
    assert digest.startswith("97a013e959112ba6")


def test_every_arm_of_the_first_plan_was_trained_once_more_and_learnt_with_both_halves():
    again = json.loads((FIGURES / "results" / "old_arms.json").read_text())["runs"]
    learnt = [run for run in again if run["held_out_masked_token_loss"] < run["copy_baseline"]]
    assert all(run["health"]["alive"] for run in learnt)
    arms = set()
    for name in {key.split(".")[0] for key in FIRST} - {"order_gpu"}:  # of a card
        runs = json.loads((FIGURES / "results" / f"{name}.json").read_text())["runs"]
        arms |= {f"{name}: {run['row']}" for run in runs}
    assert arms == {run["row"] for run in learnt}


def test_rows_without_runs_only_make_the_correction_stricter():
    runs = {"stable": json.loads((FIGURES / "results" / "stable.json").read_text())["runs"]}
    claims = finished_claims(runs)
    alone, in_family = (judge(claims, family) for family in ((), PAGE_ROWS))
    ps = [found["stable.stabilises"]["p_holm"] for found in (alone, in_family)]
    assert ps[1] == pytest.approx(min(1.0, ps[0] * len(PAGE_ROWS)))


def test_most_runs_had_not_stopped_learning():
    """Flat: the training loss falls by less than 0.01 nats from the ninth tenth of the steps to the last."""
    falls = [
        run["training_curve"][-2][1] - run["training_curve"][-1][1]
        for name in {key.split(".")[0] for key in DECIDED}
        for run in json.loads((FIGURES / "results" / f"{name}.json").read_text())["runs"]
    ]
    assert sum(fall < 0.01 for fall in falls) < 0.5 * len(falls)


def test_there_is_one_record_for_a_question():
    records = {path.stem for path in (FIGURES / "results").glob("*.json")}
    first = {key.split(".")[0] for key in FIRST}
    made = {"bench", "figure1_gpu", "laptop", "quick", "reviews", "old_arms"}
    assert records <= PLAN.keys() | UNJUDGED.keys() | first | made


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(ValueError, match="results is missing"):
        write_report(tmp_path)


def test_a_record_that_the_page_needs_is_asked_for_by_name(tmp_path):
    shutil.copytree(FIGURES / "results", tmp_path / "figures" / "results")
    (tmp_path / "figures" / "results" / "cause.json").unlink()
    with pytest.raises(ValueError, match=r"cause\.json is missing: restore it, or run cause again"):
        write_report(tmp_path)
    assert not (tmp_path / "figures" / "CLAIMS.md").exists()
