"""Token ids become H-wide vectors through a table that is only E wide (notebook 03)."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from albert_edu.config import AlbertConfig


class FactorizedEmbedding(nn.Module):
    """Word, segment and position rows of width E, summed and projected to H.

    Norm and dropout come first, the projection (with bias) after them, as in the
    authors' code. When E == H there is nothing to factorise and no projection, which
    makes the module BERT's embedding. Lan et al. 2019, section 3.1; notebook 03.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        E = config.embedding_size
        H = config.hidden_size
        self.word = nn.Embedding(config.vocab_size, E)
        self.position = nn.Embedding(config.max_positions, E)
        self.segment = nn.Embedding(config.num_segments, E)
        self.norm = nn.LayerNorm(E, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout)
        self.project = nn.Linear(E, H) if config.has_projection else nn.Identity()

    def forward(
        self, token_ids: Int[Tensor, "B S"], segment_ids: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B S H"]:
        S = token_ids.shape[1]
        x = self.word(token_ids) + self.segment(segment_ids)  # B S E
        x = x + self.position.weight[:S]  # B S E
        x = self.dropout(self.norm(x))  # B S E
        return self.project(x)  # B S H
