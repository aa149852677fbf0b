"""Card of notebook 03: a narrow table with its projection."""

import torch
from torch import Tensor, nn

from albert_course.checks.asking import learns, made, output, parameters
from albert_course.checks.engine import Case, Cases, Draw, card


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


def _batches(draw: Draw) -> Cases:
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
    yield Case(
        "gives a first token alone what it gets in company",
        (sizes, ids[:1, :1], segments[:1, :1]),
        1.0,
        output,
        5e-3,
    )
    yield Case(
        "refuses more tokens than it has positions",
        (sizes, torch.ones(1, P + 1).long()),
        1.0,
        refuses,
    )
    yield Case("has no map when E is H", (bert,), 2.0, parameters)
    yield Case("is BERT's embedding when E is H", (bert, ids, segments), 1.0, output, 5e-3)


check_factorized_embedding = card(
    "03.4",
    FactorizedEmbedding,
    _batches,
    {
        "norming at width H, after the map; the norm comes first, at width E": (
            "self.norm = nn.LayerNorm(H)",
            "x = x",
            "return self.norm(self.project(x))",
        ),
        "building the table V x H": lambda V, E, H, P: FactorizedEmbedding(V, H, H, P),
        "leaving out the map: the shape is that of the table": "self.project = nn.Identity()",
        "giving the map no bias": "nn.Linear(E, H) => nn.Linear(E, H, bias=False)",
        "leaving out the norm, or its gain and bias": "self.norm = nn.Identity()",
        "norming without gain and bias": "eps=1e-12 => elementwise_affine=False",
        "norming the word rows alone, before the others are added": (
            "words = self.norm(self.words(token_ids))",
            "x = x",
        ),
        "norming three times, before the rows are added": "x = self.norm(words) + self.norm(places) + self.norm(sides)",
        "leaving out the positions: other positions give the same vectors": "words + places => words",
        "leaving out the segments: other segments give the same vectors": "places + sides => places",
        "giving all tokens segment 0: other segments give the same vectors": "sides = self.sides(0 * segment_ids)",
        "leaving out the table of positions": ("self.places = nn.Identity()", "places = 0"),
        "counting positions along the batch instead of along the row": "places = self.places(torch.arange(len(token_ids)))[:, None]",
        "counting positions from 1": "places = self.places(torch.arange(token_ids.shape[1]) + 1)",
        "multiplying the word rows by √E, as the first transformer did": "words = self.words.embedding_dim**0.5 * self.words(token_ids)",
        "letting tokens behind the last position share a row, and nobody is told": "places = self.places(torch.arange(token_ids.shape[1]).clamp(max=8))",
        "making a map from H to H where E is H, as transformers does": "self.project = nn.Linear(E, H)",
        "leaving out the norm where E is H; there the normed sum is the result": "self.norm = nn.LayerNorm(E) if E != H else nn.Identity()",
        "detaching the word rows: no gradient reaches word.weight": "words = self.words(token_ids).detach()",
        "taking away every dimension of size 1, with squeeze()": "return self.project(x).squeeze()",
        "adding GELU or tanh behind the map": "return self.project(x).tanh()",
        "mixing the tokens of a row": "x = self.norm(x.mean(1, keepdim=True).expand_as(x))",
    },
)
