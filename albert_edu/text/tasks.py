"""Labelled examples as tensors (notebook 11).

The layouts are the original's (appendix A.3): [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment
id 1 from B on.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.offsets import check_known, tokens_with_offsets

STRIDE = 128  # tokens from one window of a long context to the next, as in the authors' code
JUDGED = 1000  # examples by which a tokenizer is judged, see ``check_known``


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
    texts = [(e.first, *(e.second if counts else (e.second or "",))) for e in examples]
    for column in zip(*texts[:JUDGED], strict=True):
        check_known(tokenizer, column, "the rows")
    pairs = []
    for example, row in zip(examples, texts, strict=True):
        a, *others = map(tokenizer.encode, row)
        room = sequence_length - (2 if example.second is None else 3)
        for b in others:
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
    for column in zip(*(example[:2] for example in examples[:JUDGED]), strict=True):
        check_known(tokenizer, column, "the rows")
    for number, example in enumerate(examples):
        question = tokenizer.encode(example.question)[: min(64, sequence_length // 3)]
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
    data = as_data(pairs, labels, tokenizer, sequence_length)
    unanswerable = not all(example.answers for example in examples)
    return SpanData(data, examples, torch.tensor(question_of), characters, unanswerable)


def as_data(
    pairs: list[tuple], labels: list, tokenizer: Tokenizer, sequence_length: int, *choices: int
) -> TaskData:
    """Lay out [CLS] A [SEP], or [CLS] A [SEP] B [SEP], and zeros up to the longest: [N,S], [N,C,S].

    ``pairs`` are the token ids of A and those of B, or None for no B. Raises ValueError if there is
    nothing, or if one is too long.
    """
    if not pairs:
        raise ValueError("there is no example to encode.")
    cls, sep = tokenizer.cls_id, tokenizer.sep_id
    laid = [[cls, *a, sep, *([] if b is None else [*b, sep])] for a, b in pairs]
    longest = max(map(len, laid))
    if longest > sequence_length:
        raise ValueError(f"sequence_length {sequence_length} is too short: {longest} tokens.")
    token_ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids in laid])
    position = torch.arange(longest)
    tokens = position < torch.tensor([[len(ids)] for ids in laid])
    in_b = tokens & (position >= torch.tensor([[len(a) + 2] for a, _ in pairs]))
    parts = (part.long().unflatten(0, (-1, *choices)) for part in (token_ids, in_b, tokens))
    return TaskData(*parts, torch.tensor(labels))
