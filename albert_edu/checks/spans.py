"""Checks of notebook 11: from the characters of an answer to pieces, and from scores of pieces back to an answer."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise
from albert_edu.text.masking import IGNORE

NONE = (IGNORE, IGNORE)
LONGEST = 30


class Asked(NamedTuple):
    """What check_span_labels gives to an answer."""

    question: list[int]
    characters: list[tuple[int, int]]
    start: int
    text: str
    S: int


@exercise("11.6")
def check_span_labels(answer, trial: Trial) -> None:
    """``labels(question, characters, start, text, S) -> (first, last)``: where in [CLS] question [SEP] context [SEP] the answer's
    first and last piece stand. ``question`` is a list of ids; ``characters`` has for each piece of the context (from, to), the
    characters [from, to) that it stands for. The answer ``text`` begins at character ``start`` of the context; its pieces are those
    that share a character with it. Without an answer ``text`` is "" and ``start`` -1: then (-100, -100). The row is cut to S with
    its last [SEP] kept; where not all of an answer's pieces are left, the result is None."""
    cases = [_asked(trial, at_the_end=i % 2 == 1) for i in range(6)]
    right = _all(trial, answer, cases, "finds the first and the last piece", {
        "counting from the context's first piece; [CLS] question [SEP] stand before it": lambda asked: _found(asked, before=0),
        "adding the question's length without [CLS] and [SEP]": lambda asked: _found(asked, before=len(asked.question)),
        "adding [CLS] and the question, but not the [SEP] between": lambda asked: _found(asked, before=len(asked.question) + 1),
        "giving one past the last piece": lambda asked: _found(asked, past=1),
        "taking the piece behind the answer as well: the character at start + len(text) is not of it":
            lambda asked: _found(asked, behind=1),
        "taking the pieces before and behind the answer as well, whose characters end or begin where it does not":
            lambda asked: _found(asked, behind=1, ahead=1),
        "stopping one character early, so that a last piece of one letter is lost":
            lambda asked: _found(asked._replace(text=asked.text[:-1])),
        "giving characters instead of pieces": lambda asked: (asked.start, asked.start + len(asked.text) - 1),
        "giving the number of pieces instead of the last one": _counted,
        "giving the first piece twice": lambda asked: (_found(asked)[0],) * 2,
    }, weight=3)  # fmt: skip
    inside = [_asked(trial, shorter=1) for _ in range(4)]
    reason = "an answer may begin or end inside a piece: '1859' in '(1859).'; take every piece that shares a character with it"
    _all(trial, answer, inside, "takes a piece that the answer only touches", {
        "taking only pieces that lie wholly within the answer": _whole_only,
    }, reason if right else "")  # fmt: skip
    reason = "pieces of a word whose length was changed all stand for the whole word: take all of them"
    together = [_asked(trial, together=True) for _ in range(3)]
    _all(trial, answer, together, "takes all pieces of a word that they share", {}, reason if right else "")
    nothing = [cases[0]._replace(start=-1, text=""), cases[1]._replace(start=-1, text="")]
    _all(trial, answer, nothing, "gives (-100, -100) where there is no answer", {
        "pointing at [CLS], as BERT does; here a loss ignores -100 and another head says 'no answer'": lambda asked: (0, 0),
        "returning None, as for an answer that was cut off": lambda asked: None,
        "giving -1": lambda asked: (-1, -1),
    }, weight=2)  # fmt: skip
    ends = [_found(asked)[1] for asked in cases]
    cut = [asked._replace(S=end + room) for asked, end in zip(cases, ends, strict=True) for room in (1, 2, -1)]
    _all(trial, answer, cut, "gives None where the answer is cut off, and only there", {
        "ending an answer at the edge where it is cut off": _at_the_edge,
        "ending an answer at the edge, having looked in what is left of the context only":
            lambda asked: _at_the_edge(asked) if _found(asked)[0] <= asked.S - 2 else None,
        "taking an answer that was cut off for none, which teaches the wrong thing": lambda asked: _within(asked) or NONE,
        "giving places behind the end of the row": _found,
        "forgetting that the last [SEP] needs a place": lambda asked: _within(asked, room=1),
        "leaving one place too many free": lambda asked: _within(asked, room=3),
    }, weight=2, reason="is a whole answer kept that just fits?" if right else "")  # fmt: skip


def _asked(trial: Trial, at_the_end: bool = False, shorter: int = 0, together: bool = False) -> Asked:
    """A context of some words of one to three pieces, without blanks before some of them, and an answer of some pieces."""
    characters, at = [], 0
    for word in range(int(trial.randint(9, 12, 1))):
        at += word % 2  # a blank before every second word
        lengths = trial.randint(2, 5, int(trial.randint(1, 4, 1))).tolist()
        if together:  # the word's pieces all stand for the whole word
            characters += [(at, at + sum(lengths))] * len(lengths)
            at += sum(lengths)
        else:
            for n in lengths:
                characters.append((at, at + n))
                at += n
    characters += [(at, at + 1), (at + 1, at + 2), (at + 2, at + 4)]  # two pieces of one letter: off-by-one errors show
    first = int(trial.randint(1, 4, 1))
    blanks = [i for i in range(first + 2, len(characters) - 3) if characters[i][1] < characters[i + 1][0]]
    last = len(characters) - 2 if at_the_end else blanks[0]
    begin, end = characters[first][0] + shorter, characters[last][1] - shorter
    question = trial.randint(5, 99, int(trial.randint(3, 7, 1))).tolist()
    return Asked(question, characters, begin, "x" * (end - begin), 90)


