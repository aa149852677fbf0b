"""A stack of layer applications that may all be the same layer (notebook 04)."""

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import FeedForward, SelfAttention
from albert_edu.model.sharing import LayerSlot, layer_plan


class SharedEncoder(nn.Module):
    """Run L layer applications with as few blocks as the plan needs.

    A layer is shared when the loop uses its blocks more than once. Autograd then adds
    up the gradients of all its applications. Lan et al. 2019, section 3.1; notebook 04.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.plan = layer_plan(config.num_layers, config.share, config.num_groups)
        attention_blocks = 1 + max(slot.attention for slot in self.plan)
        ffn_blocks = 1 + max(slot.ffn for slot in self.plan)
        self.attention = nn.ModuleList(SelfAttention(config) for _ in range(attention_blocks))
        self.ffn = nn.ModuleList(FeedForward(config) for _ in range(ffn_blocks))
        # If True, the backward pass computes each application again, with the same dropout, because
        # only its input was stored. Notebook 10.
        self.gradient_checkpointing = False

    def layer(
        self, x: Float[Tensor, "B S H"], slot: LayerSlot, attention_mask: Bool[Tensor, "B S"] | None
    ) -> Float[Tensor, "B S H"]:
        """Apply the two blocks of a slot: attention, then the feed-forward block."""
        attention = self.attention[slot.attention]
        ffn = self.ffn[slot.ffn]
        return ffn(attention(x, attention_mask))

    def steps(
        self,
        x: Float[Tensor, "B S H"],
        attention_mask: Bool[Tensor, "B S"] | None = None,
        beyond: int = 0,
    ) -> Iterator[Tensor]:
        """Yield x[B,S,H] after each layer application.

        ``beyond`` applies the last layer that many times more (notebook 08).
        """
        more = [self.plan[-1]] * beyond
        for slot in (*self.plan, *more):
            if self.gradient_checkpointing:
                x = checkpoint(self.layer, x, slot, attention_mask, use_reentrant=False)
            else:
                x = self.layer(x, slot, attention_mask)
            yield x

    def forward(
        self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S H"]:
        for state in self.steps(x, attention_mask):
            x = state  # only the last one is kept, so inference does not hold all L of them
        return x
