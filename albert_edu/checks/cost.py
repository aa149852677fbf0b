"""Cards of notebook 10: FLOPs counted, and inputs found again from outputs."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from albert_edu.checks.asking import need, tensor
from albert_edu.checks.engine import Case, Draw, card
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
    maps = 8 * H * H + 4 * H * F
    attention = 4 * S * H
    total = project + L * (maps + attention)
    return 3 * total if training else total


def _configs(draw: Draw) -> Iterator[Case]:
    A, L, S = draw.integer(3, 6), draw.integer(3, 7), 2 * draw.integer(5, 25) + 1
    # S and F are odd, so that no two mistakes come to the same.
    config = AlbertConfig(vocab_size=50, embedding_size=3 * A, hidden_size=8 * A, num_layers=L,
                          num_heads=A, ffn_size=16 * A + 3)

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
    yield Case("is the same whatever is shared", (shares, S, False), 2.0, count, 0.4,
               "a shared matrix is multiplied L times all the same: sharing saves parameters, not "
               "FLOPs")
    yield Case("training is three times the forward pass", ([config], S), 2.0, ratio)
    yield Case("grows with the sequence", ([config], S), 1.0, growth, 0.5,
               "scores and mixing cost 4H per layer for each further token of the sequence")
    yield Case("is the same for any number of heads", ([config.replace(num_heads=1)], S, False),
               1.0, count, 0.4,
               "more heads are narrower: A heads of width H / A cost what one of width H costs")
    yield Case("counts no projection where E = H",
               ([config.replace(embedding_size=8 * A)], S, False), 1.0, count, 0.4,
               "without factorisation, E = H, there is no projection")


check_flops = card("10.3", flops, _configs, {
    "counting a multiply-add as one":
        "3 * total if training else total => (3 * total if training else total) / 2",
    "leaving out the attention scores and the mixing, which grow with S": "4 * S * H => 0",
    "leaving out the mixing of the values": "4 * S * H => 2 * S * H",
    "counting the scores of all S tokens for one token": "4 * S * H => 4 * S * S * H",
    "counting the scores H wide for each head; a head is H / A wide":
        "4 * S * H => 4 * S * H * config.num_heads",
    "counting the scores of one head only": "4 * S * H => 4 * S * H / config.num_heads",
    "counting the whole sequence":
        "3 * total if training else total => S * (3 * total if training else total)",
    "leaving out the output map of the attention": "8 * H * H => 6 * H * H",
    "leaving out query, key and value": "8 * H * H => 2 * H * H",
    "leaving out the feed-forward block": " + 4 * H * F => ",
    "counting one of the two maps of the feed-forward block": "4 * H * F => 2 * H * F",
    "taking F for 4H; this one is not": "4 * H * F => 16 * H * H",
    "leaving out the projection from E to H": "project = 0 if E == H else 2 * E * H => project = 0",
    "counting the projection where E = H; there is no projection": "0 if E == H else => ",
    "projecting in every layer":
        "project + L * (maps + attention) => L * (project + maps + attention)",
    "counting the layer once, because it is shared": "L * (maps => (maps",
    "counting as many layers as there are blocks; sharing saves parameters, not FLOPs":
        "L * (maps + attention) => (L * attention + maps * {'all': 1, 'none': L}.get(config.share, "
        "L / 2))",
    "counting a lookup in the table of V rows as a product":
        "total = project => total = 2 * config.vocab_size * E + project",
    "counting parameters":
        "return 3 * total if training else total => return float(4 * (H * H + H) + 4 * H + 2 * H * "
        "F + F + H + E * H + H)",
    "adding one pass for the backward pass; it makes two products of each, for the input and for "
    "the weights": "3 * total => 2 * total",
    "not looking at training": "3 * total if training else total => total",
    "counting a second forward pass, which only recomputing needs": "3 * total => 4 * total",
    "always counting forward and backward": "3 * total if training else total => 3 * total",
})


def reversible(couplings: Sequence[tuple[Callable, Callable]], y1: Tensor, y2: Tensor) -> tuple:
    """``inverse(couplings, y1, y2) -> (x1, x2)``: what went into a reversible stack, found from
    what came out. ``couplings`` is a list of pairs of functions, the first applied first; each pair
    (F, G) made ``y1 = x1 + F(x2)`` and then ``y2 = x2 + G(y1)``, which are the x1 and x2 of the
    next pair. F and G cannot be inverted; each of them is called once."""
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return y1, y2


def _stacks(draw: Draw) -> Iterator[Case]:
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

    def ask(answer, couplings, y1, y2):
        halves = answer(couplings, y1, y2)
        need(len(halves) == 2, "two tensors, x1 and x2 are asked for")
        return torch.stack([tensor(half, *shape) for half in halves])

    def calls(answer, couplings, y1, y2):
        count = []

        def counted(function):
            return lambda x: count.append(1) or function(x)

        ask(answer, [(counted(F), counted(G)) for F, G in couplings], y1, y2)
        return len(count)

    yield Case("goes back through one coupling", (couplings[:1], *through(couplings[:1])), 2.0, ask)
    yield Case("goes back through several couplings", (couplings, *through(couplings)), 3.0, ask,
               1e-3)
    yield Case("calls each function once", (couplings, *through(couplings)), 1.0, calls,
               reason="each function is called once; searching or guessing is not needed")
    yield Case("leaves the halves as they are in an empty stack", ([], x1, x2), 1.0, ask,
               reason="there is nothing to undo")


UNDO = "y2 = y2 - G(y1)\n        y1 = y1 - F(y2) => "
check_reversible = card("10.5", reversible, _stacks, {
    "adding where the way back subtracts": ("y2 - G => y2 + G", "y1 - F => y1 + F"),
    "undoing y1 first; the last step was y2's, so it is the first to be undone":
        UNDO + "y1 = y1 - F(y2)\n        y2 = y2 - G(y1)",
    "taking F(y2), though F saw x2: undo y2 first and use what comes out":
        UNDO + "y1, y2 = y1 - F(y2), y2 - G(y1)",
    "swapping, or exchanging F and G": "for F, G in => for G, F in",
    "swapping, or exchanging the two halves": "return y1, y2 => return y2, y1",
    "taking the couplings once more instead of back":
        ("reversed(couplings) => couplings", UNDO + "y1 = y1 + F(y2)\n        y2 = y2 + G(y1)"),
    "returning what came in": "reversed(couplings) => []",
    "undoing the first coupling first": "reversed(couplings) => couplings",
    "undoing the last coupling only": "reversed(couplings) => couplings[-1:]",
    "leaving G out": UNDO + "y1 = y1 - F(y2)",
    "calling a function twice; searching or guessing is not needed":
        UNDO + "y2 = y2 - (G(y1) + G(y1)) / 2\n        y1 = y1 - F(y2)",
})
