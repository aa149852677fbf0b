"""Cards of notebook 11: the loss of a span, a mean of hidden states, windows.

Their known mistakes are edits in mistakes/11.txt.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import (
    gradients,
)
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.masking import IGNORE


def span_loss(start: Tensor, end: Tensor, context: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """``span_loss(start[B,S], end[B,S], context[B,S], first[B], last[B]) -> loss``: the mean of the
    two cross-entropies, of the first and of the last position of the answer. ``context`` is True on
    tokens that may answer; the others get no probability. Rows whose ``first`` and ``last`` are
    -100 have no answer and do not count; at least one row has one. The loss trains a model, so
    gradients must reach ``start`` and ``end``."""
    scores = torch.stack((start, end)).masked_fill(~context, -math.inf)  # 2 B S
    labels = torch.stack((first, last))
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def _span_loss_cases(draw: Draw) -> Cases:
    B = 5
    S = 9
    start = draw.randn(B, S)
    end = draw.randn(B, S)
    first = draw.integers(3, 5, B)
    last = first + draw.integers(1, 3, B)
    everyone = torch.ones(B, S).bool()
    context = (torch.arange(S) > 2).expand(B, S)
    some = [label.where(torch.arange(B) < 3, IGNORE) for label in (first, last)]
    yield Case(
        "is the mean of the two losses",
        inputs=(start, end, everyone, first - 3, last - 3),
        weight=2.0,
    )
    yield Case("lets only the context answer", (start - 500, end - 500, context, first, last))
    yield Case("leaves out questions without an answer", (start, end, context, *some))
    yield Case(
        "lets start and end learn",
        inputs=(start, end, context, *some),
        weight=2.0,
        ask=gradients,
        atol=1e-4,
    )


check_span_loss = card("notebook 11.1", span_loss, _span_loss_cases)


def mean_of_hidden(hidden: Tensor, attention_mask: Tensor) -> Tensor:
    """``mean_of_hidden(hidden[B,S,H], attention_mask[B,S]) -> mean[B,H]``: the mean of the hidden
    states over the tokens of each sequence. The mask is 1 on tokens and 0 on padding."""
    weights = attention_mask[..., None]  # B S 1
    return (hidden * weights).sum(1) / weights.sum(1)


def _mean_of_hidden_cases(draw: Draw) -> Cases:
    hidden = draw.randn(4, 6, 5)
    mask = (torch.arange(6) < draw.integers(2, 6, 4, 1)).long()

    yield Case("is the mean over the tokens", (hidden, torch.ones_like(mask)))
    yield Case("leaves the padding out", inputs=(hidden, mask), weight=2.0)


check_mean_of_hidden = card("notebook 11.2", mean_of_hidden, _mean_of_hidden_cases)


def windows(n: int, size: int, stride: int) -> list[tuple[int, int]]:
    """``windows(n, size, stride) -> [(begin, end), ...]``: the windows over a context of n tokens.
    They hold the tokens begin to end - 1, at most ``size`` of them, and each begins ``stride``
    tokens after the one before. The last window is the first that reaches the end of the context,
    and it may be shorter than the others."""
    begins = range(0, max(n - size, 0) + stride, stride)
    return [(begin, min(begin + size, n)) for begin in begins]


def _windows_cases(draw: Draw) -> Cases:
    size = draw.integer(10, 14)
    stride = draw.integer(3, 5)

    for name, n in (
        ("covers a context to its last token", size + 2 * stride + 1),
        ("stops at the window that reaches the end", size + 3 * stride),
        ("needs one window for a short context", size - 2),
    ):
        yield Case(name, (n, size, stride))


check_windows = card("notebook 11.3", windows, _windows_cases)
