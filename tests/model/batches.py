"""One small batch for the tests of models: every kind of row that a step may see."""

import torch

from albert_edu.batch import PretrainingBatch

V, S = 60, 11


def masked_batch(lengths=(S, 7, 4)) -> PretrainingBatch:
    """Four, one and no masked tokens, in order, swapped and without order; noise in the padding."""
    mask = (torch.arange(S) < torch.tensor(lengths)[:, None]).long()
    return PretrainingBatch(
        token_ids=torch.randint(5, V, (3, S)),
        segment_ids=(torch.arange(S) >= 3).long() * mask,
        attention_mask=mask,
        masked_positions=torch.tensor([[4, 1, 10, 9], [5, 0, 0, 0], [0, 0, 0, 0]]),
        masked_labels=torch.tensor([[5, 0, 59, 7], [8, -100, -100, -100], [-100] * 4]),
        order_labels=torch.tensor([0, 1, -100]),
    )
