"""How good is a model, and compared with what: held-out scores and the baselines (notebook 05)."""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from albert_edu.batch import IGNORE, PretrainingBatch, count_labels
from albert_edu.config import check_whole
from albert_edu.model.albert import (
    AlbertForPretraining,
    PretrainingOutput,
    check_tokenizer,
    evaluation_mode,
    loss_sum,
)
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import MASK

MARGIN = 0.1  # nats below a baseline that a loss must reach before we say that it is below


class Baselines(NamedTuple):
    """Losses in nats of guessers that understand nothing; every curve is drawn against them."""

    uniform: float  # gives every token the same probability: ln V
    unigram: float  # knows how frequent each token is in the training text
    copy: float  # also uses the token at the masked position, which BERT leaves there in 10%

    def verdict(self, masked_token_loss: float) -> str:
        """Return in one line which baselines an MLM loss is below, by at least MARGIN.

        >>> baselines = Baselines(8.29, 6.34, 5.78)
        >>> for loss in (6.31, 5.73, 5.40):
        ...     print(baselines.verdict(loss))
        not below the unigram baseline: MLM loss 6.31 against 6.34
        below the unigram baseline, but not below the copy baseline: MLM loss 5.73 against 5.78
        below the copy baseline: MLM loss 5.40 against 5.78
        >>> baselines.verdict(math.nan)
        'not below the unigram baseline: MLM loss nan against 6.34'
        """
        if not masked_token_loss < self.unigram - MARGIN:  # NaN is not below anything
            words = "not below the unigram baseline"
            baseline = self.unigram
        elif not masked_token_loss < self.copy - MARGIN:
            words = "below the unigram baseline, but not below the copy baseline"
            baseline = self.copy
        else:
            words = "below the copy baseline"
            baseline = self.copy
        return f"{words}: MLM loss {masked_token_loss:.2f} against {baseline:.2f}"


def baselines(train: TokenizedCorpus, held_out: TokenizedCorpus, vocab_size: int) -> Baselines:
    """Return the baselines on ``held_out`` for token frequencies learnt from ``train``.

    One is added to each count. ``copy`` is the best that can be done without the neighbours and the
    place in the row: 80% of the masked positions show [MASK], where only frequencies help; 10% show
    a random token and 10% the right one, and how frequent the visible token is says which of the
    two is more likely.
    """
    train_counts = train.counts(vocab_size) + 1
    held_out_counts = held_out.counts(vocab_size)
    q = train_counts / train_counts.sum()
    f = held_out_counts / held_out_counts.sum()
    unigram = -(f * np.log(q)).sum()
    ordinary = vocab_size - MASK - 1  # tokens that a random replacement is drawn from
    visible = q + 1 / ordinary  # how often a token is seen: because it is right, or by chance
    unchanged = -(f * np.log((q + q / ordinary) / visible)).sum()
    replaced = -(f * np.log(q / ordinary)).sum() + np.log(visible[MASK + 1 :]).mean()
    copy = 0.8 * unigram + 0.1 * unchanged + 0.1 * replaced
    return Baselines(uniform=math.log(vocab_size), unigram=float(unigram), copy=float(copy))


def score_sums(batch: PretrainingBatch, output: PretrainingOutput) -> Float[Tensor, "2 3"]:
    """Return what scores are made of: a row for the masked tokens, and one for the pairs.

    A row is the loss summed in nats, the right answers, and the labels in all, in float64 on the
    model's device. The sums of several batches and workers add up; ``scores`` divides them once.
    """
    masked = _row(
        output.masked_token_loss_sum,
        right_answers(output.masked_token_logits, batch.masked_labels),
        output.masked_count,
    )
    pairs = _row(
        output.sentence_order_loss_sum,
        right_answers(output.sentence_order_logits, batch.order_labels),
        output.pair_count,
    )
    return torch.stack([masked, pairs])


def right_answers(logits: Float[Tensor, "*N C"], labels: Int[Tensor, "*N"]) -> Int[Tensor, ""]:
    """Return how often the largest logit is that of the label; IGNORE is never right."""
    return (logits.argmax(-1) == labels).sum()


def _row(loss: Tensor, right: Tensor, count: Tensor) -> Float[Tensor, "3"]:
    """Return a loss sum, the right answers and the labels in all as one tensor."""
    return torch.stack([loss.detach(), right, count]).double()


def scores(sums: Float[Tensor, "2 3"]) -> dict[str, float]:
    """Return means from ``score_sums``: losses in nats, and accuracies.

    Without labelled pairs the order's scores are absent.
    """
    masked, pairs = sums
    means = _means("masked_token", masked)
    if pairs[2] > 0:
        means |= _means("sentence_order", pairs)
    return means


def _means(name: str, row: Float[Tensor, "3"]) -> dict[str, float]:
    """Return loss and accuracy under their names, and 0 for both where there is no label."""
    loss, right, count = row.tolist()
    count = max(count, 1)
    return {f"{name}_loss": loss / count, f"{name}_accuracy": right / count}


def evaluate(
    model: AlbertForPretraining, stream: PretrainingStream, batches: int = 16
) -> dict[str, float]:
    """Return the scores on the first ``batches`` batches of a stream, without dropout.

    ``masked_token_loss`` and ``_accuracy`` are those of all masked positions, ``mask_token_loss``
    and ``_accuracy`` of those that show [MASK], so that nothing can be copied;
    ``sentence_order_loss`` and ``_accuracy`` are there where the stream has pairs to tell. Losses
    are in nats, accuracies from 0 to 1. Raises InputError as ``check_tokenizer`` does, and for a
    number of batches that is not a whole one from 1 on.
    """
    check_whole("batches", batches, 1, 10**9)
    check_tokenizer(model.albert, stream.tokenizer)
    device = next(model.parameters()).device
    everywhere = torch.zeros(2, 3, dtype=torch.float64, device=device)
    at_mask_token = torch.zeros(3, dtype=torch.float64, device=device)
    with evaluation_mode(model):
        for step in range(batches):
            batch = stream.batch(step).to(device)
            output = model(batch)
            everywhere += score_sums(batch, output)
            at_mask_token += mask_token_sums(batch, output.masked_token_logits)
    return scores(everywhere) | _means("mask_token", at_mask_token)


def mask_token_sums(batch: PretrainingBatch, logits: Float[Tensor, "B K V"]) -> Float[Tensor, "3"]:
    """Return the first row of ``score_sums`` for those masked positions that show [MASK]."""
    shown = batch.token_ids.gather(1, batch.masked_positions)
    labels = batch.masked_labels.where(shown == MASK, IGNORE)
    return _row(loss_sum(logits, labels), right_answers(logits, labels), count_labels(labels))
