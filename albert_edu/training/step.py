"""One step: a batch's gradient over micro-batches and workers, and its clipping (notebook 07)."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from albert_edu.batch import PretrainingBatch
from albert_edu.errors import CourseError
from albert_edu.training.evaluate import score_sums
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
) -> Tensor:
    """Accumulate the gradient of the batch's loss over micro-batches.

    The loss sums of a micro-batch are divided by the counts of the whole batch, so that the
    gradient is that of the global mean and not of a mean of means. DDP averages the gradients over
    workers, which the factor world_size undoes. Seeds torch's global generator from (seed, step,
    rank). Returns the ``score_sums`` of this worker's rows.
    """
    masked_in_all = batch.masked_count.clamp(min=1)
    pairs_in_all = batch.pair_count.clamp(min=1)
    sums = torch.zeros(2, 3, dtype=torch.float64, device=batch.token_ids.device)
    # Dropout draws from the global generator, because torch's dropout knows no other. The factors
    # let no two (seed, step, rank) share a state, up to 1,000,003 steps and 1,009 workers.
    torch.manual_seed((settings.seed * 1_000_003 + step) * 1009 + workers.rank)
    most = len(batch) // workers.world_size  # parts with a row for each worker
    micro_batches = workers.micro_batches(min(settings.accumulate, most))
    for rows in micro_batches:
        part = batch.rows(rows)
        is_last = rows is micro_batches[-1]
        with _gradient_exchange(model, is_last), _autocast(settings, part):
            output = model(part)
            masked_token_loss = output.masked_token_loss_sum / masked_in_all
            sentence_order_loss = output.sentence_order_loss_sum / pairs_in_all
            loss = masked_token_loss + sentence_order_loss
        (loss * workers.world_size).backward()
        sums += score_sums(part, output)
    return sums


def _gradient_exchange(model: nn.Module, is_last: bool) -> AbstractContextManager:
    """Workers exchange gradients once, in the backward pass of the last micro-batch."""
    if is_last or not isinstance(model, nn.parallel.DistributedDataParallel):
        return nullcontext()
    return model.no_sync()


def _autocast(settings: TrainSettings, batch: PretrainingBatch) -> torch.autocast:
    """Compute in bfloat16 where the settings say so.

    With a cached cast, a shared block would add up its gradients in bfloat16.
    """
    enabled = settings.precision == "bfloat16"
    device = batch.token_ids.device.type
    return torch.autocast(device, torch.bfloat16, enabled=enabled, cache_enabled=False)


def clear_gradients(without_loss: Iterable[nn.Module]) -> None:
    """Let the gradient of parts that no loss reaches be None, so that the optimizer skips them.

    With a gradient of zeros, LAMB would turn their weight decay alone into a full step.
    """
    for module in without_loss:
        module.zero_grad(set_to_none=True)


def clip_gradient(model: nn.Module, settings: TrainSettings, step: int) -> Tensor:
    """Shorten the gradient of all parameters together to clip_norm; return its norm before that.

    Raises NonFiniteLoss for a norm that is NaN or infinite: on a CPU at every step, on a GPU where
    a record is due.
    """
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    # Before clipping, which would spread one NaN over all gradients. A GPU waits when it is asked.
    if norm.device.type == "cpu" or settings.is_due(step + 1, settings.log_every):
        stop_if_not_finite(model, norm, step)
    if settings.clip_norm:
        nn.utils.clip_grads_with_norm_(model.parameters(), settings.clip_norm, norm)
    return norm


def stop_if_not_finite(model: nn.Module, norm: Tensor, step: int) -> None:
    """Raise NonFiniteLoss, naming the first tensor at fault, unless the norm is finite."""
    if norm.isfinite():
        return
    raise NonFiniteLoss(
        f"training stopped at step {step}, counted from 0: NaN or infinity in the "
        f"{_first_not_finite(model)}. Usual causes: a learning rate too high, or no warm-up."
    )


def _first_not_finite(model: nn.Module) -> str:
    """Return the first weights, or else the first gradient, with NaN or infinity."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return f"weights of {name}"
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            return f"gradient of {name}"
    return "norm"
