"""The page says what the records say, and stays one page."""

import json
import re
import shutil
import tomllib

import numpy as np
import pytest
from PIL import Image

from albert_paper.asked_again import recipes_and_health
from albert_paper.claims import finished_claims
from albert_paper.outcomes import judge
from albert_paper.page import SIMILARITIES, more_when_separate, write_report
from albert_paper.plan import NEW_PLAN, PLAN, UNJUDGED
from albert_paper.plan import PAGE as PAGE_ROWS
from albert_paper.provenance import ROOT
from tests.paper import recompute

FIGURES = ROOT / "figures"
PAGE = (FIGURES / "CLAIMS.md").read_text(encoding="utf-8")
AGAIN = (FIGURES / "ASKED_AGAIN.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (.+) \| (.+) \| (.+) \| \*\*(\w+)\*\*(?: \(when run: [a-z ]+\))? \| \[more\]\(#(\S+)\) \|$",
    PAGE,
    re.M,
)
SECTIONS = dict(re.findall(r'<a id="(\S+)"></a>\n(.+?)(?=\n<a id=|\Z)', PAGE, re.S))
OUTCOMES = json.loads((FIGURES / "outcomes.json").read_text())
TAKEN_BACK = {  # and the word on the page of the runs, at commit 255f061
    "sharing_laptop.smaller": "not judged",
    "sharing_laptop.smoother": "undecided",
    "ratio_laptop.same_steps": "undecided",
    "third_domain_laptop.helps": "opposes",
    "nsp_order.sop_knows_topic": "undecided",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page as the records make it now."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(FIGURES / "results", folder / "figures" / "results")
    write_report(folder)
    return folder


@pytest.mark.parametrize(
    "name", ["CLAIMS.md", "outcomes.json", "ASKED_AGAIN.md", "asked_again.json"]
)
def test_the_page_is_what_the_records_say(written, name):
    assert (written / "figures" / name).read_text() == (FIGURES / name).read_text()


def test_every_picture_is_of_its_record_and_shown(written):
    shown = set(re.findall(r"\(claims/(\S+\.png)\)", PAGE + AGAIN))
    assert shown == {path.name for path in (FIGURES / "claims").iterdir()}
    for name in shown:
        kept, again = (
            Image.open(of / "claims" / name).text for of in (FIGURES, written / "figures")
        )
        assert kept == again and f"![{kept['Description']}](claims/{name})" in PAGE + AGAIN


def test_a_script_that_knows_nothing_of_the_library_computes_every_word_again():
    again = {key: found["word"] for key, found in recompute.outcomes(ROOT).items()}
    again |= recompute.counted(ROOT)
    assert {key: said for *_, said, key in ROWS} == {key: again[key] for *_, key in ROWS}


@pytest.mark.parametrize(
    ("file", "plan"), [("outcomes.json", "experiments.toml"), ("asked_again.json", "plan.toml")]
)
def test_the_script_computes_every_number_of_the_outcomes_again(file, plan):
    again = recompute.outcomes(ROOT, plan)
    written = json.loads((FIGURES / file).read_text())
    assert written.keys() == again.keys() and written
    for key, found in written.items():
        assert found["word"] == again[key]["word"], key
        assert found["p_holm"] == pytest.approx(again[key]["p"], rel=1e-6), key
        for part, (mean, half, n) in zip(found["parts"], again[key]["parts"], strict=True):
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


def test_the_page_has_at_most_twenty_rows_and_three_thousand_words():
    assert 15 <= len(ROWS) <= 20 and len(PAGE.split()) <= 3000


def test_every_row_has_a_section_of_at_most_120_words_with_one_picture_of_what_ran():
    assert list(SECTIONS) == [key for *_, key in ROWS]
    for key, section in SECTIONS.items():
        text, pictures = re.subn(r"!\[.*\]\(.*\)", "", section)
        assert len(text.split()) <= 120, key
        assert pictures == (0 if key.startswith("counts.") else 1), key


def test_a_criterion_is_the_one_that_its_record_was_made_under_or_says_that_it_was_taken_back():
    for key, found in OUTCOMES.items():
        name, claim = key.split(".")
        record = json.loads((FIGURES / "results" / f"{name}.json").read_text())
        planned = record.get("plan", {}).get("claims", {}).get(claim, {})
        if key in TAKEN_BACK:
            assert "**Exchanged after the runs**" in SECTIONS[key]
            assert TAKEN_BACK[key] in SECTIONS[key], "the word of its runs stands beside"
        elif planned:
            assert (found["criterion"], found.get("control", [])) == (
                planned["criterion"],
                planned.get("control", []),
            ), key
    assert PAGE.count("**Exchanged after the runs**") == len(TAKEN_BACK)


def test_every_arm_of_the_page_was_trained_once_more_and_learnt_with_both_halves():
    again = json.loads((FIGURES / "results" / "old_arms.json").read_text())["runs"]
    learnt = [run for run in again if run["held_out_masked_token_loss"] < run["copy_baseline"]]
    assert all(run["health"]["alive"] for run in learnt)
    stuck = {(run["row"], run["seed"]) for run in again if run not in learnt}
    assert stuck == {("sharing_laptop: all", 20)}, "left out of its record, too"
    on_page = {key.split(".")[0] for key in OUTCOMES}
    arms = {f"{name}: {row}" for name in on_page for row in PLAN[name]["rows"]}
    cards = {name for name in on_page if PLAN[name].get("card")}
    assert {arm for arm in arms if arm.split(": ")[0] not in cards} == {r["row"] for r in learnt}


def test_half_of_the_rows_compare_arms_whose_rates_were_both_chosen_by_pilots():
    tuned = []
    for *_, key in ROWS:
        if key in OUTCOMES:
            name = key.split(".")[0]
            record = json.loads((FIGURES / "results" / f"{name}.json").read_text())
            piloted = {pilot["row"] for pilot in record.get("pilots", [])}
            tuned.append(all(set(part["stuck"]) <= piloted for part in OUTCOMES[key]["parts"]))
    assert sum(tuned) == len(tuned) / 2


def test_what_has_not_run_is_not_on_the_page():
    waiting = {name for name in PLAN if not (FIGURES / "results" / f"{name}.json").exists()}
    assert waiting and not {key.split(".")[0] for key in OUTCOMES} & waiting
    assert not finished_claims({"few_labels": [{}] * 29}, PLAN)
    assert finished_claims({"few_labels": [{}] * 30}, PLAN)
    table = AGAIN.split("|---|\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| (.+?) \| .*? \| \**([a-z ]+)\** \| [a-z (:)]* \|$", table, re.M))
    asked = json.loads((FIGURES / "asked_again.json").read_text())
    assert len(rows) == len(PAGE_ROWS)
    assert sum(word != "not run yet" for word in rows.values()) == len(asked)


