"""How good is a model, and compared with what: held-out scores and the floors every curve is drawn against (notebook 05)."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenized import TokenizedCorpus

OFF_PLATEAU = 0.1  # nats below the unigram floor that we ask for before we call a model trained


class Floors(NamedTuple):
    """Losses in nats that need no understanding: guessing evenly, knowing piece frequencies, tossing a coin."""

    uniform: float  # ln V
    unigram: float  # cross-entropy of the text under the training text's piece frequencies
    order: float = math.log(2)

    def verdict(self, masked_token_loss: float) -> str:
        """One line: has the model learnt more than how frequent each piece is?

        >>> Floors(8.29, 6.34).verdict(6.31)
        'still on the unigram plateau: masked-token loss 6.31, and frequencies alone give 6.34'
        """
        where = "off" if masked_token_loss < self.unigram - OFF_PLATEAU else "still on"
        loss, floor = f"{masked_token_loss:.2f}", f"{self.unigram:.2f}"
        return f"{where} the unigram plateau: masked-token loss {loss}, and frequencies alone give {floor}"


def floors(train: TokenizedCorpus, held_out: TokenizedCorpus, vocab_size: int) -> Floors:
    """The floors for text of ``held_out`` when piece frequencies are learnt from ``train`` (one is added to each count)."""
    counts = np.bincount(train.tokens, minlength=vocab_size) + 1
    seen = np.bincount(held_out.tokens, minlength=vocab_size)
    unigram = -(seen * np.log(counts / counts.sum())).sum() / seen.sum()
    return Floors(uniform=math.log(vocab_size), unigram=float(unigram))


def tally(batch: PretrainingBatch, output: PretrainingOutput) -> Tensor:
    """Sums that scores are made of, on the model's device, in float64, so that tallies of several batches add up.

    [masked loss, masked right, masked n, order loss, in order right, in order n, swapped right, swapped n]
    """
    masked = batch.masked_labels != IGNORE
    right = (output.masked_token_logits.argmax(-1) == batch.masked_labels) & masked
    guess = output.sentence_order_logits.argmax(-1)
    per_class = [(count.sum()) for label in (0, 1) for count in (
        (guess == label) & (batch.order_labels == label), batch.order_labels == label)]  # fmt: skip
    pairs = per_class[1] + per_class[3]
    sums = [output.masked_token_loss * masked.sum(), right.sum(), masked.sum(), output.sentence_order_loss * pairs, *per_class]
    return torch.stack([value.detach().to(widest_float(value.device)) for value in sums])


def widest_float(device: torch.device) -> torch.dtype:
    """The type that sums are kept in: float64, except on Apple's MPS, which has none."""
    return torch.float32 if device.type == "mps" else torch.float64


def scores(sums: Tensor) -> dict[str, float]:
    """Means from a tally: losses in nats, accuracies, and the recall of each order class (absent without pairs)."""
    masked_loss, masked_right, masked, order_loss, *classes = sums.tolist()
    in_order_right, in_order, swapped_right, swapped = classes
    named = {"masked_token_loss": masked_loss / max(masked, 1), "masked_token_accuracy": masked_right / max(masked, 1)}
    if in_order + swapped:
        named |= {
            "sentence_order_loss": order_loss / (in_order + swapped),
            "sentence_order_accuracy": (in_order_right + swapped_right) / (in_order + swapped),
            "in_order_recall": in_order_right / max(in_order, 1),
            "swapped_recall": swapped_right / max(swapped, 1),
        }
    return named


@torch.no_grad()
def evaluate(model: AlbertForPretraining, stream: PretrainingStream, batches: int = 16, device=None) -> dict[str, float]:
    """Scores on the first ``batches`` batches of a stream, dropout off; the same batches at every call."""
    device = device or next(model.parameters()).device
    was_training = model.training
    model.eval()
    total = 0
    for step in range(batches):
        batch = stream.batch(step).to(device)
        total = total + tally(batch, model(batch))
    model.train(was_training)
    return scores(total)
