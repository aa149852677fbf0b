"""Card of notebook 04: which layer uses which block."""

import math  # noqa: F401 - edits use it

from albert_course.checks.engine import Case, Cases, Draw, card


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


def _sizes(draw: Draw) -> Cases:
    def plans(answer, *sizes):
        return [[tuple(map(int, pair)) for pair in answer(*size)] for size in sizes]

    L = draw.integer(25, 41)  # beyond the depths that are asked for one and all below
    even = [(G * n, G) for G in range(2, 8) for n in range(2, 8) if G != n]
    even = [even[draw.integer(0, len(even))] for _ in range(3)]
    uneven = [(L + n, G) for n in range(3) for G in range(4, 12) if (L + n) % G]
    uneven = [uneven[draw.integer(0, len(uneven))] for _ in range(4)]
    halves = "attention", "ffn", "none"
    yield Case("uses one block L times when all is shared", ((L, "all", 1),), 1.0, plans)
    yield Case("shares the half that is named", tuple((L, half, 1) for half in halves), 3.0, plans)
    yield Case("makes G groups of neighbours", tuple((L, "all", G) for L, G in even), 2.0, plans)
    yield Case(
        "makes G groups when G does not divide L",
        tuple((L, "all", G) for L, G in uneven),
        2.0,
        plans,
    )
    depths = ((L, "all", G) for L in range(1, 25) for G in range(1, L + 1))
    yield Case("does so for all depths up to 24", tuple(depths), 1.0, plans)
    for half in halves:
        yield Case(
            f"makes groups in the shared half alone: {half}",
            ((*even[0], half),),
            1.0,
            lambda answer, size: plans(answer, (size[0], size[2], size[1])),
        )
    for sizes in ((4, "all", 0), (4, "all", -1), (4, "all", 5), (4, "none", 5), (4, "both", 1)):
        yield Case(f"refuses {sizes}", sizes, 0.5)


check_layer_plan = card(
    "04.4",
    layer_plan,
    _sizes,
    {
        "counting blocks from 1": "return [(a + 1, f + 1) for a, f in zip(attention, ffn)]",
        "giving each layer a block of its own, whatever is shared": "i * G // L => i",
        "planning one layer too few": "return list(zip(attention, ffn))[:-1]",
        "giving the two halves different numbers; each half counts its own blocks from 0": "return [(a, f + 1 + max(attention)) for a, f in zip(attention, ffn)]",
        "swapping the halves: 'attention' is what is shared": "return list(zip(ffn, attention))",
        "sharing both halves whatever is named": "return list(zip(group, group))",
        "sharing nothing unless it is all": "return list(zip(*2 * [group if share == 'all' else own]))",
        "sharing where 'none' is asked for": "return list(zip(group, group) if share == 'none' else zip(attention, ffn))",
        "dealing the layers out in turn (i % G), which is a cycle": "i * G // L => i % G",
        "taking G for the size of a group (i // G)": "i * G // L => i // G",
        "ignoring the groups": "i * G // L => 0",
        "rounding the size of a group down: a group too many": "i * G // L => i // (L // G)",
        "giving the whole rest to the last group": "i * G // L => min(i // (L // G), G - 1)",
        "rounding the size of a group up": "i * G // L => i // math.ceil(L / G)",
        "rounding i·G / L to the nearest whole number": "i * G // L => round(i * G / L)",
        "making the first groups longer, as array_split does": "group = [g for g in range(G) for _ in range(L // G + (g < L % G))]",
        "rounding on the way, with int(i / L * G)": "i * G // L => int(i / L * G)",
        "making groups in the half that is not shared": "own = group if G > 1 else list(range(L))",
        "forgetting the groups when one half is shared": "own = list(range(L)); group = group if share == 'all' else [0] * L",
        "forgetting the groups for 'ffn'": "own = list(range(L)); group = [0] * L if share == 'ffn' "
        "else group",
        "refusing 'none' with several groups; no half is shared there, so G changes nothing": "if not 1 <= G <= L => if not 1 <= G <= L or (share == 'none' and G > 1)",
        "no ValueError for (L, share, G) = (4, 'all', 0), nor for less": "not 1 <= G <= L => G > L",
        "no ValueError for (L, share, G) = (4, 'all', 5): more groups than layers": "not 1 <= G <= L => G < 1",
        "refusing as many groups as layers": "1 <= G <= L => 1 <= G < L",
        "no ValueError for (L, share, G) = (4, 'none', 5): the rule for G holds for every share": "if not 1 <= G <= L => if not 1 <= G <= L and share != 'none'",
        "no ValueError for (L, share, G) = (4, 'both', 1): an unknown share is taken for 'none'": 'if share not in ("all", "attention", "ffn", "none") => if False',
        "a KeyError where a ValueError is due": 'raise ValueError(f"share => raise KeyError(f"share',
    },
)
