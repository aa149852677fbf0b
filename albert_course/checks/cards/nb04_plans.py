"""Cards of notebook 04: the order of layers, what a plan stores, and the plan itself.

Their known mistakes are edits in mistakes/04.txt.
"""

from albert_course.checks.cards.nb04_gradients import small_batch, small_model
from albert_course.checks.engine.asking import each, need
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch


def loss_in_order(model: AlbertForPretraining, batch: PretrainingBatch, order: list[int]) -> float:
    """``loss_in_order(model, batch, order) -> float``: the masked-token loss if the applications of
    the encoder run in this order. ``order`` holds numbers of applications, counted from 0; some may
    be missing, and some may come twice. Afterwards the model is as it was."""
    encoder = model.albert.encoder
    before = encoder.plan
    encoder.plan = tuple(before[i] for i in order)
    loss = model(batch).masked_token_loss.item()
    encoder.plan = before
    return loss


def _loss_in_order_cases(draw: Draw) -> Cases:
    L = draw.integer(4, 6)
    model = small_model(draw, num_layers=L, share="none")
    batch = small_batch(draw, 3, 2)
    own = list(range(L))
    swapped = [0, 2, 1, *own[3:]]

    def leave(answer, model, batch, order):
        """The loss in its own order, after another order was asked for."""
        found = answer(model, batch, order)
        need(found is not None, "you return nothing")
        return model(batch).masked_token_loss.item()

    yield Case(
        "runs the applications in another order",
        inputs=((model, batch, swapped), (model, batch, own[::-1])),
        weight=2.0,
        ask=each,
    )
    yield Case(
        "leaves some out and repeats others",
        inputs=((model, batch, own[1:]), (model, batch, [*own, 1, 1])),
        ask=each,
    )
    yield Case("leaves the model as it was", inputs=(model, batch, swapped), ask=leave)


check_loss_in_order = make_check("notebook 04.1", loss_in_order, _loss_in_order_cases)


def encoder_size(plan: list[tuple[int, int]], H: int) -> int:
    """``encoder_size(plan, H) -> int``: the parameters that an encoder stores for a plan, which has
    one pair (attention block, feed-forward block) for each layer application. An attention block
    has 4H² + 6H parameters, a feed-forward block 8H² + 7H."""
    attention, ffn = zip(*plan, strict=True)
    return len(set(attention)) * (4 * H * H + 6 * H) + len(set(ffn)) * (8 * H * H + 7 * H)


def _encoder_size_cases(draw: Draw) -> Cases:
    L = draw.integer(5, 9)
    H = 2 * draw.integer(1500, 2500) + 1  # too large for float32
    yield Case("counts one shared layer once", ([(0, 0)] * L, H))
    yield Case(
        "counts the two kinds of block separately",
        inputs=([(3, 2 * i) for i in range(L)], H),
        weight=2.0,
    )
    yield Case("counts a block once when it comes back", ([(i % 3, i % 2) for i in range(L)], H))


check_encoder_size = make_check("notebook 04.2", encoder_size, _encoder_size_cases)


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
    yield Case(
        "uses one block L times when all is shared",
        inputs=((L, "all", 1),),
        ask=each,
    )
    yield Case(
        "shares the half that is named",
        inputs=tuple((L, half, 1) for half in halves),
        weight=3.0,
        ask=each,
    )
    yield Case(
        "makes G groups of neighbours",
        inputs=tuple((L, "all", G) for L, G in even),
        weight=2.0,
        ask=each,
    )
    yield Case(
        "makes G groups when G does not divide L",
        inputs=tuple(uneven),
        weight=2.0,
        ask=each,
    )
    depths = ((L, "all", G) for L in range(1, 25) for G in range(1, L + 1))
    yield Case("does so for all depths up to 24", inputs=tuple(depths), ask=each)
    layers, groups = even[0]
    for half in halves:
        name = f"makes groups in the shared half alone: {half}"
        yield Case(name, inputs=((layers, half, groups),), ask=each)
    for sizes in ((4, "all", 0), (4, "all", -1), (4, "all", 5), (4, "none", 5), (4, "both", 1)):
        yield Case(f"refuses {sizes}", inputs=sizes, weight=0.5)


check_layer_plan = make_check("assignment 04.4", layer_plan, _layer_plan_cases)
