"""One small batch for the tests of models: every kind of row that a step may see."""

import torch

from albert_edu.batch import PretrainingBatch

V, S = 60, 11


def masked_batch() -> PretrainingBatch:
    """Four, one and no masked tokens, in order, swapped and without order; noise in the padding."""
    places = torch.arange(S)
    mask = (places < torch.tensor([[S], [7], [4]])).long()
    positions = [[4, 1, 10, 9], [5, 0, 0, 0], [0, 0, 0, 0]]
    labels = [[5, 0, 59, 7], [8, -100, -100, -100], [-100, -100, -100, -100]]
    return PretrainingBatch(
        token_ids=torch.randint(5, V, (3, S)),
        segment_ids=(places >= 3).long() * mask,
        attention_mask=mask,
        masked_positions=torch.tensor(positions),
        masked_labels=torch.tensor(labels),
        order_labels=torch.tensor([0, 1, -100]),
    )
