"""Is every part of a model at work? Its loss with each block silenced, and the units that open.

A loss can look plausible although a half of the model is dead: nothing else in a run tells. A
feed-forward block whose units never open has no gradient. Read in notebook 07.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from albert_edu.batch import Inputs, PretrainingBatch, has_label
from albert_edu.config import check_whole
from albert_edu.model.albert import AlbertForPretraining, check_tokenizer, evaluation_mode
from albert_edu.text.batches import PretrainingStream

Half = Literal["attention", "ffn"]
LEAST_COST = 0.3  # nats that silencing a living half costs at least
LEAST_OPEN = 0.5  # share of a feed-forward block's units that open in a living model


class Health(NamedTuple):
    """MLM losses on held-out text, in nats; lists have one number per layer application.

    A unit of a feed-forward block opens where its GELU receives a positive number. Recalls are the
    shares of the pairs in order, and of the swapped ones, that the order head gets right; they are
    None where the stream has no such pairs.
    """

    loss: float  # as the model is
    without_ffn: float  # with all feed-forward blocks silenced
    without_attention: float  # with all attention blocks silenced
    without_ffn_at: list[float]  # with the block of one application silenced
    without_attention_at: list[float]
    open_units: list[float]  # the share of the units that open at one token or more
    order_accuracy: float | None
    recall_in_order: float | None
    recall_swapped: float | None

    @property
    def dead(self) -> list[str]:
        """The halves of the model that do nothing: "attention", "feed-forward", both, or none."""
        halves = []
        if not self.without_attention - self.loss >= LEAST_COST:  # so NaN proves no life
            halves.append("attention")
        if not self.without_ffn - self.loss >= LEAST_COST:
            halves.append("feed-forward")
        return halves

    @property
    def closed(self) -> list[int]:
        """The applications, counted from 1, in which most units never open."""
        shares = enumerate(self.open_units, start=1)
        return [application for application, share in shares if share < LEAST_OPEN]

    @property
    def alive(self) -> bool:
        """Whether silencing either half costs 0.3 nats, and most units open everywhere."""
        return not self.dead and not self.closed

    def verdict(self) -> str:
        """Return one line: alive, diverged, or which half is dead, and the numbers that say so.

        >>> Health(4.0, 4.9, 5.6, [4.9], [5.6], [0.98], None, None, None).verdict()
        'alive: MLM loss 4.00, 4.90 without feed-forward, 5.60 without attention; 98% of units open'
        >>> Health(4.4, 4.4, 6.0, [4.4], [6.0], [0.04], None, None, None).verdict().split(":")[0]
        'dead feed-forward'
        >>> Health(4.2, 6.0, 6.3, [4.7], [4.4], [0.31], None, None, None).verdict().split(":")[0]
        'both halves work, but most units never open in application 1'
        """
        if not math.isfinite(self.loss):
            state = "diverged"
        elif self.dead:
            state = f"dead {' and '.join(self.dead)}"
        elif self.closed:
            places = ", ".join(map(str, self.closed))
            state = f"both halves work, but most units never open in application {places}"
        else:
            state = "alive"
        return (
            f"{state}: MLM loss {self.loss:.2f}, {self.without_ffn:.2f} without feed-forward, "
            f"{self.without_attention:.2f} without attention; {min(self.open_units):.0%} of units "
            f"open"
        )


def health(model: AlbertForPretraining, stream: PretrainingStream, batches: int = 8) -> Health:
    """Measure the first ``batches`` batches of a stream with every block silenced in turn.

    A model of L applications reads the batches 2L + 3 times. Raises InputError where the stream's
    tokenizer is not the model's, and for a number of batches that is not a whole one from 1 on.
    """
    check_whole("batches", batches, 1, 10**9)
    check_tokenizer(model.albert, stream.tokenizer)
    return health_on(model, [stream.batch(step) for step in range(batches)])


def health_on(model: AlbertForPretraining, batches: Sequence[PretrainingBatch]) -> Health:
    """Measure the same on batches in the ids of the model's own tokenizer (``masked_rows``)."""
    device = next(model.parameters()).device
    text = [batch.to(device) for batch in batches]
    applications = range(model.config.num_layers)
    without_ffn_at = [loss_without(model, text, "ffn", i) for i in applications]
    without_attention_at = [loss_without(model, text, "attention", i) for i in applications]
    recall_in_order, recall_swapped, accuracy = _order_scores(model, text)
    return Health(
        loss=masked_loss(model, text),
        without_ffn=loss_without(model, text, "ffn"),
        without_attention=loss_without(model, text, "attention"),
        without_ffn_at=without_ffn_at,
        without_attention_at=without_attention_at,
        open_units=units_that_open(model, text),
        order_accuracy=accuracy,
        recall_in_order=recall_in_order,
        recall_swapped=recall_swapped,
    )


