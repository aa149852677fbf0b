"""Answers to the exercises of notebook 05, right and wrong."""

import math

import torch
import torch.nn.functional as F

from albert_edu.checks import check_masked_token_loss
from tests.bug_zoo.zoo import right, wrong


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


@wrong(check_masked_token_loss, "averaging over all positions")
def mean_before_mask(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").mean()


@wrong(check_masked_token_loss, "adding the losses up")
def sum_instead_of_mean(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


@wrong(check_masked_token_loss, "averaging within each sequence first")
def mean_of_means(logits, labels):
    rows = [F.cross_entropy(row[line >= 0], line[line >= 0]) for row, line in zip(logits, labels, strict=True)]
    return torch.stack(rows).mean()


@wrong(check_masked_token_loss, "taking label 0 for 'unused'")
def zero_ignored_too(logits, labels):
    used = labels > 0
    return F.cross_entropy(logits[used], labels[used])


@wrong(check_masked_token_loss, "bits (log2)")
def in_bits(logits, labels):
    return loss_by_selection(logits, labels) / math.log(2)


@wrong(check_masked_token_loss, "without the minus sign")
def sign_forgotten(logits, labels):
    return -loss_by_selection(logits, labels)


@wrong(check_masked_token_loss, "softmax before cross_entropy")
def softmax_twice(logits, labels):
    return loss_by_selection(logits.softmax(-1), labels)


@wrong(check_masked_token_loss, "the softmax is missing")
def softmax_forgotten(logits, labels):
    return F.nll_loss(logits[labels >= 0], labels[labels >= 0])


@wrong(check_masked_token_loss, "0 / 0")
def nan_without_hidden_pieces(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


@wrong(check_masked_token_loss, "cut it off")
def item_returned(logits, labels):
    return torch.tensor(loss_by_selection(logits, labels).item())


@wrong(check_masked_token_loss, "in unused_as_index, line")
def unused_as_index(logits, labels):
    return -logits.log_softmax(-1).gather(-1, labels[..., None]).mean()


@wrong(check_masked_token_loss, "still to do")
def not_begun(logits, labels):
    raise NotImplementedError("Exercise 05.6")
