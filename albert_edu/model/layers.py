"""The two halves of a transformer layer, each with its residual and its norm (notebook 02).

They are separate modules because ALBERT may share one half and not the other (Table 4).
"""

import math

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from albert_edu.config import AlbertConfig


def attention_by_hand(
    q: Float[Tensor, "B A S D"],
    k: Float[Tensor, "B A S D"],
    v: Float[Tensor, "B A S D"],
    attention_mask: Bool[Tensor, "B S"] | None = None,
) -> tuple[Float[Tensor, "B A S D"], Float[Tensor, "B A S S"]]:
    """Return the mixed values and the weights of scaled dot-product attention.

    ``attention_mask`` is False on padding. This is the version written out; the model
    uses PyTorch's fused one. Built in notebook 02, and called attend there.
    """
    D = q.shape[-1]
    scores = q @ k.transpose(-1, -2) / math.sqrt(D)  # B A S S
    if attention_mask is not None:
        scores = scores.masked_fill(~attention_mask[:, None, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


class SelfAttention(nn.Module):
    """Multi-head self-attention with residual and norm (notebook 02).

    LN(x + W_o attend(W_q x, W_k x, W_v x)): the norm comes last, as in BERT.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        H = config.hidden_size
        self.num_heads = config.num_heads
        self.query = nn.Linear(H, H)
        self.key = nn.Linear(H, H)
        self.value = nn.Linear(H, H)
        self.output = nn.Linear(H, H)
        self.attention_dropout = config.attention_dropout
        self.dropout = nn.Dropout(config.hidden_dropout)
        self.norm = nn.LayerNorm(H, eps=config.layer_norm_eps)

    def split_heads(self, x: Float[Tensor, "B S H"]) -> Float[Tensor, "B A S D"]:
        """Cut the width H into A heads of width D."""
        B, S, H = x.shape
        D = H // self.num_heads
        return x.view(B, S, self.num_heads, D).transpose(1, 2)

    def project(
        self, x: Float[Tensor, "B S H"]
    ) -> tuple[Float[Tensor, "B A S D"], Float[Tensor, "B A S D"], Float[Tensor, "B A S D"]]:
        """Return queries, keys and values, cut into heads."""
        q = self.split_heads(self.query(x))
        k = self.split_heads(self.key(x))
        v = self.split_heads(self.value(x))
        return q, k, v

    def forward(
        self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S H"]:
        q, k, v = self.project(x)
        if attention_mask is not None:
            attention_mask = attention_mask[:, None, None, :]  # B 1 1 S
        dropout = self.attention_dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout)
        return self.add_and_norm(x, mixed)

    def forward_with_weights(
        self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None
    ) -> tuple[Float[Tensor, "B S H"], Float[Tensor, "B A S S"]]:
        """Return the output and the attention weights; slower, no attention dropout."""
        q, k, v = self.project(x)
        mixed, weights = attention_by_hand(q, k, v, attention_mask)
        return self.add_and_norm(x, mixed), weights

    def add_and_norm(
        self, x: Float[Tensor, "B S H"], mixed: Float[Tensor, "B A S D"]
    ) -> Float[Tensor, "B S H"]:
        """Merge the heads, mix them by W_o, add x, and norm."""
        merged = mixed.transpose(1, 2).flatten(2)  # B S H
        change = self.dropout(self.output(merged))  # B S H
        return self.norm(x + change)


class FeedForward(nn.Module):
    """Two linear maps with a GELU between, then residual and norm (notebook 02).

    LN(x + W_2 gelu(W_1 x)), with F = 4H in between. The dropout is in the authors'
    code; transformers' ALBERT builds it and never calls it.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        H = config.hidden_size
        self.up = nn.Linear(H, config.ffn_size)
        self.activation = make_gelu(config)
        self.down = nn.Linear(config.ffn_size, H)
        self.dropout = nn.Dropout(config.hidden_dropout)
        self.norm = nn.LayerNorm(H, eps=config.layer_norm_eps)

    def forward(self, x: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        inner = self.activation(self.up(x))  # B S F
        change = self.dropout(self.down(inner))  # B S H
        return self.norm(x + change)


def make_gelu(config: AlbertConfig) -> nn.GELU:
    """Return the tanh form of the authors' code, or the exact erf form.

    They differ by at most about 5e-4.
    """
    if config.activation == "gelu_tanh":
        return nn.GELU(approximate="tanh")
    return nn.GELU()
