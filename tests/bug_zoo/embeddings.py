"""Answers to the exercise of notebook 03 on the embedding itself, right and wrong."""

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu import AlbertConfig
from albert_edu.checks import check_factorized_embedding
from albert_edu.model.embeddings import FactorizedEmbedding
from tests.bug_zoo.zoo import right, wrong


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


@wrong(check_factorized_embedding, "norming at width H")
class NormAtH(Embedding):
    """Projects first and norms the H numbers."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        self.norm = nn.LayerNorm(H)

    def forward(self, ids, segments):
        return self.norm(self.project(self.word(ids) + self.places(ids.shape[1]) + self.segment(segments)))


@wrong(check_factorized_embedding, "narrowing the word table alone")
class WordTableAlone(Embedding):
    """Adds positions and segments after the projection."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        self.position, self.segment, self.norm = nn.Embedding(P, H), nn.Embedding(2, H), nn.LayerNorm(H)

    def forward(self, ids, segments):
        return self.norm(self.project(self.word(ids)) + self.places(ids.shape[1]) + self.segment(segments))


@wrong(check_factorized_embedding, "building the table V x H")
def wide_as_in_bert(V, E, H, P):
    return Embedding(V, H, H, P)


@wrong(check_factorized_embedding, "giving the map no bias")
class WithoutBias(Embedding):
    """A projection without a bias."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        self.project = nn.Linear(E, H, bias=False) if E != H else nn.Identity()


@wrong(check_factorized_embedding, "leaving out the norm, or")
class WithoutNorm(Embedding):
    """Adds and projects."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        self.norm = nn.Identity()


@wrong(check_factorized_embedding, "as transformers does")
class AlwaysProjected(Embedding):
    """Makes the map from H to H too."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        self.project = nn.Linear(E, H)


@wrong(check_factorized_embedding, "the normed sum is the result")
class BareWhenWide(Embedding):
    """Without a map it forgets the norm."""

    def forward(self, ids, segments):
        x = self.word(ids) + self.places(ids.shape[1]) + self.segment(segments)
        return self.project(self.norm(x)) if isinstance(self.project, nn.Linear) else x


@wrong(check_factorized_embedding, "other positions give the same vectors")
class WithoutPositions(Embedding):
    """Has the table of positions and does not use it."""

    def places(self, S):
        return 0.0


@wrong(check_factorized_embedding, "other segments give the same vectors")
class WithoutSegments(Embedding):
    """Looks every segment up as 0."""

    def forward(self, ids, segments):
        return super().forward(ids, 0 * segments)


@wrong(check_factorized_embedding, "counting positions from 1")
class PositionsFromOne(Embedding):
    """Counts as RoBERTa does, which keeps the first rows for padding."""

    def places(self, S):
        return self.position(torch.arange(S) + 1)


@wrong(check_factorized_embedding, "taking the last rows of the table of positions")
class PositionsFromTheEnd(Embedding):
    """Takes what a minus sign gives."""

    def places(self, S):
        return self.position.weight[-S:]


@wrong(check_factorized_embedding, "and nobody is told")
class PositionsClamped(Embedding):
    """Gives all tokens behind the last position its row."""

    def places(self, S):
        return self.position(torch.arange(S).clamp(max=self.position.num_embeddings - 1))


@wrong(check_factorized_embedding, "norming the word rows alone")
class WordsNormed(Embedding):
    """Norms before it adds."""

    def forward(self, ids, segments):
        return self.project(self.norm(self.word(ids)) + self.places(ids.shape[1]) + self.segment(segments))


@wrong(check_factorized_embedding, "multiplying the word rows by √E")
class WordsScaled(Embedding):
    """Lengthens the word rows."""

    def forward(self, ids, segments):
        x = self.word(ids) * self.word.embedding_dim**0.5 + self.places(ids.shape[1]) + self.segment(segments)
        return self.project(self.norm(x))


@wrong(check_factorized_embedding, "no gradient reaches word.weight")
class TableDetached(Embedding):
    """Looks up in .data."""

    def forward(self, ids, segments):
        return self.project(self.norm(self.word.weight.data[ids] + self.places(ids.shape[1]) + self.segment(segments)))


@wrong(check_factorized_embedding, "squeeze()")
class Squeezed(Embedding):
    """Loses dimensions of size 1."""

    def forward(self, ids, segments):
        return super().forward(ids, segments).squeeze()


@wrong(check_factorized_embedding, "the shape is (2, 5, 4)")
class NeverProjected(Embedding):
    """Returns what is E wide."""

    def forward(self, ids, segments):
        return self.norm(self.word(ids) + self.places(ids.shape[1]) + self.segment(segments))


@wrong(check_factorized_embedding, "you return NoneType")
class NoReturn(Embedding):
    """Forgets the return."""

    def forward(self, ids, segments):
        super().forward(ids, segments)


@wrong(check_factorized_embedding, "leaving out the segments")
class WithoutSegmentTable(Embedding):
    """Tells the segments apart by a number instead of a row."""

    def __init__(self, V, E, H, P):
        super().__init__(V, E, H, P)
        del self.segment

    def segment(self, segments):
        return segments[..., None] * torch.arange(self.word.embedding_dim)


@wrong(check_factorized_embedding, "norming three times")
class NormedThreeTimes(Embedding):
    """Norms each row before it adds them."""

    def forward(self, ids, segments):
        rows = self.word(ids), self.places(ids.shape[1]), self.segment(segments)
        return self.project(sum(self.norm(row) for row in rows))


@wrong(check_factorized_embedding, "you return dict")
def weights_alone(V, E, H, P):
    return {"word": torch.randn(V, E), "project": torch.randn(E, H)}


@wrong(check_factorized_embedding, "making nn.Linear(E, V), an untied decoder")
def second_table(V, E, H, P, bias=True, tied=False):
    module = Embedding(V, E, H, P)
    module.decoder = nn.Linear(E, V, bias)
    module.decoder.weight = module.word.weight if tied else module.decoder.weight
    return module


@wrong(check_factorized_embedding, "making a second table V x E")
def second_table_without_bias(*sizes):
    return second_table(*sizes, bias=False)


@wrong(check_factorized_embedding, "giving the scores a bias")
def scores_with_bias(*sizes):
    return second_table(*sizes, tied=True)
