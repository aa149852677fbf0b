"""Which tokens are masked, and what replaces them: n-gram masking (section 4.1, notebook 05)."""

import numpy as np
from jaxtyping import Bool, Int

from albert_edu.text.tokenizer import MASK

MASK_RATE = 0.15
MAX_NGRAM = 3
IGNORE = -100  # label of an unused prediction target, and of a pair that has no order


def ngram_probabilities(max_ngram: int = MAX_NGRAM) -> np.ndarray:
    """p(n) = (1/n) / sum_k 1/k for n = 1..N.

    >>> ngram_probabilities().round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    weights = 1 / np.arange(1, max_ngram + 1)
    return weights / weights.sum()


def max_predictions(sequence_length: int, rate: float = MASK_RATE) -> int:
    """Return K, the largest number of masked positions that a sequence of that length can have."""
    return max(1, round(rate * sequence_length))


def choose_masked(
    rng: np.random.Generator,
    maskable: Bool[np.ndarray, "B S"],
    starts_word: Bool[np.ndarray, "B S"],
    max_ngram: int = MAX_NGRAM,
    rate: float = MASK_RATE,
) -> Bool[np.ndarray, "B S"]:
    """Choose the masked positions: whole words, in runs of n <= max_ngram words with
    probability p(n), at most ``rate`` of each sequence (section 4.1).

    ``maskable`` is False on special tokens and padding, which end a word and a run. Each
    stretch of words is tiled with runs of random length. The runs are shuffled, and a
    row takes their words in that order until one does not fit its budget. The authors
    draw runs one after another and refuse overlaps, which favours short runs a little
    and needs a loop per sequence.

    Because a row stops at the first word that does not fit, it uses 96% (S = 32) to
    almost 100% (S = 512) of its budget. Long words are masked less often: at S = 64,
    words of one token 16% of the time and words of six tokens 7%. Recorded runs
    depend on these draws.
    """
    B, S = maskable.shape
    after_gap = maskable & ~np.pad(maskable, ((0, 0), (1, 0)))[:, :-1]
    row, column = np.nonzero(maskable)
    new_word = starts_word[row, column] | after_gap[row, column]
    new_stretch = after_gap[row, column][new_word]
    word = np.cumsum(new_word) - 1  # the word of each token
    size = np.bincount(word)  # tokens per word
    word_row = row[new_word]

    lengths, probabilities = np.arange(1, max_ngram + 1), ngram_probabilities(max_ngram)
    run_lengths = rng.choice(lengths, size=len(size), p=probabilities)
    tiled = np.searchsorted(np.cumsum(run_lengths), np.arange(len(size)), side="right")
    new_run = np.diff(tiled, prepend=-1).astype(bool) | new_stretch
    run = np.cumsum(new_run) - 1  # the run of each word

    # The rate counts the three special tokens of a pair, as the authors' code does.
    row_lengths = maskable.sum(1) + (maskable.any(1) * 3)
    row_budget = np.maximum(1, np.round(rate * row_lengths))
    budget = np.minimum(row_budget, max_predictions(S, rate))[word_row]  # per word
    # A word longer than the whole budget is never masked and uses none of the budget.
    size = np.where(size <= budget, size, 0)

    order = np.lexsort((np.arange(len(size)), rng.random(len(size))[run], word_row))
    used = np.cumsum(size[order])
    row_start = np.searchsorted(word_row[order], np.arange(B))
    used_before_row = np.concatenate([[0], used])[row_start][word_row[order]]
    chosen = np.zeros(len(size), dtype=bool)
    chosen[order] = (used - used_before_row <= budget[order]) & (size[order] > 0)

    masked = np.zeros((B, S), dtype=bool)
    masked[row, column] = chosen[word]
    return masked


def replace_masked(
    rng: np.random.Generator,
    token_ids: Int[np.ndarray, "B S"],
    masked: Bool[np.ndarray, "B S"],
    vocab_size: int,
) -> Int[np.ndarray, "B S"]:
    """Replace each masked token, independently: 80% by [MASK], 10% by a random ordinary
    token, and 10% stay as they are.

    Random tokens are never special ones. The authors draw from the whole vocabulary.
    """
    dice = rng.random(token_ids.shape)
    random_ids = rng.integers(MASK + 1, vocab_size, size=token_ids.shape)
    replaced = np.where(dice < 0.8, MASK, np.where(dice < 0.9, random_ids, token_ids))
    return np.where(masked, replaced, token_ids)


def mlm_targets(
    token_ids: Int[np.ndarray, "B S"], masked: Bool[np.ndarray, "B S"], max_targets: int
) -> tuple[Int[np.ndarray, "B K"], Int[np.ndarray, "B K"]]:
    """Return the masked positions, in order, and the original tokens there, each [B,K].

    K is ``max_targets``. Where a row has fewer masked tokens, positions are 0 and labels IGNORE.
    """
    positions = np.argsort(~masked, axis=1, kind="stable")[:, :max_targets]
    used = np.take_along_axis(masked, positions, axis=1)
    labels = np.where(used, np.take_along_axis(token_ids, positions, axis=1), IGNORE)
    return np.where(used, positions, 0), labels
