"""Cards of notebook 04: orders of blocks, what a plan stores, tied gradients, a shared stack."""

from functools import partial

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import each, gradients, need, tensor
from albert_course.checks.engine.card import Case, Cases, Draw, card


def block_order(L: int, M: int, order: str) -> list[int]:
    """``block_order(L, M, order) -> L block numbers``, counted from 0, for L applications of M
    blocks; M divides L. "sequence" uses each block L / M times before the next block comes, "cycle"
    repeats the round 0 ... M - 1, and "cycle (rev)" does the same but reverses the last round."""
    if order == "sequence":
        return [i * M // L for i in range(L)]
    blocks = [i % M for i in range(L)]
    if order == "cycle (rev)":
        blocks[L - M :] = blocks[L - M :][::-1]
    return blocks


def _block_order_cases(draw: Draw) -> Cases:
    M, rounds = draw.integer(3, 6), draw.integer(4, 7)
    sizes = [(M * rounds, M), (M, M), (rounds, 1), (44, 22)]

    for order in ("sequence", "cycle", "cycle (rev)"):
        yield Case(f"orders the blocks: {order}", tuple((L, n, order) for L, n in sizes), 1.0, each)


check_block_order = card("notebook 04.1", block_order, _block_order_cases)


def encoder_size(plan: list[tuple[int, int]], H: int) -> int:
    """``encoder_size(plan, H) -> int``: the parameters that an encoder stores for a plan, which has
    one pair (attention block, feed-forward block) for each layer application. An attention block
    has 4H² + 6H parameters, a feed-forward block 8H² + 7H."""
    attention, ffn = zip(*plan, strict=True)
    return len(set(attention)) * (4 * H * H + 6 * H) + len(set(ffn)) * (8 * H * H + 7 * H)


def _encoder_size_cases(draw: Draw) -> Cases:
    L, H = draw.integer(5, 9), 2 * draw.integer(1500, 2500) + 1  # too large for float32
    yield Case("counts one shared layer once", ([(0, 0)] * L, H))
    yield Case("counts the two kinds of block separately", ([(3, 2 * i) for i in range(L)], H), 2.0)
    yield Case("counts a block once when it comes back", ([(i % 3, i % 2) for i in range(L)], H))


check_encoder_size = card("notebook 04.2", encoder_size, _encoder_size_cases)


def tie_gradients(layers: list[nn.Module]) -> None:
    """``tie_gradients(layers)``: the layers have equal parameters, and each parameter has a
    ``.grad`` of its own. Afterwards the ``.grad`` of each parameter is the sum over all layers, in
    a tensor of its own. Nothing is returned."""
    for same in zip(*(layer.parameters() for layer in layers), strict=True):
        total = sum(weight.grad for weight in same)
        for weight in same:
            weight.grad = total.clone()


def _tie_gradients_cases(draw: Draw) -> Cases:
    def tied(answer, size, gradients):
        layers = [nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) for _ in gradients[::4]]
        weights = [weight for layer in layers for weight in layer.parameters()]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        answer(layers)
        nn.utils.clip_grad_norm_(weights, size)
        return [weight.grad for weight in weights] + weights

    drawn = [draw.randn(*shape) for _ in range(draw.integer(3, 6)) for shape in ((3, 3), (3,)) * 2]
    yield Case("gives each weight and each bias the sum", (1e9, drawn), 2.0, tied)
    yield Case("leaves gradients that can be clipped", (0.1, drawn), 1.0, tied)


check_tie_gradients = card("notebook 04.3", tie_gradients, _tie_gradients_cases)


