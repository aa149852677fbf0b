"""Cards of notebook 03: how wide a table may be, and how many weights an ALBERT has."""

from albert_course.checks.engine import Case, Cases, Draw, card


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


def _sizes(draw: Draw) -> Cases:
    V, E, H, L = (draw.integer(*ends) for ends in ((900, 1000), (10, 16), (40, 50), (3, 9)))

    def halves(answer, *sizes):
        return [answer(*sizes, share) for share in ("attention", "ffn", "none")]

    yield Case("counts a model that shares all", (V, E, H, L, "all"), 3.0)
    yield Case("counts no projection when E is H", (V, H, H, 1, "all"))
    yield Case("counts L blocks of the half that is not shared", (V, E, H, L), 2.0, halves)
    yield Case("counts no more for more depth when all is shared", (V, E, H, 4 * L, "all"))
    yield Case("counts ALBERT-xxlarge to the last parameter", (30_000, 128, 4096, 12, "all"))


check_parameter_count = card(
    "03.5",
    parameter_count,
    _sizes,
    {
        "forgetting a map from H to H: the pooler, or the one behind the heads": "pooler = 0",
        "counting the masked-token head": "pooler = H * H + H + H * E + 3 * E + V",
        "counting the word table again as decoder; it is the same tensor": "= V * E => = 2 * V * E",
        "counting the layer L times although it is shared": " = 1 if share in => = L if share in",
        "counting L layers whatever is shared": (
            'attentions = 1 if share == "all" else L',
            'ffns = 1 if share == "all" else L',
        ),
        "counting a table of V·H": "= V * E => = V * H",
        "forgetting positions and segments": "embeddings = V * E + 2 * E",
        "forgetting the positions": "embeddings = V * E + 2 * E + 2 * E",
        "forgetting 2E: the segments, or the norm of the embeddings": "+ 2 * E + 2 * E => + 2 * E",
        "giving positions, segments and norm the width H": "embeddings = V * E + 516 * H",
        "forgetting the bias of one map to H, such as the projection": "E * H + H => E * H",
        "forgetting 4H: the norms of the layer, or the biases of its attention": "norm = 0",
        "forgetting the biases of the feed-forward maps": "ffn = 8 * H * H + norm",
        "forgetting the norm of the attention": "attention = 4 * (H * H + H)",
        "counting one row too few: of the positions, or of the segments": "512 * E => 511 * E",
        "counting one row too many: of the positions, or of the segments": "512 * E => 513 * E",
        "forgetting the biases of all maps": (
            "E * H + H => E * H",
            "attention = 4 * H * H + norm",
            "ffn = 8 * H * H + norm",
            "pooler = H * H",
        ),
        "forgetting all norms": ("embeddings = V * E + 512 * E + 2 * E", "norm = 0"),
        "leaving out one of the four maps of the attention": "attention = 3 * (H * H + H) + norm",
        "counting one of the two feed-forward maps": "8 * H * H => 4 * H * H",
        "counting a projection from H to H, as transformers has": "projection = E * H + H",
        "swapping the halves: 'attention' is what is shared": (
            'attentions = 1 if share in ("all", "ffn") else L',
            'ffns = 1 if share in ("all", "attention") else L',
        ),
        "counting one block of each half for 'none', which shares nothing": (
            'attentions = L if share == "ffn" else 1',
            'ffns = L if share == "attention" else 1',
        ),
        "counting L blocks beside the first": " else L => else L + 1",
    },
)


def widest(V: int, H: int, budget: int) -> int:
    """``widest(V, H, budget) -> E``: the largest whole number E below H for which V·E + E·H + H is
    at most ``budget``, and 0 if even E = 1 costs more."""
    E = (budget - H) // (V + H)
    return max(0, min(H - 1, E))


def _budgets(draw: Draw) -> Cases:
    V, H = draw.integer(90, 120), draw.integer(40, 60)

    def price(E, rows=V):
        return rows * E + E * H + H

    def ask(answer, V, H, budgets):
        return [answer(V, H, budget) for budget in budgets]

    widths, slack = draw.integers(3, H // 4, 4).tolist(), (1, V // 3, V - 1, V + H - 1)
    budgets = [price(E) + more for E, more in zip(widths, slack, strict=True)]
    yield Case("buys the widest table for the money", (V, H, budgets), 3.0, ask)
    yield Case("may spend the budget to the last number", (V, H, price(widths[0])))
    yield Case("stays below H however much there is", (V, H, 3 * price(H)))
    yield Case("stays below H where the budget would just pay for H", (V, H, price(H)))
    yield Case("gives 0 when even E = 1 costs more", (V, H, [price(1) - 1, H // 2]), 1.0, ask)
    huge = 10**16 + V
    yield Case("is exact for numbers of 17 digits", (huge, H, price(2 * H // 3, huge) - 1))


check_widest = card(
    "03.6",
    widest,
    _budgets,
    {
        "rounding to the nearest whole number; a budget missed by one is missed": "E = round((budget - H) / (V + H))",
        "forgetting the bias of the projection, H numbers": "E = budget // (V + H)",
        "forgetting the projection, or its E·H": "E = budget // V",
        "forgetting the table": "E = (budget - H) // H",
        "going one too far: rounding up, or leaving a loop one step late": "E = (budget - H) // (V + H) + 1",
        "rounding up": "E = -((H - budget) // (V + H))",
        "stopping one too early": "E = (budget - H) // (V + H) - 1",
        "returning a fraction; a table has whole columns": "E = (budget - H) / (V + H)",
        "asking for less than the budget; as much is allowed": "E = (budget - H - 1) // (V + H)",
        "forgetting that E is to stay below H": "return max(0, E)",
        "allowing E = H, where factorising ends": "return max(0, min(H, E))",
        "dividing less than nothing: give at least 0": "return min(H - 1, E)",
        "giving None where 0 is asked for": "return max(0, min(H - 1, E)) or None",
        "dividing with /, which keeps 16 digits; // is exact": "E = int((budget - H) / (V + H))",
    },
)
