"""Cards of notebook 03: what a narrow table saves, all parameters, the widest table.

Their known mistakes are edits in mistakes/03.txt.
"""

from albert_course.checks.engine.asking import each
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def saved_parameters(V: int, E: int, H: int) -> int:
    """``saved_parameters(V, E, H)``: how many parameters fewer the V x E table and the projection
    (E x H with a bias of H) have than a V x H table; negative if they have more. When E is H there
    is no projection, and nothing is saved."""
    return V * H - (V * E + E * H + H) if E != H else 0


def _saved_parameters_cases(draw: Draw) -> Cases:
    V = draw.integer(10**6, 10**7)
    E = draw.integer(20, 60)  # the counts are exact
    yield Case(
        "subtracts the table, the matrix and its bias",
        inputs=(V, E, 7 * E),
        weight=3.0,
    )
    yield Case("is negative where factorising costs more", (V, 9 * E + 1, 9 * E))
    yield Case("is 0 when E is H", (V, E, E))


check_saved_parameters = make_check("notebook 03.1", saved_parameters, _saved_parameters_cases)


def parameter_count(V: int, E: int, H: int, L: int, share: str) -> int:
    """``count(V, E, H, L, share) -> int``: all weights of an ALBERT. Tables for V tokens, 512
    positions and 2 segments, and their norm, E wide; a map with bias from E to H, none if E is H;
    attention blocks of four maps H to H with biases and a norm; feed-forward blocks of a map to 4H
    and one back, with biases, and a norm; the pooler, a map H to H with bias; no heads of
    pre-training. ``share`` is "all", "attention", "ffn" or "none": of a shared half there is one
    block, of another there are L."""
    embeddings = V * E + 512 * E + 2 * E + 2 * E
    projection = 0 if E == H else E * H + H
    norm = 2 * H
    attention = 4 * (H * H + H) + norm
    ffn = 8 * H * H + 4 * H + H + norm
    pooler = H * H + H
    attentions = 1 if share in ("all", "attention") else L
    ffns = 1 if share in ("all", "ffn") else L
    return embeddings + projection + attentions * attention + ffns * ffn + pooler


def _parameter_count_cases(draw: Draw) -> Cases:
    V, E, H, L = (draw.integer(*ends) for ends in ((900, 1000), (10, 16), (40, 50), (3, 9)))

    halves = tuple((V, E, H, L, share) for share in ("attention", "ffn", "none"))
    yield Case("counts a model that shares all", inputs=(V, E, H, L, "all"), weight=3.0)
    yield Case("counts no projection when E is H", (V, H, H, 1, "all"))
    yield Case(
        "counts L blocks of the half that is not shared",
        inputs=halves,
        weight=2.0,
        ask=each,
    )
    yield Case("counts no more for more depth when all is shared", (V, E, H, 4 * L, "all"))
    yield Case("counts ALBERT-xxlarge to the last parameter", (30_000, 128, 4096, 12, "all"))


check_parameter_count = make_check("assignment 03.5", parameter_count, _parameter_count_cases)


def widest(V: int, H: int, budget: int) -> int:
    """``widest(V, H, budget) -> E``: the largest whole number E below H for which V·E + E·H + H is
    at most ``budget``, and 0 if even E = 1 costs more."""
    E = (budget - H) // (V + H)
    return max(0, min(H - 1, E))


def _widest_cases(draw: Draw) -> Cases:
    V = draw.integer(90, 120)
    H = draw.integer(40, 60)

    def price(E, rows=V):
        """The parameters of a table with this width, and of its projection."""
        return rows * E + E * H + H

    widths = draw.integers(3, H // 4, 4).tolist()
    slack = (1, V // 3, V - 1, V + H - 1)
    budgets = [(V, H, price(E) + more) for E, more in zip(widths, slack, strict=True)]
    yield Case(
        "buys the widest table for the money",
        inputs=tuple(budgets),
        weight=3.0,
        ask=each,
    )
    yield Case("may spend the budget to the last number", (V, H, price(widths[0])))
    yield Case("stays below H however much there is", (V, H, 3 * price(H)))
    yield Case("stays below H where the budget would just pay for H", (V, H, price(H)))
    too_few = (V, H, price(1) - 1), (V, H, H // 2)
    yield Case("gives 0 when even E = 1 costs more", inputs=too_few, ask=each)
    huge = 10**16 + V
    yield Case("is exact for numbers of 17 digits", (huge, H, price(2 * H // 3, huge) - 1))


check_widest = make_check("assignment 03.6", widest, _widest_cases)
