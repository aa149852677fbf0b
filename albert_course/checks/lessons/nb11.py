"""Cards of notebook 11: the loss of a span, the mean of the hidden states, overlapping windows."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def span_loss(start: Tensor, end: Tensor, context: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """``span_loss(start[B,S], end[B,S], context[B,S], first[B], last[B]) -> loss``: the mean of the
    two cross-entropies, of the first and of the last position of the answer. ``context`` is True on
    tokens that may answer; the others get no probability. Rows whose ``first`` and ``last`` are
    -100 have no answer and do not count; at least one row has one."""
    scores = torch.stack((start, end)).masked_fill(~context, -math.inf)  # 2 B S
    labels = torch.stack((first, last))
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=-100)


def _spans(draw: Draw) -> Cases:
    B, S = 5, 9
    start, end, first = draw.randn(B, S), draw.randn(B, S), draw.integers(3, 5, B)
    last = first + draw.integers(1, 3, B)
    everyone, context = torch.ones(B, S).bool(), (torch.arange(S) > 2).expand(B, S)
    some = [label.where(torch.arange(B) < 3, -100) for label in (first, last)]
    yield Case("is the mean of the two losses", (start, end, everyone, first - 3, last - 3), 2.0)
    yield Case("lets only the context answer", (start - 500, end - 500, context, first, last))
    yield Case("leaves out questions without an answer", (start, end, context, *some))


check_span_loss = card(
    "11.1",
    span_loss,
    _spans,
    {
        "adding the two losses instead of taking their mean": "return F => return 2 * F",
        "leaving out the loss of the last position": "labels = torch.stack((first, first))",
        "giving tokens outside the context a share": "scores = torch.stack((start, end))",
        "dividing by all rows, also by those without an answer": "ignore_index=-100) => reduction='sum') / labels.numel()",
    },
)


def mean_of_hidden(hidden: Tensor, attention_mask: Tensor) -> Tensor:
    """``mean_of_hidden(hidden[B,S,H], attention_mask[B,S]) -> mean[B,H]``: the mean of the hidden
    states over the tokens of each sequence. The mask is 1 on tokens and 0 on padding."""
    weights = attention_mask[..., None]  # B S 1
    return (hidden * weights).sum(1) / weights.sum(1)


def _hidden(draw: Draw) -> Cases:
    hidden, mask = draw.randn(4, 6, 5), (torch.arange(6) < draw.integers(2, 6, 4, 1)).long()

    yield Case("is the mean over the tokens", (hidden, torch.ones_like(mask)))
    yield Case("leaves the padding out", (hidden, mask), 2.0)


check_mean_of_hidden = card(
    "11.2",
    mean_of_hidden,
    _hidden,
    {
        "counting padding as tokens": "weights = torch.ones_like(hidden)",
        "dividing by S instead of the number of tokens": "/ weights.sum(1) => / hidden.shape[1]",
        "taking [CLS] alone": "return hidden[:, 0]",
        "forgetting to divide": " / weights.sum(1) => ",
    },
)


def windows(n: int, size: int, stride: int) -> list[tuple[int, int]]:
    """``windows(n, size, stride) -> [(begin, end), ...]``: the windows over a context of n tokens.
    They hold the tokens begin to end - 1, at most ``size`` of them, and each begins ``stride``
    tokens after the one before. The last window is the first that reaches the end of the context,
    and it may be shorter than the others."""
    begins = range(0, max(n - size, 0) + stride, stride)
    return [(begin, min(begin + size, n)) for begin in begins]


def _contexts(draw: Draw) -> Cases:
    size, stride = draw.integer(10, 14), draw.integer(3, 5)

    def pairs(answer, *inputs):
        return [tuple(map(int, pair)) for pair in answer(*inputs)]

    for name, n in (
        ("covers a context to its last token", size + 2 * stride + 1),
        ("stops at the window that reaches the end", size + 3 * stride),
        ("needs one window for a short context", size - 2),
    ):
        yield Case(name, (n, size, stride), 1.0, pairs)


check_windows = card(
    "11.3",
    windows,
    _contexts,
    {
        "leaving the last tokens out": "+ stride, stride) => + 1, stride)",
        "taking the stride for the overlap": "+ stride, stride) => + size - stride, size - stride)",
        "adding windows that lie in the one before": "begins = range(0, n, stride)",
        "letting the last window run past the end": "min(begin + size, n) => begin + size",
    },
)
