"""Cards of the exercises in notebook 04: orders of blocks, what a plan stores, tied gradients."""

from torch import nn

from albert_course.checks.engine import Case, Cases, Draw, card


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


def _orders(draw: Draw) -> Cases:
    M, rounds = draw.integer(3, 6), draw.integer(4, 7)
    sizes = [(M * rounds, M), (M, M), (rounds, 1), (44, 22)]
    for order in ("sequence", "cycle", "cycle (rev)"):
        yield Case(
            f"orders the blocks: {order}",
            (sizes, order),
            1.0,
            lambda answer, sizes, order: [answer(L, M, order) for L, M in sizes],
        )


check_block_order = card(
    "04.1",
    block_order,
    _orders,
    {
        "dealing out the blocks in turn, which is a cycle": "i * M // L => i % M",
        "taking M for the length of a group (i // M)": "i * M // L => i // M",
        "reversing every second round instead of the last one": "blocks[L - M:] = blocks[L - M:][::-1] => blocks = ((blocks[:M] + blocks[:M][::-1])*L)[:L]",
        "reversing all rounds": "blocks[L - M:] = blocks[L - M:][::-1] => blocks = blocks[::-1]",
    },
)


def encoder_size(plan: list[tuple[int, int]], H: int) -> int:
    """``encoder_size(plan, H) -> int``: the parameters that an encoder stores for a plan, which has
    one pair (attention block, feed-forward block) for each layer application. An attention block
    has 4H² + 6H parameters, a feed-forward block 8H² + 7H."""
    attention, ffn = zip(*plan, strict=True)
    return len(set(attention)) * (4 * H * H + 6 * H) + len(set(ffn)) * (8 * H * H + 7 * H)


def _plans(draw: Draw) -> Cases:
    L, H = draw.integer(5, 9), 2 * draw.integer(1500, 2500) + 1  # too large for float32
    yield Case("counts one shared layer once", ([(0, 0)] * L, H))
    yield Case("counts the two kinds of block separately", ([(3, 2 * i) for i in range(L)], H), 2.0)
    yield Case("counts a block once when it comes back", ([(i % 3, i % 2) for i in range(L)], H))


check_encoder_size = card(
    "04.2",
    encoder_size,
    _plans,
    {
        "counting every application": ("set(attention) => attention", "set(ffn) => ffn"),
        "counting a whole layer for each pair": ("(attention)) => (plan))", "(ffn)) => (plan))"),
        "taking the highest block number": ("len(set(att => max((att", "len(set(ffn => max((ffn"),
        "leaving out biases and norms": (" + 6 * H => ", " + 7 * H => "),
    },
)


def tie_gradients(layers: list[nn.Module]) -> None:
    """``tie_gradients(layers)``: the layers have equal parameters, and each parameter has a
    ``.grad`` of its own. Afterwards the ``.grad`` of each parameter is the sum over all layers, in
    a tensor of its own. Nothing is returned."""
    for same in zip(*(layer.parameters() for layer in layers), strict=True):
        total = sum(weight.grad for weight in same)
        for weight in same:
            weight.grad = total.clone()


def _layers(draw: Draw) -> Cases:
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


check_tie_gradients = card(
    "04.3",
    tie_gradients,
    _layers,
    {
        "taking the mean instead of the sum": "in same)\n => in same) / len(layers)\n",
        "leaving out the biases": "(layer.parameters() for => ([layer[0].weight, layer[1].weight] for",
        "changing nothing": "weight.grad = total.clone() => pass",
        "changing a gradient that later sums still read": "weight.grad = sum(other.grad for other in same)",
        "giving all layers one tensor, which clipping scales several times": "weight.grad = total",
    },
)
