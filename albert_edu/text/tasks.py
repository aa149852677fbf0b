"""Labelled examples as tensors, and tasks made of reviews and stories (notebook 11).

The layouts are the original's (appendix A.3): [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment
id 1 from B on.
"""

from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.corpora import hold_out, imdb_table, load_corpus
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.offsets import check_known, tokens_with_offsets
from albert_edu.text.tokenizer import PAD

STRIDE = 128  # tokens from one window of a long context to the next, as in the authors' code


class Example(NamedTuple):
    """One text or two and a class, or a passage, C texts that might go with it, and which does."""

    first: str
    second: str | tuple[str, ...] | None
    label: int


Split = tuple[list[Example], list[Example]]  # to learn from, and to be tested on


class SpanExample(NamedTuple):
    """A question about a context; ``answers`` is empty where it has none.

    ``start`` is the character at which the first answer begins.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    start: int = -1


@dataclass(frozen=True)
class TaskData:
    """N encoded examples; a batch is some of their rows. Choices have one more axis, [N,C,S]."""

    token_ids: Int[Tensor, "N *C S"]
    segment_ids: Int[Tensor, "N *C S"]
    attention_mask: Int[Tensor, "N *C S"]  # 1 on tokens, 0 on padding
    labels: Int[Tensor, "N *T"]  # class or choice: [N]; an answer's first and last: [N,2]

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


class SpanData(NamedTuple):
    """Encoded questions, in N windows over their contexts, and what turns positions into text."""

    data: TaskData
    examples: list[SpanExample]
    question_of: Int[Tensor, "N"]  # the number in ``examples`` of each window's question
    characters: list[Int[np.ndarray, "T 2"]]  # start and end of each window's context tokens
    unanswerable: bool  # whether a question may have no answer, as in SQuAD 2.0


def encode_pairs(examples: list[Example], tokenizer: Tokenizer, sequence_length: int) -> TaskData:
    """Encode texts, pairs of texts, or a passage with each of its C choices, which are [N,C,S].

    The longer of two texts, or the second, loses its end until both fit: half of the room for each
    of two long ones, and all that is left beside a short one. A choice loses its beginning, because
    the option stands last, as in the authors' code. Raises ValueError where the numbers of choices
    differ.
    """
    counts = {len(each.second) for each in examples if isinstance(each.second, tuple)}
    if len(counts) > 1:
        raise ValueError(f"all examples must have as many choices, these have {sorted(counts)}.")
    seconds = [each.second if counts else (each.second or "",) for each in examples]
    check_known(tokenizer, chain.from_iterable(seconds[:1000]), "the rows")
    firsts, pairs = encode_known([each.first for each in examples], tokenizer), []
    for a, texts, example in zip(firsts, seconds, examples, strict=True):
        room = sequence_length - (2 if example.second is None else 3)
        for b in map(tokenizer.encode, texts):
            kept = min(len(b), max(room // 2, room - len(a)))
            b = b[len(b) - kept :] if counts else b[:kept]
            pairs.append((a[: room - kept], None if example.second is None else b))
    labels = [example.label for example in examples]
    return as_data(pairs, labels, tokenizer, sequence_length, *counts)


def encode_spans(
    examples: list[SpanExample], tokenizer: Tokenizer, sequence_length: int
) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position.

    A question keeps 64 tokens, or a third of S if that is less. A longer context becomes several
    windows, which begin ``STRIDE`` tokens, or half of a window if that is less, after the one
    before. The labels are IGNORE in windows that do not hold the whole answer, as in the authors'
    code. Notebook 11.
    """
    pairs, labels, question_of, characters = [], [], [], []
    context_tokens = cache(lambda context: tokens_with_offsets(context, tokenizer))
    check_known(tokenizer, [example.context for example in examples[:1000]], "the contexts")
    questions = encode_known([example.question for example in examples], tokenizer)
    for number, (example, question) in enumerate(zip(examples, questions, strict=True)):
        question = question[: min(64, sequence_length // 3)]
        room, before = sequence_length - 3 - len(question), len(question) + 2
        ids, places = context_tokens(example.context)
        places, stride = np.array(places).reshape(-1, 2), min(STRIDE, room // 2)
        end = example.start + len(example.answers[0]) if example.answers else -1
        answer = np.flatnonzero((places[:, 0] < end) & (places[:, 1] > example.start))
        for begin in range(0, max(len(ids) - room, 0) + stride, stride):
            window = ids[begin : begin + room]
            inside = len(answer) and begin <= answer[0] and answer[-1] < begin + len(window)
            pairs.append((question, window))
            labels.append([before - begin + answer[i] if inside else IGNORE for i in (0, -1)])
            question_of.append(number)
            characters.append(places[begin : begin + room])
    data, number = as_data(pairs, labels, tokenizer, sequence_length), torch.tensor(question_of)
    return SpanData(data, examples, number, characters, not all(e.answers for e in examples))


def encode_known(texts: list[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the ids of each text, and judge by the first thousand as ``check_known`` does."""
    check_known(tokenizer, texts[:1000], "the rows")
    return [tokenizer.encode(text) for text in texts]


def as_data(
    pairs: list[tuple], labels: list, tokenizer: Tokenizer, sequence_length: int, *choices: int
) -> TaskData:
    """Lay out [CLS] A [SEP], or [CLS] A [SEP] B [SEP], and padding: [N,S], or [N,C,S].

    ``pairs`` are the token ids of A and those of B, or None for no B. Raises ValueError if there is
    nothing, or if one is too long.
    """
    if not pairs:
        raise ValueError("there is no example to encode.")
    cls, sep = tokenizer.cls_id, tokenizer.sep_id
    laid = [[cls, *a, sep, *([] if b is None else [*b, sep])] for a, b in pairs]
    length, position = torch.tensor([[len(ids)] for ids in laid]), torch.arange(sequence_length)
    if length.max() > sequence_length:
        raise ValueError(f"sequence_length {sequence_length} is too short: {length.max()} tokens.")
    token_ids = torch.tensor([ids + [PAD] * (sequence_length - len(ids)) for ids in laid])
    tokens = position < length
    in_b = tokens & (position >= torch.tensor([[len(a) + 2] for a, _ in pairs]))
    parts = (part.long().view(-1, *choices, sequence_length) for part in (token_ids, in_b, tokens))
    return TaskData(*parts, torch.tensor(labels))


def sentiment(examples: int = 2000, seed: int = 0) -> Split:
    """Is a film review favourable (1) or not (0)? As many are good as bad (Maas et al. 2011).

    A quarter is for the test. What does not fit a model is cut from a review's end.
    """
    reviews = imdb_table().groupby("label").sample(examples // 2, random_state=seed)
    reviews = reviews.sample(frac=1, random_state=seed)
    texts, labels = reviews["text"].str.replace("<br />", " "), reviews["label"].tolist()
    drawn = [Example(text, None, label) for text, label in zip(texts, labels, strict=True)]
    return drawn[len(drawn) // 4 :], drawn[: len(drawn) // 4]


def story_questions(
    stories: "datasets.Dataset", count: int = 1000, seed: int = 0
) -> list[SpanExample]:
    """Ask about four sentences of a story: "opened the item" (kate), or "kate opened" (item).

    The answer is one word of the context. ``stories`` is what ``load_corpus`` or ``hold_out`` gave.
    """
    rng, examples = np.random.default_rng(seed), []
    for _ in range(count):
        story = stories[int(rng.integers(len(stories)))]["sentences"]
        first = int(rng.integers(max(len(story) - 3, 1)))
        told = story[first : first + 4]
        asked = int(rng.integers(len(told)))
        name, verb, the, noun = told[asked].split()[:4]
        question, answer, start = f"{verb} {the} {noun}", name, 0
        if rng.random() < 0.5:
            question, answer, start = f"{name} {verb}", noun, len(f"{name} {verb} {the} ")
        start += sum(len(sentence) + 1 for sentence in told[:asked])
        examples.append(SpanExample(question, " ".join(told), (answer,), start))
    return examples


def story_gap(world: str = "stories", examples: int = 2000, seed: int = 0) -> Split:
    """Do two sentences of a story follow each other (0), or is one between them left out (1)?

    It takes both sentences, and it is not sentence order, because no pair is ever swapped. Half of
    the labels are 0, on average. Stories are drawn with replacement; those of the test are what
    ``prepare(world)`` holds out.
    """
    (train, test), rng, drawn = hold_out(load_corpus(world)), np.random.default_rng(seed), []
    learnt = examples - examples // 4
    for part in [train] * learnt + [test] * (examples - learnt):
        sentences = part[int(rng.integers(len(part)))]["sentences"]
        places, label = range(len(sentences)), int(rng.integers(2))
        pairs = [(i, j) for i in places for j in places[i + 1 :] if (j > i + 1) == label]
        i, j = pairs[rng.integers(len(pairs))]
        drawn.append(Example(sentences[i], sentences[j], label))
    return drawn[:learnt], drawn[learnt:]
