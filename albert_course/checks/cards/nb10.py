"""Cards of notebook 10: where a saving fades, devices; FLOPs; inputs found from outputs."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as functional
from torch import Tensor

from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.config import AlbertConfig


def smallest_batch(separate: int, shared: int, activations: int, saving: float) -> int:
    """``smallest_batch(separate, shared, activations, saving) -> B``: the smallest whole number of
    sequences at which sharing saves less than the part ``saving`` of the memory. ``separate`` and
    ``shared`` are the bytes for the parameters, ``activations`` the bytes for one sequence."""
    B = 1
    while (separate - shared) / (separate + B * activations) >= saving:
        B += 1
    return B


def _smallest_batch_cases(draw: Draw) -> Cases:
    shared, activations = draw.integer(2, 9) * 10**8, draw.integer(3, 9) * 10**8
    for saving in (0.05, 0.3, 0.95):
        inputs = 53 * 10**8 + shared, shared, activations, saving
        yield Case(f"finds where the saving falls below {saving:.0%}", inputs)
    yield Case("wants less, not as much", (6 * 10**8, 2 * 10**8, 10**8, 0.25))


check_smallest_batch = card("notebook 10.2", smallest_batch, _smallest_batch_cases)


def split_feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor, n: int) -> Tensor:
    """``split_feed_forward(x, W1, b1, W2, b2, n) -> parts[n,T,H]``: what n devices compute of
    ``gelu(x @ W1 + b1) @ W2 + b2``, with the exact GELU, so that the parts add up to it.
    x[T,H], W1[H,F], b1[F], W2[F,H], b2[H]; device i has the i-th of n equal groups of the F columns
    of W1."""
    columns = zip(W1.chunk(n, 1), b1.chunk(n), W2.chunk(n, 0), strict=True)
    parts = [functional.gelu(x @ w1 + c1) @ w2 for w1, c1, w2 in columns]
    parts[0] = parts[0] + b2
    return torch.stack(parts)


def _split_feed_forward_cases(draw: Draw) -> Cases:
    x, W1, W2 = draw.randn(5, 4), draw.randn(4, 12), draw.randn(12, 4)

    def block(answer, *inputs):
        return sum(answer(*inputs))

    for n in (3, 1):
        inputs, devices = (
            (x, W1, draw.randn(12), W2, draw.randn(4), n),
            "devices" if n > 1 else "device",
        )
        yield Case(f"adds up to the block on {n} {devices}", inputs, 1.0, block, 1e-4)
    bare = x, W1, draw.randn(12), W2, torch.zeros(4), 3
    yield Case("gives each device its own columns of W1", bare, 1.0, atol=1e-4)


check_split_feed_forward = card("notebook 10.6", split_feed_forward, _split_feed_forward_cases)


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


def _training_speedup_cases(draw: Draw) -> Cases:
    for workers in (64, 2, 1):
        flops, link = workers * draw.integer(5, 15) * 1e12, 1e9 * draw.integer(2, 5)
        yield Case(
            f"is right for {workers} worker{'s' * (workers > 1)}",
            (flops, 3.4e8, 1.8e7, workers, 1e13, link),
        )


check_training_speedup = card("notebook 10.7", training_speedup, _training_speedup_cases)


def flops(config: AlbertConfig, S: int, training: bool) -> float:
    """``flops(config, S, training) -> number``: the FLOPs for one token of a sequence of S tokens,
    where a multiply-add counts as two; ``training`` is False for the forward pass, True for forward
    and backward together. Only products of matrices count: the projection from E to H (there is
    none if E = H) and in each of the L layers query, key, value, scores, mixing, output and the two
    maps of the feed-forward block. ``config`` is an AlbertConfig: embedding_size, hidden_size,
    ffn_size, num_layers, num_heads."""
    E, H, F, L = config.embedding_size, config.hidden_size, config.ffn_size, config.num_layers
    project = 0 if E == H else 2 * E * H
    qkv = 6 * H * H
    output = 2 * H * H
    attention = 4 * S * H
    ffn = 4 * H * F
    factor = 3 if training else 1
    return factor * (project + L * (qkv + output + attention + ffn))


def _flops_cases(draw: Draw) -> Cases:
    A, L, S = draw.integer(3, 6), draw.integer(3, 7), 2 * draw.integer(5, 25) + 1
    # S and F are odd, so that no two mistakes come to the same.
    config = AlbertConfig(
        vocab_size=50,
        embedding_size=3 * A,
        hidden_size=8 * A,
        num_layers=L,
        num_heads=A,
        ffn_size=16 * A + 3,
    )

    def count(answer, configs, S, training):
        return [float(answer(config, S, training)) for config in configs]

    def ratio(answer, configs, S):
        forward, training = (count(answer, configs, S, training)[0] for training in (False, True))
        return training / (forward or 1)

    def growth(answer, configs, S):
        short, long = (count(answer, configs, length, False)[0] for length in (S, S + 100))
        return long - short

    shares = [config.replace(share=share) for share in ("none", "attention", "ffn")]
    yield Case("counts the forward pass", ([config], S, False), 3.0, count, 0.4)
    yield Case("is the same whatever is shared", (shares, S, False), 2.0, count, 0.4)
    yield Case("training is three times the forward pass", ([config], S), 2.0, ratio)
    yield Case("grows with the sequence", ([config], S), 1.0, growth, 0.5)
    one, bert = config.replace(num_heads=1), config.replace(embedding_size=8 * A)
    yield Case("is the same for any number of heads", ([one], S, False), 1.0, count, 0.4)
    yield Case("counts no projection where E = H", ([bert], S, False), 1.0, count, 0.4)


check_flops = card("assignment 10.3", flops, _flops_cases)


def reversible(couplings: Sequence[tuple[Callable, Callable]], y1: Tensor, y2: Tensor) -> tuple:
    """``inverse(couplings, y1, y2) -> (x1, x2)``: what went into a reversible stack, found from
    what came out. ``couplings`` is a list of pairs of functions, the first applied first; each pair
    (F, G) made ``y1 = x1 + F(x2)`` and then ``y2 = x2 + G(y1)``, which are the x1 and x2 of the
    next pair. F and G cannot be inverted; each of them is called once."""
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return y1, y2


def _reversible_cases(draw: Draw) -> Cases:
    L, shape = draw.integer(3, 6), (2, 3, 4)

    def bend(weight):
        return lambda x: torch.cos(x @ weight)

    couplings = [(bend(draw.randn(4, 4)), bend(draw.randn(4, 4))) for _ in range(L)]
    x1, x2 = draw.randn(*shape), draw.randn(*shape)

    def through(couplings):
        y1, y2 = x1, x2
        for F, G in couplings:
            y1 = y1 + F(y2)
            y2 = y2 + G(y1)
        return y1, y2

    def calls(answer, couplings, y1, y2):
        count = []

        def counted(function):
            return lambda x: count.append(1) or function(x)

        answer([(counted(F), counted(G)) for F, G in couplings], y1, y2)
        return len(count)

    yield Case("goes back through one coupling", (couplings[:1], *through(couplings[:1])), 2.0)
    yield Case(
        "goes back through several couplings", (couplings, *through(couplings)), 3.0, atol=1e-3
    )
    yield Case("calls each function once", (couplings, *through(couplings)), 1.0, calls)
    yield Case("leaves the halves as they are in an empty stack", ([], x1, x2))


check_reversible = card("assignment 10.5", reversible, _reversible_cases)
