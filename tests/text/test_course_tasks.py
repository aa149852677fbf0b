"""The course's own tasks: what is asked, of which text, with which label. Reviews are made here, small and known."""

import numpy as np
import pandas as pd
import pytest

from albert_edu.text import tasks
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.stories import STAGES, TOPICS
from albert_edu.text.tasks import sentiment, story_gap, story_topic

WORLD = "stories:num_documents=60,num_scripts=12"
LENGTHS = (
    (20, 20, 20, 20),
    (70, 5),
    (30, 31, 5),
    (10, 50, 5),
    (59, 5),
    (5,) * 20,
    (300,),
)  # words in the sentences of a review


def review(number: int) -> list[str]:
    words = LENGTHS[number % len(LENGTHS)]
    return [f"Film {number} part {part}{' was' * (count - 4)}." for part, count in enumerate(words)]


def opening(number: int, max_words: int) -> list[str]:
    sentences = review(number)
    if len(sentences[0]) > 12 * max_words:
        return [sentences[0][: 12 * max_words].strip()]
    fits = [
        k for k in range(1, len(sentences) + 1) if len(" ".join(sentences[:k]).split()) <= max_words
    ]
    return sentences[: max(fits, default=1)]


@pytest.fixture
def reviews(monkeypatch):
    """Sixty reviews, every third a bad one; as in the real table, row numbers are not the index."""
    rows = [
        {"text": "<br /><br />".join(review(number)), "label": int(number % 3 > 0)}
        for number in range(60)
    ]
    monkeypatch.setattr(
        tasks, "imdb_table", lambda: pd.DataFrame(rows, index=np.arange(60) * 2 + 7)
    )


def numbers(examples) -> list[int]:
    return [int(example.first.split()[1]) for example in examples]


@pytest.mark.parametrize("max_words", [60, 30])
def test_reviews_are_as_often_good_as_bad_and_begin_with_whole_sentences_that_stay_within_the_words(
    reviews, max_words
):
    split = sentiment("review", 40, max_words=max_words)
    drawn = [*split.test, *split.train]
    assert (
        len(split.test) == 10 and len(set(numbers(drawn))) == 40
    )  # a quarter, and no review twice
    assert [example.label for example in drawn] == [0, 1] * 20
    for number, example in zip(numbers(drawn), drawn, strict=True):
        assert example == (" ".join(opening(number, max_words)), None, int(number % 3 > 0))


def test_a_sentence_comes_from_the_opening_of_the_review_that_the_other_level_draws(reviews):
    positions = set()
    for seed in range(8):
        one, whole = (sentiment(level, 40, seed=seed) for level in ("sentence", "review"))
        for drawn, reviewed in zip(one, whole, strict=True):
            assert numbers(drawn) == numbers(reviewed)
            assert [example.label for example in drawn] == [example.label for example in reviewed]
            assert all(
                example.first in opening(number, 60)
                for number, example in zip(numbers(drawn), drawn, strict=True)
            )
            positions |= {int(example.first.split()[3].rstrip(".")) for example in drawn}
    assert positions == set(
        range(12)
    )  # of reviews with twelve sentences in their opening, every one


@pytest.fixture(scope="module")
def parts():
    """The stories of WORLD that are learnt from, and those that are held out."""
    return hold_out(load_corpus(WORLD))


def test_a_sentence_of_a_story_is_labelled_with_the_topic_of_the_story(parts):
    split, stages = story_topic(WORLD, 400), set()
    assert (len(split.train), len(split.test)) == (300, 100)
    for examples, stories in zip(split, parts, strict=True):
        told = {(sentence, story["topic"]) for story in stories for sentence in story["sentences"]}
        assert all(
            (first, sorted(TOPICS)[label]) in told and second is None
            for first, second, label in examples
        )
        stages |= {
            stage
            for first, _, _ in examples
            for stage, verbs in enumerate(STAGES)
            if first.split()[1] in verbs
        }
    assert stages == set(range(6))


def test_two_sentences_of_a_story_follow_each_other_or_leave_something_out_as_the_label_says(parts):
    split, seen = story_gap(WORLD, 400), set()
    assert (len(split.train), len(split.test)) == (300, 100)
    for examples, stories in zip(split, parts, strict=True):
        for first, second, label in examples:
            assert any(
                first in document and second in document for document in stories["sentences"]
            )
            i, j = (
                next(stage for stage, verbs in enumerate(STAGES) if text.split()[1] in verbs)
                for text in (first, second)
            )
            seen.add((i, j, label))
    assert seen == {(i, j, int(j > i + 1)) for i in range(6) for j in range(i + 1, 6)}
    assert (
        170 < sum(example.label for part in split for example in part) < 230
    )  # half, within three standard deviations


@pytest.mark.parametrize(
    ("made", "options"),
    [
        (story_topic, {"world": WORLD}),
        (story_gap, {"world": WORLD}),
        (sentiment, {}),
        (sentiment, {"level": "review"}),
    ],
)
def test_the_seed_decides_everything_and_is_0_by_default(reviews, made, options):
    assert (
        made(examples=8, **options)
        == made(examples=8, seed=0, **options)
        != made(examples=8, seed=99, **options)
    )
