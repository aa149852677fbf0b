"""The two heads of pre-training: masked tokens (notebook 05), sentence order (notebook 06)."""

from jaxtyping import Float
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import make_gelu


class MaskedTokenHead(nn.Module):
    """From H back to E, GELU, norm, then a logit for each of the V tokens.

    The logits are products with the embedding table, plus a bias. The table is tied:
    it is the Parameter of the embeddings itself, so that the decoder costs V numbers
    (the bias) and not V*E. Section 3.1; notebook 05.
    """

    def __init__(self, config: AlbertConfig, word_embedding: nn.Embedding):
        super().__init__()
        E = config.embedding_size
        self.dense = nn.Linear(config.hidden_size, E)
        self.activation = make_gelu(config)
        self.norm = nn.LayerNorm(E, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(E, config.vocab_size)
        self.decoder.weight = word_embedding.weight

    def forward(self, hidden: Float[Tensor, "*N H"]) -> Float[Tensor, "*N V"]:
        x = self.activation(self.dense(hidden))  # N E
        return self.decoder(self.norm(x))  # N V


class SentenceOrderHead(nn.Linear):
    """Two logits from the pooled vector of [CLS], [B,H] to [B,2] (nb 06).

    Label 0 is in order, 1 is swapped (SOP) or from another document (NSP).
    """

    def __init__(self, config: AlbertConfig):
        super().__init__(config.hidden_size, 2)
