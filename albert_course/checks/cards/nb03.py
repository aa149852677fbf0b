"""Cards of notebook 03: the gradient of a lookup, factors, a factorised embedding.

Their known mistakes are edits in mistakes/03.txt.
"""

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import learns, made, output, parameters, tensor
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def lookup_gradient(token_ids: Tensor, upstream: Tensor, V: int) -> Tensor:
    """``lookup_gradient(token_ids[S], upstream[S,E], V) -> [V,E]``: the gradient that a V x E table
    receives when the rows ``token_ids`` are looked up and the gradient of the loss with respect to
    these S rows is ``upstream``."""
    return torch.zeros(V, upstream.shape[1]).index_add(0, token_ids, upstream)


def _lookup_gradient_cases(draw: Draw) -> Cases:
    V = 12
    S = 8
    E = 3
    upstream = draw.randn(S, E)
    different = draw.integer(1, 4) + torch.arange(S).flip(0)
    repeated = 2 * draw.integers(0, 3, S)

    yield Case(
        "puts each gradient into its token's row",
        inputs=(different, upstream, V),
        weight=2.0,
    )
    yield Case(
        "adds up where a token occurs twice",
        inputs=(repeated, upstream, V),
        weight=3.0,
    )


check_lookup_gradient = make_check("notebook 03.2", lookup_gradient, _lookup_gradient_cases)


def factors_of(table: Tensor, E: int) -> tuple[Tensor, Tensor]:
    """``factors_of(table[V,H], E) -> (narrow[V,E], project[E,H])``: two matrices whose product is
    as near to ``table`` as rank E allows (smallest sum of squared differences)."""
    left, lengths, right = torch.linalg.svd(table, full_matrices=False)
    return left[:, :E] * lengths[:E], right[:E]


def _factors_of_cases(draw: Draw) -> Cases:
    V = 20
    H = 6
    E = 3
    free = draw.randn(V, H)
    low = draw.randn(V, E) @ draw.randn(E, H)

    def product(answer, table, E):
        """The table that the two factors give."""
        narrow, project = answer(table, E)
        return tensor(narrow, V, E) @ tensor(project, E, H)

    yield Case(
        "gives a table of rank E back",
        inputs=(low, E),
        ask=product,
        atol=1e-3,
    )
    yield Case(
        "is as near to any table as rank E allows",
        inputs=(free, E),
        weight=3.0,
        ask=product,
        atol=1e-3,
    )


check_factors_of = make_check("notebook 03.3", factors_of, _factors_of_cases)


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
    B = 2
    S = 5
    E = 4
    H = 6
    P = 9
    V = draw.integer(20, 30)
    ids = draw.integers(1, V, B, S)
    segments = torch.tensor([[0] * S, [0, 0, 1, 1, 1]])
    sizes = (V, E, H, P)
    bert = (V, H, H, P)

    def refuses(answer, sizes, ids):
        """Whether the module raises an error for these ids."""
        module = made(answer, *sizes)
        try:
            module(ids, 0 * ids)
        except Exception:
            return True
        return False

    yield Case(
        "adds, norms and maps, in this order",
        inputs=(sizes, ids, segments),
        weight=3.0,
        ask=output,
        atol=5e-3,
    )
    yield Case(
        "has the parameters of a factorised embedding",
        inputs=(sizes,),
        weight=2.0,
        ask=parameters,
    )
    yield Case("can be trained on", inputs=(sizes, ids, segments), ask=learns)
    first = sizes, ids[:1, :1], segments[:1, :1]
    yield Case(
        "gives a first token alone the same",
        inputs=first,
        ask=output,
        atol=5e-3,
    )
    full = draw.integers(1, V, 1, P)
    yield Case(
        "takes as many tokens as there are positions",
        inputs=(sizes, full, 0 * full),
        ask=output,
        atol=5e-3,
    )
    yield Case(
        "refuses too many tokens",
        inputs=(sizes, torch.ones(1, P + 1).long()),
        ask=refuses,
    )
    yield Case(
        "has no map when E is H",
        inputs=(bert,),
        weight=2.0,
        ask=parameters,
    )
    yield Case(
        "is BERT's embedding when E is H",
        inputs=(bert, ids, segments),
        ask=output,
        atol=5e-3,
    )


check_factorized_embedding = make_check("assignment 03.4", FactorizedEmbedding, _embedding_cases)
