"""Cards of notebook 11: from the characters of an answer to tokens, and from scores to one.

Their known mistakes are edits in mistakes/11.txt.
"""

import math
from collections import namedtuple
from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from albert_course.checks.engine.asking import each
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.batch import IGNORE


def span_labels(question, characters, start, text, S) -> tuple[int, int] | None:
    """``labels(question, characters, start, text, S) -> (first, last)``: where in [CLS] question
    [SEP] context [SEP] the answer's first and last token stand. ``question`` is a list of ids;
    ``characters`` has for each token of the context (from, to), the characters [from, to) that it
    stands for. The answer ``text`` begins at character ``start`` of the context; its tokens are
    those that share a character with it. Without an answer ``text`` is "" and ``start`` -1: then
    (-100, -100). The row is cut to S with its last [SEP] kept; where not all of an answer's tokens
    are left, or it has none, the result is None."""
    if not text:
        return IGNORE, IGNORE
    end = start + len(text)
    inside = [i for i, (b, e) in enumerate(characters) if b < end and e > start]
    if not inside:
        return None
    before = len(question) + 2
    first, last = before + inside[0], before + inside[-1]
    room = S - 2
    return (first, last) if last <= room else None


_Example = namedtuple("_Example", "question characters start text S")


def _example(draw: Draw, at_the_end=False, shorter=0, together=False) -> _Example:
    """A context of words of one to three tokens, without blanks before some of them, and an answer
    of some tokens; ``together``: the tokens of a word all stand for the whole word."""
    characters: list[tuple[int, int]] = []
    at = 0
    for word in range(draw.integer(9, 12)):  # a blank before every second one
        lengths = draw.integers(2, 5, draw.integer(1, 4)).tolist()
        start, *edges = accumulate(lengths, initial=at + word % 2)
        characters += [(start, edges[-1])] * len(edges) if together else pairwise([start, *edges])
        at = edges[-1]
    characters += [(at, at + 1), (at + 1, at + 2), (at + 2, at + 4)]  # off-by-one errors show
    first = draw.integer(1, 4)
    blanks = _blanks(characters)
    last = len(characters) - 2 if at_the_end else next(i for i in blanks if i >= first + 2)
    start = characters[first][0] + shorter
    end = characters[last][1] - shorter
    question = draw.integers(5, 99, draw.integer(3, 7)).tolist()
    return _Example(question, characters, start, "x" * (end - start), 90)


def _blanks(characters: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens before a blank."""
    return [i for i in range(len(characters) - 3) if characters[i][1] < characters[i + 1][0]]


def _span_labels_cases(draw: Draw) -> Cases:
    examples = [_example(draw, at_the_end=i % 2 == 1) for i in range(6)]
    nothing = [example._replace(start=-1, text="") for example in examples[:2]]
    cut = []
    blank = []
    for example in examples:
        found = span_labels(*example)
        assert found, "an answer is in its context"
        last = found[1]
        cut += [example._replace(S=last + room) for room in (1, 2, -1)]
        at = example.characters[_blanks(example.characters)[0]][1]
        blank += [example._replace(start=at, text=" "), example._replace(start=at, text=" x")]

    yield Case(
        "finds the first and the last token",
        inputs=tuple(examples),
        weight=3.0,
        ask=each,
    )
    touched = tuple(_example(draw, shorter=1) for _ in range(4))
    yield Case("takes a token that the answer only touches", inputs=touched, ask=each)
    shared = tuple(_example(draw, together=True) for _ in range(3))
    yield Case("takes all tokens of a word that they share", inputs=shared, ask=each)
    yield Case(
        "gives (-100, -100) where there is no answer",
        inputs=tuple(nothing),
        weight=2.0,
        ask=each,
    )
    yield Case(
        "gives None where the answer is cut off, and only there",
        inputs=tuple(cut),
        weight=2.0,
        ask=each,
    )
    yield Case(
        "gives None for a blank, which is in no token",
        inputs=tuple(blank),
        ask=each,
    )


check_span_labels = make_check("assignment 11.6", span_labels, _span_labels_cases)


def best_span(start, end, context, none, longest=30) -> Tensor:
    """``best_span(start[B,S], end[B,S], context[B,S], none[B], longest=30) -> [B,2]``: for each row
    the first and the last place of the answer, those with the largest start[first] + end[last]
    where first <= last, both are in the context (``context`` is True) and the answer has at most
    ``longest`` tokens. (-100, -100) where ``none`` is above 0, which says that there is no answer,
    and in a row without any context. The scores are logits and may all be negative."""
    S = start.shape[1]
    start, end = (scores.masked_fill(~context, -math.inf) for scores in (start, end))
    allowed = torch.ones(S, S, dtype=torch.bool).triu().tril(longest - 1)
    sums = start[:, :, None] + end[:, None]
    sums = sums.masked_fill(~allowed, -math.inf).flatten(1)
    best = sums.argmax(1)
    spans = torch.stack([best // S, best % S], 1)
    silent = (none > 0) | ~context.any(1)
    return spans.masked_fill(silent[:, None], IGNORE)


def _best_span_cases(draw: Draw) -> Cases:
    B = 40
    S = draw.integer(12, 16)
    T = 40
    begin = draw.integers(2, 5, B, 1)
    stop = draw.integers(S - 4, S, B, 1)
    context = (torch.arange(S) >= begin) & (torch.arange(S) < stop)  # between question and padding
    start = 2 * draw.randn(B, S)
    end = 2 * draw.randn(B, S)
    answered = torch.full((B,), -1.0)
    everywhere = torch.ones(B, S, dtype=torch.bool)
    far_start = 0.1 * draw.randn(4, T)
    far_end = 0.1 * draw.randn(4, T)
    rows = torch.arange(4)
    first = draw.integers(0, 5, 4)
    far_start[rows, first] += 9
    for length, bonus in ((29, 3), (30, 4), (31, 5), (32, 6)):
        far_end[rows, first + length - 1] += bonus
    far = far_start, far_end, torch.ones(4, T, dtype=torch.bool), answered[:4]
    none = torch.tensor([1.0, -1.0]).repeat(B // 2) * (0.1 + draw.randn(B).abs())
    none[0] = 0.3
    none[2] = 25
    none[4] = 0  # which is not above 0
    empty = context.clone()
    empty[::3] = False

    yield Case("finds the best pair", inputs=(start, end, everywhere, answered), weight=3.0)
    yield Case(
        "answers from the context alone",
        inputs=(start, end, context, answered),
        weight=2.0,
    )
    yield Case("finds it among negative scores too", (start - 30, end - 30, context, answered))
    yield Case("finds no answer of more than 30 tokens", inputs=far, weight=2.0)
    yield Case("keeps to `longest`", (start, end, context, answered, 2))
    yield Case(
        "says where there is no answer",
        inputs=(start, end, context, none),
        weight=2.0,
    )
    yield Case("gives (-100, -100) in a row without context", (start, end, empty, answered))


check_best_span = make_check("assignment 11.7", best_span, _best_span_cases)
