"""Labelled examples as tensors, and tasks made of reviews and stories (notebook 11).

The layouts are the original's (appendix A.3): [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment
id 1 from B on.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, Num
from torch import Tensor

from albert_edu.config import check_choices, check_numbers
from albert_edu.text.corpora import hold_out, imdb_table, load_corpus, split_sentences
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.stories import TOPICS
from albert_edu.text.tokenizer import CLS, PAD, SEP, AlbertTokenizer

Tokenizer = AlbertTokenizer | HubTokenizer


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
    """N encoded examples; a batch is some of their rows. Choices have one more axis, [N,C,S]."""

    token_ids: Int[Tensor, "N *C S"]
    segment_ids: Int[Tensor, "N *C S"]
    attention_mask: Int[Tensor, "N *C S"]  # 1 on tokens, 0 on padding
    labels: Num[Tensor, "N *T"]  # class, value or choice: [N]; an answer's first and last: [N,2]

    def rows(self, index) -> "TaskData":
        """Return those examples, without the columns that are padding in all of them."""
        longest = int(self.attention_mask[index].sum(-1).max())
        parts = (self.token_ids, self.segment_ids, self.attention_mask)
        return TaskData(*(part[index][..., :longest] for part in parts), self.labels[index])

    def to(self, device) -> "TaskData":
        """Return the examples on another device."""
        return TaskData(*(part.to(device) for part in vars(self).values()))

    def __len__(self) -> int:
        return len(self.token_ids)


def encode_pairs(examples: list[Example], tokenizer: Tokenizer, sequence_length: int) -> TaskData:
    """Encode single texts and pairs; a longer text loses tokens from its end until both fit."""
    first = tokenizer.encode_many([example.first for example in examples])
    second = tokenizer.encode_many([example.second or "" for example in examples])
    laid = []
    for a, b, example in zip(first, second, examples, strict=True):
        truncate_pair(a, b, sequence_length - (2 if example.second is None else 3))
        b = None if example.second is None else b
        laid.append(with_special_tokens(a, b, tokenizer.cls_id, tokenizer.sep_id))
    return as_data(laid, [example.label for example in examples], sequence_length)


def encode_choices(
    examples: list[ChoiceExample], tokenizer: Tokenizer, sequence_length: int
) -> TaskData:
    """[CLS] passage [SEP] choice [SEP] for every choice, [N,C,S].

    Only the passage is cut, unless a choice fills half of S; then the end of the choice stays,
    where the option is, as in the authors' code.
    """
    counts = {len(example.choices) for example in examples}
    if len(counts) != 1:
        raise ValueError(f"all examples must have as many choices, these have {sorted(counts)}.")
    laid = []
    for example in examples:
        passage = tokenizer.encode(example.passage)
        for choice in tokenizer.encode_many(list(example.choices)):
            choice = choice[-(sequence_length // 2) :]
            shortened = passage[: sequence_length - 3 - len(choice)]
            laid.append(with_special_tokens(shortened, choice, tokenizer.cls_id, tokenizer.sep_id))
    data = as_data(laid, [0] * len(laid), sequence_length)
    shape = (len(examples), counts.pop(), sequence_length)
    parts = (part.view(shape) for part in (data.token_ids, data.segment_ids, data.attention_mask))
    return TaskData(*parts, torch.tensor([example.label for example in examples]))


def truncate_pair(a: list[int], b: list[int], room: int) -> None:
    """Shorten the longer of two lists, token by token and in place, until both fit together.

    >>> a, b = [1, 2, 3, 4, 5], [6, 7]
    >>> truncate_pair(a, b, 5); a, b
    ([1, 2, 3], [6, 7])
    """
    while len(a) + len(b) > max(room, 0):  # less than none is as_data's to refuse
        (a if len(a) > len(b) else b).pop()


def with_special_tokens(
    a: list[int], b: list[int] | None, cls_id: int = CLS, sep_id: int = SEP
) -> tuple[list[int], int]:
    """Return ids with special tokens, and the length of the first segment: [CLS] A [SEP]."""
    return [cls_id, *a, sep_id, *([] if b is None else [*b, sep_id])], len(a) + 2


def as_data(laid: list[tuple[list[int], int]], labels: list, sequence_length: int) -> TaskData:
    """Pad what ``with_special_tokens`` gave to [N,S].

    Raises ValueError if there is nothing, or if one is too long.
    """
    if not laid:
        raise ValueError("there is no example to encode.")
    if (longest := max(len(ids) for ids, _ in laid)) > sequence_length:
        raise ValueError(f"sequence_length {sequence_length} is too short for {longest} tokens.")
    token_ids = torch.tensor([ids + [PAD] * (sequence_length - len(ids)) for ids, _ in laid])
    position = torch.arange(sequence_length)
    length_a, length = torch.tensor([(a, len(ids)) for ids, a in laid]).T[:, :, None]  # N 1
    attention_mask = position < length
    segment_ids = attention_mask & (position >= length_a)
    return TaskData(token_ids, segment_ids.long(), attention_mask.long(), torch.tensor(labels))


def sentiment(
    level: str = "sentence", examples: int = 2000, seed: int = 0, max_words: int = 60
) -> Split:
    """Is a film review favourable (1) or not (0)?

    The text is, for ``level`` "sentence", one sentence drawn from the opening of a review; for
    "review" it is the opening: as many whole sentences from the first on as stay within
    ``max_words``, and at least one (of a very long first sentence, its first 12 * ``max_words``
    characters). Both levels draw the same reviews, as many good as bad, a quarter of them for the
    test (Maas et al. 2011). Splitting all 25,000 into sentences, as ``load_corpus("imdb")`` does,
    would take minutes. The label is the review's, so no reader can be right about every sentence.
    """
    check_choices(locals(), level=("sentence", "review"))
    check_numbers(locals(), 8, 1_000_000, "examples", "max_words")
    check_numbers(locals(), 0, 2**32, "seed")
    table, rng, drawn = imdb_table(), np.random.default_rng(seed), []
    by_label = [np.flatnonzero(table["label"] == label) for label in (0, 1)]
    for row in np.stack([rng.permutation(rows)[: examples // 2] for rows in by_label], 1).ravel():
        start = table["text"].iloc[row].replace("<br />", " ")[: 12 * max_words]
        sentences = split_sentences(start)  # of more characters than max_words words have
        ends = np.cumsum([len(sentence.split()) for sentence in sentences])
        opening = sentences[: max(1, int((ends <= max_words).sum()))]
        sentence = opening[rng.integers(len(opening))]
        text = sentence if level == "sentence" else " ".join(opening)
        drawn.append(Example(text, None, int(table["label"].iloc[row])))
    return Split(drawn[len(drawn) // 4 :], drawn[: len(drawn) // 4])


def story_topic(world: str = "stories", examples: int = 2000, seed: int = 0) -> Split:
    """What is one sentence of a story about? Twelve topics, in the alphabetical order of TOPICS."""

    def one(story: dict, rng: np.random.Generator) -> Example:
        label = sorted(TOPICS).index(story["topic"])
        return Example(str(rng.choice(story["sentences"])), None, label)

    return _from_stories(one, world, examples, seed)


def story_gap(world: str = "stories", examples: int = 2000, seed: int = 0) -> Split:
    """Do two sentences of a story follow each other (0), or is one between them left out (1)?

    It takes both sentences, and it is not sentence order, because no pair is ever swapped. Half of
    the labels are 0, on average.
    """

    def one(story: dict, rng: np.random.Generator) -> Example:
        places, label = range(len(story["sentences"])), int(rng.integers(2))
        pairs = [(i, j) for i in places for j in places[i + 1 :] if (j > i + 1) == label]
        i, j = pairs[rng.integers(len(pairs))]
        return Example(story["sentences"][i], story["sentences"][j], label)

    return _from_stories(one, world, examples, seed)


def _from_stories(one, world: str, examples: int, seed: int) -> Split:
    """Draw stories with replacement; those of the test are what ``prepare(world)`` holds out."""
    check_numbers(locals(), 8, 1_000_000, "examples")
    check_numbers(locals(), 0, 2**32, "seed")
    (train, test), rng = hold_out(load_corpus(world)), np.random.default_rng(seed)
    stories = [train] * (examples - examples // 4) + [test] * (examples // 4)
    drawn = [one(part[int(rng.integers(len(part)))], rng) for part in stories]
    return Split(drawn[: -(examples // 4)], drawn[-(examples // 4) :])
