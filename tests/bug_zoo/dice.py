"""Answers to the exercise of notebook 05 on what stands in the gap and what is asked about it, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_replace_masked
from albert_edu.text.masking import replace_masked
from tests.bug_zoo.zoo import right


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
    ids, hidden = torch.tensor(token_ids), torch.tensor(masked)
    labels = ids.masked_fill(~hidden, -100)
    dice = torch.from_numpy(rng.permutation(int(hidden.sum()))) / max(1, int(hidden.sum()))
    new = ids[hidden]
    new[dice < 0.8] = 4
    other = (dice >= 0.8) & (dice < 0.9)
    new[other] = torch.from_numpy(rng.integers(5, vocab_size, int(other.sum())))
    ids[hidden] = new
    return ids, labels
