"""How good is a model, and compared with what: held-out scores and the baselines every curve is drawn against (notebook 05)."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput, mean_loss
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import MASK

OFF_PLATEAU = 0.1  # nats below the unigram floor that we ask for before we call a model trained


class Baselines(NamedTuple):
    """Losses in nats that need no understanding: guessing evenly, knowing piece frequencies, copying too, tossing a coin."""

    uniform: float  # ln V
    unigram: float  # cross-entropy of the text under the training text's piece frequencies
    copy: float  # the same for who also uses what stands in an asked slot: itself in a tenth of them (notebook 05)
    chance: float = math.log(2)

    def verdict(self, masked_token_loss: float) -> str:
        """One line: has the model learnt more than how frequent each piece is, and more than to copy?

        >>> baselines = Baselines(8.29, 6.34, 5.78)
        >>> baselines.verdict(6.31)
        'still on the unigram plateau: masked-token loss 6.31, and frequencies alone give 6.34'
        >>> baselines.verdict(5.73)
        'off the unigram plateau, by no more than copying: masked-token loss 5.73, frequencies and copying give 5.78'
        """
        loss = f"masked-token loss {masked_token_loss:.2f}"
        if masked_token_loss >= self.unigram - OFF_PLATEAU:
            return f"still on the unigram plateau: {loss}, and frequencies alone give {self.unigram:.2f}"
        if masked_token_loss >= self.copy - OFF_PLATEAU:
            return f"off the unigram plateau, by no more than copying: {loss}, frequencies and copying give {self.copy:.2f}"
        return f"off the unigram plateau and reading: {loss}, and frequencies and copying give {self.copy:.2f}"


def baselines(train: TokenizedCorpus, held_out: TokenizedCorpus, vocab_size: int) -> Baselines:
    """The baselines for text of ``held_out`` when piece frequencies are learnt from ``train`` (one is added to each count).

    ``copy`` is the best that can be done without a neighbour: of the asked pieces 80% are behind [MASK], where only
    frequencies help; 10% are replaced and 10% stand there, and who sees piece x weighs these two by how frequent x is.
    """
    counts = np.bincount(train.tokens, minlength=vocab_size) + 1
    seen = np.bincount(held_out.tokens, minlength=vocab_size)
    q, f = counts / counts.sum(), seen / seen.sum()
    unigram = -(f * np.log(q)).sum()
    ordinary = vocab_size - MASK - 1  # what a random replacement is drawn from
    left = -(f * np.log((q + q / ordinary) / (q + 1 / ordinary))).sum()
    replaced = -(f * np.log(q / ordinary)).sum() + np.log(q[MASK + 1 :] + 1 / ordinary).mean()
    copy = 0.8 * unigram + 0.1 * left + 0.1 * replaced
    return Baselines(uniform=math.log(vocab_size), unigram=float(unigram), copy=float(copy))


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
    """Scores on the first ``batches`` batches of a stream, dropout off; the same batches at every call.

    ``mask_token_loss`` and ``mask_token_accuracy`` are of the asked pieces that [MASK] really hides; of the others half
    stand in plain view.
    """
    device = device or next(model.parameters()).device
    was_training = model.training
    model.eval()
    total, behind = 0, 0
    for step in range(batches):
        batch = stream.batch(step).to(device)
        output = model(batch)
        hidden = (batch.token_ids.gather(1, batch.masked_positions) == MASK) & (batch.masked_labels != IGNORE)
        only = dataclasses.replace(batch, masked_labels=batch.masked_labels.where(hidden, IGNORE))
        loss = mean_loss(output.masked_token_logits, only.masked_labels)
        total, behind = total + tally(batch, output), behind + tally(only, output._replace(masked_token_loss=loss))
    model.train(was_training)
    measured = scores(behind)
    return scores(total) | {f"mask_token_{name}": measured[f"masked_token_{name}"] for name in ("loss", "accuracy")}
