"""Labelled examples as tensors (notebook 11).

The layouts are the original's (appendix A.3): [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment
id 1 from B on.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.batch import IGNORE, TaskData
from albert_edu.errors import InputError
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.unknown import check_known

STRIDE = 128  # tokens from one window of a long context to the next, as in the authors' code
LOOKED_AT = 1000  # examples in which unknown tokens are counted, see ``check_known``

TokenIds = list[int]


class Example(NamedTuple):
    """One text or two and a class, or a passage, C texts that might go with it, and which does."""

    first: str
    second: str | tuple[str, ...] | None
    label: int


class SpanExample(NamedTuple):
    """A question about a context; ``answers`` is empty where it has none.

    ``start`` is the character at which the first answer begins.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    start: int = -1

    @property
    def end(self) -> int:
        """The character after the first answer, or -1."""
        return self.start + len(self.answers[0]) if self.answers else -1


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
        raise InputError(f"all examples must have as many choices, these have {sorted(counts)}.")
    _check_texts(tokenizer, (_texts(example) for example in examples[:LOOKED_AT]))
    pairs: list[tuple[TokenIds, TokenIds | None]] = []
    for example in examples:
        first = tokenizer.encode(example.first)
        if example.second is None:
            pairs.append((first[: sequence_length - 2], None))
            continue
        room = sequence_length - 3
        is_choice = isinstance(example.second, tuple)
        for text in _texts(example)[1:]:
            second = tokenizer.encode(text)
            kept = min(len(second), max(room // 2, room - len(first)))
            second = second[len(second) - kept :] if is_choice else second[:kept]
            pairs.append((first[: room - kept], second))
    labels = [example.label for example in examples]
    return as_data(pairs, labels, tokenizer, sequence_length, choices=max(counts, default=None))


def encode_spans(
    examples: list[SpanExample], tokenizer: Tokenizer, sequence_length: int
) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position.

    A question keeps 64 tokens, or a third of S if that is less. A longer context becomes several
    windows, which begin ``STRIDE`` tokens, or half of a window if that is less, after the one
    before. The labels are IGNORE in windows that do not hold the whole answer, as in the authors'
    code. Notebook 11. Raises ValueError for a context without a token.
    """
    _check_texts(tokenizer, ((each.question, each.context) for each in examples[:LOOKED_AT]))
    pairs: list[tuple[TokenIds, TokenIds]] = []
    labels: list[tuple[int, int]] = []
    question_of: list[int] = []
    characters: list[np.ndarray] = []
    encode_context = cache(tokenizer.encode_with_offsets)  # many questions have one context
    for number, example in enumerate(examples):
        question = tokenizer.encode(example.question)[: min(64, sequence_length // 3)]
        context_ids, offsets = encode_context(example.context)
        if not context_ids:
            raise InputError(f"there is no token in the context {example.context!r:.80}.")
        places = np.array(offsets)  # T 2
        overlaps = (places[:, 0] < example.end) & (places[:, 1] > example.start)
        answer = np.flatnonzero(overlaps)  # tokens of the context
        before = len(question) + 2  # tokens in front of the context
        room = sequence_length - before - 1
        for begin in window_starts(len(context_ids), room):
            end = begin + room
            inside = len(answer) > 0 and begin <= answer[0] and answer[-1] < end
            first = before + int(answer[0]) - begin if inside else IGNORE
            last = before + int(answer[-1]) - begin if inside else IGNORE
            pairs.append((question, context_ids[begin:end]))
            labels.append((first, last))
            question_of.append(number)
            characters.append(places[begin:end])
    data = as_data(pairs, labels, tokenizer, sequence_length)
    unanswerable = not all(example.answers for example in examples)
    return SpanData(data, examples, torch.tensor(question_of), characters, unanswerable)


def window_starts(length: int, room: int) -> range:
    """Return where the windows of ``room`` tokens over a context begin; the last reaches its end.

    >>> list(window_starts(length=100, room=40))
    [0, 20, 40, 60]
    """
    stride = min(STRIDE, room // 2)
    return range(0, max(length - room, 0) + stride, stride)


def as_data(
    pairs: Sequence[tuple[TokenIds, TokenIds | None]],
    labels: list,
    tokenizer: Tokenizer,
    sequence_length: int,
    choices: int | None = None,
) -> TaskData:
    """Lay out [CLS] A [SEP], or [CLS] A [SEP] B [SEP], and padding to the longest: [N,S], [N,C,S].

    ``pairs`` are the token ids of A and those of B, or None for no B. ``choices`` is C, where C of
    them are one example. Raises ValueError if there is nothing, or if one is too long.
    """
    if not pairs:
        raise InputError("there is no example to encode.")
    rows = []
    for a, b in pairs:
        row = [tokenizer.cls_id, *a, tokenizer.sep_id]
        if b is not None:
            row += [*b, tokenizer.sep_id]
        rows.append(row)
    longest = max(map(len, rows))
    if longest > sequence_length:
        raise InputError(f"sequence_length {sequence_length} is too short: {longest} tokens.")
    pad = [tokenizer.pad_id]
    token_ids = torch.tensor([row + pad * (longest - len(row)) for row in rows])
    position = torch.arange(longest)
    attention_mask = position < torch.tensor([[len(row)] for row in rows])
    first_of_b = torch.tensor([[len(a) + 2] for a, _ in pairs])
    segment_ids = attention_mask & (position >= first_of_b)
    shape = (-1, choices, longest) if choices else (-1, longest)
    return TaskData(
        token_ids=token_ids.view(shape),
        segment_ids=segment_ids.long().view(shape),
        attention_mask=attention_mask.long().view(shape),
        labels=torch.tensor(labels),
    )


def _texts(example: Example) -> tuple[str, ...]:
    """All texts of an example; those of one task are as many."""
    if isinstance(example.second, tuple):
        return (example.first, *example.second)
    return (example.first, example.second or "")


def _check_texts(tokenizer: Tokenizer, rows: Iterable[tuple[str, ...]]) -> None:
    """Check each column of texts by itself, because one may be in another script than the rest."""
    for column in zip(*rows, strict=True):
        check_known(tokenizer, column, "the rows")
