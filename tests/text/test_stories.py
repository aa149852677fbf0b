"""The story world: each knob moves its own signal and nothing else."""

import re
from collections import Counter

import pytest

from albert_edu.text.corpora import hold_out
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
    return stories(
        300, num_scripts=20, sentences_per_stage=2, topic_strength=1.0, order_strength=1.0
    )


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
    plots = {}
    for document, topic, script in zip(
        clear["sentences"], clear["topic"], clear["script"], strict=True
    ):
        plots.setdefault(script, set()).add(
            (topic, tuple(split(sentence)[0] for sentence in document))
        )
    assert all(len(plot) == 1 for plot in plots.values())
    assert len(set.union(*plots.values())) == len(plots) == 20


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


def test_a_strength_is_the_share_of_words_that_carry_the_signal():
    corpus = stories(400, sentences_per_stage=1, topic_strength=0.7, order_strength=0.4)
    verbs, nouns = zip(
        *(split(s) for document in corpus["sentences"] for s in document), strict=True
    )
    assert within(sum(verb not in PLAIN_VERBS for verb in verbs), 2400, 0.4)
    assert within(sum(noun not in PLAIN_NOUNS for noun in nouns), 2400, 0.7)


def test_by_default_the_verbs_always_carry_their_signal_and_nine_nouns_in_ten():
    corpus = stories(150)
    assert corpus.to_dict() == stories(150, seed=0).to_dict() and corpus["id"][:] == [
        f"story-{i}" for i in range(150)
    ]
    verbs, nouns = zip(
        *(split(s) for document in corpus["sentences"] for s in document), strict=True
    )
    assert [verb in STAGES[position % 6] for position, verb in enumerate(verbs)] == [True] * 900
    assert within(sum(noun not in PLAIN_NOUNS for noun in nouns), 900, 0.9)


def test_held_out_scripts_tell_plots_that_training_never_saw(clear):
    train, held = hold_out(clear, 0.2, by="script")
    plots = [
        {(t, *(split(s)[0] for s in d)) for d, t in zip(p["sentences"], p["topic"], strict=True)}
        for p in (train, held)
    ]
    assert len(plots[0]) == 16 and len(plots[1]) == 4 and not plots[0] & plots[1]


def test_the_seed_decides_everything():
    first, again, other = stories(20, seed=3), stories(20, seed=3), stories(20, seed=400)
    assert first.to_dict() == again.to_dict() and first["sentences"][:] != other["sentences"][:]


def test_the_vocabulary_holds_every_word_and_no_other():
    corpus = stories(num_documents=800, topic_strength=0.5, order_strength=0.5)
    said = {
        word
        for document in corpus["sentences"]
        for sentence in document
        for word in sentence.rstrip(".").split()
    }
    assert said == vocabulary()
    assert {line.rstrip(".") for line in spelling_lesson()} == vocabulary()
    assert spelling_lesson() == sorted(
        spelling_lesson()
    )  # a set has another order in the next process


def test_every_word_is_written_as_the_tokenizer_gives_it_back():
    """In lower case and without marks: what a model reads is then what the story says."""
    assert all(re.fullmatch("[a-z]+", word) for word in vocabulary() | set(TOPICS))


def test_the_spelling_lesson_saves_a_quarter_of_the_pieces():
    lines = [sentence for document in stories(200)["sentences"] for sentence in document]
    with_lesson, without = (
        AlbertTokenizer.train(taught, 180) for taught in (lines + spelling_lesson(), lines)
    )
    assert sum(map(len, with_lesson.encode_many(lines))) < 0.75 * sum(
        map(len, without.encode_many(lines))
    )


def test_further_nouns_are_the_topics_and_take_the_place_of_the_place():
    corpus = stories(40, topic_nouns=3)
    for document, topic in zip(corpus["sentences"], corpus["topic"], strict=True):
        for sentence in document:
            words = sentence.rstrip(".").split()
            assert len(words) == 7 and set(words[4:]) <= set(TOPICS[topic])
