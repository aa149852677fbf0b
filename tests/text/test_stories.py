"""The story world: each knob moves its own signal and nothing else."""

import re
from collections import Counter
from itertools import product

import numpy as np
import pytest

from albert_edu.text.stories import (
    PLAIN_NOUNS,
    PLAIN_VERBS,
    STAGES,
    TOPICS,
    spelling_lesson,
    stories,
)
from albert_edu.text.tokenizer import AlbertTokenizer


def told(corpus) -> list[tuple]:
    """(place in the story, topic, verb, noun) of each "anna planned the flour at home."."""
    rows = []
    for topic, sentences in zip(corpus["topic"], corpus["sentences"], strict=True):
        for place, sentence in enumerate(sentences):
            _, verb, article, noun, *_ = sentence.rstrip(".").split()
            assert article == "the"
            rows.append((place, topic, verb, noun))
    return rows


def within(count: int, trials: int, p: float) -> bool:
    return abs(count - trials * p) <= 4.5 * (trials * p * (1 - p)) ** 0.5


def test_every_sentence_has_the_same_number_of_words_so_lengths_say_nothing():
    for strength in (0.0, 0.5, 1.0):
        corpus = stories(120, 500, topic_strength=strength, order_strength=strength)
        assert {len(s.split()) for document in corpus["sentences"] for s in document} == {6}
        assert {len(document) for document in corpus["sentences"]} == {6}


def test_at_full_strength_each_verb_tells_its_stage_and_each_noun_its_topic():
    for place, topic, verb, noun in told(stories(300, 20, topic_strength=1.0)):
        assert verb in STAGES[place] and noun in TOPICS[topic]


def test_no_word_belongs_to_two_stages_two_topics_or_to_the_plain_ones():
    for groups in ((*STAGES, PLAIN_VERBS), (*TOPICS.values(), PLAIN_NOUNS)):
        words = [word for group in groups for word in group]
        assert len(words) == len(set(words))


def test_a_script_fixes_topic_and_verbs():
    corpus = stories(300, 20)
    verbs = np.reshape([row[2] for row in told(corpus)], (300, 6)).tolist()
    plots = set(zip(corpus["script"], corpus["topic"], map(tuple, verbs), strict=True))
    assert len(plots) == len({plot[1:] for plot in plots}) == len({plot[0] for plot in plots}) == 20


@pytest.mark.parametrize(
    ("strength", "known", "word", "plain"),
    [("order_strength", 0, 2, PLAIN_VERBS), ("topic_strength", 1, 3, PLAIN_NOUNS)],
    ids=["a verb of its place", "a noun of its topic"],
)
def test_without_its_strength_a_word_says_nothing(strength, known, word, plain):
    rows = told(stories(num_documents=400, **{strength: 0.0}))
    counts = Counter((row[known], row[word]) for row in rows)
    total = Counter(row[known] for row in rows)
    assert {row[word] for row in rows} == set(plain)
    for place, name in product(total, plain):
        assert within(counts[place, name], total[place], 1 / len(plain))


@pytest.mark.parametrize(
    ("strengths", "noun_share", "verb_share"),
    [({}, 0.9, 1.0), (dict(topic_strength=0.7, order_strength=0.4), 0.7, 0.4)],
    ids=["by default", "as told"],
)
def test_a_strength_is_the_share_of_words_that_carry_the_signal(strengths, noun_share, verb_share):
    _, _, verbs, nouns = zip(*told(stories(400, **strengths)), strict=True)
    assert within(sum(verb not in PLAIN_VERBS for verb in verbs), 2400, verb_share)
    assert within(sum(noun not in PLAIN_NOUNS for noun in nouns), 2400, noun_share)


def test_the_seed_decides_everything_and_is_0_by_default():
    first, again, other = stories(20), stories(20, seed=0), stories(20, seed=400)
    assert first.to_dict() == again.to_dict() and first["sentences"][:] != other["sentences"][:]
    assert first["id"][:] == [f"story-{i}" for i in range(20)]


def test_the_vocabulary_holds_every_word_and_no_other():
    corpus = stories(num_documents=800, topic_strength=0.5, order_strength=0.5)
    words = {word for document in corpus["sentences"] for s in document for word in s[:-1].split()}
    # Sorted, because a set has another order in the next process.
    assert spelling_lesson() == [f"{word}." for word in sorted(words)]


def test_every_word_is_written_as_the_tokenizer_gives_it_back():
    """In lower case and without marks: what a model reads is then what the story says."""
    assert all(re.fullmatch("[a-z]+[.]?", word) for word in [*spelling_lesson(), *TOPICS])


def test_the_spelling_lesson_saves_a_quarter_of_the_pieces():
    lines = [sentence for document in stories(200)["sentences"] for sentence in document]
    with_lesson, without = (
        sum(map(len, map(AlbertTokenizer.train(taught, 180).encode, lines)))
        for taught in (lines + spelling_lesson(), lines)
    )
    assert with_lesson < 0.75 * without


def test_further_nouns_are_the_topics_and_take_the_place_of_the_place():
    corpus = stories(40, topic_nouns=3)
    for document, topic in zip(corpus["sentences"], corpus["topic"], strict=True):
        for sentence in document:
            words = sentence.rstrip(".").split()
            assert len(words) == 7 and set(words[4:]) <= set(TOPICS[topic])
