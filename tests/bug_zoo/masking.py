"""Answers to the exercises of notebook 05, right and wrong."""


import torch.nn.functional as F

from albert_edu.checks import check_masked_token_loss
from tests.bug_zoo.zoo import right


@right(check_masked_token_loss)
def loss_by_selection(logits, labels):
    used = labels != -100
    if not used.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[used], labels[used])


@right(check_masked_token_loss)
def loss_by_loop(logits, labels):
    total, count = logits.new_zeros(()), 0
    for row, line in zip(logits, labels, strict=True):
        for scores, label in zip(row, line.tolist(), strict=True):
            if label >= 0:
                total, count = total + scores.exp().sum().log() - scores[label], count + 1
    return total / max(count, 1)


@right(check_masked_token_loss)
def loss_with_weights_in_double(logits, labels):
    weights = (labels >= 0).double()
    log_p = logits.double().log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return -(weights * log_p).sum() / weights.sum().clamp(min=1)
