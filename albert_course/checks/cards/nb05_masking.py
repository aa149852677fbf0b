"""Card of notebook 05: which words are masked.

Its known mistakes are edits in mistakes/05.txt.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from albert_course.checks.engine.asking import by_seed, need
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def _words(maskable: np.ndarray, starts_word: np.ndarray) -> list[list[int]]:
    """The positions of each word of a row; an empty list is a gap, which no run crosses."""
    gap = ~maskable
    edges = np.flatnonzero(starts_word | gap | np.roll(gap, 1))  # what follows a gap is a word
    allowed = maskable.tolist()
    bounds = pairwise((0, *edges.tolist(), len(allowed)))
    words = []
    for start, end in bounds:  # a whole word lies between two edges, or one place of a gap
        is_word = any(allowed[start:end])
        words.append(list(range(start, end)) if is_word else [])
    return words


def ngram_masking(rng, maskable, starts_word, max_ngram, rate) -> np.ndarray:
    """``choose(rng, maskable[B,S], starts_word[B,S], max_ngram, rate) -> bool[B,S]``: the tokens to
    mask. ``rng`` is a NumPy Generator, the source of all chance. ``maskable`` is False on special
    tokens and padding, which end a word and a run; ``starts_word`` is True on a word's first token.
    Mask whole words, in runs of n words, n drawn with p(n) proportional to 1/n, n <= max_ngram,
    from anywhere in the row. A row with m maskable tokens has a budget of round(rate·(m + 3))
    tokens, at least 1; never mask more, and go on until at least three quarters are spent where the
    words allow it. A run that does not fit may be shortened or left out."""
    masked = np.zeros(maskable.shape, bool)
    chances = 1 / np.arange(1, max_ngram + 1)
    for row, allowed in enumerate(maskable):
        budget = max(1, round(rate * (allowed.sum() + 3)))
        words = _words(allowed, starts_word[row])
        lengths = rng.choice(max_ngram, len(words), p=chances / chances.sum()) + 1
        order = rng.permutation(len(words))
        for start in order:
            left = budget - masked[row].sum()
            run: list[int] = []
            for word in words[start : start + lengths[start]]:
                if not word or masked[row, word].any() or len(run) + len(word) > left:
                    break
                run += word
            masked[row, run] = True
            if left <= 0:
                break
    return masked


class _Rows(NamedTuple):
    """[CLS] A [SEP] B [SEP] and padding, in arrays [B,S]."""

    maskable: np.ndarray
    starts: np.ndarray  # True on a word's first token
    pads: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """True where something begins that is not the word before."""
        return self.starts | ~self.maskable

    @property
    def budget(self) -> np.ndarray:
        """How many tokens of each row may be masked at a rate of 0.15."""
        return np.maximum(1, np.round(0.15 * (self.maskable.sum(1) + 3)))


def _rows(draw: Draw, S: int, lengths: list[int], long_words: float) -> _Rows:
    """Rows of S places with so many tokens, of which a share goes on with a word."""
    rows = []
    places = np.arange(S)
    for tokens in lengths:
        pads = places > tokens + 2
        maskable = ~pads & ~np.isin(places, [0, tokens // 2 + 1, tokens + 2])
        starts = np.roll(~maskable, 1) | (draw.numpy.random(S) > long_words)
        rows.append((maskable, (maskable & starts) | pads, pads))  # padding starts a word, too
    maskable, starts, pads = map(np.stack, zip(*rows, strict=True))
    return _Rows(maskable, starts, pads)


def _choose(answer: Callable, maskable, starts, n=3, rate=0.15, seed=5) -> np.ndarray:
    """What an answer masks, as booleans."""
    rng = np.random.default_rng(seed)
    masked = np.asarray(answer(rng, maskable.copy(), starts.copy(), n, rate))
    need(masked.shape == maskable.shape, f"the shape is {masked.shape}, not {maskable.shape}")
    need(bool(np.isin(masked, (0, 1)).all()), "return a boolean for each token")
    return masked.astype(bool)


def _masked(answer: Callable, rows: _Rows) -> np.ndarray:
    """What three seeds mask, [3,B,S]."""
    chosen = [_choose(answer, rows.maskable, rows.starts, seed=seed) for seed in range(3)]
    return np.stack(chosen)


def _special(answer: Callable, rows: _Rows) -> list[str]:
    """Which of the places are masked that must not be."""
    chosen = _masked(answer, rows)
    places = {"padding": rows.pads, "[CLS] or [SEP]": ~rows.maskable & ~rows.pads}
    return [name for name, place in places.items() if chosen[:, place].any()]


def _whole(answer: Callable, rows: _Rows) -> bool:
    """Whether no word is masked in part."""
    word = np.cumsum(rows.edges).reshape(rows.starts.shape)
    for chosen in _masked(answer, rows):
        hidden = word[rows.maskable & chosen]
        left = word[rows.maskable & ~chosen]
        if np.isin(hidden, left).any():
            return False
    return True


def _keeps(answer: Callable, rows: _Rows) -> bool | dict[str, bool]:
    """True, or what is so where a budget is exceeded."""
    chosen = _masked(answer, rows)
    budget = rows.budget
    spent = chosen.sum(2)
    within = spent <= budget
    if within.all():
        return True
    words = (chosen & rows.edges).sum(2)
    few_words = (words <= budget).all()
    in_short_rows = spent[:, (budget > 1) & (budget < 10)]
    all_spent = (spent >= budget).all()
    larger_kept = within[:, budget > 1].all()
    return {
        "no more words than tokens are allowed": bool(few_words),
        "short rows mask little": bool(in_short_rows.mean() < 0.12 * 96),
        "no row stops below its budget": bool(all_spent),
        "budgets of two and more are kept": bool(larger_kept),
    }


def _spends(answer: Callable, rows: _Rows) -> bool:
    """Whether three quarters of the larger budgets are spent."""
    share = _masked(answer, rows).sum(2) / rows.budget
    return bool(share[:, rows.budget > 3].mean() > 0.75)


def _everywhere(answer: Callable, rows: _Rows) -> dict[str, bool]:
    """Whether the front of a row, and its end, are masked as often as the other."""
    longest = rows.budget == rows.budget.max()
    share = _masked(answer, rows)[:, longest].mean((0, 1))
    front = share[1:31].mean()
    back = share[62:92].mean()
    balanced = abs(front - back) < 1.2 * (front + back) / 2  # chance gives up to 0.8
    return {"front": bool(balanced or front < back), "end": bool(balanced or back < front)}


def _spent(answer: Callable, maskable, starts) -> list[list[int]]:
    """How many tokens of each row are masked, at three rates."""
    rates = (0.15, 0.27, 0.04)
    return [_choose(answer, maskable, starts, 1, rate).sum(1).tolist() for rate in rates]


def _lengths(answer: Callable, maskable, starts, n: int) -> np.ndarray:
    """Shares of the runs of 1, 2, 3 and more words; at a low rate hardly any two runs touch."""
    chosen = _choose(answer, maskable, starts, n, 0.04)
    first = chosen & ~np.pad(chosen, ((0, 0), (1, 0)))[:, :-1]
    words = np.bincount((np.cumsum(first) - 1)[(chosen & (starts | first)).ravel()])
    shares = np.bincount(np.minimum(words, 4), minlength=5)[1:]
    return shares / max(1, len(words))


def _gaps(answer: Callable, maskable, starts) -> dict[str, bool]:
    """Whether words are masked, and hardly any run crosses a gap."""
    chosen = _choose(answer, maskable, starts, 2, 0.04)  # 5% are neighbours by chance
    crossed = (chosen[:, :-2] & chosen[:, 2:]).any(1).mean()
    return {"words": bool(chosen.any()), "runs": bool(crossed < 0.17)}


def _ngram_masking_cases(draw: Draw) -> Cases:
    rows = _rows(draw, S=96, lengths=[90, 90, 60, 40, 20, 4] * 2, long_words=0.35)
    long = _rows(draw, S=4000, lengths=[3990] * 12, long_words=0.1)
    single = np.arange(100) < np.array([[90], [61], [37], [24], [9], [2]])
    lone = np.zeros((300, 80), bool)
    lone[:, ::2] = True  # tokens between gaps, of which only the first starts a word
    nothing = np.zeros((2, 6), bool)

    yield Case("never masks a special token or padding", (rows,), weight=2.0, ask=_special)
    yield Case("masks whole words", inputs=(rows,), weight=3.0, ask=_whole)
    yield Case("never exceeds the budget", inputs=(rows,), weight=2.0, ask=_keeps)
    yield Case("spends the budget", inputs=(rows,), ask=_spends)
    yield Case("masks words in all parts of a row", inputs=(rows,), ask=_everywhere)
    yield Case(
        "spends it to the last token where every word is one token",
        inputs=(single, single),
        weight=2.0,
        ask=_spent,
    )
    yield Case(
        "draws n with p(n) = (1/n) / (1/1 + 1/2 + 1/3)",
        inputs=(long.maskable, long.starts, 3),
        weight=3.0,
        ask=_lengths,
        atol=0.1,
    )
    yield Case(
        "masks single words when max_ngram is 1",
        inputs=(long.maskable, long.starts, 1),
        ask=_lengths,
        atol=0.12,
    )
    yield Case(
        "ends a word and a run at a gap",
        inputs=(lone, np.arange(80) < lone[:, :1]),
        ask=_gaps,
    )
    yield Case(
        "takes its chance from `rng`",
        inputs=(rows.maskable, rows.starts),
        ask=by_seed(_choose),
    )
    yield Case("masks nothing where there is no word", (nothing, ~nothing), ask=_choose)


check_ngram_masking = make_check("assignment 05.7", ngram_masking, _ngram_masking_cases)
