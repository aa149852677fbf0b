"""Questions whose answer stands in a context: from characters to tokens and back (notebook 11)."""

import re
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import (
    SpanExample,
    TaskData,
    Tokenizer,
    as_data,
    encode_known,
    with_special_tokens,
)
from albert_edu.text.tokenizer import UNKNOWN, WORD_START
from albert_edu.text.unknown import check_known

STRIDE = 128  # tokens from one window to the next, as in the authors' code


class SpanData(NamedTuple):
    """Encoded questions, in N windows over their contexts, and what turns positions into text."""

    data: TaskData
    examples: list[SpanExample]
    question_of: Int[Tensor, "N"]  # the number in ``examples`` of each window's question
    characters: list[Int[np.ndarray, "T 2"]]  # start and end of each window's context tokens
    unanswerable: bool  # whether a question may have no answer, as in SQuAD 2.0


def normalise_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return ``normalise(text)``, and for each of its characters where it stands in the text.

    >>> normalise_with_places(" É…")
    ('e...', [(1, 2), (2, 3), (2, 3), (2, 3)])
    """
    characters, places = [], []
    for found in re.finditer(r"``|''|.", text, re.DOTALL):
        for character in unicodedata.normalize("NFKD", '"' if len(found[0]) == 2 else found[0]):
            if not unicodedata.combining(character):
                characters.append(" " if character.isspace() else character)
                places.append(found.span())
            elif places:  # an accent that stands alone belongs to the letter before it
                places[-1] = (places[-1][0], found.end())
    plain = "".join(characters).lower()
    kept = [i for i, c in enumerate(plain) if c != " " or (i and plain[i - 1] != " ")]
    kept = kept[:-1] if plain.endswith(" ") else kept
    return "".join(plain[i] for i in kept), [places[i] for i in kept]


def tokens_with_offsets(text: str, tokenizer: Tokenizer) -> tuple[list[int], list[tuple[int, int]]]:
    """Return token ids, and the characters [start, end) of the text that each token stands for."""
    if isinstance(tokenizer, HubTokenizer):
        return tokenizer.encode_with_offsets(text)
    plain, places = normalise_with_places(text)
    processor, characters = tokenizer.processor, []
    for part in re.finditer(rf"{UNKNOWN}|((?!{UNKNOWN}).)+", plain):
        if part[0] == UNKNOWN:
            characters.append((places[part.start()][0], places[part.end() - 1][1]))
            continue
        # SentencePiece normalises once more, and says from which character each of its own came.
        first = part.start() + len(part[0]) - len(part[0].lstrip())
        _, origins = processor.normalize(part[0].strip(), with_offsets=True)
        end = 0
        for piece in processor.encode(part[0].strip(), out_type=str):
            begin, end = end + piece.startswith(WORD_START), end + len(piece)
            start, stop = (first + origins[i] for i in (begin, end))
            reached = places[stop - 1][1] if stop else 0
            characters.append((places[start][0] if begin < end else reached, reached))
    return tokenizer.encode(text), characters


def encode_spans(
    examples: list[SpanExample], tokenizer: Tokenizer, sequence_length: int
) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position.

    A question keeps 64 tokens, or a third of S if that is less. A longer context becomes several
    windows, which begin ``STRIDE`` tokens, or half of a window if that is less, after the one
    before. The labels are IGNORE in windows that do not hold the whole answer, as in the authors'
    code. Notebook 11.
    """
    laid, labels, question_of, characters = [], [], [], []
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
            laid.append(with_special_tokens(question, window, tokenizer.cls_id, tokenizer.sep_id))
            labels.append([before - begin + answer[i] if inside else IGNORE for i in (0, -1)])
            question_of.append(number)
            characters.append(places[begin : begin + room])
    data, number = as_data(laid, labels, sequence_length), torch.tensor(question_of)
    return SpanData(data, examples, number, characters, not all(e.answers for e in examples))