def layer_plan(L: int, share: str, G: int) -> list[tuple[int, int]]:
    """``layer_plan(L, share, G) -> L pairs (attention block, feed-forward block)``, blocks counted
    from 0. ``share`` is "all", "attention", "ffn" or "none". A half that is shared has a block for
    each of G groups, and layer i (from 0) is in group i·G // L; a half that is not shared has a
    block for each layer, whatever G is. ValueError for G < 1, for G > L and for any other
    ``share``."""
    if not 1 <= G <= L:
        raise ValueError(f"{G} groups of {L} layers")
    if share not in ("all", "attention", "ffn", "none"):
        raise ValueError(f"share must be all, attention, ffn or none, not {share!r}")
    group = [i * G // L for i in range(L)]
    own = list(range(L))
    attention = group if share in ("all", "attention") else own
    ffn = group if share in ("all", "ffn") else own
    return list(zip(attention, ffn, strict=True))


def _layer_plan_cases(draw: Draw) -> Cases:
    L = draw.integer(25, 41)  # beyond the depths that are asked for one and all below
    even = [(G * n, G) for G in range(2, 8) for n in range(2, 8) if G != n]
    even = [even[draw.integer(0, len(even))] for _ in range(3)]
    uneven = [(L + n, "all", G) for n in range(3) for G in range(4, 12) if (L + n) % G]
    uneven = [uneven[draw.integer(0, len(uneven))] for _ in range(4)]
    halves = "attention", "ffn", "none"
    yield Case("uses one block L times when all is shared", ((L, "all", 1),), 1.0, each)
    yield Case("shares the half that is named", tuple((L, half, 1) for half in halves), 3.0, each)
    yield Case("makes G groups of neighbours", tuple((L, "all", G) for L, G in even), 2.0, each)
    yield Case("makes G groups when G does not divide L", tuple(uneven), 2.0, each)
    depths = ((L, "all", G) for L in range(1, 25) for G in range(1, L + 1))
    yield Case("does so for all depths up to 24", tuple(depths), 1.0, each)
    layers, groups = even[0]
    for half in halves:
        name = f"makes groups in the shared half alone: {half}"
        yield Case(name, ((layers, half, groups),), 1.0, each)
    for sizes in ((4, "all", 0), (4, "all", -1), (4, "all", 5), (4, "none", 5), (4, "both", 1)):
        yield Case(f"refuses {sizes}", sizes, 0.5)


check_layer_plan = card("assignment 04.4", layer_plan, _layer_plan_cases)


class SharedEncoder(nn.Module):
    """``Encoder(make_attention, make_ffn, L, share)`` makes an nn.Module; called with x[B,S,H] it
    applies attention, then feed-forward, L times. Each call of make_attention() and make_ffn()
    makes a new block, to be called with x[B,S,H]. ``share`` is "all", "attention", "ffn" or "none":
    of a shared half there is one block, of another there are L, used in the order in which they
    were made. The blocks are the only parameters, and each tensor has one name in the
    state_dict."""

    def __init__(self, make_attention, make_ffn, L: int, share: str):
        super().__init__()
        self.L = L
        attentions = 1 if share in ("all", "attention") else L
        ffns = 1 if share in ("all", "ffn") else L
        self.attention = nn.ModuleList(make_attention() for _ in range(attentions))
        self.ffn = nn.ModuleList(make_ffn() for _ in range(ffns))

    def forward(self, x: Tensor) -> Tensor:
        for i in range(self.L):
            attention = self.attention[i % len(self.attention)]
            ffn = self.ffn[i % len(self.ffn)]
            x = ffn(attention(x))
        return x


class _Block(nn.Module):
    """Stands for a block. One with a matrix adds a map of the tokens' mean, as attention does; one
    with a vector bends each number, as feed-forward does."""

    def __init__(self, *shape: int, chance: torch.Generator):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape, generator=chance) / 2)

    def forward(self, x: Tensor) -> Tensor:
        mixes = self.weight.ndim == 2
        return x + (x.mean(1, keepdim=True) @ self.weight if mixes else torch.tanh(x * self.weight))


def _shared_encoder_cases(draw: Draw) -> Cases:
    L, x, seed = draw.integer(3, 6), draw.randn(2, 3, 4), draw.integer(1, 10**6)

    def make(answer, share, L=L):
        attention, ffn = (torch.Generator().manual_seed(seed + half) for half in (0, 1))
        halves = partial(_Block, 4, 4, chance=attention), partial(_Block, 4, chance=ffn)
        encoder = answer(*halves, L, share)
        kind = type(encoder).__name__
        need(isinstance(encoder, nn.Module), f"you return {kind}, not an nn.Module")
        return encoder

    def count(answer, *shares):
        sizes = [[weight.ndim for weight in make(answer, share).parameters()] for share in shares]
        return [[size.count(2), size.count(1)] for size in sizes]

    def run(answer, share, x):
        return tensor(make(answer, share)(x), 2, 3, 4)

    def learn(answer, share, x):
        return gradients(make(answer, share), x)

    def named(answer, share):
        places = [weight.data_ptr() for weight in make(answer, share).state_dict().values()]
        return len(places) - len(set(places))

    yield Case("trains one block of each half when all is shared", ("all",), 4.0, count)
    yield Case("applies attention, then feed-forward, L times", ("all", x), 3.0, run)
    yield Case("learns from all L applications", ("all", x), 2.0, learn, 1e-4)
    yield Case("names each tensor once in its state_dict", ("all",), 1.0, named)
    halves = "attention", "ffn", "none"
    yield Case("makes L blocks of the half that is not shared", halves, 3.0, count)
    yield Case("applies each block once when nothing is shared", ("none", x), 1.0, run)
    yield Case("applies L blocks of attention and one feed-forward block", ("ffn", x), 1.0, run)


check_shared_encoder = card("assignment 04.5", SharedEncoder, _shared_encoder_cases)
