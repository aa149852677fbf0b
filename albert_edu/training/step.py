"""One step: a batch's gradient over micro-batches and workers, and its clipping (notebook 07)."""

from collections.abc import Iterable
from contextlib import nullcontext

import torch
from torch import nn

from albert_edu.errors import CourseError
from albert_edu.text.batches import PretrainingBatch
from albert_edu.text.masking import IGNORE
from albert_edu.training.evaluate import tally
from albert_edu.training.settings import TrainSettings
from albert_edu.training.workers import Workers


class NonFiniteLoss(CourseError, RuntimeError):
    """Training met NaN or infinity; the message names the step and the first tensor.

    A GPU is only looked at when a record or a checkpoint is due, because looking makes it wait.
    """


def forward_backward(
    model: nn.Module,
    batch: PretrainingBatch,
    settings: TrainSettings,
    step: int,
    workers: Workers,
) -> torch.Tensor:
    """Accumulate the gradient of the batch's loss over micro-batches; return this worker's tally.

    The loss sums of a micro-batch are divided by the counts of the whole batch, so that the
    gradient is that of the global mean and not of a mean of means. DDP averages the gradients over
    workers, which the factor world_size undoes.
    """
    labels = (batch.masked_labels, batch.order_labels)
    masked, pairs = ((part != IGNORE).sum().clamp(min=1) for part in labels)
    sums = 0
    # Dropout draws from the global generator, because torch's dropout knows no other.
    torch.manual_seed((settings.seed * 1_000_003 + step) * 1009 + workers.rank)
    micro_batches = workers.micro_batches(min(settings.accumulate, len(batch)))
    for rows in micro_batches:
        part = batch.rows(rows)
        # Workers exchange gradients once, with the last micro-batch.
        last = workers.world_size == 1 or rows is micro_batches[-1]
        exchange = nullcontext() if last else model.no_sync()
        # With a cached cast, a shared block would add up its gradients in bfloat16.
        cast = {"enabled": settings.precision == "bfloat16", "cache_enabled": False}
        with exchange, torch.autocast(part.token_ids.device.type, torch.bfloat16, **cast):
            output = model(part)
            loss = output.masked_token_loss_sum / masked + output.sentence_order_loss_sum / pairs
        (loss * workers.world_size).backward()
        sums = sums + tally(part, output)
    return sums


def clip_gradient(
    model: nn.Module, settings: TrainSettings, step: int, idle: Iterable[nn.Module] = ()
) -> torch.Tensor:
    """Shorten the gradient of all parameters together to clip_norm; return its norm before that.

    Nothing teaches ``idle`` parts of the model. Their gradient becomes none instead of zeros,
    because LAMB would turn weight decay alone into a full step.
    """
    for module in idle:
        module.zero_grad(set_to_none=True)
    norm = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    # Before clipping, which would spread one NaN over all gradients. A GPU waits when it is asked.
    if norm.device.type == "cpu" or settings.due(step + 1, settings.log_every):
        stop_if_not_finite(model, norm, step)
    if settings.clip_norm:
        nn.utils.clip_grads_with_norm_(model.parameters(), settings.clip_norm, norm)
    return norm


def stop_if_not_finite(model: nn.Module, norm: torch.Tensor, step: int) -> None:
    """Raise NonFiniteLoss, naming the first tensor at fault, unless the norm is finite."""
    if norm.isfinite():
        return
    tensors = {f"weights of {name}": p for name, p in model.named_parameters()}
    tensors |= {f"gradient of {name}": p.grad for name, p in model.named_parameters()}
    bad = [n for n, t in tensors.items() if t is not None and not t.isfinite().all()] or ["norm"]
    raise NonFiniteLoss(
        f"training stopped at step {step}, counted from 0: NaN or infinity in the {bad[0]}. "
        f"Usual causes: a learning rate too high, or no warm-up."
    )