def _found(asked: Asked, before: int | None = None, past: int = 0, behind: int = 0, ahead: int = 0) -> tuple[int, int]:
    """The answer's places, whatever S is, or with a mistake."""
    start, end = asked.start - ahead, asked.start + len(asked.text) + behind
    inside = [i for i, (b, e) in enumerate(asked.characters) if b < end and e > start]
    before = len(asked.question) + 2 if before is None else before
    return before + inside[0], before + inside[-1] + past


def _counted(asked: Asked) -> tuple[int, int]:
    first, last = _found(asked)
    return first, last - first + 1


def _whole_only(asked: Asked) -> tuple[int, int]:
    end, before = asked.start + len(asked.text), len(asked.question) + 2
    inside = [i for i, (b, e) in enumerate(asked.characters) if b >= asked.start and e <= end]
    return before + inside[0], before + inside[-1]


def _within(asked: Asked, room: int = 2) -> tuple[int, int] | None:
    """The answer's places, or None if the last piece is not followed by a place for [SEP]."""
    if not asked.text:
        return NONE
    first, last = _found(asked)
    return (first, last) if last <= asked.S - room else None


def _at_the_edge(asked: Asked) -> tuple[int, int]:
    first, last = _found(asked)
    return first, min(last, asked.S - 2)


def _all(trial: Trial, answer, cases: Sequence[Asked], name: str, mistakes: dict[str, Callable], reason: str = "",
         weight: float = 1.0) -> bool:  # fmt: skip
    got = []
    for asked in cases:
        answered = trial.call(answer, *asked, name=name)
        try:
            got.append(None if answered is None else tuple(int(place) for place in answered))
        except (TypeError, ValueError, OverflowError, RuntimeError):
            trial.need("returns two places or None", False, "first and last are asked for", got=brief(answered))
    if got == [None] * len(got):
        reason = "is the return missing?"
    values = {mistake: [value(asked) for asked in cases] for mistake, value in mistakes.items()}
    return trial.equal(name, got, [_within(asked) for asked in cases], values, weight, reason=reason)


