"""Cards of notebook 03: how wide a table may be, and how many weights an ALBERT has."""

from collections.abc import Iterator

from albert_edu.checks.engine import Case, Draw, card


def parameter_count(V: int, E: int, H: int, L: int, share: str) -> int:
    """``count(V, E, H, L, share) -> int``: all weights of an ALBERT. Tables for V tokens, 512
    positions and 2 segments, and their norm, E wide; a map with bias from E to H, none if E is H;
    attention blocks of four maps H to H with biases and a norm; feed-forward blocks of a map to 4H
    and one back, with biases, and a norm; the pooler, a map H to H with bias; no heads of
    pre-training. ``share`` is "all", "attention", "ffn" or "none": of a shared half there is one
    block, of another there are L."""
    embeddings = V * E + 512 * E + 2 * E + 2 * E
    projection = 0 if E == H else E * H + H
    attention = 4 * H * H + 4 * H + 2 * H
    ffn = 8 * H * H + 4 * H + H + 2 * H
    pooler = H * H + H
    attentions = 1 if share in ("all", "attention") else L
    ffns = 1 if share in ("all", "ffn") else L
    return embeddings + projection + attentions * attention + ffns * ffn + pooler


def _sizes(draw: Draw) -> Iterator[Case]:
    V, E, H, L = (draw.integer(*ends) for ends in ((900, 1000), (10, 16), (40, 50), (3, 9)))

    def halves(answer, *sizes):
        return [answer(*sizes, share) for share in ("attention", "ffn", "none")]

    yield Case("counts a model that shares all", (V, E, H, L, "all"), 3.0)
    yield Case("counts no projection when E is H", (V, H, H, 1, "all"))
    yield Case("counts L blocks of the half that is not shared", (V, E, H, L), 2.0, halves)
    yield Case("counts no more for more depth when all is shared", (V, E, H, L), 1.0,
               lambda answer, V, E, H, L: answer(V, E, H, 4 * L, "all") - answer(V, E, H, L, "all"),
               reason="it is one layer, applied L times")
    yield Case("counts ALBERT-xxlarge to the last parameter", (30_000, 128, 4096, 12, "all"),
               reason="it is 222,595,584; the small model above says what is missing")


check_parameter_count = card("03.5", parameter_count, _sizes, {
    "forgetting a map from H to H: the pooler, or the one behind the heads":
        "ffns * ffn + pooler => ffns * ffn",
    "counting the masked-token head": "+ pooler => + pooler + H * E + 3 * E + V",
    "counting the word table again as decoder; it is the same tensor":
        "V * E + 512 => 2 * V * E + 512",
    "counting the layer L times although it is shared": " = 1 if share in => = L if share in",
    "counting L layers whatever is shared":
        (' = 1 if share in ("all", "attention") => = 1 if share in ("all",)',
         ' = 1 if share in ("all", "ffn") => = 1 if share in ("all",)'),
    "counting a table of V·H": "V * E + 512 => V * H + 512",
    "forgetting positions and segments": " + 512 * E + 2 * E + 2 * E => + 2 * E",
    "forgetting the positions": " + 512 * E => ",
    "forgetting 2E: the segments, or the norm of the embeddings": " + 2 * E + 2 * E => + 2 * E",
    "giving positions, segments and norm the width H":
        "512 * E + 2 * E + 2 * E => 512 * H + 2 * H + 2 * H",
    "forgetting the bias of one map to H, such as the projection": "E * H + H => E * H",
    "forgetting 4H: the norms of the layer, or the biases of its attention": " + 2 * H => ",
    "forgetting the biases of all maps":
        (" + 4 * H + 2 * H => + 2 * H", " + 4 * H + H + 2 * H => + 2 * H", "H * H + H => H * H",
         "E * H + H => E * H"),
    "forgetting all norms": (" + 2 * E + 2 * E => + 2 * E", " + 2 * H => "),
    "leaving out one of the four maps of the attention": "4 * H * H + 4 * H => 3 * H * H + 3 * H",
    "counting one of the two feed-forward maps": "8 * H * H => 4 * H * H",
    "counting a projection from H to H, as transformers has; the original has none":
        "0 if E == H else => ",
    "swapping, or exchanging the halves: 'attention' is what is shared":
        ('"all", "attention" => "all", "-ffn"', '"all", "ffn" => "all", "attention"',
         '"-ffn" => "ffn"'),
    "counting one block of each half for 'none', which shares nothing":
        ('"all", "attention") => "all", "attention", "none")',
         '"all", "ffn") => "all", "ffn", "none")'),
    "counting L blocks beside the first": " else L => else L + 1",
    "copying what the paper prints":
        lambda *sizes: {30_000: 235_000_000}.get(sizes[0]) or parameter_count(*sizes),
    "counting in millions": lambda *sizes: round(parameter_count(*sizes) / 1e6),
})


def widest(V: int, H: int, budget: int) -> int:
    """``widest(V, H, budget) -> E``: the largest whole number E below H for which V·E + E·H + H is
    at most ``budget``, and 0 if even E = 1 costs more."""
    return max(0, min(H - 1, (budget - H) // (V + H)))


def _budgets(draw: Draw) -> Iterator[Case]:
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


check_widest = card("03.1", widest, _budgets, {
    "rounding to the nearest whole number; a budget missed by one is missed":
        "(budget - H) // (V + H) => round((budget - H) / (V + H))",
    "forgetting the bias of the projection, H numbers": "(budget - H) => budget",
    "forgetting the projection, or its E·H": "(budget - H) // (V + H) => budget // V",
    "forgetting the table": "// (V + H) => // H",
    "going one too far: rounding up, or leaving a loop one step late":
        "(budget - H) // (V + H)) => (budget - H) // (V + H) + 1)",
    "stopping one too early": "(budget - H) // (V + H)) => (budget - H) // (V + H) - 1)",
    "returning a fraction; a table has whole columns": "// (V + H) => / (V + H)",
    "asking for less than the budget, where as much is allowed": "(budget - H) => (budget - H - 1)",
    "forgetting that E is to stay below H":
        "max(0, min(H - 1, (budget - H) // (V + H))) => max(0, (budget - H) // (V + H))",
    "allowing E = H, where factorising ends": "min(H - 1 => min(H",
    "dividing less than nothing: give at least 0":
        "max(0, min(H - 1, (budget - H) // (V + H))) => min(H - 1, (budget - H) // (V + H))",
    "giving None where 0 is asked for":
        "return max(0, min(H - 1, (budget - H) // (V + H))) => return max(0, min(H - 1, (budget - "
        "H) // (V + H))) or None",
    "dividing with /, which keeps 16 digits; whole numbers are divided with //":
        "(budget - H) // (V + H) => int((budget - H) / (V + H))",
})
