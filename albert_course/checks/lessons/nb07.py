"""Cards of notebook 07: the authors' schedule, gradient clipping, the loss of several workers."""

import torch
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def authors_rate(step: int, steps: int, warmup_steps: int, peak: float) -> float:
    """``authors_rate(step, steps, warmup_steps, peak)``: the learning rate of the authors' code in
    a step that counts from 0. The linear decay reaches 0 at ``steps`` and starts at step 0, but in
    the first ``warmup_steps`` steps the rate is ``peak * step / warmup_steps`` instead."""
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * (1 - step / steps)


def _steps(draw: Draw) -> Cases:
    W, steps, peak = draw.integer(20, 40), draw.integer(90, 200), 1 + draw.numpy.random()
    yield Case("rises during the warm-up", (W // 2, steps, W, peak), 2.0)
    yield Case("rises to the last step of the warm-up", (W - 1, steps, W, peak))
    yield Case("jumps onto the decay after the warm-up", (W, steps, W, peak), 2.0)
    yield Case("decays as if there were no warm-up", (80, steps, W, peak), 2.0)
    yield Case("needs no warm-up", (0, steps, 0, peak))


check_authors_rate = card(
    "07.1",
    authors_rate,
    _steps,
    {
        "starting the decay at the end of the warm-up, as our schedule does": "return peak * (steps - step) / (steps - warmup_steps)",
        "counting the warm-up from step 1, as our schedule does": "* step / w => * (step + 1) / w",
        "taking the smaller of the two lines; the authors switch from one to the other": "peak * step / warmup_steps => peak * min(step / warmup_steps, 1 - step / steps)",
    },
)


def clip_together(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """``clip_together(gradients, limit) -> list``: the gradients of all tensors of a model, scaled
    by one common factor so that together, as one long vector, they have at most the norm
    ``limit``. Gradients that are short enough come back as they are."""
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * (limit / norm).clamp(max=1.0) for g in gradients]


def _gradients(draw: Draw) -> Cases:
    long = [draw.randn(3, 4), 0.1 * draw.randn(5), 3 * draw.randn(2)]

    yield Case("shortens all gradients by one factor", (long, 0.5), 3.0)
    yield Case("leaves short gradients as they are", (long, 50.0))


check_clip_together = card(
    "07.2",
    clip_together,
    _gradients,
    {
        "clipping each tensor by its own norm": "(limit / norm) => (limit / g.norm())",
        "cutting off single numbers": "return [g.clamp(-limit, limit) for g in gradients]",
        "making short gradients longer": ".clamp(max=1.0) => ",
        "taking the largest of the norms": "norm = max(g.norm() for g in gradients)",
        "adding up the norms of the tensors; their squares must be added": "norm = sum(g.norm() for g in gradients)",
    },
)


def loss_factors(counts: list[int]) -> list[float]:
    """``loss_factors(counts) -> list``: worker r has ``counts[r]`` masked positions, and its loss
    is the mean over them. Data parallel *averages* the gradients over the workers. Returned is the
    factor for each worker's loss that makes this average the gradient of the mean over all masked
    positions."""
    return [len(counts) * n / sum(counts) for n in counts]


def _counts(draw: Draw) -> Cases:
    unequal = [draw.integer(6, 9), draw.integer(1, 5), draw.integer(10, 30)]

    yield Case("weights workers by their masked positions", (unequal,), 3.0)
    yield Case("is 1 where all counts are equal", ([7] * 4,))
    yield Case("gives 0 to a worker without masked positions", ([0, *unequal],))


check_loss_factors = card(
    "07.3",
    loss_factors,
    _counts,
    {
        "counting every worker alike, a mean of means": "return [1.0 for n in counts]",
        "forgetting that the gradients are averaged over the workers": "len(counts) * n => n",
        "dividing by the number of workers once more": "len(counts) * n => n / len(counts)",
        "taking the fraction upside down": "return [sum(counts) / max(len(counts) * n, 1) for n in counts]",
    },
)
