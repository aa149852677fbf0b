"""The school of notebook 11: who passes moves on, and the shipped pupil has its score."""

import json

import pytest
from safetensors.torch import load_file

from albert_edu import Albert, AlbertForPretraining
from albert_edu.model.interchange import PRETRAINED
from albert_edu.model.task_heads import AlbertForSpan
from albert_edu.text.prepare import prepare
from albert_paper import school
from albert_paper.plan import UNJUDGED, runs_of
from albert_paper.provenance import ROOT

RUNS = {(run.row, run.seed): run for run in runs_of(UNJUDGED["school"])}
RUN = RUNS[school.SHIPPED]
pytestmark = pytest.mark.slow


@pytest.fixture
def encoder():
    return AlbertForPretraining(RUN.model_config(len(RUN.text().tokenizer))).albert


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        ([0.95, 0.5, 0.92, 0.3, 0.4], [(1, 0.95), (2, 0.5), (2, 0.92), (3, 0.3), (3, 0.4)]),
        (
            [0.9, 0.91, 1.0, 1.0, 0.2, 0.95],
            [(1, 0.9), (1, 0.91), (2, 1.0), (3, 1.0), (4, 0.2), (4, 0.95)],
        ),
    ],
)
def test_a_pupil_moves_on_with_more_than_90_percent_and_leaves_after_two_terms(
    answered, expected, encoder, monkeypatch
):
    left = iter(answered)
    monkeypatch.setattr(school, "CLASSES", ((1, 2, 1e-3), (2, 2, 1e-3), (3, 3, 1e-3), (4, 4, 1e-3)))
    monkeypatch.setattr(school, "TrainSettings", lambda *_, **__: None)
    monkeypatch.setattr(school, "finetune", lambda *_, **__: None)
    monkeypatch.setattr(school, "share_right", lambda *_: next(left))
    _, marks = school.taught(encoder, RUN.text().tokenizer, 0)
    assert marks == expected and not list(left)


def test_the_encoder_that_is_sent_to_school_stays_as_it_is(encoder, monkeypatch):
    monkeypatch.setattr(school, "CLASSES", ((1, 40, 1e-3),))
    monkeypatch.setattr(school, "TERMS", 1)
    before = {name: weight.clone() for name, weight in encoder.state_dict().items()}
    pupil, marks = school.taught(encoder, RUN.text().tokenizer, 0)
    assert {sentences for sentences, _ in marks} == {1}
    after = encoder.state_dict()
    assert all(weight.equal(after[name]) for name, weight in before.items())
    taught = pupil.albert.state_dict()
    assert not all(weight.equal(taught[name]) for name, weight in before.items())


@pytest.fixture(scope="module")
def shipped():
    """Return the pupil of the page and its tokenizer."""
    tokenizer = prepare("stories").tokenizer
    pupil = AlbertForSpan(Albert(RUN.model_config(len(tokenizer)))).eval()
    pupil.load_state_dict(load_file(PRETRAINED / "school.safetensors"))
    return pupil, tokenizer


def test_the_shipped_pupil_has_the_score_of_its_record(shipped):
    found = school.share_right(*shipped, school.shuffled_exam(), 4)
    record = json.loads((ROOT / "figures" / "results" / "school.json").read_text())
    (its,) = (run for run in record["runs"] if (run["row"], run["seed"]) == school.SHIPPED)
    assert found == pytest.approx(its["pre_trained"]["exam"], abs=0.02)
    assert its["pre_trained"]["exam"] == max(run["pre_trained"]["exam"] for run in record["runs"])


def test_notebook_11_says_of_the_record_what_is_in_it():
    """Four of six pre-trained models pass, three of them with eight heads; five pass the class of two, and no twin does."""
    runs = json.loads((ROOT / "figures" / "results" / "school.json").read_text())["runs"]
    passed = [run["row"] for run in runs if run["pre_trained"]["exam"] > school.PASSED]
    assert sorted(passed) == ["eight heads"] * 3 + ["two heads"]
    assert [run["pre_trained"]["marks"][-1][0] > 2 for run in runs].count(True) == 5
    for run in runs:
        last, mark = run["random"]["marks"][-1]
        assert last == 2 and mark < school.PASSED
        terms = [[mark[0] for mark in run[start]["marks"]] for start in ("pre_trained", "random")]
        assert terms[0].count(1) <= terms[1].count(1) and terms[0].count(2) <= terms[1].count(2)
