"""Answers to the exercise of notebook 05 on what stands in the gap and what is asked about it, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_replace_masked
from albert_edu.text.masking import replace_masked
from tests.bug_zoo.zoo import right, wrong


@right(check_replace_masked)
def with_where(rng, token_ids, masked, vocab_size):
    return replace_masked(rng, token_ids, masked, vocab_size), np.where(masked, token_ids, -100)


@right(check_replace_masked)
def piece_by_piece(rng, token_ids, masked, vocab_size):
    seen, labels = token_ids.tolist(), [[-100] * len(row) for row in token_ids]
    for b, s in zip(*masked.nonzero(), strict=True):
        labels[b][s] = seen[b][s]
        if rng.random() < 0.8:
            seen[b][s] = 4
        elif rng.random() < 0.5:  # half of the rest
            seen[b][s] = int(rng.integers(5, vocab_size))
    return seen, labels


@right(check_replace_masked)
def in_place_in_torch(rng, token_ids, masked, vocab_size):
    ids, hidden = torch.from_numpy(token_ids), torch.from_numpy(masked)
    labels = ids.masked_fill(~hidden, -100)
    dice = torch.from_numpy(rng.permutation(int(hidden.sum()))) / max(1, int(hidden.sum()))
    new = ids[hidden]
    new[dice < 0.8] = 4
    other = (dice >= 0.8) & (dice < 0.9)
    new[other] = torch.from_numpy(rng.integers(5, vocab_size, int(other.sum())))
    ids[hidden] = new
    return ids, labels


def replaced(rng, ids, masked, V, blank=0.8, other=0.1, dice=None, low=5, high=None, draw=None):
    """What most wrong answers below have in common."""
    dice = rng.random(ids.shape) if dice is None else np.broadcast_to(dice, ids.shape)
    random_ids = rng.integers(low, high or V, ids.shape) if draw is None else draw
    seen = np.where(dice < blank, 4, np.where(dice < blank + other, random_ids, ids))
    return np.where(masked, seen, ids), np.where(masked, ids, -100)


@wrong(check_replace_masked, "[MASK] everywhere")
def all_mask(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, blank=1)


@wrong(check_replace_masked, "never leaving a piece as it is")
def none_left(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, other=0.2)


@wrong(check_replace_masked, "never putting a random piece")
def none_random(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, other=0)


@wrong(check_replace_masked, "second die is thrown for what the first one left")
def tenth_of_the_rest(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, other=0.02)


@wrong(check_replace_masked, "hiding 15% a second time")
def fifteen_percent_twice(rng, token_ids, masked, vocab_size):
    seen, _ = replaced(rng, token_ids, masked & (rng.random(masked.shape) < 0.15), vocab_size)
    return seen, np.where(masked, token_ids, -100)


@wrong(check_replace_masked, "as in SpanBERT")
def one_die_for_each_run(rng, token_ids, masked, vocab_size):
    first = masked & ~np.pad(masked, ((0, 0), (1, 0)))[:, :-1]
    run = np.cumsum(first).reshape(masked.shape)
    return replaced(rng, token_ids, masked, vocab_size, dice=rng.random(run.max() + 1)[run])


@wrong(check_replace_masked, "for each sequence")
def one_die_for_each_sequence(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, dice=rng.random((len(token_ids), 1)))


@wrong(check_replace_masked, "for each column")
def one_die_for_each_column(rng, token_ids, masked, vocab_size):
    dice = rng.permutation(np.linspace(0, 0.999, masked.shape[1]))
    dice[[1, 7, 13]] = 0.1, 0.85, 0.95  # whatever the seed, all three happen
    return replaced(rng, token_ids, masked, vocab_size, dice=dice)


@wrong(check_replace_masked, "one die thrown for all of them")  # which of the three it shows is chance
def one_die_for_the_batch(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, dice=rng.random())


@wrong(check_replace_masked, "labels after replacing")
def labels_too_late(rng, token_ids, masked, vocab_size):
    seen, _ = replaced(rng, token_ids, masked, vocab_size)
    return seen, np.where(masked, seen, -100)


@wrong(check_replace_masked, "labels after replacing")
def labels_of_an_overwritten_array(rng, token_ids, masked, vocab_size):
    original = token_ids  # no copy
    token_ids[:] = replaced(rng, token_ids, masked, vocab_size)[0]
    return token_ids, np.where(masked, original, -100)


@wrong(check_replace_masked, "labelling every piece")
def labels_everywhere(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size)[0], token_ids


@wrong(check_replace_masked, "only where [MASK] stands")
def only_masks_asked(rng, token_ids, masked, vocab_size):
    seen, labels = replaced(rng, token_ids, masked, vocab_size)
    return seen, np.where(seen == 4, labels, -100)


@wrong(check_replace_masked, "only where a piece was changed")
def only_changes_asked(rng, token_ids, masked, vocab_size):
    seen, labels = replaced(rng, token_ids, masked, vocab_size)
    return seen, np.where(seen != token_ids, labels, -100)


@wrong(check_replace_masked, "writing 0 for 'not asked'")
def zeros_for_not_asked(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size)[0], token_ids * masked


@wrong(check_replace_masked, "what was not chosen")
def noise_everywhere(rng, token_ids, masked, vocab_size):
    seen, labels = replaced(rng, token_ids, masked, vocab_size)
    noise = rng.random(masked.shape) < 0.1
    return np.where(noise & ~masked, rng.integers(5, vocab_size, masked.shape), seen), labels


@wrong(check_replace_masked, "special pieces are drawn too")
def whole_vocabulary(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, low=0)


@wrong(check_replace_masked, "does not exist")
def one_id_too_many(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, high=vocab_size + 1)


@wrong(check_replace_masked, "taken from the text")
def borrowed_pieces(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, draw=rng.permuted(token_ids))


@wrong(check_replace_masked, "one number drawn for all places")
def one_random_piece(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size, draw=int(rng.integers(15, vocab_size)))


@wrong(check_replace_masked, "with a seed of its own")
def a_die_with_its_own_seed(rng, token_ids, masked, vocab_size):
    return replaced(np.random.default_rng(1), token_ids, masked, vocab_size)


@wrong(check_replace_masked, "not from `rng`")
def global_dice(rng, token_ids, masked, vocab_size):
    return replaced(np.random, token_ids, masked, vocab_size, dice=np.random.random(masked.shape), draw=token_ids % 5 + 20)


@wrong(check_replace_masked, "-100 is no piece")
def labels_first(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size)[::-1]


@wrong(check_replace_masked, "two arrays [B,S] are asked for")
def without_labels(rng, token_ids, masked, vocab_size):
    return replaced(rng, token_ids, masked, vocab_size)[0]


@wrong(check_replace_masked, "in divided_by_none, line")
def divided_by_none(rng, token_ids, masked, vocab_size):
    each = 0.8 / int(masked.sum())
    return replaced(rng, token_ids, masked, vocab_size, blank=each * int(masked.sum()))
