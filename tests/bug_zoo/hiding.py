"""Answers to the exercises of notebook 05 on what is hidden and what stands in its place, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_ngram_masking
from albert_edu.text.masking import choose_masked
from tests.bug_zoo.zoo import right

right(check_ngram_masking)(choose_masked)


def words_of(may, begins):
    """The words of one row, as lists of places; None where special pieces part them."""
    words = []
    for place, (allowed, first) in enumerate(zip(may, begins, strict=True)):
        if not allowed:
            words.append(None)
        elif first or not words or words[-1] is None:
            words.append([place])
        else:
            words[-1].append(place)
    return words


def joined(run):
    return [place for word in run for place in word]


def by_rows(choose_row):
    """An answer from a function (rng, words, budget, draw_n, may) -> places of one row."""

    def choose(rng, maskable, starts_word, max_ngram, rate, p=None):
        weights = 1 / np.arange(1, max_ngram + 1) if p is None else np.asarray(p(max_ngram), float)
        lengths = rng.choice(np.arange(1, max_ngram + 1), size=40_000, p=weights / weights.sum()).tolist()
        hidden = np.zeros(maskable.shape, bool)
        for row, may in enumerate(maskable):
            budget = max(1, round(rate * (int(may.sum()) + 3)))
            hidden[row, choose_row(rng, words_of(may, starts_word[row]), budget, lengths.pop, may)] = True
        return hidden

    return choose


def runs_at_random(rng, words, budget, draw, may, price=lambda run: sum(map(len, run)), late=False):
    """Draw a start and a length, shorten what does not fit, refuse what overlaps, as the original does."""
    places, taken, spent = [], set(), 0
    for start in rng.permutation(len(words)).tolist():
        run, n = [], draw()
        while len(run) < n and start + len(run) < len(words) and words[start + len(run)] is not None:
            run.append(words[start + len(run)])
        while run and not late and spent + price(run) > budget:
            run.pop()
        indices = set(range(start, start + len(run)))
        if run and not taken & indices and spent < budget:
            taken |= indices
            spent += price(run)
            places += joined(run)
    return places


@right(check_ngram_masking)
def as_the_original(rng, maskable, starts_word, max_ngram, rate):
    return by_rows(runs_at_random)(rng, maskable, starts_word, max_ngram, rate)


@right(check_ngram_masking)
def runs_that_fit_or_nothing(rng, maskable, starts_word, max_ngram, rate):
    def tiles(rng, words, budget, draw, may):
        runs, start, places = [], 0, []
        while start < len(words):
            n = draw()
            run = words[start : start + n]
            run = run[: run.index(None)] if None in run else run
            runs.append(joined(run))
            start += max(1, len(run))
        for run in rng.permutation(len(runs)).tolist():
            if len(places) + len(runs[run]) <= budget:
                places += runs[run]
        return places

    return torch.from_numpy(by_rows(tiles)(rng, maskable, starts_word, max_ngram, rate))
