"""Answers to the exercises of notebook 05 on what is hidden and what stands in its place, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_ngram_masking
from albert_edu.text.masking import choose_masked
from tests.bug_zoo.zoo import right, wrong

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


@wrong(check_ngram_masking, "drawing n evenly")
def even_lengths(*arguments):
    return by_rows(runs_at_random)(*arguments, p=lambda n: [1] * n)


@wrong(check_ngram_masking, "turning p(n) round")
def lengths_turned_round(*arguments):
    return by_rows(runs_at_random)(*arguments, p=lambda n: [1 / k for k in range(n, 0, -1)])


@wrong(check_ngram_masking, "hiding max_ngram words each time")
def always_three(*arguments):
    return by_rows(runs_at_random)(*arguments, p=lambda n: [0] * (n - 1) + [1])


@wrong(check_ngram_masking, "single words only")
def always_one(*arguments):
    return by_rows(runs_at_random)(*arguments, p=lambda n: [1] + [0] * (n - 1))


@wrong(check_ngram_masking, "max_ngram is ignored")
def three_written_out(rng, maskable, starts_word, max_ngram, rate):
    return choose_masked(rng, maskable, starts_word, 3, rate)


@wrong(check_ngram_masking, "hidden is [CLS] or [SEP]")
def special_pieces_hidden(rng, maskable, starts_word, max_ngram, rate):
    no_padding = np.cumsum(maskable[:, ::-1], 1)[:, ::-1] > 0
    return choose_masked(rng, no_padding, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "padding is counted")
def padding_in_the_budget(rng, maskable, starts_word, max_ngram, rate):
    share = rate * (maskable.shape[1] / np.maximum(1, maskable.sum(1) + 3))
    rows = [choose_masked(rng, may[None], first[None], max_ngram, min(0.9, each))
            for may, first, each in zip(maskable, starts_word, share, strict=True)]  # fmt: skip
    return np.concatenate(rows)


@wrong(check_ngram_masking, "hidden is padding")
def padding_hidden(rng, maskable, starts_word, max_ngram, rate):
    return choose_masked(rng, np.ones_like(maskable), starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "without the rest of their word")
def pieces_for_words(rng, maskable, starts_word, max_ngram, rate):
    return choose_masked(rng, maskable, np.ones_like(starts_word), max_ngram, rate)


@wrong(check_ngram_masking, "without the rest of their word")
def cut_at_the_budget(rng, maskable, starts_word, max_ngram, rate):
    def choose(rng, words, budget, draw, may):
        return runs_at_random(rng, words, budget, draw, may, late=True)[:budget]

    return by_rows(choose)(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "words are counted")
def budget_of_words(rng, maskable, starts_word, max_ngram, rate):
    return by_rows(lambda *row: runs_at_random(*row, price=len))(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "looked at after hiding")
def one_run_too_many(rng, maskable, starts_word, max_ngram, rate):
    return by_rows(lambda *row: runs_at_random(*row, late=True))(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "on average only")
def a_coin_for_each_word(rng, maskable, starts_word, max_ngram, rate):
    word = np.cumsum(starts_word | ~maskable).reshape(maskable.shape)
    return (rng.random(word.max() + 1) < rate)[word] & maskable


@wrong(check_ngram_masking, "most of the budget is left")
def as_many_runs_as_if_all_were_long(rng, maskable, starts_word, max_ngram, rate):
    def choose(rng, words, budget, draw, may):
        return runs_at_random(rng, words, max(1, budget // max_ngram), draw, may, price=lambda run: 1)[:budget]

    return choose_masked(rng, maskable, starts_word, max_ngram, rate / max_ngram) if rate > 0.1 else by_rows(choose)(
        rng, maskable, starts_word, max_ngram, rate)  # fmt: skip


@wrong(check_ngram_masking, "spent at the front")
def from_left_to_right(rng, maskable, starts_word, max_ngram, rate):
    def choose(rng, words, budget, draw, may):
        places, start = [], 0
        while start < len(words):
            run = words[start : start + draw()]
            start += len(run) + int(rng.integers(1, 5))
            if None not in run and len(places) + sum(map(len, run)) <= budget:
                places += joined(run)
        return places

    return by_rows(choose)(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "a run reaches across a gap")
def gaps_forgotten_in_runs(rng, maskable, starts_word, max_ngram, rate):
    def choose(rng, words, budget, draw, may):
        return runs_at_random(rng, [word for word in words if word], budget, draw, may)

    return by_rows(choose)(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "a word reaches across a gap")
def gaps_forgotten_in_words(rng, maskable, starts_word, max_ngram, rate):
    hidden = np.zeros(maskable.shape, bool)
    for row, may in enumerate(maskable):  # what may be hidden, pushed together
        hidden[row, may] = choose_masked(rng, may[None, may], starts_word[row, may][None], max_ngram, rate)[0]
    return hidden


@wrong(check_ngram_masking, "with a seed of its own")
def a_seed_of_its_own(rng, maskable, starts_word, max_ngram, rate):
    return choose_masked(np.random.default_rng(0), maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "not from `rng`")
def chance_from_elsewhere(rng, maskable, starts_word, max_ngram, rate):
    return choose_masked(np.random.default_rng(), maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "in words_without_a_guard, line")
def words_without_a_guard(rng, maskable, starts_word, max_ngram, rate):
    pieces_a_word = int(maskable.sum()) / int((maskable & starts_word).sum())
    assert pieces_a_word >= 1
    return choose_masked(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "is the return missing?")
def hidden_and_not_returned(rng, maskable, starts_word, max_ngram, rate):
    choose_masked(rng, maskable, starts_word, max_ngram, rate)


@wrong(check_ngram_masking, "still to do")
def hiding_not_begun(rng, maskable, starts_word, max_ngram, rate):
    raise NotImplementedError("Exercise 05.3")
