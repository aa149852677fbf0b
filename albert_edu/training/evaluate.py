"""How good is a model, and compared with what: held-out scores and the baselines (notebook 05)."""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from albert_edu.model import albert
from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput, check_vocabulary
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import IGNORE
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
        """
        words, baseline = "below the copy baseline", self.copy
        if masked_token_loss >= self.unigram - MARGIN:
            words, baseline = "not below the unigram baseline", self.unigram
        elif masked_token_loss >= self.copy - MARGIN:
            words = f"below the unigram baseline, but not {words}"
        return f"{words}: MLM loss {masked_token_loss:.2f} against {baseline:.2f}"


def baselines(train: TokenizedCorpus, held_out: TokenizedCorpus, vocab_size: int) -> Baselines:
    """Return the baselines on ``held_out`` for token frequencies learnt from ``train``.

    One is added to each count. ``copy`` is the best that can be done without the neighbours: 80% of
    the masked positions show [MASK], where only frequencies help; 10% show a random token and 10%
    the right one, and how frequent the visible token is says which of the two is more likely.
    """
    counts, held_out_counts = train.counts(vocab_size) + 1, held_out.counts(vocab_size)
    q = counts / counts.sum()
    f = held_out_counts / held_out_counts.sum()
    unigram = -(f * np.log(q)).sum()
    ordinary = vocab_size - MASK - 1  # tokens that a random replacement is drawn from
    unchanged = -(f * np.log((q + q / ordinary) / (q + 1 / ordinary))).sum()
    replaced = -(f * np.log(q / ordinary)).sum() + np.log(q[MASK + 1 :] + 1 / ordinary).mean()
    copy = 0.8 * unigram + 0.1 * unchanged + 0.1 * replaced
    return Baselines(uniform=math.log(vocab_size), unigram=float(unigram), copy=float(copy))


def judged(
    loss: Float[Tensor, ""], logits: Float[Tensor, "*N C"], labels: Int[Tensor, "*N"]
) -> Float[Tensor, "3"]:
    """Return what scores are made of: a loss sum in nats, right answers, and labels in all.

    The numbers stay on the model's device, in float64.
    """
    counts = (logits.argmax(-1) == labels).sum(), (labels != IGNORE).sum()
    return torch.stack([loss.detach(), *counts]).double()


def tally(batch: PretrainingBatch, output: PretrainingOutput) -> Float[Tensor, "2 3"]:
    """Return ``judged`` of masked tokens, and of pairs.

    The tallies of several batches and workers add up; ``scores`` divides them once.
    """
    masked = judged(output.masked_token_loss_sum, output.masked_token_logits, batch.masked_labels)
    pairs = judged(output.sentence_order_loss_sum, output.sentence_order_logits, batch.order_labels)
    return torch.stack([masked, pairs])


def scores(sums: Float[Tensor, "2 3"]) -> dict[str, float]:
    """Return means from a tally: losses in nats, and accuracies.

    Without labelled pairs the order's scores are absent.
    """
    masked, pairs = sums
    found = means("masked_token", masked)
    if pairs[2]:
        found |= means("sentence_order", pairs)
    return found


def means(name: str, sums: Float[Tensor, "3"]) -> dict[str, float]:
    """Return loss and accuracy under their names, and 0 for both where there is no label."""
    loss, right, count = sums.tolist()
    return {f"{name}_loss": loss / max(count, 1), f"{name}_accuracy": right / max(count, 1)}


def evaluate(
    model: AlbertForPretraining, stream: PretrainingStream, batches: int = 16
) -> dict[str, float]:
    """Return the scores on the first ``batches`` batches of a stream, without dropout.

    ``mask_token_loss`` and ``mask_token_accuracy`` are those of the masked positions that show
    [MASK], so that nothing can be copied. Raises ValueError as ``check_vocabulary`` does.
    """
    check_vocabulary(model, stream)
    device = next(model.parameters()).device
    every_position, at_mask_token = 0, 0
    with albert.evaluation_mode(model):
        for step in range(batches):
            batch = stream.batch(step).to(device)
            output = model(batch)
            every_position = every_position + tally(batch, output)
            shown = batch.token_ids.gather(1, batch.masked_positions)
            labels = batch.masked_labels.where(shown == MASK, IGNORE)
            loss = albert.loss_sum(output.masked_token_logits, labels)
            at_mask_token = at_mask_token + judged(loss, output.masked_token_logits, labels)
    return scores(every_position) | means("mask_token", at_mask_token)