def test_rows_without_runs_only_make_the_correction_stricter():
    runs = {"stable": json.loads((FIGURES / "results" / "stable.json").read_text())["runs"]}
    claims = finished_claims(runs, NEW_PLAN)
    alone, in_family = (judge(claims, family) for family in ((), PAGE_ROWS))
    ps = [found["stable.stabilises"]["p_holm"] for found in (alone, in_family)]
    assert ps[1] == pytest.approx(min(1.0, ps[0] * len(PAGE_ROWS)))


def test_hardly_any_run_had_stopped_learning():
    """Flat: the training loss falls by less than 0.01 nats from the ninth tenth of the steps to the last."""
    falls = [
        run["training_curve"][-2][1] - run["training_curve"][-1][1]
        for key in {key.split(".")[0] for key in OUTCOMES}
        for run in json.loads((FIGURES / "results" / f"{key}.json").read_text())["runs"]
    ]
    assert sum(fall < 0.01 for fall in falls) < 0.3 * len(falls)


def test_there_is_one_record_for_a_question():
    records = {path.stem for path in (FIGURES / "results").glob("*.json")}
    judged = records - UNJUDGED.keys()
    assert len(judged - NEW_PLAN.keys()) <= 16  # those of the new plan will take their places
    asked = [found["criterion"] for found in OUTCOMES.values()]
    assert len({json.dumps(criterion) for criterion in asked}) >= len(asked) - 1


def test_no_measured_number_is_typed_into_the_words_of_a_claim():
    plan = tomllib.loads((ROOT / "albert_paper/data/experiments.toml").read_text())
    for name, section in plan.items():
        for key, claim in section.get("claims", {}).items():
            text = re.sub(r"\{.*?\}", "", claim.get("ours", "") + claim.get("note", ""))
            assert not re.search(r"\d\.\d\d|±", text.replace("m = 0.05", "")), (name, key)


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(ValueError, match="results is missing"):
        write_report(tmp_path)


def test_what_the_page_says_of_figure_1_is_so():
    base = json.loads((FIGURES / "results" / "figure1_gpu.json").read_text())
    now, before = (more_when_separate(base, name) for name in SIMILARITIES)
    assert before["mean_angle"] > now["mean_angle"] / 2, "the smaller step is mostly architecture"
    assert before["roughness"] < now["roughness"] / 2, "the smoothness is mostly training"
    runs = json.loads((FIGURES / "results" / "figure1_seeds.json").read_text())["runs"]
    drawn = {}
    for row in ("shared", "separate"):
        curves = [run["untrained"]["angle_degrees"] for run in runs if run["row"] == row]
        drawn[row] = np.mean(curves, axis=0)[1:]  # the first step comes from the embedding
    assert (drawn["shared"] < drawn["separate"]).all(), "before training, too"


def test_what_the_page_says_of_dead_blocks_is_so():
    runs = json.loads((FIGURES / "results" / "cause.json").read_text())["runs"]
    recipes = recipes_and_health(runs)
    dead = [recipes["LAMB 1e-2"], recipes["LAMB 1e-2, bias correction"]]
    for recipe in dead:
        assert max(recipe["open"]) < 0.1 and max(recipe["ffn"]) < 0.3
        assert all(step and step <= 3000 for step in recipe["closed"])
    still_open = {"LAMB 1e-2": 0.05, "LAMB 1e-2, bias correction": 0.15}
    for run in runs:
        if run["row"] in still_open:
            (seen,) = (seen for seen in run["watched"] if seen["step"] == 3000)
            assert seen["least_open"] < still_open[run["row"]], "how many have closed by then"
    slow = recipes["LAMB 1e-2, vectors at 1e-3"]
    assert min(slow["open"]) > max(dead[0]["open"]) + 0.2
    assert min(slow["ffn"]) > max(dead[0]["ffn"]) + 0.1
    assert min(recipes["LAMB 3e-3"]["open"]) > 0.95
    living = [loss for name in recipes if "1e-2" not in name for loss in recipes[name]["loss"]]
    assert max(dead[0]["loss"]) < min(recipes["LAMB 3e-3"]["loss"]), "no worse than at 3e-3"
    assert max(dead[0]["loss"]) < sorted(living)[len(living) // 2], "as low as most others"
