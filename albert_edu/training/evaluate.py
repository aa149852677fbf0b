"""How good is a model, and compared with what: held-out scores and the baselines (notebook 05)."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from albert_edu.model import albert
from albert_edu.model.albert import AlbertForPretraining, PretrainingOutput
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
    chance: float = math.log(2)  # gives both sentence orders the same probability

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
    q, f = counts / counts.sum(), held_out_counts / held_out_counts.sum()
    unigram = -(f * np.log(q)).sum()
    ordinary = vocab_size - MASK - 1  # tokens that a random replacement is drawn from
    unchanged = -(f * np.log((q + q / ordinary) / (q + 1 / ordinary))).sum()
    replaced = -(f * np.log(q / ordinary)).sum() + np.log(q[MASK + 1 :] + 1 / ordinary).mean()
    copy = 0.8 * unigram + 0.1 * unchanged + 0.1 * replaced
    return Baselines(uniform=math.log(vocab_size), unigram=float(unigram), copy=float(copy))


class Tally(NamedTuple):
    """The sums that scores are made of, by name; as a vector they have this order."""

    masked_loss: Tensor | float  # in nats, summed over masked positions
    masked_right: Tensor | float
    masked: Tensor | float
    order_loss: Tensor | float
    in_order_right: Tensor | float
    in_order: Tensor | float
    swapped_right: Tensor | float
    swapped: Tensor | float


def tally(batch: PretrainingBatch, output: PretrainingOutput) -> Tensor:
    """Return a ``Tally`` as a vector on the model's device, in float64 where it has that.

    Vectors of several batches and workers add up; ``scores`` divides them once.
    """
    right = output.masked_token_logits.argmax(-1) == batch.masked_labels
    guess, order = output.sentence_order_logits.argmax(-1), batch.order_labels
    sums = Tally(
        masked_loss=output.masked_token_loss_sum,
        masked_right=right.sum(),
        masked=output.masked_tokens,
        order_loss=output.sentence_order_loss_sum,
        in_order_right=((guess == 0) & (order == 0)).sum(),
        in_order=(order == 0).sum(),
        swapped_right=((guess == 1) & (order == 1)).sum(),
        swapped=(order == 1).sum(),
    )
    return torch.stack([value.detach().to(widest_float(value.device)) for value in sums])


def widest_float(device: torch.device) -> torch.dtype:
    """Return the type that sums are kept in: float64, except on Apple's MPS, which has none."""
    return torch.float32 if device.type == "mps" else torch.float64


def scores(sums: Tensor) -> dict[str, float]:
    """Return means from a tally: losses in nats, accuracies, and the recall of each order class.

    Without labelled pairs the order's scores are absent.
    """
    t = Tally(*sums.tolist())
    means = {
        "masked_token_loss": t.masked_loss / max(t.masked, 1),
        "masked_token_accuracy": t.masked_right / max(t.masked, 1),
    }
    if pairs := t.in_order + t.swapped:
        means |= {
            "sentence_order_loss": t.order_loss / pairs,
            "sentence_order_accuracy": (t.in_order_right + t.swapped_right) / pairs,
            "in_order_recall": t.in_order_right / max(t.in_order, 1),
            "swapped_recall": t.swapped_right / max(t.swapped, 1),
        }
    return means


def check_vocabulary(model: AlbertForPretraining, stream: PretrainingStream) -> None:
    """Raise ValueError where a stream's token ids mean other tokens to the model, or none at all.

    Two vocabularies of one size differ silently: each release of SentencePiece learns another one
    from the same text, and a foreign one raises the loss by two nats without any other sign.
    """
    ours, tokens = stream.tokenizer.fingerprint, len(stream.tokenizer)
    if tokens > (rows := model.config.vocab_size):
        raise ValueError(
            f"the tokenizer has {tokens} tokens, but the model's vocab_size is {rows}."
        )
    if model.vocabulary not in (None, ours):
        raise ValueError(
            f"the model was trained with tokenizer {model.vocabulary}, the text is encoded with "
            f"{ours}: the same ids mean other tokens. Prepare the text with the model's own, "
            f"prepare(name, tokenizer=tokenizer)."
        )


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
            shown = batch.token_ids.gather(1, batch.masked_positions)
            labels = batch.masked_labels.where(shown == MASK, IGNORE)
            right = (output.masked_token_logits.argmax(-1) == labels).sum()
            every_position = every_position + tally(batch, output)
            sums = torch.stack([*albert.loss_sum(output.masked_token_logits, labels), right])
            at_mask_token = at_mask_token + sums.to(widest_float(sums.device))
    loss, count, right = at_mask_token.tolist()
    means = {"mask_token_loss": loss / max(count, 1), "mask_token_accuracy": right / max(count, 1)}
    return scores(every_position) | means
