"""Cards of notebook 05: a gradient in parts, and a baseline without context."""

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.masking import IGNORE


def gradient_in_parts(head: torch.nn.Linear, parts: list[tuple]) -> Tensor:
    """``gradient_in_parts(head, parts) -> gradient[V,H]`` of the MLM loss of the whole batch with
    respect to ``head.weight``, one part after another. ``head(hidden[N,H])`` gives logits[N,V].
    ``parts`` is a list of (hidden[N,H], labels[N]); label -100 means nothing to predict."""
    total = sum((labels != IGNORE).sum() for _, labels in parts)
    head.zero_grad()
    for hidden, labels in parts:
        loss = F.cross_entropy(head(hidden), labels, reduction="sum")
        (loss / total).backward()
    return head.weight.grad


def _gradient_in_parts_cases(draw: Draw) -> Cases:
    parts = [(draw.randn(6, 4), draw.integers(0, 7, 6)) for _ in range(3)]
    for (_, labels), used in zip(parts, (1, 5, 3), strict=True):
        labels[used:] = IGNORE

    def order(answer, head, parts):
        events = []
        head.register_forward_hook(lambda *_: events.append("forward"))
        head.weight.register_hook(lambda gradient: events.append("backward"))
        answer(head, parts)
        return events

    def twice(answer, *inputs):
        return [answer(*inputs), answer(*inputs)]

    inputs = torch.nn.Linear(4, 7), parts
    yield Case("is the gradient of the global mean, also when called again", inputs, 2.0, twice)
    yield Case("runs forward and backward for one part after another", inputs, 1.0, order)


check_gradient_in_parts = card("notebook 05.1", gradient_in_parts, _gradient_in_parts_cases)


def copy_baseline(q: Tensor, to_mask: float, to_random: float) -> Tensor:
    """``copy_baseline(q, to_mask, to_random) -> loss`` in nats: the best MLM loss without context
    for V tokens with frequencies q[V]. A masked position shows [MASK] in a share ``to_mask``, one
    of the V tokens drawn evenly in a share ``to_random``, and the label otherwise."""
    unchanged = (1 - to_mask - to_random) * torch.eye(len(q))
    joint = q[:, None] * (unchanged + to_random / len(q))  # V label, V seen
    posterior = joint / joint.sum(0).clamp(min=1e-30)  # no 0 / 0 where nothing is visible
    visible = -torch.special.xlogy(joint, posterior).sum()
    return visible - to_mask * torch.special.xlogy(q, q).sum()


def _copy_baseline_cases(draw: Draw) -> Cases:
    q = draw.randn(12).softmax(0)
    yield Case("is the copy baseline of 80/10/10", (q, 0.8, 0.1))
    yield Case("costs nothing at visible tokens without random ones", (q, 0.8, 0.0))
    yield Case("is the unigram baseline if all show [MASK]", (q, 1.0, 0.0))


check_copy_baseline = card("notebook 05.2", copy_baseline, _copy_baseline_cases)