@contextmanager
def silenced(
    model: AlbertForPretraining, half: Half, application: int | None = None
) -> Iterator[None]:
    """Silence a half of the model inside a ``with`` block: in all applications, or in one.

    The inner activations of a feed-forward block become 0, and so do the values that attention
    mixes. Of the block remain its last bias, the residual and the norm.
    """
    encoder = model.albert.encoder
    if half == "ffn":
        parts = [block.get_submodule("activation") for block in encoder.ffn]
    else:
        parts = [block.get_submodule("value") for block in encoder.attention]
    # A forward pass calls this half once per application, in order.
    applications = itertools.cycle(range(len(encoder.plan)))

    def silence(module: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        """Replace what a part gives by zeros, where its application is meant."""
        here = next(applications)
        meant = application is None or application == here
        return torch.zeros_like(output) if meant else output

    with ExitStack() as hooks:
        for part in parts:
            hooks.enter_context(part.register_forward_hook(silence))
        yield


def masked_loss(model: AlbertForPretraining, text: list[PretrainingBatch]) -> float:
    """Return the mean MLM loss over batches, in nats, without dropout."""
    loss_sum = 0.0
    tokens = 0
    with evaluation_mode(model):
        for batch in text:
            output = model(batch)
            loss_sum += output.masked_token_loss_sum.item()
            tokens += int(output.masked_count)
    return loss_sum / max(tokens, 1)


def loss_without(
    model: AlbertForPretraining,
    text: list[PretrainingBatch],
    half: Half,
    application: int | None = None,
) -> float:
    """Return ``masked_loss`` with a half silenced."""
    with silenced(model, half, application):
        return masked_loss(model, text)


def units_that_open(
    model: AlbertForPretraining, text: Sequence[PretrainingBatch | Inputs]
) -> list[float]:
    """Return for each application which share of the F units opens at one token or more."""
    encoder = model.albert.encoder
    opened: list[Tensor | None] = [None] * len(encoder.plan)  # F, True where a unit has opened
    applications = itertools.cycle(range(len(encoder.plan)))  # as in ``silenced``
    tokens = torch.ones(0)  # which of a batch's places hold a token: B S

    def look(module: nn.Module, inputs: tuple) -> None:
        """Note which units receive a positive number at some token."""
        here = next(applications)
        now = (inputs[0][tokens] > 0).any(dim=0)
        before = opened[here]
        opened[here] = now if before is None else before | now

    with ExitStack() as hooks, evaluation_mode(model):
        for block in encoder.ffn:
            activation = block.get_submodule("activation")
            hooks.enter_context(activation.register_forward_pre_hook(look))
        for batch in text:
            tokens = batch.attention_mask.bool()
            model.albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
    return [units.float().mean().item() for units in opened if units is not None]


def _order_scores(
    model: AlbertForPretraining, text: list[PretrainingBatch]
) -> tuple[float | None, float | None, float | None]:
    """Return the order head's recall of pairs in order, of swapped pairs, and its accuracy."""
    guesses, labels = [], []
    with evaluation_mode(model):
        for batch in text:
            guesses.append(model(batch).sentence_order_logits.argmax(-1))
            labels.append(batch.order_labels)
    guess = torch.cat(guesses)
    label = torch.cat(labels)
    right = (guess == label).float()

    def mean_over(chosen: Tensor) -> float | None:
        """Return the share of right guesses among the chosen pairs, None without any."""
        return right[chosen].mean().item() if chosen.any() else None

    return mean_over(label == 0), mean_over(label == 1), mean_over(has_label(label))
