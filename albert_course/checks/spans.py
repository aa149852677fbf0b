"""Cards of notebook 11: from the characters of an answer to tokens, and from scores back to one."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.text.masking import IGNORE


def span_labels(
    question: Sequence[int], characters: Sequence[tuple[int, int]], start: int, text: str, S: int
) -> tuple[int, int] | None:
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


class _Example(NamedTuple):
    """What span_labels is given."""

    question: list[int]
    characters: list[tuple[int, int]]
    start: int
    text: str
    S: int


def _example(draw: Draw, at_the_end=False, shorter=0, together=False) -> _Example:
    """A context of words of one to three tokens, without blanks before some of them, and an answer
    of some tokens; ``together``: the tokens of a word all stand for the whole word."""
    characters, at = [], 0
    for word in range(draw.integer(9, 12)):
        at += word % 2  # a blank before every second word
        lengths = draw.integers(2, 5, draw.integer(1, 4)).tolist()
        for n in lengths:
            characters.append((at, at + sum(lengths)) if together else (at, at + n))
            at += 0 if together else n
        at += sum(lengths) if together else 0
    characters += [(at, at + 1), (at + 1, at + 2), (at + 2, at + 4)]  # off-by-one errors show
    first = draw.integer(1, 4)
    blanks = _blanks(characters)
    last = len(characters) - 2 if at_the_end else next(i for i in blanks if i >= first + 2)
    start, end = characters[first][0] + shorter, characters[last][1] - shorter
    question = draw.integers(5, 99, draw.integer(3, 7)).tolist()
    return _Example(question, characters, start, "x" * (end - start), 90)


def _blanks(characters: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens before a blank."""
    return [i for i in range(len(characters) - 3) if characters[i][1] < characters[i + 1][0]]


def _examples(draw: Draw) -> Cases:
    examples = [_example(draw, at_the_end=i % 2 == 1) for i in range(6)]
    nothing = [example._replace(start=-1, text="") for example in examples[:2]]
    cut, blank = [], []
    for example in examples:
        _, last = span_labels(*example)
        cut += [example._replace(S=last + room) for room in (1, 2, -1)]
        at = example.characters[_blanks(example.characters)[0]][1]
        blank += [example._replace(start=at, text=" "), example._replace(start=at, text=" x")]

    def ask(answer, *examples):
        spans = [answer(*example) for example in examples]
        return [None if span is None else list(map(int, span)) for span in spans]

    def some(answer, *examples):
        spans = ask(answer, *examples)
        need(spans != [None] * len(spans), "all results are None; is the return missing?")
        return spans

    yield Case("finds the first and the last token", tuple(examples), 3.0, some)
    yield Case(
        "takes a token that the answer only touches",
        tuple(_example(draw, shorter=1) for _ in range(4)),
        1.0,
        ask,
    )
    yield Case(
        "takes all tokens of a word that they share",
        tuple(_example(draw, together=True) for _ in range(3)),
        1.0,
        ask,
    )
    yield Case("gives (-100, -100) where there is no answer", tuple(nothing), 2.0, ask)
    yield Case("gives None where the answer is cut off, and only there", tuple(cut), 2.0, ask)
    yield Case("gives None for a blank, which is in no token", tuple(blank), 1.0, ask)


INSIDE = "inside = [i for i, (b, e) in enumerate(characters) if "
check_span_labels = card(
    "11.6",
    span_labels,
    _examples,
    {
        "counting from the context's first token; [CLS] question [SEP] come before it": "before = 0",
        "adding the question's length without [CLS] and [SEP]": "before = len(question)",
        "adding [CLS] and the question, but not the [SEP] between": "before = len(question) + 1",
        "giving one past the last token": "return (first, last + 1) if last <= room else None",
        "taking the token behind the answer as well": INSIDE + "b <= end and e > start]",
        "taking the tokens before and behind the answer as well": INSIDE
        + "b <= end and e >= start]",
        "stopping one character early, so that a last token of one letter is lost": INSIDE
        + "b < end - 1 and e > start]",
        "giving characters instead of tokens": "return (start, end - 1) if last <= room else None",
        "giving the number of tokens instead of the last one": "return (first, len(inside)) if last <= room else None",
        "taking only tokens that lie wholly within the answer": INSIDE + "b >= start and e <= end]",
        "looking for tokens that begin and end exactly where the answer does: it may begin inside of "
        "one": INSIDE + "b == start or e == end]",
        "taking the first token that ends there: tokens of a word may all have the whole word's "
        "characters": "first, last = before + inside[0], before + next(i for i in inside if "
        "characters[i][1] >= end or i == inside[-1])",
        "pointing at [CLS], as BERT does; a loss ignores -100": "return IGNORE, IGNORE => return 0, 0",
        "returning None, as for an answer that was cut off": "return IGNORE, IGNORE => return None",
        "ending an answer at the edge where it is cut off": "return (first, min(last, room)) if first <= room else None",
        "taking an answer that was cut off for none, which teaches the wrong thing": "return (first, last) if last <= room else (IGNORE, IGNORE)",
        "giving places behind the end of the row": "return first, last",
        "forgetting that the last [SEP] needs a place": "room = S - 1",
        "leaving one place too many free": "room = S - 3",
        "looking for the first of no tokens: a blank alone is None": "if not inside => if 0",
    },
)


