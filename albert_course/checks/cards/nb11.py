"""Cards of notebook 11: spans, means, windows; a head for classes, and how texts become rows."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_course.checks.engine.asking import learns, made, numbers_of, output, parameters, part_of
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenizer import CLS, PAD, SEP


def span_loss(start: Tensor, end: Tensor, context: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """``span_loss(start[B,S], end[B,S], context[B,S], first[B], last[B]) -> loss``: the mean of the
    two cross-entropies, of the first and of the last position of the answer. ``context`` is True on
    tokens that may answer; the others get no probability. Rows whose ``first`` and ``last`` are
    -100 have no answer and do not count; at least one row has one."""
    scores = torch.stack((start, end)).masked_fill(~context, -math.inf)  # 2 B S
    labels = torch.stack((first, last))
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def _span_loss_cases(draw: Draw) -> Cases:
    B, S = 5, 9
    start, end, first = draw.randn(B, S), draw.randn(B, S), draw.integers(3, 5, B)
    last = first + draw.integers(1, 3, B)
    everyone, context = torch.ones(B, S).bool(), (torch.arange(S) > 2).expand(B, S)
    some = [label.where(torch.arange(B) < 3, IGNORE) for label in (first, last)]
    yield Case("is the mean of the two losses", (start, end, everyone, first - 3, last - 3), 2.0)
    yield Case("lets only the context answer", (start - 500, end - 500, context, first, last))
    yield Case("leaves out questions without an answer", (start, end, context, *some))


check_span_loss = card("notebook 11.1", span_loss, _span_loss_cases)


def mean_of_hidden(hidden: Tensor, attention_mask: Tensor) -> Tensor:
    """``mean_of_hidden(hidden[B,S,H], attention_mask[B,S]) -> mean[B,H]``: the mean of the hidden
    states over the tokens of each sequence. The mask is 1 on tokens and 0 on padding."""
    weights = attention_mask[..., None]  # B S 1
    return (hidden * weights).sum(1) / weights.sum(1)


def _mean_of_hidden_cases(draw: Draw) -> Cases:
    hidden, mask = draw.randn(4, 6, 5), (torch.arange(6) < draw.integers(2, 6, 4, 1)).long()

    yield Case("is the mean over the tokens", (hidden, torch.ones_like(mask)))
    yield Case("leaves the padding out", (hidden, mask), 2.0)


check_mean_of_hidden = card("notebook 11.2", mean_of_hidden, _mean_of_hidden_cases)


def windows(n: int, size: int, stride: int) -> list[tuple[int, int]]:
    """``windows(n, size, stride) -> [(begin, end), ...]``: the windows over a context of n tokens.
    They hold the tokens begin to end - 1, at most ``size`` of them, and each begins ``stride``
    tokens after the one before. The last window is the first that reaches the end of the context,
    and it may be shorter than the others."""
    begins = range(0, max(n - size, 0) + stride, stride)
    return [(begin, min(begin + size, n)) for begin in begins]


def _windows_cases(draw: Draw) -> Cases:
    size, stride = draw.integer(10, 14), draw.integer(3, 5)

    for name, n in (
        ("covers a context to its last token", size + 2 * stride + 1),
        ("stops at the window that reaches the end", size + 3 * stride),
        ("needs one window for a short context", size - 2),
    ):
        yield Case(name, (n, size, stride))


check_windows = card("notebook 11.3", windows, _windows_cases)


class ClassificationHead(nn.Module):
    """``Head(hidden_size, num_labels, dropout)``, an nn.Module: ``head(pooled[B,H]) ->
    logits[B,C]``. In training, a number of the pooled vector is dropped with the probability
    ``dropout``, and those that stay are scaled up; then one linear map with a bias, nn.Linear(H,
    C). ``pooled`` has been through a dense layer and tanh already, and the loss takes logits. A
    dropout below 0, or of 1 and more, is a ValueError when the head is made."""

    def __init__(self, hidden_size: int, num_labels: int, dropout: float):
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"a dropout of {dropout} is not in [0, 1)")
        self.drop = nn.Dropout(dropout)
        self.map = nn.Linear(hidden_size, num_labels)

    def forward(self, pooled: Tensor) -> Tensor:
        x = self.drop(pooled)
        return self.map(x)


def _classification_head_cases(draw: Draw) -> Cases:
    H, C, p = draw.integer(6, 10), draw.integer(3, 6), 0.1 * draw.integer(2, 5)
    sizes, x = (H, C, p), draw.randn(4, H).tanh()
    W, b = numbers_of((C, H)), numbers_of((C,))
    one = W[:1].sign() * (0.5 + x[:1].abs())  # all numbers pull the first score the same way
    spread = (one * W).square().sum(1).sqrt()

    def trained(answer, sizes, x):
        return made(answer, *sizes, inputs=(x,)).train()(x).detach().double()

    def average(answer, sizes, x):
        """How far the mean scores are from those of eval mode, and the share of zeros."""
        noisy = trained(answer, sizes, x)
        shift = (noisy.mean(0) - (one @ W.T + b)[0]) / spread
        return torch.cat([shift, (noisy == 0).double().mean()[None]])

    def probability(answer, sizes, x):
        """p / (1 - p) times what the dropped numbers contribute is the scores' variance."""
        ratio = float((trained(answer, sizes, x).var(0) / spread.square()).mean())
        return ratio / (1 + ratio)

    many = one.expand(6000, H)
    yield Case("has one linear map with a bias", (sizes, x), 1.0, parameters)
    yield Case("maps pooled to logits", (sizes, x), 3.0, output)
    yield Case("lets the encoder learn", (sizes, x), 1.0, learns)
    yield Case("says the same on average in training mode", (sizes, many), 1.0, average, 0.06)
    yield Case("drops with the given probability", (sizes, many), 3.0, probability, 0.03)
    yield Case("drops nothing for a dropout of 0", ((H, C, 0.0), x), 1.0, trained)
    for dropout in (1.0, -0.1):
        yield Case(f"refuses a dropout of {dropout}", ((H, C, dropout), x), 0.5, parameters)


