"""n-gram masking: whole words within a budget, runs of the right lengths, and three ways to hide a token."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.text.masking import (
    IGNORE,
    MASK_RATE,
    MAX_NGRAM,
    choose_masked,
    max_predictions,
    mlm_targets,
    ngram_probabilities,
    replace_masked,
)
from albert_edu.text.tokenizer import MASK

properties = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def rows(draw):
    """maskable and starts_word, both bool[B, S], with gaps, padding and empty rows."""
    B, S = draw(st.integers(1, 5)), draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    maskable = rng.random((B, S)) < draw(st.sampled_from([0.0, 0.3, 0.9, 1.0]))
    return maskable, rng.random((B, S)) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))


def words(maskable: np.ndarray, starts_word: np.ndarray) -> list[list[int]]:
    """The positions of each word of one row, read slowly from left to right."""
    found = []
    for position, (usable, starts) in enumerate(zip(maskable, starts_word, strict=True)):
        if usable:
            if starts or position == 0 or not maskable[position - 1]:
                found.append([])
            found[-1].append(position)
    return found


def budget_of(maskable: np.ndarray, rate: float) -> int:
    """What a row of the batch may hide: the rate counts [CLS] and both [SEP], and there are K slots."""
    return int(min(max(1, round(rate * (maskable.sum() + 3))), max_predictions(len(maskable), rate)))


@properties
@given(rows=rows(), rate=st.sampled_from([0.05, 0.15, 0.5]), max_ngram=st.integers(1, 4), seed=st.integers(0, 9))
def test_whole_words_are_hidden_within_the_budget_and_close_to_it(rows, rate, max_ngram, seed):
    maskable, starts_word = rows
    masked = choose_masked(np.random.default_rng(seed), maskable, starts_word, max_ngram, rate)
    assert masked.shape == maskable.shape and not masked[~maskable].any()
    for row in range(len(maskable)):
        units, budget = words(maskable[row], starts_word[row]), budget_of(maskable[row], rate)
        hidden = [masked[row, unit].all() for unit in units]
        assert hidden == [masked[row, unit].any() for unit in units]
        count = masked[row].sum()
        assert count <= budget
        if not all(hidden):
            assert budget - count < max(map(len, units))  # only a word that is too long for the rest may be missing


@properties
@given(rows=rows(), rate=st.sampled_from([0.05, 0.15]), seed=st.integers(0, 9))
def test_at_least_one_word_is_hidden_where_one_fits_the_budget(rows, rate, seed):
    maskable, starts_word = rows
    masked = choose_masked(np.random.default_rng(seed), maskable, starts_word, rate=rate)
    for row in range(len(maskable)):
        fitting = [unit for unit in words(maskable[row], starts_word[row]) if len(unit) <= budget_of(maskable[row], rate)]
        assert masked[row].any() == bool(fitting)


def test_a_long_word_drawn_first_does_not_leave_the_row_bare():
    starts_word = np.array([[True, False, False, False, True, True]])  # a word of four tokens and two of one; the budget is 1
    masked = [choose_masked(np.random.default_rng(seed), np.ones((1, 6), dtype=bool), starts_word) for seed in range(20)]
    assert [int(each.sum()) for each in masked] == [1] * 20


def test_a_short_row_of_a_wide_batch_masks_one_token():
    maskable = np.zeros((1, 64), dtype=bool)
    maskable[0, 1:3] = True  # with [CLS] and both [SEP] five tokens, of which 15% are less than one
    assert [int(choose_masked(np.random.default_rng(seed), maskable, maskable).sum()) for seed in range(20)] == [1] * 20


def test_the_choice_is_the_generators_alone():
    maskable, starts_word = np.ones((4, 50), dtype=bool), np.random.default_rng(0).random((4, 50)) < 0.7
    first, again, other = (choose_masked(np.random.default_rng(seed), maskable, starts_word) for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()
    assert len({row.tobytes() for row in first}) == 4  # rows do not share their choice


@pytest.mark.parametrize(
    ("max_ngram", "p"), [(1, [1]), (2, [2 / 3, 1 / 3]), (3, [6 / 11, 3 / 11, 2 / 11]), (4, [12 / 25, 6 / 25, 4 / 25, 3 / 25])]
)
def test_p_of_n_is_one_over_n(max_ngram, p):
    np.testing.assert_allclose(ngram_probabilities(max_ngram), p, rtol=1e-12)


def test_the_paper_hides_15_percent_in_runs_of_up_to_three_words():
    assert (MASK_RATE, MAX_NGRAM) == (0.15, 3)
    np.testing.assert_allclose(ngram_probabilities(), [6 / 11, 3 / 11, 2 / 11], rtol=1e-12)


def test_every_word_of_a_batch_is_as_likely_as_any_other_also_the_first_two_and_the_last():
    maskable = np.ones((1, 4), dtype=bool)  # four words of one token, and one of them is hidden
    hidden = [choose_masked(np.random.default_rng(seed), maskable, maskable, max_ngram=1)[0].argmax() for seed in range(400)]
    assert (abs(np.bincount(hidden, minlength=4) - 100) < 4.5 * (400 * 0.25 * 0.75) ** 0.5).all()


def patterns(p: np.ndarray, budget: int) -> Counter:
    """Chance of each multiset of run lengths when runs are drawn until the budget is full and the last is cut to it."""
    if budget == 0:
        return Counter({(): 1.0})
    chance = Counter()
    for n, p_n in enumerate(p, start=1):
        for rest, p_rest in patterns(p, budget - min(n, budget)).items():
            chance[tuple(sorted((min(n, budget), *rest)))] += p_n * p_rest
    return chance


def runs(masked: np.ndarray) -> tuple[int, ...]:
    """The lengths of the runs of one row, sorted."""
    positions = np.flatnonzero(masked)
    return tuple(sorted(map(len, np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1))))


def test_the_patterns_by_hand():
    hand = {(3,): 2 / 11, (1, 2): 3 / 11 + 6 / 11 * 5 / 11, (1, 1, 1): 6 / 11 * 6 / 11}
    assert patterns(ngram_probabilities(3), 3) == pytest.approx(hand)


@pytest.mark.parametrize("max_ngram", [1, 3])
def test_runs_have_the_lengths_of_p(max_ngram):
    # Three tokens hidden among 600: runs that touch and look like one are rare (below 2 * 3 / (600 / 2) = 2%).
    rows, length, rate = 1200, 600, 3 / 603
    maskable = np.ones((rows, length), dtype=bool)
    masked = choose_masked(np.random.default_rng(0), maskable, maskable, max_ngram, rate)
    seen = Counter(map(runs, masked))
    for pattern, p in patterns(ngram_probabilities(max_ngram), 3).items():
        assert abs(seen[pattern] / rows - p) < 4.5 * (p * (1 - p) / rows) ** 0.5 + 0.02
    positions = np.nonzero(masked)[1]
    assert abs(positions.mean() / (length - 1) - 0.5) < 4.5 * (1 / 12 / rows) ** 0.5  # nowhere in particular


def test_a_run_masks_words_not_tokens():
    starts_word = np.tile([True, False], (1200, 300))  # every word has two tokens
    masked = choose_masked(np.random.default_rng(0), np.ones_like(starts_word), starts_word, 3, 6 / 603)
    seen = Counter(map(runs, masked))
    for pattern, p in patterns(ngram_probabilities(3), 3).items():
        twice = tuple(2 * n for n in pattern)
        assert abs(seen[twice] / 1200 - p) < 4.5 * (p * (1 - p) / 1200) ** 0.5 + 2 * 3 / 150


def test_masked_tokens_become_mask_random_or_stay_in_80_10_10():
    ids, masked = np.full((200, 500), 7), np.ones((200, 500), dtype=bool)
    masked[:, ::2] = False
    replaced = replace_masked(np.random.default_rng(0), ids, masked, vocab_size=1005)
    assert (replaced[~masked] == 7).all()
    seen, n = replaced[masked], masked.sum()
    random = seen[(seen != MASK) & (seen != 7)]
    for count, p in ((np.sum(seen == MASK), 0.8), (len(random), 0.1 * 999 / 1000), (np.sum(seen == 7), 0.1 + 0.1 / 1000)):
        assert abs(count - n * p) < 4 * (n * p * (1 - p)) ** 0.5
    assert random.min() == MASK + 1 and random.max() == 1004  # never special, up to the last token of the vocabulary
    assert abs(random.mean() - 504.5) < 4 * 1000 / 12**0.5 / len(random) ** 0.5
    assert min(len(set(row.tolist())) for row in replaced[:, 1::2]) > 5  # each token has its own dice


@properties
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([0.0, 0.2, 1.0]), spare=st.integers(0, 3))
def test_masked_slots_give_back_what_stood_there(seed, rate, spare):
    rng = np.random.default_rng(seed)
    ids, masked = rng.integers(5, 99, size=(4, 12)), rng.random((4, 12)) < rate
    positions, labels = mlm_targets(ids, masked, min(12, max(1, int(masked.sum(1).max()) + spare)))
    for row in range(4):
        used = labels[row] != IGNORE
        count = masked[row].sum()
        assert used.tolist() == [True] * count + [False] * (len(used) - count)
        assert positions[row][used].tolist() == np.flatnonzero(masked[row]).tolist() and (positions[row][~used] == 0).all()
        assert labels[row][used].tolist() == ids[row][masked[row]].tolist()


@properties
@given(rows=rows(), rate=st.sampled_from([0.05, 0.15, 0.5]), seed=st.integers(0, 9))
def test_the_slots_of_a_sequence_always_suffice(rows, rate, seed):
    masked = choose_masked(np.random.default_rng(seed), *rows, rate=rate)
    assert masked.sum(1).max() <= max_predictions(masked.shape[1], rate)


def test_mask_slots_are_the_rounded_share_and_at_least_one():
    assert [max_predictions(length) for length in (1, 8, 64, 128, 512)] == [1, 1, 10, 19, 77]
