"""Questions whose answer stands in a context: from characters to tokens and back (notebook 11)."""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.offsets import tokens_with_offsets
from albert_edu.text.tasks import SpanExample, TaskData, as_data, encode_known
from albert_edu.text.unknown import check_known

STRIDE = 128  # tokens from one window to the next, as in the authors' code


class SpanData(NamedTuple):
    """Encoded questions, in N windows over their contexts, and what turns positions into text."""

    data: TaskData
    examples: list[SpanExample]
    question_of: Int[Tensor, "N"]  # the number in ``examples`` of each window's question
    characters: list[Int[np.ndarray, "T 2"]]  # start and end of each window's context tokens
    unanswerable: bool  # whether a question may have no answer, as in SQuAD 2.0


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
