"""The two halves of a transformer layer, each with its residual and its norm. Built in notebook 02.

They are separate modules because ALBERT may share one half and not the other (Table 4).
"""

import math

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from albert_edu.config import AlbertConfig


def attention_by_hand(
    q: Float[Tensor, "B A S D"], k: Float[Tensor, "B A S D"], v: Float[Tensor, "B A S D"],
    attention_mask: Bool[Tensor, "B S"] | None = None,
) -> tuple[Float[Tensor, "B A S D"], Float[Tensor, "B A S S"]]:
    """Scaled dot-product attention written out; returns the mixed values and the weights.

    ``attention_mask`` is False on padding.
    """
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # B A S S
    if attention_mask is not None:
        scores = scores.masked_fill(~attention_mask[:, None, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


class SelfAttention(nn.Module):
    """Multi-head self-attention, then add and norm: LN(x + W_o attend(W_q x, W_k x, W_v x))."""

    def __init__(self, config: AlbertConfig):
        super().__init__()
        H = config.hidden_size
        self.num_heads = config.num_heads
        self.query, self.key, self.value = nn.Linear(H, H), nn.Linear(H, H), nn.Linear(H, H)
        self.output = nn.Linear(H, H)
        self.attention_dropout = config.attention_dropout
        self.dropout = nn.Dropout(config.hidden_dropout)
        self.norm = nn.LayerNorm(H, eps=config.layer_norm_eps)

    def split_heads(self, x: Float[Tensor, "B S H"]) -> Float[Tensor, "B A S D"]:
        B, S, H = x.shape
        return x.view(B, S, self.num_heads, H // self.num_heads).transpose(1, 2)

    def forward(self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None) -> Float[Tensor, "B S H"]:
        q, k, v = (self.split_heads(linear(x)) for linear in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(
            q, k, v,
            attn_mask=None if attention_mask is None else attention_mask[:, None, None, :],
            dropout_p=self.attention_dropout if self.training else 0.0,
        )  # fmt: skip
        return self.add_and_norm(x, mixed)

    def forward_with_weights(self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None):
        """The same, slowly and without attention dropout: returns (output, weights[B,A,S,S])."""
        q, k, v = (self.split_heads(linear(x)) for linear in (self.query, self.key, self.value))
        mixed, weights = attention_by_hand(q, k, v, attention_mask)
        return self.add_and_norm(x, mixed), weights

    def add_and_norm(self, x: Float[Tensor, "B S H"], mixed: Float[Tensor, "B A S D"]) -> Float[Tensor, "B S H"]:
        return self.norm(x + self.dropout(self.output(mixed.transpose(1, 2).flatten(2))))


class FeedForward(nn.Module):
    """Two linear maps with a GELU between, then add and norm: LN(x + W_2 gelu(W_1 x))."""

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.ffn_size)
        self.activation = gelu(config)
        self.down = nn.Linear(config.ffn_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout)  # the original has it; transformers' ALBERT builds it and never calls it
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        return self.norm(x + self.dropout(self.down(self.activation(self.up(x)))))


def gelu(config: AlbertConfig) -> nn.GELU:
    """The original's tanh approximation, or the exact erf form; they differ by at most about 5e-4."""
    return nn.GELU(approximate="tanh" if config.activation == "gelu_tanh" else "none")
