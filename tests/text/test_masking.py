"""n-gram masking: whole words within a budget, runs of the right lengths, 80-10-10."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from albert_edu.batch import IGNORE
from albert_edu.errors import InputError
from albert_edu.text.masking import (
    MASK_RATE,
    MAX_NGRAM,
    choose_masked,
    max_predictions,
    mlm_targets,
    ngram_probabilities,
    replace_masked,
)
from albert_edu.text.tokenizer import MASK


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
    """What a row may hide: the rate counts [CLS] and both [SEP], and there are K masked positions at most."""
    K = max_predictions(len(maskable), rate)
    return int(min(max(1, round(rate * (maskable.sum() + 3))), K))


@given(rows(), st.sampled_from([0.05, 0.15, 0.5]), st.integers(1, 4), st.integers(0, 9))
@example((np.ones((1, 20), dtype=bool),) * 2, 0.5, 1, 0)  # half of 20 and 3 is more than K
@example((np.arange(64)[None] // 2 == 1,) * 2, 0.15, 1, 0)  # 15% of 2 and 3 is one token
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
        if not all(hidden):  # only a word that is too long for the rest may be missing
            assert budget - count < max(map(len, units))


@given(rows=rows(), rate=st.sampled_from([0.05, 0.15]), seed=st.integers(0, 9))
def test_at_least_one_word_is_hidden_where_one_fits_the_budget(rows, rate, seed):
    maskable, starts_word = rows
    masked = choose_masked(np.random.default_rng(seed), maskable, starts_word, rate=rate)
    for row in range(len(maskable)):
        shortest = min(map(len, words(maskable[row], starts_word[row])), default=99)
        assert masked[row].any() == (shortest <= budget_of(maskable[row], rate))


def test_the_choice_is_the_generators_alone():
    starts_word = np.random.default_rng(0).random((4, 50)) < 0.7
    first, again, other = (
        choose_masked(np.random.default_rng(seed), np.ones_like(starts_word), starts_word)
        for seed in (1, 1, 2)
    )
    assert (first == again).all() and (first != other).any()
    assert len({row.tobytes() for row in first}) == 4  # rows do not share their choice


def test_the_paper_hides_15_percent_in_runs_of_up_to_three_words():
    assert (MASK_RATE, MAX_NGRAM) == (0.15, 3)
    np.testing.assert_allclose(ngram_probabilities(), [6 / 11, 3 / 11, 2 / 11], rtol=1e-12)


def test_every_word_of_a_batch_is_as_likely_as_any_other_also_the_first_two_and_the_last():
    maskable = np.ones((1, 4), dtype=bool)  # four words of one token, and one of them is hidden
    generators = map(np.random.default_rng, range(400))
    hidden = [choose_masked(rng, maskable, maskable, max_ngram=1)[0].argmax() for rng in generators]
    assert (abs(np.bincount(hidden, minlength=4) - 100) < 4.5 * (400 * 0.25 * 0.75) ** 0.5).all()


def patterns(p: np.ndarray, budget: int) -> Counter:
    """Chance of each multiset of lengths of runs drawn until the budget is full, the last cut."""
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


@pytest.mark.parametrize(("max_ngram", "tokens"), [(1, 1), (3, 1), (3, 2)])
def test_runs_have_the_lengths_of_p_in_words_of_any_number_of_tokens(max_ngram, tokens):
    # Three words hidden in 600 tokens: runs that touch and look like one are rare, below
    # 2 * 3 / (600 / 2) = 2% for words of one token.
    starts_word = np.tile(np.arange(600) % tokens == 0, (1200, 1))
    maskable, rate = np.ones_like(starts_word), 3 * tokens / 603
    masked = choose_masked(np.random.default_rng(0), maskable, starts_word, max_ngram, rate)
    seen = Counter(map(runs, masked))
    for pattern, p in patterns(ngram_probabilities(max_ngram), 3).items():
        share = seen[tuple(tokens * n for n in pattern)] / 1200
        assert abs(share - p) < 4.5 * (p * (1 - p) / 1200) ** 0.5 + 0.02 * tokens
    positions = np.nonzero(masked)[1]  # nowhere in particular
    assert abs(positions.mean() / 599 - 0.5) < 4.5 * (1 / 12 / 1200) ** 0.5


def test_masked_tokens_become_mask_random_or_stay_in_80_10_10():
    ids, masked = np.full((200, 500), 7), np.ones((200, 500), dtype=bool)
    masked[:, ::2] = False
    replaced = replace_masked(np.random.default_rng(0), ids, masked, vocab_size=1005)
    assert (replaced[~masked] == 7).all()
    seen, n = replaced[masked], masked.sum()
    random, unchanged = seen[(seen != MASK) & (seen != 7)], seen[seen == 7]
    shares = 0.1 * 999 / 1000, 0.1 + 0.1 / 1000, 0.8
    for part, p in zip((random, unchanged, seen[seen == MASK]), shares, strict=True):
        assert abs(len(part) - n * p) < 4 * (n * p * (1 - p)) ** 0.5
    assert random.min() == MASK + 1 and random.max() == 1004  # never special, up to the last token
    assert abs(random.mean() - 504.5) < 4 * 1000 / 12**0.5 / len(random) ** 0.5
    assert min(len(set(row)) for row in replaced[:, 1::2]) > 5  # each token has its own dice


def test_masked_positions_are_the_rounded_share_and_at_least_one():
    assert [max_predictions(length) for length in (1, 8, 64, 128, 512)] == [1, 1, 10, 19, 77]


def test_targets_keep_every_masked_token_or_are_refused():
    ids = np.array([[5, 6, 7], [8, 9, 10]], np.int8)
    masked = np.array([[True, False, True], [False, False, False]])
    positions, labels = mlm_targets(ids, masked, 2)
    assert positions.tolist() == [[0, 2], [0, 0]]
    assert labels.tolist() == [[5, 7], [IGNORE, IGNORE]]
    with pytest.raises(InputError, match="a row has 2 masked tokens, and max_targets is 1"):
        mlm_targets(ids, masked, 1)
    with pytest.raises(InputError, match="max_targets must be a whole number from 1 to 3, got 4"):
        mlm_targets(ids, masked, 4)
