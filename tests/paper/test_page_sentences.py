"""Sentences of the page whose numbers are not filled in are so, too: notes, Figure 1 and the dead blocks."""

import json

import numpy as np

from albert_paper.cause import recipes_and_health
from albert_paper.page import SIMILARITIES, more_when_separate
from albert_paper.plan import PLAN
from albert_paper.provenance import ROOT

FIGURES = ROOT / "figures"


def losses(name: str) -> dict[str, dict[int, float]]:
    """The held-out MLM losses of a record, by row and seed."""
    found: dict[str, dict[int, float]] = {}
    for run in json.loads((FIGURES / "results" / f"{name}.json").read_text())["runs"]:
        found.setdefault(run["row"], {})[run["seed"]] = run["held_out_masked_token_loss"]
    return found


def test_what_the_notes_count_is_so():
    stable = json.loads((FIGURES / "results" / "stable.json").read_text())
    never = {0.004: [], 0.008: []}
    for pilot in stable["pilots"]:
        if pilot["learning_rate"] in never:
            never[pilot["learning_rate"]].append(pilot["never_learnt"])
    assert {rate: (sum(each), len(each)) for rate, each in never.items()} == {
        0.004: (1, 12),
        0.008: (11, 12),
    }
    far = {row: sum(loss < 3.5 for loss in each.values()) for row, each in losses("stable").items()}
    assert far == {"shared": 0, "separate": 8}
    wide = losses("hidden")
    assert sum(wide["H=128"][seed] > wide["H=64"][seed] for seed in wide["H=64"]) == 9
    depth = losses("layers")
    assert all(depth["L=3"][seed] < depth["L=1"][seed] for seed in range(30, 37))
    own = {}  # stages at the depth of the row
    for row, changes in PLAN["layers"]["rows"].items():
        own[row] = [*changes["chain"], changes["L"]].count(changes["L"])
    assert own == {"L=1": 6, "L=3": 5, "L=12": 3, "L=24": 2, "L=48": 1}
    real = json.loads((FIGURES / "results" / "real_order.json").read_text())["runs"]
    right = [run["head"]["sop"]["accuracy"] for run in real]
    assert len(right) == 6 and min(right) > 0.5
    assert round(max(right), 2) == 0.57
    ratio = json.loads((FIGURES / "results" / "ratio.json").read_text())
    rates = {row: tuned["learning_rate"] for row, tuned in ratio["rates"].items()}
    assert rates == {"BERT": 0.004, "wide ALBERT": 0.002, "BERT, equal time": 0.002}
    pilots = dict(ratio["rates"]["wide ALBERT"]["scores"])
    assert min(pilots[0.001], pilots[0.004]) > pilots[0.002] + 0.15, "it rises steeply"
    seconds = {}
    for run in ratio["runs"]:
        seconds.setdefault(run["row"], []).append(run["cpu_seconds"])
    assert np.mean(seconds["BERT, equal time"]) < np.mean(seconds["wide ALBERT"])
    assert round(np.mean(seconds["wide ALBERT"]) / np.mean(seconds["BERT"]), 1) == 1.3


def test_what_notebooks_06_and_08_say_of_records_is_so():
    decided = json.loads((FIGURES / "decided.json").read_text(encoding="utf-8"))
    row = decided["order.sop_knows_topic"]
    _, probe = row["parts"]
    assert row["criterion"][1] == "probe_mean.nsp-topic.accuracy: none < SOP"
    assert probe["mean"] + probe["half"] < 0, "the probe finds less in the SOP models"
    runs = json.loads((FIGURES / "results" / "nsp_order.json").read_text())["runs"]
    hidden = [run for run in runs if run["row"] == "NSP, hidden topics, strong order"]
    assert [run["head"]["sop"]["accuracy"] > 0.6 for run in hidden].count(True) == 5
    assert len(hidden) == 10
    assert "Training adds 2.0 ± 0.8°" in (FIGURES / "COMPARISONS.md").read_text(encoding="utf-8")


def test_what_the_page_says_of_figure_1_is_so():
    base = json.loads((FIGURES / "results" / "figure1_gpu.json").read_text())
    now, before = (more_when_separate(base, name) for name in SIMILARITIES)
    assert before["mean_angle"] > now["mean_angle"] / 2, "the smaller step is mostly architecture"
    assert before["roughness"] < now["roughness"] / 2, "the smoothness is mostly training"
    runs = json.loads((FIGURES / "results" / "figure1_seeds.json").read_text())["runs"]
    step = {run["row"]: {} for run in runs}
    for run in runs:
        step[run["row"]][run["seed"]] = run["mean_angle"], run["added"]["mean_angle"]
    for seed, (trained, added) in step["separate"].items():
        more = trained - step["shared"][seed][0]
        assert added - step["shared"][seed][1] < more / 2, "in each of the six pairs, too"
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
