"""Cards of notebook 10: FLOPs counted, and inputs found again from outputs."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.config import AlbertConfig


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


def _configs(draw: Draw) -> Cases:
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


check_flops = card(
    "10.3",
    flops,
    _configs,
    {
        "counting a multiply-add as one": "factor = 1.5 if training else 0.5",
        "leaving out the attention scores and the mixing, which grow with S": "attention = 0",
        "leaving out the mixing of the values": "attention = 2 * S * H",
        "counting the scores of all S tokens for one token": "attention = 4 * S * S * H",
        "counting the scores of one head only": "attention = 4 * S * H / config.num_heads",
        "counting the whole sequence": "factor = (3 if training else 1) * S",
        "leaving out the output map of the attention": "output = 0",
        "leaving out query, key and value": "qkv = 0",
        "leaving out the feed-forward block": "ffn = 0",
        "counting one of the two maps of the feed-forward block": "ffn = 2 * H * F",
        "taking F for 4H; this one is not": "ffn = 16 * H * H",
        "leaving out the projection from E to H": "project = 0",
        "counting the projection where E = H; there is no projection": "project = 2 * E * H",
        "projecting in every layer": "project = 0 if E == H else 2 * E * H * L",
        "counting the layer once, because it is shared": "L * (qkv => (qkv",
        "counting as many layers as there are blocks; sharing saves parameters, not FLOPs": "L * (qkv => {'all': 1, 'none': L}.get(config.share, L / 2) * (qkv",
        "counting parameters": "return float(4 * (H * H + H) + 6 * H + 2 * H * F + F + E * H + H)",
        "adding one pass for the backward pass; it makes two products of each, for the input and for "
        "the weights": "factor = 2 if training else 1",
        "not looking at training": "factor = 1",
        "counting a second forward pass, which only recomputing needs": "factor = 4 if training else 1",
        "always counting forward and backward": "factor = 3",
    },
)


def reversible(couplings: Sequence[tuple[Callable, Callable]], y1: Tensor, y2: Tensor) -> tuple:
    """``inverse(couplings, y1, y2) -> (x1, x2)``: what went into a reversible stack, found from
    what came out. ``couplings`` is a list of pairs of functions, the first applied first; each pair
    (F, G) made ``y1 = x1 + F(x2)`` and then ``y2 = x2 + G(y1)``, which are the x1 and x2 of the
    next pair. F and G cannot be inverted; each of them is called once."""
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return y1, y2


def _stacks(draw: Draw) -> Cases:
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


UNDO = "y2 = y2 - G(y1)\n        y1 = y1 - F(y2) => "
check_reversible = card(
    "10.5",
    reversible,
    _stacks,
    {
        "adding where the way back subtracts": ("y2 = y2 + G(y1)", "y1 = y1 + F(y2)"),
        "undoing y1 first; the last step was y2's": UNDO + "y1 = y1 - F(y2); y2 = y2 - G(y1)",
        "taking F(y2), though F saw x2: undo y2 first and use what comes out": UNDO
        + "y1, y2 = y1 - F(y2), y2 - G(y1)",
        "swapping F and G": "for F, G in => for G, F in",
        "swapping the two halves": "return y2, y1",
        "taking the couplings once more instead of back": (
            "reversed(couplings) => couplings",
            UNDO + "y1 = y1 + F(y2); y2 = y2 + G(y1)",
        ),
        "returning what came in": "reversed(couplings) => []",
        "undoing the first coupling first": "reversed(couplings) => couplings",
        "undoing the last coupling only": "reversed(couplings) => couplings[-1:]",
        "leaving G out": "y2 = y2",
        "calling a function twice; guessing is not needed": "y2 = y2 - (G(y1) + G(y1)) / 2",
    },
)
