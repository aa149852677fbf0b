"""Answers to the exercise of notebook 03 on the embedding itself, right and wrong."""

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu import AlbertConfig
from albert_edu.checks import check_factorized_embedding
from albert_edu.model.embeddings import FactorizedEmbedding
from tests.bug_zoo.zoo import right


@right(check_factorized_embedding)
def the_library_s(V, E, H, P):
    return FactorizedEmbedding(AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, max_positions=P, num_heads=1))


@right(check_factorized_embedding)
class OneTableAndByHand(nn.Module):
    """Bare parameters, the map the other way round, one-hot products, and the norm written out, in float64."""

    def __init__(self, V, E, H, P):
        super().__init__()
        self.bias, self.gain = (nn.Parameter(start(E).double()) for start in (torch.zeros, torch.ones))
        self.tables = nn.ParameterList(torch.randn(n, E).double() for n in (2, P, V))
        self.down = nn.ParameterList([torch.randn(E, H).double(), torch.zeros(H).double()] if E != H else [])

    def forward(self, ids, segments):
        places = torch.arange(ids.shape[1]).expand_as(ids)
        hot = zip((segments, places, ids), self.tables, strict=True)
        x = sum(F.one_hot(which, len(table)).double() @ table for which, table in hot)
        x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.gain + self.bias
        return x @ self.down[0] + self.down[1] if len(self.down) else x


class Embedding(nn.Module):
    """The right way; the wrong ones change a part of it."""

    def __init__(self, V, E, H, P):
        super().__init__()
        self.word, self.position, self.segment = nn.Embedding(V, E), nn.Embedding(P, E), nn.Embedding(2, E)
        self.norm, self.project = nn.LayerNorm(E, eps=1e-12), nn.Linear(E, H) if E != H else nn.Identity()

    def places(self, S):
        return self.position(torch.arange(S))

    def forward(self, ids, segments):
        return self.project(self.norm(self.word(ids) + self.places(ids.shape[1]) + self.segment(segments)))


right(check_factorized_embedding)(Embedding)
