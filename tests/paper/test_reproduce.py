"""``reproduce`` from end to end on a pair small enough for a test: files, provenance, going on, and failing clearly."""

import contextlib
import dataclasses
import io
import json

import pytest
from PIL import Image

from albert_edu.training.evaluate import evaluate
from albert_paper import reproduce
from albert_paper.plan import UNJUDGED, runs_of
from albert_paper.provenance import ROOT, write_json
from albert_paper.reproduce import MEMBERS, PAIRS, recipes_tried
from albert_paper.sweep import Run
from albert_paper.templates import render
from tests.support import main, run_here

SHORT = {"steps": 4, "learning_rate": 5e-3, "batch_size": 4, "sequence_length": 48}
TINY = Run("tiny", **SHORT, config=(("num_layers", 2),), grown=((2, 4, 1e-2, 24),))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduced")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PAIRS, "quick", TINY)
        patch.setattr(reproduce, "run_all", run_here)
        patch.setattr(reproduce, "evaluate", lambda model, stream, _: evaluate(model, stream, 2))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            reproduce.reproduce("quick", folder / "runs", record_in=folder / "figures")
        before = (folder / "runs/quick/albert/model.safetensors").stat().st_mtime_ns
        reproduce.reproduce("quick", folder / "runs")
    return folder, before, printed.getvalue()


def test_it_leaves_pictures_with_alt_text_results_with_provenance_and_both_models(reproduced):
    folder, *_ = reproduced
    assert len(Image.open(folder / "figures/figure1_quick.png").text["Description"].split()) > 20
    record = json.loads((folder / "figures/results/figure1_quick.json").read_text())
    assert {"command", "commit", "device", "seeds", "torch", "python", "date"} <= set(
        record["provenance"]
    )
    assert set(record["members"]) == set(MEMBERS)
    for member in record["members"].values():
        assert member["corpus_hash"] and member["date"]
        assert len(member["similarity"]["l2"]) == len(member["similarity_untrained"]["l2"]) == 2
        assert member["training_seconds"] > 0
    assert "| unshared |" in (folder / "runs/quick/README.md").read_text(), "no card"


def test_the_summary_fits_a_screen_and_has_our_counts_and_the_papers(reproduced):
    folder, *_, printed = reproduced
    assert len(printed.splitlines()) <= 14
    assert str(folder / "runs/quick/figure1_quick.png") in printed
    assert "one shared layer (ALBERT)" in printed and "unigram baseline, chance" in printed
    assert "to 4.0 million" in printed and "11.7 million parameters in all (paper: 12)" in printed


def test_the_summary_names_the_dead_halves_of_a_pair_that_has_learnt_nothing(reproduced):
    folder, *_, printed = reproduced
    verdicts = [line for line in printed.splitlines() if "): dead attention" in line]
    assert len(verdicts) == len(MEMBERS)
    record = json.loads((folder / "figures/results/figure1_quick.json").read_text())
    for member, line in zip(MEMBERS, verdicts, strict=True):
        health = record["members"][member]["health"]
        assert line.endswith(health["verdict"])
        assert len(health["without_ffn_at"]) == len(health["open_units"]) == 2


def test_the_second_call_keeps_what_the_first_one_finished(reproduced):
    folder, before, _ = reproduced
    assert (folder / "runs/quick/albert/model.safetensors").stat().st_mtime_ns == before


def test_the_pair_differs_in_sharing_and_in_nothing_else(reproduced):
    folder, *_ = reproduced
    albert, unshared = (
        json.loads((folder / f"runs/quick/{member}/config.json").read_text()) for member in MEMBERS
    )
    assert {key for key in albert if albert[key] != unshared[key]} == {"num_hidden_groups"}


def test_the_quick_pair_trains_at_full_depth_from_the_first_step_and_warms_up_for_a_fifth_of_them():
    for run in (PAIRS["quick"], PAIRS["gpu"]):
        stages = run.stages()
        assert {stage.num_layers for stage in stages} == {12}
        for stage in stages:
            assert 0.18 < run.settings(stage).warmup_steps / stage.steps <= 0.2


def test_every_profile_has_a_pair_and_the_one_for_a_card_is_not_begun_without_one(
    monkeypatch, capsys
):
    assert set(PAIRS) == {"quick", "laptop", "gpu"}
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["reproduce", "--profile", "gpu"]) == 2
    assert "there is no device 'cuda:0'" in capsys.readouterr().err


def test_the_band_of_figure_1_is_of_the_quick_pair_with_seeds_of_its_own():
    sharing = {"shared": MEMBERS["albert"], "separate": MEMBERS["unshared"]}
    for run in runs_of(UNJUDGED["figure1_seeds"]):
        config = (*PAIRS["quick"].config, ("share", sharing[run.row]))
        assert run == dataclasses.replace(PAIRS["quick"], row=run.row, config=config, seed=run.seed)
        assert run.seed >= 30


def test_a_card_lists_the_recipes_that_were_compared(tmp_path):
    record = json.loads((ROOT / "albert_edu/pretrained/laptop/record.json").read_text())
    run = {
        "row": "another recipe",
        "held_out_masked_token_loss": 4.567,
        "held_out_sentence_order_accuracy": 0.512,
        "health": {"ffn_worth": 1.23, "least_open": 0.789},
        "cpu_seconds": 360.0,
    }
    assert recipes_tried(tmp_path) == []
    write_json(tmp_path / "results" / "beginnings.json", {"runs": [run]})
    record["tried"] = {"setting": "Two layers.", "rows": recipes_tried(tmp_path)}
    card = render("model_card.md", record=record)
    assert "| another recipe | 4.57 | 1.23 | 79% | 0.512 | 6 |" in card
