"""Cards of notebook 11: a head for classes, and how texts become rows.

Their known mistakes are edits in mistakes/11.txt.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import (
    learns,
    made,
    numbers_of,
    output,
    parameters,
    part_of,
)
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.text.tokenizer import CLS, PAD, SEP


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
    H = draw.integer(6, 10)
    C = draw.integer(3, 6)
    p = 0.1 * draw.integer(2, 5)
    sizes = (H, C, p)
    x = draw.randn(4, H).tanh()
    W = numbers_of((C, H))
    b = numbers_of((C,))
    one = W[:1].sign() * (0.5 + x[:1].abs())  # all numbers pull the first score the same way
    spread = (one * W).square().sum(1).sqrt()

    def trained(answer, sizes, x):
        """The scores in training mode."""
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
    yield Case("has one linear map with a bias", inputs=(sizes, x), ask=parameters)
    yield Case(
        "maps pooled to logits",
        inputs=(sizes, x),
        weight=3.0,
        ask=output,
    )
    yield Case("lets the encoder learn", inputs=(sizes, x), ask=learns)
    yield Case(
        "says the same on average in training mode",
        inputs=(sizes, many),
        ask=average,
        atol=0.06,
    )
    yield Case(
        "drops with the given probability",
        inputs=(sizes, many),
        weight=3.0,
        ask=probability,
        atol=0.03,
    )
    yield Case("drops nothing for a dropout of 0", inputs=((H, C, 0.0), x), ask=trained)
    for dropout in (1.0, -0.1):
        yield Case(
            f"refuses a dropout of {dropout}",
            inputs=((H, C, dropout), x),
            weight=0.5,
            ask=parameters,
        )


check_classification_head = make_check(
    "assignment 11.4", ClassificationHead, _classification_head_cases
)


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
    few = draw.integer(2, 4)
    many = draw.integer(12, 16) + S
    long = [(many, few), (few, many), (many + 3, many), (many, many), (S - 3 - few, few)]
    single = [(few + 1, None), (S - 2, None), (many, None), (few, 0)]  # an empty B is not None

    def text(n):
        """Drawn ids, or None for no text."""
        return n if n is None else draw.integers(5, 99, n).tolist()

    lengths = [(few + 2, few)], long, single
    short, cut, alone = ([(text(n), text(m)) for n, m in pairs] for pairs in lengths)
    rows = "lays out a pair that fits", "says which segment a token is of", "masks the padding"
    for row, name in enumerate(rows):
        yield Case(name, inputs=(short, S), weight=2.0, ask=part_of(row))
    yield Case(
        "cuts the end of the longer text",
        inputs=(cut, S),
        weight=3.0,
        ask=part_of(0),
    )
    yield Case(
        "keeps segments and mask right where it cuts",
        inputs=(cut, S),
        ask=part_of(slice(1, 3)),
    )
    yield Case("lays out single texts and an empty B", inputs=(alone, S), weight=2.0)


check_pair_layout = make_check("assignment 11.5", pair_layout, _pair_layout_cases, pure=True)
