"""Questions about the invented stories, which notebook 11 teaches a model to answer.

In goes a corpus of stories, and out come ``SpanExample`` rows, which ``encode_spans`` takes. The
sentences of a story have one form, "kate opened the item in town.", so each can be asked for its
name or for its thing, and the answer is one word of the context. It is the only right one where
each sentence of a story has a verb of its own, as in ``load_corpus("stories")``.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from albert_edu.config import check_whole
from albert_edu.text.tasks import SpanExample

if TYPE_CHECKING:
    import datasets


def story_questions(
    stories: "datasets.Dataset | list[dict]",
    count: int = 1000,
    seed: int = 0,
    shuffled: bool = False,
) -> list[SpanExample]:
    """Ask about four sentences of a story: "opened the item" (kate), or "kate opened" (item).

    The answer is one word of the context. The sentences follow each other, unless ``shuffled``.
    ``stories`` is what ``load_corpus``, ``hold_out`` or ``retold`` gave.
    """
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        told = _four_sentences(stories, rng, shuffled)
        asked = int(rng.integers(len(told)))
        examples.append(_question(told, asked, about_the_thing=rng.random() < 0.5))
    return examples


def all_story_questions(
    stories: "datasets.Dataset | list[dict]",
    contexts: int = 100,
    seed: int = 0,
    sentences: int = 4,
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


def of_its_kind(asked: SpanExample) -> list[str]:
    """Return the names of the context if the answer is a name, else its things, as they are told.

    >>> story = "kate bought the moon in town. leo opened the box with care."
    >>> of_its_kind(SpanExample("opened the box", story, ("leo",)))
    ['kate', 'leo']
    >>> of_its_kind(SpanExample("leo opened", story, ("box",)))
    ['moon', 'box']
    """
    sentences = [sentence.split() for sentence in asked.context.removesuffix(".").split(". ")]
    names = [words[0] for words in sentences]
    things = [words[3] for words in sentences]
    return names if asked.answers[0] in names else things


def from_the_old_place(
    before: Sequence[SpanExample], after: Sequence[SpanExample], said: Sequence[str]
) -> tuple[int, int]:
    """Count the answers that come from where the right answer stood before its story was reordered.

    ``before`` and ``after`` are the same questions, about the same sentences in two orders, and
    ``said`` are answers to those of ``after``. Returns how many come from the old place, and of how
    many one can tell: the right word stands once in the story, and so does the word that was said.

    >>> kate, leo = "kate bought the moon in town.", "leo opened the box with care."
    >>> before = SpanExample("opened the box", f"{kate} {leo}", ("leo",))
    >>> after = SpanExample("opened the box", f"{leo} {kate}", ("leo",))
    >>> from_the_old_place([before] * 3, [after] * 3, ["kate", "leo", "no word of its kind"])
    (1, 2)
    """
    old = 0
    clear = 0
    for first, second, word in zip(before, after, said, strict=True):
        right = first.answers[0]
        there = of_its_kind(first)
        here = of_its_kind(second)
        if there.count(right) == 1 and here.count(word) == 1:
            clear += 1
            old += here.index(word) == there.index(right)
    return old, clear


def retold(
    stories: "datasets.Dataset | Iterable[dict]", draw: Callable[[], Sequence[str]]
) -> list[dict]:
    """Tell the first four sentences of each story with other verbs; names and things stay.

    ``draw()`` returns the four verbs of a story, and is called once for each.

    >>> story = {"sentences": [f"{name} planned the moon at home." for name in "abcdef"]}
    >>> retold([story], lambda: ["bought", "opened", "tried", "opened"])[0]["sentences"][1]
    'b opened the moon at home.'
    """
    told = []
    for story in stories:
        sentences = []
        for sentence, verb in zip(story["sentences"][:4], draw(), strict=True):
            words = sentence.split()
            words[1] = verb
            sentences.append(" ".join(words))
        told.append({"sentences": sentences})
    return told


def _four_sentences(
    stories: "datasets.Dataset | list[dict]", rng: np.random.Generator, shuffled: bool
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
