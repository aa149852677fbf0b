"""Cards of notebook 03: what a narrow table saves, its gradient, factors, module and counts."""

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import each, learns, made, output, parameters, tensor
from albert_course.checks.engine.card import Case, Cases, Draw, card


def saved_parameters(V: int, E: int, H: int) -> int:
    """``saved_parameters(V, E, H)``: how many parameters fewer the V x E table and the projection
    (E x H with a bias of H) have than a V x H table; negative if they have more. When E is H there
    is no projection, and nothing is saved."""
    return V * H - (V * E + E * H + H) if E != H else 0


def _saved_parameters_cases(draw: Draw) -> Cases:
    V, E = draw.integer(10**6, 10**7), draw.integer(20, 60)  # the counts are exact
    yield Case("subtracts the table, the matrix and its bias", (V, E, 7 * E), 3.0)
    yield Case("is negative where factorising costs more", (V, 9 * E + 1, 9 * E))
    yield Case("is 0 when E is H", (V, E, E))


check_saved_parameters = card("notebook 03.1", saved_parameters, _saved_parameters_cases)


def lookup_gradient(token_ids: Tensor, upstream: Tensor, V: int) -> Tensor:
    """``lookup_gradient(token_ids[S], upstream[S,E], V) -> [V,E]``: the gradient that a V x E table
    receives when the rows ``token_ids`` are looked up and the gradient of the loss with respect to
    these S rows is ``upstream``."""
    return torch.zeros(V, upstream.shape[1]).index_add(0, token_ids, upstream)


def _lookup_gradient_cases(draw: Draw) -> Cases:
    V, S, E = 12, 8, 3
    upstream, different = draw.randn(S, E), draw.integer(1, 4) + torch.arange(S).flip(0)
    repeated = 2 * draw.integers(0, 3, S)

    yield Case("puts each gradient into its token's row", (different, upstream, V), 2.0)
    yield Case("adds up where a token occurs twice", (repeated, upstream, V), 3.0)


check_lookup_gradient = card("notebook 03.2", lookup_gradient, _lookup_gradient_cases)


def factors_of(table: Tensor, E: int) -> tuple[Tensor, Tensor]:
    """``factors_of(table[V,H], E) -> (narrow[V,E], project[E,H])``: two matrices whose product is
    as near to ``table`` as rank E allows (smallest sum of squared differences)."""
    left, lengths, right = torch.linalg.svd(table, full_matrices=False)
    return left[:, :E] * lengths[:E], right[:E]


def _factors_of_cases(draw: Draw) -> Cases:
    V, H, E = 20, 6, 3
    free, low = draw.randn(V, H), draw.randn(V, E) @ draw.randn(E, H)

    def product(answer, table, E):
        narrow, project = answer(table, E)
        return tensor(narrow, V, E) @ tensor(project, E, H)

    yield Case("gives a table of rank E back", (low, E), 1.0, product, 1e-3)
    yield Case("is as near to any table as rank E allows", (free, E), 3.0, product, 1e-3)


check_factors_of = card("notebook 03.3", factors_of, _factors_of_cases)


class FactorizedEmbedding(nn.Module):
    """``Embedding(V, E, H, P)`` makes an nn.Module without dropout; called with token_ids[B,S] and
    segment_ids[B,S] (0 or 1) it gives [B,S,H], and an error if S is more than P. A token's rows for
    its id (of V), its position (of P) and its segment (of 2), all E wide, are added, normed
    (LayerNorm with gain and bias; any small eps) and mapped from E to H, with a bias. When E is H
    there is no map. Names are yours; the only parameters are the ones named here."""

    def __init__(self, V: int, E: int, H: int, P: int):
        super().__init__()
        self.words, self.sides = nn.Embedding(V, E), nn.Embedding(2, E)
        self.places = nn.Embedding(P, E)
        self.norm = nn.LayerNorm(E, eps=1e-12)
        self.project = nn.Linear(E, H) if E != H else nn.Identity()

    def forward(self, token_ids: Tensor, segment_ids: Tensor) -> Tensor:
        words = self.words(token_ids)
        places = self.places(torch.arange(token_ids.shape[1]))
        sides = self.sides(segment_ids)
        x = words + places + sides
        x = self.norm(x)
        return self.project(x)


def _embedding_cases(draw: Draw) -> Cases:
    B, S, E, H, P, V = 2, 5, 4, 6, 9, draw.integer(20, 30)
    ids, segments = draw.integers(1, V, B, S), torch.tensor([[0] * S, [0, 0, 1, 1, 1]])
    sizes, bert = (V, E, H, P), (V, H, H, P)

    def refuses(answer, sizes, ids):
        module = made(answer, *sizes)
        try:
            module(ids, 0 * ids)
        except Exception:
            return True
        return False

    yield Case("adds, norms and maps, in this order", (sizes, ids, segments), 3.0, output, 5e-3)
    yield Case("has the parameters of a factorised embedding", (sizes,), 2.0, parameters)
    yield Case("can be trained on", (sizes, ids, segments), 1.0, learns)
    first = sizes, ids[:1, :1], segments[:1, :1]
    yield Case("gives a first token alone the same", first, 1.0, output, 5e-3)
    yield Case("refuses too many tokens", (sizes, torch.ones(1, P + 1).long()), 1.0, refuses)
    yield Case("has no map when E is H", (bert,), 2.0, parameters)
    yield Case("is BERT's embedding when E is H", (bert, ids, segments), 1.0, output, 5e-3)


check_factorized_embedding = card("assignment 03.4", FactorizedEmbedding, _embedding_cases)


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
    yield Case("counts a model that shares all", (V, E, H, L, "all"), 3.0)
    yield Case("counts no projection when E is H", (V, H, H, 1, "all"))
    yield Case("counts L blocks of the half that is not shared", halves, 2.0, each)
    yield Case("counts no more for more depth when all is shared", (V, E, H, 4 * L, "all"))
    yield Case("counts ALBERT-xxlarge to the last parameter", (30_000, 128, 4096, 12, "all"))


check_parameter_count = card("assignment 03.5", parameter_count, _parameter_count_cases)


def widest(V: int, H: int, budget: int) -> int:
    """``widest(V, H, budget) -> E``: the largest whole number E below H for which V·E + E·H + H is
    at most ``budget``, and 0 if even E = 1 costs more."""
    E = (budget - H) // (V + H)
    return max(0, min(H - 1, E))


def _widest_cases(draw: Draw) -> Cases:
    V, H = draw.integer(90, 120), draw.integer(40, 60)

    def price(E, rows=V):
        return rows * E + E * H + H

    widths, slack = draw.integers(3, H // 4, 4).tolist(), (1, V // 3, V - 1, V + H - 1)
    budgets = [(V, H, price(E) + more) for E, more in zip(widths, slack, strict=True)]
    yield Case("buys the widest table for the money", tuple(budgets), 3.0, each)
    yield Case("may spend the budget to the last number", (V, H, price(widths[0])))
    yield Case("stays below H however much there is", (V, H, 3 * price(H)))
    yield Case("stays below H where the budget would just pay for H", (V, H, price(H)))
    too_few = (V, H, price(1) - 1), (V, H, H // 2)
    yield Case("gives 0 when even E = 1 costs more", too_few, 1.0, each)
    huge = 10**16 + V
    yield Case("is exact for numbers of 17 digits", (huge, H, price(2 * H // 3, huge) - 1))


check_widest = card("assignment 03.6", widest, _widest_cases)