check_classification_head = card("assignment 11.4", ClassificationHead, _classification_head_cases)


def pair_layout(pairs: Sequence[tuple], S: int) -> tuple[Tensor, Tensor, Tensor]:
    """``layout(pairs, S) -> token_ids, segment_ids, attention_mask``, each [N,S]. ``pairs`` is a
    list of N pairs (a, b) of lists of ids; b is None for a single text. A row is [CLS] A [SEP] B
    [SEP], or [CLS] A [SEP], and padding. [CLS] is 2, [SEP] 3, padding 0. The segment is 1 from the
    first token of B to its [SEP], else 0; the mask is 1 on tokens, 0 on padding. What is too long
    loses tokens from the end of the longer text, one by one; of B if both are equally long. The
    caller's lists stay as they are."""
    rows = []
    for a, b in pairs:
        room = S - (2 if b is None else 3)
        n, m = len(a), len(b or [])
        # The longer text loses tokens down to the other's length, then they lose in turn, B first.
        n, m = min(n, max(room - m, (room + 1) // 2)), min(m, max(room - n, room // 2))
        head = [CLS, *a[:n], SEP]
        tail = [] if b is None else [*b[:m], SEP]
        padding = [PAD] * (S - len(head) - len(tail))
        segments = [0] * len(head) + [1] * len(tail)
        mask = [1] * len(segments)
        rows.append((head + tail + padding, segments + padding, mask + padding))
    ids, segments, mask = (torch.tensor(part) for part in zip(*rows, strict=True))
    return ids, segments, mask


def _pair_layout_cases(draw: Draw) -> Cases:
    S = 2 * draw.integer(7, 10)  # even: then one of two equally long texts keeps a token more
    few, many = draw.integer(2, 4), draw.integer(12, 16) + S
    long = [(many, few), (few, many), (many + 3, many), (many, many), (S - 3 - few, few)]
    single = [(few + 1, None), (S - 2, None), (many, None), (few, 0)]  # an empty B is not None

    def text(n):
        return n if n is None else draw.integers(5, 99, n).tolist()

    lengths = [(few + 2, few)], long, single
    short, cut, alone = ([(text(n), text(m)) for n, m in pairs] for pairs in lengths)
    yield Case("lays out a pair that fits", (short, S), 2.0, part_of(0))
    yield Case("says which segment a token is of", (short, S), 2.0, part_of(1))
    yield Case("masks the padding", (short, S), 2.0, part_of(2))
    yield Case("cuts the end of the longer text", (cut, S), 3.0, part_of(0))
    yield Case("keeps segments and mask right where it cuts", (cut, S), 1.0, part_of(slice(1, 3)))
    yield Case("lays out single texts and an empty B", (alone, S), 2.0)


check_pair_layout = card("assignment 11.5", pair_layout, _pair_layout_cases, pure=True)