def best_span(
    start: Tensor, end: Tensor, context: Tensor, none: Tensor, longest: int = 30
) -> Tensor:
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


def _scores(draw: Draw) -> Cases:
    B, S, T = 40, draw.integer(12, 16), 40
    begin, stop = draw.integers(2, 5, B, 1), draw.integers(S - 4, S, B, 1)
    context = (torch.arange(S) >= begin) & (torch.arange(S) < stop)  # between question and padding
    start, end, answered = 2 * draw.randn(B, S), 2 * draw.randn(B, S), torch.full((B,), -1.0)
    everywhere = torch.ones(B, S, dtype=torch.bool)
    far_start, far_end = 0.1 * draw.randn(4, T), 0.1 * draw.randn(4, T)
    rows, first = torch.arange(4), draw.integers(0, 5, 4)
    far_start[rows, first] += 9
    for length, bonus in ((29, 3), (30, 4), (31, 5), (32, 6)):
        far_end[rows, first + length - 1] += bonus
    far = far_start, far_end, torch.ones(4, T, dtype=torch.bool), answered[:4]
    none = torch.tensor([1.0, -1.0]).repeat(B // 2) * (0.1 + draw.randn(B).abs())
    none[0], none[2] = 0.3, 25
    empty = context.clone()
    empty[::3] = False

    yield Case("finds the best pair", (start, end, everywhere, answered), 3.0)
    yield Case("answers from the context alone", (start, end, context, answered), 2.0)
    yield Case("finds it among negative scores too", (start - 30, end - 30, context, answered))
    yield Case("finds no answer of more than 30 tokens", far, 2.0)
    yield Case("keeps to `longest`", (start, end, context, answered, 2))
    yield Case("says where there is no answer", (start, end, context, none), 2.0)
    yield Case("gives (-100, -100) in a row without context", (start, end, empty, answered))


check_best_span = card(
    "11.7",
    best_span,
    _scores,
    {
        "taking the best of each alone, which may end before it begins": "allowed = torch.ones(S, S, dtype=torch.bool)",
        "taking the best start first, then the best end behind it": "sums = sums.masked_fill("
        "~allowed | (start < start.amax(1, keepdim=True))[:, :, None], -math.inf).flatten(1)",
        "adding probabilities; logits (or logs of probabilities) are added": "scores.masked_fill => scores.softmax(1).masked_fill",
        "allowing no answer of one token; first may be last": ".triu() => .triu(1)",
        "giving one past the last place": "spans = torch.stack([best // S, best % S + 1], 1)",
        "swapping start and end": "sums = end[:, :, None] + start[:, None]",
        "letting the question, special tokens and padding answer": "start, end = start, end",
        "masking the starts alone": "start, end = start.masked_fill(~context, -math.inf), end",
        "setting scores outside to 0, which is more than a negative score; -inf is meant": "masked_fill(~context, -math.inf) => masked_fill(~context, 0.0)",
        "setting forbidden pairs to 0, which is more than a negative score": "sums = sums.masked_fill(~allowed, 0.0).flatten(1)",
        "counting from the first token of the context": "spans = torch.stack([best // S, best % S], 1) - context.int().argmax(1, keepdim=True)",
        "turning the mask upside down": "masked_fill(~context, => masked_fill(context,",
        "letting an answer be of any length": ".tril(longest - 1) => ",
        "allowing 31 tokens: last - first is at most 29": "longest - 1 => longest",
        "ignoring `longest`: is 30 written out?": "longest - 1 => 29",
        "answering every question": "silent = ~context.any(1)",
        "answering where 'no answer' is the likelier, and only there": "none > 0 => none < 0",
        "pointing at [CLS], place 0": "return spans.masked_fill(silent[:, None], 0)",
        "comparing with 0.5, though it is a logit": "none > 0 => none > 0.5",
        "comparing 'no answer' with the score of the span; it is judged alone": "none > 0 => none > sums.amax(1)",
        "pointing somewhere in a row without any context": "silent = none > 0",
    },
)
