"""Cards of notebook 07: clipping, a diagnosis, losses of several workers, learning rates.

Their known mistakes are edits in mistakes/07.txt.
"""

import torch
from torch import Tensor

from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.analysis.health import Health
from albert_edu.training.settings import TrainSettings


def clip_together(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """``clip_together(gradients, limit) -> list``: the gradients of all tensors of a model, scaled
    by one common factor so that together, as one long vector, they have at most the norm
    ``limit``. Gradients that are short enough come back as they are."""
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * (limit / norm).clamp(max=1.0) for g in gradients]


def _clip_together_cases(draw: Draw) -> Cases:
    long = [draw.randn(3, 4), 0.1 * draw.randn(5), 3 * draw.randn(2)]

    yield Case("shortens all gradients by one factor", inputs=(long, 0.5), weight=3.0)
    yield Case("leaves short gradients as they are", (long, 50.0))


check_clip_together = make_check("notebook 07.1", clip_together, _clip_together_cases)


def diagnose(training_loss: float, exam: Health, unigram: float) -> str:
    """``diagnose(training_loss, exam, unigram) -> str``: what a run suffers from. The answer is
    "gap" where the held-out loss ``exam.loss`` is more than 1 above the training loss; otherwise
    "stuck" where it is not at least 0.1 below ``unigram``; otherwise "dead half" where silencing a
    half, ``exam.without_ffn`` or ``exam.without_attention``, costs less than 0.3; else "well"."""
    if exam.loss > training_loss + 1:
        return "gap"
    if exam.loss > unigram - 0.1:
        return "stuck"
    if min(exam.without_ffn, exam.without_attention) < exam.loss + 0.3:
        return "dead half"
    return "well"


def _diagnose_cases(draw: Draw) -> Cases:
    unigram = 4 + 2 * draw.numpy.random()

    def patient(loss: float, ffn: float, attention: float, training: float) -> tuple:
        """A training loss, an exam and a baseline: the loss above it, the costs of the halves."""
        losses = unigram + loss, unigram + loss + ffn, unigram + loss + attention
        exam = Health(*losses, [losses[1]], [losses[2]], [0.9], None, None, None)
        return unigram + training, exam, unigram

    yield Case("finds a run well", inputs=patient(-1.7, 0.5, 0.7, -1.8))
    yield Case("finds a plateau", inputs=patient(0.05, 0.6, 0.5, -0.15), weight=2.0)
    yield Case("calls a loss just below the baseline a plateau", patient(-0.05, 0.6, 0.5, -0.2))
    yield Case("finds a dead feed-forward block", patient(-1.5, 0.1, 0.6, -1.6), weight=2.0)
    yield Case("finds dead attention", patient(-1.5, 0.6, 0.1, -1.6), weight=2.0)
    yield Case("finds a gap to the training text", patient(-1.5, 0.6, 0.6, -3.0))
    yield Case("looks for the gap first", inputs=patient(2.0, -1.2, 0.1, -3.6), weight=2.0)
    yield Case("looks for the plateau before the halves", patient(0.0, 0.0, 0.0, -0.1))


check_diagnose = make_check("notebook 07.2", diagnose, _diagnose_cases)


def loss_factors(counts: list[int]) -> list[float]:
    """``loss_factors(counts) -> list``: worker r has ``counts[r]`` masked positions, and its loss
    is the mean over them. Data parallel *averages* the gradients over the workers. Returned is the
    factor for each worker's loss that makes this average the gradient of the mean over all masked
    positions."""
    return [len(counts) * n / sum(counts) for n in counts]


def _loss_factors_cases(draw: Draw) -> Cases:
    unequal = [draw.integer(6, 9), draw.integer(1, 5), draw.integer(10, 30)]

    yield Case("weights workers by their masked positions", inputs=(unequal,), weight=3.0)
    yield Case("is 1 where all counts are equal", ([7] * 4,))
    yield Case("gives 0 to a worker without masked positions", ([0, *unequal],))


check_loss_factors = make_check("notebook 07.3", loss_factors, _loss_factors_cases)


def schedule(step: int, settings: TrainSettings) -> float:
    """``learning_rate(step, settings) -> float`` for steps 0 to N - 1; ``settings.steps`` is N,
    ``settings.warmup_steps`` is W, ``settings.learning_rate`` the peak. A straight line up, peak /
    W at step 0 and the peak at step W - 1; then one down, the peak at step W and 0 at step N, one
    after the last. W may be 0 (no way up) or N (no way down)."""
    N, W = settings.steps, settings.warmup_steps
    peak = settings.learning_rate
    up = (step + 1) / max(W, 1)
    down = (N - step) / max(N - W, 1)
    return peak * (up if step < W else down)


def _schedule_cases(draw: Draw) -> Cases:
    N = draw.integer(14, 20)
    W = draw.integer(4, 6)
    peak = 1 + draw.numpy.random()

    def rates(answer, steps, warmup):
        """The rate at each of these steps."""
        settings = TrainSettings(steps=N, learning_rate=peak, warmup_steps=warmup)
        return torch.tensor([float(answer(step, settings)) for step in steps], dtype=torch.double)

    def moves(answer, *inputs):
        """Whether the rate at each step is above 0."""
        return (rates(answer, *inputs) > 0).tolist()

    order = draw.numpy.permutation(N).tolist()
    yield Case(
        "rises over the warm-up, then falls to the end",
        inputs=(range(N), W),
        weight=3.0,
        ask=rates,
    )
    yield Case(
        "moves at the first step and at the last",
        inputs=([0, N - 1], W),
        weight=2.0,
        ask=moves,
    )
    yield Case("depends on nothing but step and settings", inputs=(order, W), ask=rates)
    yield Case("starts at the peak without a warm-up", inputs=(range(N), 0), ask=rates)
    yield Case("only rises when all is warm-up", inputs=(range(N), N), ask=rates)


check_schedule = make_check("assignment 07.4", schedule, _schedule_cases)
