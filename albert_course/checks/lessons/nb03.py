"""Cards of notebook 03: the saving, the gradient of a lookup, the factors of a table."""

import torch
from torch import Tensor

from albert_course.checks.asking import need, tensor
from albert_course.checks.engine import Case, Cases, Draw, card


def saved_parameters(V: int, E: int, H: int) -> int:
    """``saved_parameters(V, E, H)``: how many parameters fewer the V x E table and the projection
    (E x H with a bias of H) have than a V x H table; negative if they have more. When E is H there
    is no projection, and nothing is saved."""
    return V * H - (V * E + E * H + H) if E != H else 0


def _sizes(draw: Draw) -> Cases:
    V, E = draw.integer(10**6, 10**7), draw.integer(20, 60)  # the counts are exact
    yield Case("subtracts the table, the matrix and its bias", (V, E, 7 * E), 3.0)
    yield Case("is negative where factorising costs more", (V, 9 * E + 1, 9 * E))
    yield Case("is 0 when E is H", (V, E, E))


check_saved_parameters = card(
    "03.1",
    saved_parameters,
    _sizes,
    {
        "leaving out the bias of the projection": "E * H + H => E * H",
        "multiplying V*E by E*H; two matrices have the sum of their sizes": "V * E + E => V * E * E",
        "counting a projection where E is H; there is none": " if E != H else 0 => ",
        "returning what is left, not what is saved": "V * H - (V => (V",
    },
)


def lookup_gradient(token_ids: Tensor, upstream: Tensor, V: int) -> Tensor:
    """``lookup_gradient(token_ids[S], upstream[S,E], V) -> [V,E]``: the gradient that a V x E table
    receives when the rows ``token_ids`` are looked up and the gradient of the loss with respect to
    these S rows is ``upstream``."""
    return torch.zeros(V, upstream.shape[1]).index_add(0, token_ids, upstream)


def _lookups(draw: Draw) -> Cases:
    V, S, E = 12, 8, 3
    upstream, different = draw.randn(S, E), draw.integer(1, 4) + torch.arange(S).flip(0)
    repeated = 2 * draw.integers(0, 3, S)

    yield Case("puts each gradient into its token's row", (different, upstream, V), 2.0)
    yield Case("adds up where a token occurs twice", (repeated, upstream, V), 3.0)


check_lookup_gradient = card(
    "03.2",
    lookup_gradient,
    _lookups,
    {
        "overwriting the row of a token that occurs twice; its gradients must be added": ".index_add(0, token_ids, upstream) => .index_put((token_ids,), upstream)",
        "taking the mean over the places of a token; a gradient is a sum": "upstream) => upstream / token_ids.bincount(minlength=V)[token_ids, None])",
        "filling the first rows in the order of the text": "index_add(0, token_ids => index_add(0, torch.arange(len(token_ids))",
    },
)


def factors_of(table: Tensor, E: int) -> tuple[Tensor, Tensor]:
    """``factors_of(table[V,H], E) -> (narrow[V,E], project[E,H])``: two matrices whose product is
    as near to ``table`` as rank E allows (smallest sum of squared differences)."""
    left, lengths, right = torch.linalg.svd(table, full_matrices=False)
    return left[:, :E] * lengths[:E], right[:E]


def _tables(draw: Draw) -> Cases:
    V, H, E = 20, 6, 3
    free, low = draw.randn(V, H), draw.randn(V, E) @ draw.randn(E, H)

    def product(answer, table, E):
        factors = answer(table, E)
        need(isinstance(factors, tuple | list) and len(factors) == 2, "return the two factors")
        return tensor(factors[0], V, E) @ tensor(factors[1], E, H)

    yield Case("gives a table of rank E back", (low, E), 1.0, product, 1e-3)
    yield Case("is as near to any table as rank E allows", (free, E), 3.0, product, 1e-3)


check_factors_of = card(
    "03.3",
    factors_of,
    _tables,
    {
        "leaving out the singular values": " * lengths[:E] => ",
        "multiplying by the singular values twice": "right[:E] => lengths[:E, None] * right[:E]",
        "keeping the smallest singular values; the largest come first": "return left[:, -E:] * lengths[-E:], right[-E:]",
        "keeping the first E columns of the table": "return table[:, :E], torch.eye(*right.shape)[:E]",
    },
)