@exercise("11.7")
def check_best_span(answer, trial: Trial) -> None:
    """``best_span(start[B,S], end[B,S], context[B,S], none[B]) -> [B,2]``: for each row the first and the last place of the answer,
    those with the largest start[first] + end[last] where first <= last, both are in the context (``context`` is True) and the
    answer has at most 30 pieces. (-100, -100) where ``none`` is above 0: then it says that there is no answer. The scores are
    logits and may all be negative."""
    B, S = 40, int(trial.randint(12, 16, 1))
    start, end, context = 2 * trial.randn(B, S), 2 * trial.randn(B, S), _context(trial, B, S)
    everywhere, answered = torch.ones(B, S, dtype=torch.bool), torch.full((B,), -1.0)
    got = _ask(trial, answer, start, end, everywhere, answered)
    right, best_of_each = _best(start, end, everywhere), torch.stack([start.argmax(1), end.argmax(1)], 1)
    trial.equal("finds the best pair", got, right, {
        "taking the best of each alone, which may end before it begins": best_of_each,
        "taking the best of each alone and turning the two round where need be": best_of_each.sort(1).values,
        "taking the best start first, then the best end behind it": _greedy(start, end),
        "taking the best end first, then the best start before it": (S - 1 - _greedy(end.flip(1), start.flip(1))).flip(1),
        "adding probabilities; logits (or logs of probabilities) are added": _best(start.softmax(1), end.softmax(1), everywhere),
        "allowing no answer of one piece; first may be last": _best(start, end, everywhere, shortest=1),
        "giving the length instead of the last place": torch.stack([right[:, 0], right[:, 1] - right[:, 0] + 1], 1),
        "giving one past the last place": right + torch.tensor([0, 1]),
        "exchanging start and end": _best(end, start, everywhere),
    }, weight=3)  # fmt: skip
    got = _ask(trial, answer, start, end, context, answered)
    right, inside = _best(start, end, context), torch.where(context, 0.0, -1e9)
    good = trial.equal("answers from the context alone", got, right, {
        "letting the question, special pieces and padding answer": _best(start, end, everywhere),
        "masking the starts and not the ends": _best(start + inside, end, everywhere),
        "masking the ends and not the starts": _best(start, end + inside, everywhere),
        "taking the best of each alone": torch.stack([(start + inside).argmax(1), (end + inside).argmax(1)], 1),
        "setting scores outside to 0, which is more than a negative score; -inf is meant": _best(start, end, context, outside=0.0),
        "counting from the first piece of the context": right - context.int().argmax(1, keepdim=True),
        "turning the mask upside down": _best(start, end, ~context),
    }, weight=2)  # fmt: skip
    got = _ask(trial, answer, start - 30, end - 30, context, answered)
    reason = "only differences of scores count; what is not allowed must be -inf (or left out), not 0" if good else ""
    trial.equal("finds it among negative scores too", got, right, {
        "setting scores outside to 0, which is more than a negative score": _best(start - 30, end - 30, context, outside=0.0),
        "setting forbidden pairs to 0, which is more than a negative score": _best(start - 30, end - 30, context, forbidden=0.0),
        "comparing 'no answer' with the score of the span": _compared(start - 30, end - 30, context, answered),
    }, reason=reason)  # fmt: skip
    T = 40
    start, end, everywhere = 0.1 * trial.randn(4, T), 0.1 * trial.randn(4, T), torch.ones(4, T, dtype=torch.bool)
    rows, first = torch.arange(4), trial.randint(0, 5, 4)
    start[rows, first] += 9
    for length, bonus in ((LONGEST - 1, 3), (LONGEST, 4), (LONGEST + 1, 5), (LONGEST + 2, 6)):
        end[rows, first + length - 1] += bonus
    got = _ask(trial, answer, start, end, everywhere, answered[:4])
    trial.equal("finds no answer of more than 30 pieces", got, _best(start, end, everywhere), {
        "letting an answer be of any length": _best(start, end, everywhere, longest=T),
        "allowing 31 pieces: last - first is at most 29": _best(start, end, everywhere, longest=LONGEST + 1),
        "allowing no more than 29 pieces": _best(start, end, everywhere, longest=LONGEST - 1),
    }, weight=2)  # fmt: skip
    start, end, none = trial.randn(B, S), trial.randn(B, S), torch.tensor([1.0, -1.0]).repeat(B // 2) * (0.1 + trial.randn(B).abs())
    none[0], none[2] = 0.3, 25
    found, nothing = _best(start, end, context), torch.full((B, 2), IGNORE)
    says_none = none[:, None] > 0
    trial.equal("says where there is no answer", _ask(trial, answer, start, end, context, none), found.where(~says_none, nothing), {
        "answering every question": found,
        "answering where 'no answer' is the likelier, and only there": found.where(says_none, nothing),
        "pointing at [CLS], place 0": found.where(~says_none, torch.zeros_like(found)),
        "giving -1": found.where(~says_none, torch.full_like(found, -1)),
        "comparing with 0.5, though it is a logit": found.where(none[:, None] <= 0.5, nothing),
        "comparing 'no answer' with the score of the span; it is judged alone": _compared(start, end, context, none),
    }, weight=2)  # fmt: skip


def _context(trial: Trial, B: int, S: int) -> Tensor:
    """True on the context: behind a question of some pieces, in front of [SEP] and some padding."""
    begin, end = trial.randint(2, 5, B, 1), trial.randint(S - 4, S, B, 1)
    return (torch.arange(S) >= begin) & (torch.arange(S) < end)


def _best(start: Tensor, end: Tensor, context: Tensor, shortest: int = 0, longest: int = LONGEST,
          outside: float = -math.inf, forbidden: float = -math.inf) -> Tensor:  # fmt: skip
    """The best pair in each row with last - first from ``shortest`` to longest - 1, or that with a mistake."""
    S = start.shape[1]
    allowed = torch.ones(S, S, dtype=torch.bool).triu(shortest).tril(longest - 1)
    score = start.masked_fill(~context, outside)[:, :, None] + end.masked_fill(~context, outside)[:, None]  # B S S
    best = score.masked_fill(~allowed, forbidden).flatten(1).argmax(1)
    return torch.stack([best // S, best % S], 1)


def _greedy(start: Tensor, end: Tensor) -> Tensor:
    first = start.argmax(1, keepdim=True)
    behind = end.masked_fill(torch.arange(end.shape[1]) < first, float("-inf"))
    return torch.cat([first, behind.argmax(1, keepdim=True)], 1)


def _compared(start: Tensor, end: Tensor, context: Tensor, none: Tensor) -> Tensor:
    found = _best(start, end, context)
    score = start.gather(1, found[:, :1]) + end.gather(1, found[:, 1:])
    return found.masked_fill(none[:, None] > score, IGNORE)


def _ask(trial: Trial, answer, start: Tensor, end: Tensor, context: Tensor, none: Tensor) -> Tensor:
    answered = trial.call(answer, start, end, context, none, name="takes start, end, context and none")
    try:
        got = torch.as_tensor(answered).detach().cpu()
    except (TypeError, ValueError, OverflowError, RuntimeError):
        got = None
    if got is None or got.shape != (len(start), 2):
        reason = "a first and a last place for each row are asked for; is the return missing?"
        trial.need(f"returns places of shape {(len(start), 2)}", False, reason, got=brief(answered))
    return got.long()
