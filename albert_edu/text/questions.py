"""Questions about the invented stories, which notebook 11 teaches a model to answer.

In goes a corpus of stories, and out come ``SpanExample`` rows, which ``encode_spans`` takes. The
sentences of a story have one form, "kate opened the item in town.", so each can be asked for its
name or for its thing, and the answer is one word of the context. It is the only right one where
each sentence of a story has a verb of its own, as in ``load_corpus("stories")``.
"""

from typing import TYPE_CHECKING

import numpy as np

from albert_edu.config import check_whole
from albert_edu.text.tasks import SpanExample

if TYPE_CHECKING:
    import datasets


def story_questions(
    stories: "datasets.Dataset", count: int = 1000, seed: int = 0, shuffled: bool = False
) -> list[SpanExample]:
    """Ask about four sentences of a story: "opened the item" (kate), or "kate opened" (item).

    The answer is one word of the context. The sentences follow each other, unless ``shuffled``.
    ``stories`` is what ``load_corpus`` or ``hold_out`` gave.
    """
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        told = _four_sentences(stories, rng, shuffled)
        asked = int(rng.integers(len(told)))
        examples.append(_question(told, asked, about_the_thing=rng.random() < 0.5))
    return examples


def all_story_questions(
    stories: "datasets.Dataset", contexts: int = 100, seed: int = 0, sentences: int = 4
) -> list[SpanExample]:
    """Ask for the name and for the thing in each of a few shuffled sentences: 8 questions for 4.

    The questions about one context follow each other. ``sentences`` is how many of the four are
    told.
    """
    check_whole("sentences", sentences, 1, 4)
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(contexts):
        told = _four_sentences(stories, rng, shuffled=True)[:sentences]
        for asked in range(sentences):
            examples.append(_question(told, asked, about_the_thing=False))
            examples.append(_question(told, asked, about_the_thing=True))
    return examples


def _four_sentences(
    stories: "datasets.Dataset", rng: np.random.Generator, shuffled: bool
) -> list[str]:
    """Draw a story, and four sentences of it that follow each other, then shuffle them if asked."""
    story = stories[int(rng.integers(len(stories)))]["sentences"]
    first = int(rng.integers(len(story) - 3))
    told = story[first : first + 4]
    return [told[place] for place in rng.permutation(4)] if shuffled else told


def _question(told: list[str], asked: int, about_the_thing: bool) -> SpanExample:
    """Ask for the name in a sentence, or for the thing; the sentences have one form."""
    name, verb, the, noun = told[asked].split()[:4]
    question, answer, start = f"{verb} {the} {noun}", name, 0
    if about_the_thing:
        question, answer, start = f"{name} {verb}", noun, len(f"{name} {verb} {the} ")
    start += sum(len(sentence) + 1 for sentence in told[:asked])
    return SpanExample(question, " ".join(told), (answer,), start)
