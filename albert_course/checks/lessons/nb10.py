"""Cards of notebook 10's exercises: where a saving fades, a block on several devices, a network."""

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def smallest_batch(separate: int, shared: int, activations: int, saving: float) -> int:
    """``smallest_batch(separate, shared, activations, saving) -> B``: the smallest whole number of
    sequences at which sharing saves less than the part ``saving`` of the memory. ``separate`` and
    ``shared`` are the bytes for the parameters, ``activations`` the bytes for one sequence."""
    B = 1
    while (separate - shared) / (separate + B * activations) >= saving:
        B += 1
    return B


def _bytes(draw: Draw) -> Cases:
    shared, activations = draw.integer(2, 9) * 10**8, draw.integer(3, 9) * 10**8
    for saving in (0.05, 0.3, 0.95):
        inputs = 53 * 10**8 + shared, shared, activations, saving
        yield Case(f"finds where the saving falls below {saving:.0%}", inputs)
    yield Case("wants less, not as much", (6 * 10**8, 2 * 10**8, 10**8, 0.25))


check_smallest_batch = card(
    "10.2",
    smallest_batch,
    _bytes,
    {
        "stopping one batch size too early": "return B - 1",
        "dividing by what the shared layers need": "(separate + B => (shared + B",
        "trying one batch size only: the search needs a loop": "while => if",
        "stopping where the saving is exactly that part": ">= saving => > saving",
    },
)


def split_feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor, n: int) -> Tensor:
    """``split_feed_forward(x, W1, b1, W2, b2, n) -> parts[n,T,H]``: what n devices compute of
    ``gelu(x @ W1 + b1) @ W2 + b2``, so that the parts add up to it. x[T,H], W1[H,F], b1[F],
    W2[F,H], b2[H]; device i has the i-th of n equal groups of the F columns of W1."""
    columns = zip(W1.chunk(n, 1), b1.chunk(n), W2.chunk(n, 0), strict=True)
    parts = [F.gelu(x @ w1 + c1) @ w2 for w1, c1, w2 in columns]
    parts[0] = parts[0] + b2
    return torch.stack(parts)


def _blocks(draw: Draw) -> Cases:
    x, W1, W2 = draw.randn(5, 4), draw.randn(4, 12), draw.randn(12, 4)
    for n in (3, 1):
        inputs = x, W1, draw.randn(12), W2, draw.randn(4), n
        yield Case(
            f"adds up to the block on {n} device{'s' * (n > 1)}",
            inputs,
            1.0,
            lambda answer, *inputs: sum(answer(*inputs)),
            1e-4,
        )
    bare = x, W1, draw.randn(12), W2, torch.zeros(4), 3
    yield Case("gives each device its own columns of W1", bare, 1.0, atol=1e-4)


check_split_feed_forward = card(
    "10.6",
    split_feed_forward,
    _blocks,
    {
        "adding b2 on every device": "parts[0] = parts[0] + b2 => parts = [p + b2 for p in parts]",
        "forgetting b2": "parts[0] = parts[0]",
        "giving every device the same part of b1": "b1.chunk(n) => n * b1.chunk(n)[:1]",
    },
)


def training_speedup(
    flops: float, separate: float, shared: float, workers: int, speed: float, link: float
) -> float:
    """``training_speedup(flops, separate, shared, workers, speed, link) -> ratio``: seconds of a
    step with separate layers divided by seconds with shared layers. All workers together compute
    ``flops`` per step, each with ``speed`` FLOPs per second, and then average float32 gradients
    of ``separate`` or ``shared`` parameters in a ring, with ``link`` bytes per second."""
    compute = flops / workers / speed
    ring = 2 * (workers - 1) / workers * 4 / link
    return (compute + ring * separate) / (compute + ring * shared)


def _clusters(draw: Draw) -> Cases:
    for workers in (64, 2, 1):
        flops, link = workers * draw.integer(5, 15) * 1e12, 1e9 * draw.integer(2, 5)
        yield Case(
            f"is right for {workers} worker{'s' * (workers > 1)}",
            (flops, 3.4e8, 1.8e7, workers, 1e13, link),
        )


check_training_speedup = card(
    "10.7",
    training_speedup,
    _clusters,
    {
        "sending each parameter as one byte": "* 4 / link => / link",
        "sending once instead of twice around the ring": "2 * (workers - 1) => (workers - 1)",
        "letting every worker compute the whole batch": "compute = flops / speed",
        "comparing the sending alone, or letting the FLOPs shrink, too": "return separate / shared",
        "turning the ratio upside down": "ring = => separate, shared = shared, separate; ring =",
    },
)
