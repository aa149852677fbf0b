"""Labelled examples as tensors, and tasks made of texts that are at hand: reviews, addresses, stories. Used in notebook 11.

The layouts are the original's (appendix A.3): [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment id 1 from B on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, Num
from torch import Tensor

from albert_edu.text.corpora import imdb_table, load_corpus
from albert_edu.text.documents import hold_out, split_sentences
from albert_edu.text.prepare import prepare
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import CLS, PAD, SEP, AlbertTokenizer


class Example(NamedTuple):
    """One text or two, and a class number; a float as label means regression."""

    first: str
    second: str | None
    label: int | float


class ChoiceExample(NamedTuple):
    """A passage, C texts that might go with it, and which of them does."""

    passage: str
    choices: tuple[str, ...]
    label: int


class Split(NamedTuple):
    """Examples to learn from and examples to be tested on; no document stands on both sides."""

    train: list[Example]
    test: list[Example]


@dataclass(frozen=True)
class TaskData:
    """N encoded examples; a batch is some of their rows. Choices have one more axis: [N,C,S] instead of [N,S]."""

    token_ids: Int[Tensor, "N *C S"]
    segment_ids: Int[Tensor, "N *C S"]
    attention_mask: Int[Tensor, "N *C S"]  # 1 on pieces, 0 on padding
    labels: Num[Tensor, "N *T"]  # classes, values, choices: [N]; first and last piece of an answer: [N,2]

    def rows(self, index) -> "TaskData":
        """Those examples, without the columns that are padding in all of them."""
        longest = int(self.attention_mask[index].sum(-1).max())
        parts = (self.token_ids, self.segment_ids, self.attention_mask)
        return TaskData(*(part[index][..., :longest] for part in parts), self.labels[index])

    def to(self, device) -> "TaskData":
        return TaskData(*(t.to(device) for t in (self.token_ids, self.segment_ids, self.attention_mask, self.labels)))

    def __len__(self) -> int:
        return len(self.token_ids)


def encode_pairs(examples: Sequence[Example], tokenizer: AlbertTokenizer, sequence_length: int) -> TaskData:
    """Encode single texts and pairs; what is too long loses pieces from the end of the longer text."""
    first = tokenizer.encode_many([example.first for example in examples])
    second = tokenizer.encode_many([example.second or "" for example in examples])
    laid = []
    for a, b, example in zip(first, second, examples, strict=True):
        truncate_pair(a, b, sequence_length - (2 if example.second is None else 3))
        laid.append(with_special_tokens(a, None if example.second is None else b))
    return as_data(laid, [example.label for example in examples], sequence_length)


def encode_choices(examples: Sequence[ChoiceExample], tokenizer: AlbertTokenizer, sequence_length: int) -> TaskData:
    """[CLS] passage [SEP] choice [SEP] for every choice, [N,C,S]; only the passage is cut, unless a choice fills half of S."""
    laid = []
    for example in examples:
        passage = tokenizer.encode(example.passage)
        for choice in tokenizer.encode_many(list(example.choices)):
            choice = choice[-(sequence_length // 2) :]  # the end of it, as in the original: there stands the option
            laid.append(with_special_tokens(passage[: sequence_length - 3 - len(choice)], choice))
    counts = {len(example.choices) for example in examples}
    if len(counts) != 1:
        raise ValueError(f"all examples must have the same number of choices, these have {sorted(counts)}.")
    data = as_data(laid, [0] * len(laid), sequence_length)
    shape = (len(examples), counts.pop(), sequence_length)
    labels = torch.tensor([example.label for example in examples])
    return TaskData(*(t.view(shape) for t in (data.token_ids, data.segment_ids, data.attention_mask)), labels)


def truncate_pair(a: list[int], b: list[int], room: int) -> None:
    """Shorten the longer of two lists, piece by piece and in place, until both fit together.

    >>> a, b = [1, 2, 3, 4, 5], [6, 7]
    >>> truncate_pair(a, b, 5); a, b
    ([1, 2, 3], [6, 7])
    """
    while len(a) + len(b) > max(room, 0):  # less than none is as_data's to refuse
        (a if len(a) > len(b) else b).pop()


def with_special_tokens(a: list[int], b: list[int] | None) -> tuple[list[int], int]:
    """Token ids with special pieces, and the length of the first segment: [CLS] A [SEP]."""
    return [CLS, *a, SEP, *([] if b is None else [*b, SEP])], len(a) + 2


def as_data(laid: Sequence[tuple[list[int], int]], labels: list, sequence_length: int) -> TaskData:
    """Pad what ``with_special_tokens`` gave to [N,S]. Raises ValueError if there is nothing or one is too long."""
    if not laid:
        raise ValueError("there is no example to encode.")
    if (longest := max(len(ids) for ids, _ in laid)) > sequence_length:
        raise ValueError(f"sequence_length {sequence_length} is too short: an example has {longest} pieces that must stay.")
    token_ids = torch.full((len(laid), sequence_length), PAD)
    segment_ids, attention_mask = torch.zeros_like(token_ids), torch.zeros_like(token_ids)
    for row, (ids, length_a) in enumerate(laid):
        token_ids[row, : len(ids)] = torch.tensor(ids)
        segment_ids[row, length_a : len(ids)] = 1
        attention_mask[row, : len(ids)] = 1
    return TaskData(token_ids, segment_ids, attention_mask, torch.tensor(labels))


def sentiment(level: str = "sentence", examples: int = 2000, seed: int = 0, max_words: int = 60) -> Split:
    """Is a film review favourable (1) or not (0)? From ``"sentence"``, one drawn from its opening, or from ``"review"``,
    its opening: as many whole sentences, from the first on, as stay within ``max_words``, and at least one (of a first
    sentence that is very long, its first 12 * ``max_words`` characters).

    Both levels draw the same reviews, as many good as bad, a quarter of them for the test. (Maas et al. 2011. Splitting all
    25,000 into sentences, as ``load_corpus("imdb")`` does, would take minutes.) The label is the review's, so no reader can
    be right about every single sentence.
    """
    if level not in ("sentence", "review"):
        raise ValueError(f"level must be 'sentence' or 'review', got {level!r}.")
    table = imdb_table()
    rng, found = np.random.default_rng(seed), []
    draws = [rng.permutation(np.flatnonzero(table["label"] == label))[: examples // 2] for label in (0, 1)]
    for row in np.stack(draws, 1).ravel():
        text = table["text"].iloc[row].replace("<br />", " ")
        sentences = split_sentences(text[: 12 * max_words])  # more characters than max_words words have
        ends = np.cumsum([len(sentence.split()) for sentence in sentences])
        opening = sentences[: max(1, int((ends <= max_words).sum()))]
        one = opening[rng.integers(len(opening))]
        found.append(Example(one if level == "sentence" else " ".join(opening), None, int(table["label"].iloc[row])))
    return Split(found[len(found) // 4 :], found[: len(found) // 4])


def same_address(examples: int = 4000, seed: int = 0) -> Split:
    """Are two sentences of at least eight pieces from the same State of the Union address (1) or from two of them (0)?

    The test's addresses are those that ``prepare("sotu")`` holds out, so no pre-training has seen them. The text is what
    the tokenizer gives back: in lower case.
    """
    text = prepare("sotu")

    def pairs(corpus: TokenizedCorpus, count: int, rng: np.random.Generator) -> list[Example]:
        usable = np.flatnonzero(corpus.lengths >= 8)
        document = corpus.document_of[usable]
        first = rng.integers(len(usable), size=count)
        made = []
        for row, i in enumerate(first):
            same = document == document[i]
            same[i] = row % 2 == 0  # not the sentence itself, whichever the label
            j = rng.choice(np.flatnonzero(same if row % 2 else ~same))
            one, two = (corpus.tokens[slice(*corpus.sentences[s : s + 2])].tolist() for s in (usable[i], usable[j]))
            made.append(Example(text.tokenizer.decode(one), text.tokenizer.decode(two), row % 2))
        return made

    rng = np.random.default_rng(seed)
    return Split(pairs(text.train, examples - examples // 4, rng), pairs(text.held_out, examples // 4, rng))


def story_topic(world: str = "stories", examples: int = 2000, seed: int = 0) -> Split:
    """What is one sentence of a story about? Twelve topics, in alphabetical order of ``stories.TOPICS``."""
    from albert_edu.text.stories import TOPICS

    def one(story: dict, rng: np.random.Generator) -> Example:
        return Example(str(rng.choice(story["sentences"])), None, sorted(TOPICS).index(story["topic"]))

    return _from_stories(one, world, examples, seed)


def story_gap(world: str = "stories", examples: int = 2000, seed: int = 0) -> Split:
    """Two sentences of one story, in order: do they follow each other (0), or was something left out between them (1)?

    It takes both sentences, and it is not sentence order: no pair is ever swapped. Half of the labels are 0, on average.
    """

    def one(story: dict, rng: np.random.Generator) -> Example:
        last, label = len(story["sentences"]) - 1, int(rng.integers(2))
        far = [(i, j) for i in range(last) for j in range(i + 2, last + 1)]
        i, j = far[rng.integers(len(far))] if label else [(i, i + 1) for i in range(last)][rng.integers(last)]
        return Example(story["sentences"][i], story["sentences"][j], label)

    return _from_stories(one, world, examples, seed)


def _from_stories(one, world: str, examples: int, seed: int) -> Split:
    """Examples from stories drawn with replacement; the test's are those that ``prepare(world)`` holds out."""
    parts, rng = hold_out(load_corpus(world)), np.random.default_rng(seed)
    counts = (examples - examples // 4, examples // 4)
    return Split(*([one(part[int(rng.integers(len(part)))], rng) for _ in range(n)] for part, n in zip(parts, counts, strict=True)))
