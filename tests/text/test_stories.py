"""The story world: each knob moves its own signal and nothing else."""

import re
from collections import Counter

import pytest

from albert_edu.text.stories import (
    PLAIN_NOUNS,
    PLAIN_VERBS,
    STAGES,
    TOPICS,
    spelling_lesson,
    stories,
    vocabulary,
)
from albert_edu.text.tokenizer import AlbertTokenizer


def split(sentence: str) -> tuple[str, str]:
    """(verb, noun) of "anna planned the flour at home."."""
    _, verb, article, noun, *_ = sentence.rstrip(".").split()
    assert article == "the"
    return verb, noun


def within(count: int, trials: int, p: float, sigmas: float = 4.5) -> bool:
    return abs(count - trials * p) <= sigmas * (trials * p * (1 - p)) ** 0.5


@pytest.fixture(scope="module")
def clear():
    return stories(300, 20, sentences_per_stage=2, topic_strength=1.0, order_strength=1.0)


def test_every_sentence_has_the_same_number_of_words_so_lengths_say_nothing():
    for strength in (0.0, 0.5, 1.0):
        for per_stage in (1, 3):
            corpus = stories(60, 500, per_stage, topic_strength=strength, order_strength=strength)
            assert {len(s.split()) for document in corpus["sentences"] for s in document} == {6}
            assert {len(document) for document in corpus["sentences"]} == {6 * per_stage}


def test_at_full_strength_each_verb_tells_its_stage_and_each_noun_its_topic(clear):
    for document, topic in zip(clear["sentences"], clear["topic"], strict=True):
        for position, sentence in enumerate(document):
            verb, noun = split(sentence)
            assert verb in STAGES[position // 2] and noun in TOPICS[topic]


def test_no_word_belongs_to_two_stages_two_topics_or_to_the_plain_ones():
    for groups in ((*STAGES, PLAIN_VERBS), (*TOPICS.values(), PLAIN_NOUNS)):
        words = [word for group in groups for word in group]
        assert len(words) == len(set(words))


def test_a_script_fixes_topic_and_verbs(clear):
    told = zip(clear["script"], clear["topic"], clear["sentences"], strict=True)
    plots = {(script, topic, tuple(split(s)[0] for s in tale)) for script, topic, tale in told}
    assert len(plots) == len({plot[1:] for plot in plots}) == len({plot[0] for plot in plots}) == 20


def test_without_order_strength_verbs_say_nothing_about_their_position():
    corpus = stories(num_documents=400, sentences_per_stage=2, order_strength=0.0)
    counts = Counter(
        (position, split(s)[0])
        for document in corpus["sentences"]
        for position, s in enumerate(document)
    )
    assert {verb for _, verb in counts} == set(PLAIN_VERBS)
    assert all(
        within(counts[position, verb], 400, 1 / 6) for position in range(12) for verb in PLAIN_VERBS
    )


def test_without_topic_strength_nouns_say_nothing_about_the_topic():
    corpus = stories(num_documents=400, sentences_per_stage=2, topic_strength=0.0)
    counts, total = Counter(), Counter()
    for document, topic in zip(corpus["sentences"], corpus["topic"], strict=True):
        counts.update((topic, split(sentence)[1]) for sentence in document)
        total[topic] += len(document)
    assert {noun for _, noun in counts} == set(PLAIN_NOUNS)
    assert all(
        within(counts[topic, noun], total[topic], 1 / 8) for topic in total for noun in PLAIN_NOUNS
    )


@pytest.mark.parametrize(
    ("strengths", "noun_share", "verb_share"),
    [({}, 0.9, 1.0), (dict(topic_strength=0.7, order_strength=0.4), 0.7, 0.4)],
    ids=["by default", "as told"],
)
def test_a_strength_is_the_share_of_words_that_carry_the_signal(strengths, noun_share, verb_share):
    told = [split(s) for document in stories(400, **strengths)["sentences"] for s in document]
    verbs, nouns = zip(*told, strict=True)
    assert within(sum(verb not in PLAIN_VERBS for verb in verbs), 2400, verb_share)
    assert within(sum(noun not in PLAIN_NOUNS for noun in nouns), 2400, noun_share)


def test_the_seed_decides_everything_and_is_0_by_default():
    first, again, other = stories(20), stories(20, seed=0), stories(20, seed=400)
    assert first.to_dict() == again.to_dict() and first["sentences"][:] != other["sentences"][:]
    assert first["id"][:] == [f"story-{i}" for i in range(20)]


def test_the_vocabulary_holds_every_word_and_no_other():
    corpus = stories(num_documents=800, topic_strength=0.5, order_strength=0.5)
    sentences = [sentence for document in corpus["sentences"] for sentence in document]
    assert {word for sentence in sentences for word in sentence.rstrip(".").split()} == vocabulary()
    # Sorted, because a set has another order in the next process.
    assert spelling_lesson() == [f"{word}." for word in sorted(vocabulary())]


def test_every_word_is_written_as_the_tokenizer_gives_it_back():
    """In lower case and without marks: what a model reads is then what the story says."""
    assert all(re.fullmatch("[a-z]+", word) for word in vocabulary() | set(TOPICS))


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
