"""Card of notebook 05: which words are masked."""

from collections.abc import Callable

import numpy as np

from albert_course.checks.engine.asking import by_seed, need
from albert_course.checks.engine.card import Case, Cases, Draw, card


def _words(maskable: np.ndarray, starts_word: np.ndarray) -> list[list[int]]:
    """The positions of each word of a row; an empty list is a gap, which no run crosses."""
    places, gap = np.arange(len(maskable)), ~maskable
    edges = np.flatnonzero(starts_word | gap | np.roll(gap, 1))  # what follows a gap is a word
    return [part[maskable[part]].tolist() for part in np.split(places, edges)]


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
            run = []
            for word in words[start : start + lengths[start]]:
                if not word or masked[row, word].any() or len(run) + len(word) > left:
                    break
                run += word
            masked[row, run] = True
            if left <= 0:
                break
    return masked


def _row(draw: Draw, S: int, tokens: int, long_words: float = 0.35) -> tuple[np.ndarray, ...]:
    """[CLS] A [SEP] B [SEP] and padding: what is maskable, starts a word, is padding."""
    places = np.arange(S)
    pads = places > tokens + 2
    maskable = ~pads & ~np.isin(places, [0, tokens // 2 + 1, tokens + 2])
    starts = np.roll(~maskable, 1) | (draw.numpy.random(S) > long_words)
    return maskable, (maskable & starts) | pads, pads  # "<pad>" starts one in the library, too


def _choose(answer: Callable, maskable, starts, n=3, rate=0.15, seed=5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    masked = np.asarray(answer(rng, maskable.copy(), starts.copy(), n, rate))
    need(masked.shape == maskable.shape, f"the shape is {masked.shape}, not {maskable.shape}")
    need(bool(np.isin(masked, (0, 1)).all()), "return a boolean for each token")
    return masked.astype(bool)


def _ngram_masking_cases(draw: Draw) -> Cases:
    rows = [_row(draw, 96, words) for words in (90, 90, 60, 40, 20, 4) * 2]
    maskable, starts, pads = (np.stack(part) for part in zip(*rows, strict=True))
    budget = np.maximum(1, np.round(0.15 * (maskable.sum(1) + 3)))

    def masked(answer):
        return np.stack([_choose(answer, maskable, starts, seed=seed) for seed in range(3)])

    def special(answer):
        chosen = masked(answer)
        places = {"padding": pads, "[CLS] or [SEP]": ~maskable & ~pads}
        return [name for name, place in places.items() if chosen[:, place].any()]

    def whole(answer):
        word = np.cumsum(starts | ~maskable).reshape(starts.shape)
        halves = ((word[maskable & one], word[maskable & ~one]) for one in masked(answer))
        return not any(np.isin(hidden, left).any() for hidden, left in halves)

    def keeps(answer):
        """True, or what is so where a budget is exceeded."""
        chosen = masked(answer)
        spent, words = chosen.sum(2), (chosen & (starts | ~maskable)).sum(2)
        short = spent[:, (budget > 1) & (budget < 10)]
        return bool((spent <= budget).all()) or {
            "no more words than tokens are allowed": bool((words <= budget).all()),
            "short rows mask little": bool(short.mean() < 0.12 * 96),
            "no row stops below its budget": bool((spent >= budget).all()),
            "budgets of two and more are kept": bool((spent <= budget)[:, budget > 1].all()),
        }

    def spends(answer):
        return bool((masked(answer).sum(2) / budget)[:, budget > 3].mean() > 0.75)

    def everywhere(answer):
        share = masked(answer)[:, budget == budget.max()].mean((0, 1))
        front, back = share[1:31].mean(), share[62:92].mean()
        balanced = abs(front - back) < 1.2 * (front + back) / 2  # chance gives up to 0.8
        return {"front": bool(balanced or front < back), "end": bool(balanced or back < front)}

    def spent(answer, *parts):
        return [_choose(answer, *parts, 1, rate).sum(1).tolist() for rate in (0.15, 0.27, 0.04)]

    yield Case("never masks a special token or padding", (), 2.0, special)
    yield Case("masks whole words", (), 3.0, whole)
    yield Case("never exceeds the budget", (), 2.0, keeps)
    yield Case("spends the budget", (), 1.0, spends)
    yield Case("masks words in all parts of a row", (), 1.0, everywhere)
    short = np.arange(100) < np.array([[90], [61], [37], [24], [9], [2]])
    alone = short, short
    yield Case("spends it to the last token where every word is one token", alone, 2.0, spent)

    *long, _ = map(np.stack, zip(*[_row(draw, 4000, 3990, 0.1) for _ in range(12)], strict=True))

    def lengths(answer, maskable, starts, n):
        """Shares of the runs of 1, 2, 3 and more words; at a low rate hardly any two runs touch."""
        chosen = _choose(answer, maskable, starts, n, 0.04)
        first = chosen & ~np.pad(chosen, ((0, 0), (1, 0)))[:, :-1]
        words = np.bincount((np.cumsum(first) - 1)[(chosen & (starts | first)).ravel()])
        shares = np.bincount(np.minimum(words, 4), minlength=5)[1:]
        return shares / max(1, len(words))

    yield Case("draws n with p(n) = (1/n) / (1/1 + 1/2 + 1/3)", (*long, 3), 3.0, lengths, 0.1)
    yield Case("masks single words when max_ngram is 1", (*long, 1), 1.0, lengths, 0.12)
    lone = np.zeros((300, 80), bool)
    lone[:, ::2] = True  # tokens between gaps, of which only the first starts a word

    def gaps(answer, maskable, starts):
        chosen = _choose(answer, maskable, starts, 2, 0.04)  # 5% are neighbours by chance
        crossed = (chosen[:, :-2] & chosen[:, 2:]).any(1).mean()
        return {"words": bool(chosen.any()), "runs": bool(crossed < 0.17)}

    yield Case("ends a word and a run at a gap", (lone, np.arange(80) < lone[:, :1]), 1.0, gaps)
    yield Case("takes its chance from `rng`", (maskable, starts), 1.0, by_seed(_choose))
    nothing = np.zeros((2, 6), bool)
    yield Case("masks nothing where there is no word", (nothing, ~nothing), 1.0, _choose)


check_ngram_masking = card("assignment 05.7", ngram_masking, _ngram_masking_cases)
