"""What pre-training asks of the hidden states: the hidden pieces (notebook 05) and the order of two segments (notebook 06)."""

from jaxtyping import Float
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import gelu


class MaskedTokenHead(nn.Module):
    """H back to E, GELU, norm, then a score for each of the V pieces with the embedding table itself, plus a bias.

    The table is tied: it is the very Parameter of the embeddings, so the decoder costs V numbers (the bias), not V*E.
    """

    def __init__(self, config: AlbertConfig, word_embedding: nn.Embedding):
        super().__init__()
        E = config.embedding_size
        self.dense = nn.Linear(config.hidden_size, E)
        self.activation = gelu(config)
        self.norm = nn.LayerNorm(E, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(E, config.vocab_size)
        self.decoder.weight = word_embedding.weight

    def forward(self, hidden: Float[Tensor, "*N H"]) -> Float[Tensor, "*N V"]:
        return self.decoder(self.norm(self.activation(self.dense(hidden))))


class SentenceOrderHead(nn.Linear):
    """Two scores from the pooled [CLS]: 0 in order, 1 swapped (SOP) or from another document (NSP)."""

    def __init__(self, config: AlbertConfig):
        super().__init__(config.hidden_size, 2)
