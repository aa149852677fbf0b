"""Which pieces are hidden, and behind what: n-gram masking (section 4.1). Built in notebook 05."""

import numpy as np
from jaxtyping import Bool, Int

from albert_edu.text.tokenizer import MASK

MASK_RATE = 0.15
MAX_NGRAM = 3
IGNORE = -100  # label of a slot that is not used, and of a pair that has no order


def ngram_probabilities(max_ngram: int = MAX_NGRAM) -> np.ndarray:
    """p(n) = (1/n) / sum_k 1/k for n = 1..N.

    >>> ngram_probabilities().round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    weights = 1 / np.arange(1, max_ngram + 1)
    return weights / weights.sum()


def max_predictions(sequence_length: int, rate: float = MASK_RATE) -> int:
    """K, the number of masked slots a sequence of that length can need."""
    return max(1, round(rate * sequence_length))


def choose_masked(
    rng: np.random.Generator, maskable: Bool[np.ndarray, "B S"], starts_word: Bool[np.ndarray, "B S"],
    max_ngram: int = MAX_NGRAM, rate: float = MASK_RATE,
) -> Bool[np.ndarray, "B S"]:  # fmt: skip
    """Choose the pieces to hide: whole words, in runs of n <= max_ngram with probability p(n), at most 15% of the sequence.

    ``maskable`` is False on special pieces and padding, which end a word and a run. Each stretch of words is tiled with
    runs of random length, and runs are taken in random order until the budget is full; a run that does not fit whole
    gives as many of its words as fit. The original draws runs one after another and refuses overlaps: nearly the same
    distribution of n (long runs are refused a little more often), but a loop per sequence.
    """
    B, S = maskable.shape
    after_gap = maskable & ~np.pad(maskable, ((0, 0), (1, 0)))[:, :-1]
    row, column = np.nonzero(maskable)
    new_word = starts_word[row, column] | after_gap[row, column]
    new_stretch = after_gap[row, column][new_word]
    word = np.cumsum(new_word) - 1  # per piece
    size = np.bincount(word)  # pieces per word
    word_row = row[new_word]

    run_lengths = rng.choice(np.arange(1, max_ngram + 1), size=len(size), p=ngram_probabilities(max_ngram))
    tiled = np.searchsorted(np.cumsum(run_lengths), np.arange(len(size)), side="right")
    run = np.cumsum(np.diff(tiled, prepend=-1).astype(bool) | new_stretch) - 1  # per word

    lengths = maskable.sum(1) + (maskable.any(1) * 3)  # the rate counts the special pieces, as the original does
    budget = np.minimum(np.maximum(1, np.round(rate * lengths)), max_predictions(S, rate))[word_row]  # per word
    size = np.where(size <= budget, size, 0)  # a word longer than the whole budget is never hidden and takes nothing of it

    order = np.lexsort((np.arange(len(size)), rng.random(len(size))[run], word_row))
    hidden_so_far = np.cumsum(size[order])
    row_start = np.searchsorted(word_row[order], np.arange(B))
    before_row = np.concatenate([[0], hidden_so_far])[row_start][word_row[order]]
    chosen = np.zeros(len(size), dtype=bool)
    chosen[order] = (hidden_so_far - before_row <= budget[order]) & (size[order] > 0)

    masked = np.zeros((B, S), dtype=bool)
    masked[row, column] = chosen[word]
    return masked


def replace_masked(
    rng: np.random.Generator, token_ids: Int[np.ndarray, "B S"], masked: Bool[np.ndarray, "B S"], vocab_size: int
) -> Int[np.ndarray, "B S"]:
    """Replace each masked piece, independently: 80% [MASK], 10% a random ordinary piece, 10% left as it is.

    Random pieces are never special ones; the original draws from the whole vocabulary, special pieces included.
    """
    dice = rng.random(token_ids.shape)
    random_ids = rng.integers(MASK + 1, vocab_size, size=token_ids.shape)
    replaced = np.where(dice < 0.8, MASK, np.where(dice < 0.9, random_ids, token_ids))
    return np.where(masked, replaced, token_ids)


def mlm_targets(token_ids: Int[np.ndarray, "B S"], masked: Bool[np.ndarray, "B S"], slots: int):
    """Positions[B,K] of the masked pieces, in order, and the pieces that stood there; unused slots are 0 and IGNORE."""
    positions = np.argsort(~masked, axis=1, kind="stable")[:, :slots]
    used = np.take_along_axis(masked, positions, axis=1)
    labels = np.where(used, np.take_along_axis(token_ids, positions, axis=1), IGNORE)
    return np.where(used, positions, 0), labels
