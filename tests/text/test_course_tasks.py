"""The course's own tasks: what is asked, of which text, with which label. Reviews are made here."""

import numpy as np
import pandas as pd
import pytest

from albert_edu.text import tasks
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import STAGES
from albert_edu.text.tasks import sentiment, story_gap, story_questions

WORLD = "stories:num_documents=60,num_scripts=12"


@pytest.fixture
def reviews(monkeypatch):
    """Sixty reviews, every third a bad one; as in the real table, row numbers are not the index."""
    rows = [{"text": f"Film<br />{n}", "label": int(n % 3 > 0)} for n in range(60)]
    table = pd.DataFrame(rows, index=np.arange(60) * 2 + 7)
    monkeypatch.setattr(tasks, "imdb_table", lambda: table)


def test_reviews_are_as_often_good_as_bad_and_each_is_drawn_once(reviews):
    train, test = sentiment(40)
    drawn = [*test, *train]
    assert len(test) == 10 and len(set(drawn)) == 40
    assert sum(example.label for example in drawn) == 20
    for first, second, label in drawn:
        film, number = first.split(" ")
        assert (film, second, label) == ("Film", None, int(int(number) % 3 > 0))


@pytest.fixture(scope="module")
def parts():
    """The stories of WORLD that are learnt from, and those that are held out."""
    return hold_out(load_corpus(WORLD))


def test_a_question_about_a_story_is_answered_by_the_one_sentence_that_it_names(parts):
    asked_for = set()
    for example in story_questions(parts[0], 300):
        (word,), sentences = example.answers, example.context.split(". ")
        assert example.context.startswith(word, example.start) and len(sentences) == 4
        assert any(" ".join(story["sentences"]).count(example.context) == 1 for story in parts[0])
        named = [sentence for sentence in sentences if example.question in sentence]
        assert len(named) == 1 and word in named[0].split()
        asked_for.add((sentences.index(named[0]), named[0].split().index(word)))
    assert asked_for == {(sentence, place) for sentence in range(4) for place in (0, 3)}


def test_two_sentences_of_a_story_follow_each_other_or_leave_something_out_as_the_label_says(parts):
    split, seen = story_gap(WORLD, 400), set()
    assert tuple(map(len, split)) == (300, 100)
    for examples, stories in zip(split, parts, strict=True):
        for first, second, label in examples:
            assert any({first, second} <= {*document} for document in stories["sentences"])
            verbs = (text.split()[1] for text in (first, second))
            i, j = (next(n for n, stage in enumerate(STAGES) if verb in stage) for verb in verbs)
            seen.add((i, j, label))
    assert seen == {(i, j, int(j > i + 1)) for i in range(6) for j in range(i + 1, 6)}
    # Half, within three standard deviations.
    assert 170 < sum(example.label for part in split for example in part) < 230


def test_the_seed_decides_everything_and_is_0_by_default(reviews, parts):
    for made in (
        lambda **seed: story_gap(WORLD, 8, **seed),
        lambda **seed: sentiment(8, **seed),
        lambda **seed: story_questions(parts[1], 8, **seed),
    ):
        assert made() == made(seed=0) != made(seed=99)
