"""Which tokens are masked, and what replaces them: n-gram masking (section 4.1, notebook 05)."""

import numpy as np
from jaxtyping import Bool, Float, Int

from albert_edu.batch import IGNORE
from albert_edu.config import check_whole
from albert_edu.errors import InputError
from albert_edu.text.tokenizer import MASK

MASK_RATE = 0.15
MAX_NGRAM = 3


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
    probability p(n), at most ``rate`` of a row's tokens, and one at least (section 4.1).

    ``maskable`` is False on special and unknown tokens and on padding, which end a word and
    a run; ``starts_word`` is True where a token begins a word. Each stretch of words is tiled
    with runs of random length. The runs are shuffled, and a row takes their words in that
    order until one does not fit its budget. The authors draw runs one after another and
    refuse overlaps, which favours short runs a little and needs a loop per sequence.

    Because a row stops at the first word that does not fit, it uses 96% (S = 32) to
    almost 100% (S = 512) of its budget. Long words are masked less often: at S = 64,
    words of one token 16% of the time and words of six tokens 7%. Recorded runs
    depend on these draws.
    """
    before = np.pad(maskable, ((0, 0), (1, 0)))[:, :-1]  # of the token to the left
    row, column = np.nonzero(maskable)
    new_stretch = ~before[row, column]
    new_word = starts_word[row, column] | new_stretch
    word = np.cumsum(new_word) - 1  # of each token
    word_row = row[new_word]
    word_size = np.bincount(word)  # in tokens

    run = draw_runs(rng, new_stretch[new_word], max_ngram)  # of each word
    priority = rng.random(len(word_row))[run]
    budget = masking_budget(maskable, rate)
    chosen = take_until_full(word_row, word_size, priority, budget)

    masked = np.zeros_like(maskable)
    masked[row, column] = chosen[word]
    return masked


def draw_runs(
    rng: np.random.Generator, new_stretch: Bool[np.ndarray, "words"], max_ngram: int
) -> Int[np.ndarray, "words"]:
    """Return the run of each word, by number; a new stretch begins a new run."""
    lengths = rng.choice(
        np.arange(1, max_ngram + 1), size=len(new_stretch), p=ngram_probabilities(max_ngram)
    )
    tile = np.searchsorted(np.cumsum(lengths), np.arange(len(new_stretch)), side="right")
    new_run = np.diff(tile, prepend=-1).astype(bool) | new_stretch
    return np.cumsum(new_run) - 1


def masking_budget(maskable: Bool[np.ndarray, "B S"], rate: float) -> Float[np.ndarray, "B"]:
    """Return how many tokens of each sequence may be masked: ``rate`` of it, one at least.

    The rate counts the three special tokens of a pair, as the authors' code does.
    """
    length = maskable.sum(1) + 3 * maskable.any(1)
    share = np.maximum(1, np.round(rate * length))
    return np.minimum(share, max_predictions(maskable.shape[1], rate))


def take_until_full(
    row: Int[np.ndarray, "words"],
    size: Int[np.ndarray, "words"],
    priority: Float[np.ndarray, "words"],
    budget: Float[np.ndarray, "B"],
) -> Bool[np.ndarray, "words"]:
    """Choose the words of each row in the order of their priority until one does not fit.

    A word longer than the whole budget is never chosen and uses none of the budget.
    """
    fitting = np.flatnonzero(size <= budget[row])
    order = np.lexsort((priority[fitting], row[fitting]))  # row by row, run by run
    queue = fitting[order]
    queue_row = row[queue]
    used = np.cumsum(size[queue])  # by this word and all before it, in all rows
    used_by_row = np.bincount(queue_row, weights=size[queue], minlength=len(budget))
    used_before_row = np.cumsum(used_by_row) - used_by_row
    chosen = np.zeros(len(size), dtype=bool)
    chosen[queue] = used - used_before_row[queue_row] <= budget[queue_row]
    return chosen


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
    Raises InputError for a row with more, and for a K that is longer than a row.
    """
    check_whole("max_targets", max_targets, 1, token_ids.shape[1])
    most = masked.sum(1).max(initial=0)
    if most > max_targets:
        raise InputError(f"a row has {most} masked tokens, and max_targets is {max_targets}.")
    positions = np.argsort(~masked, axis=1, kind="stable")[:, :max_targets]
    used = np.take_along_axis(masked, positions, axis=1)
    labels = np.where(used, np.take_along_axis(token_ids, positions, axis=1).astype(int), IGNORE)
    return np.where(used, positions, 0), labels
