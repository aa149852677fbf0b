"""A stack of layer applications that may all be the same layer (notebook 04)."""

from collections import deque
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

    def steps(
        self,
        x: Float[Tensor, "B S H"],
        attention_mask: Bool[Tensor, "B S"] | None = None,
        beyond: int = 0,
    ) -> Iterator[Tensor]:
        """Yield x[B,S,H] after each layer application.

        ``beyond`` applies the last layer that many times more (notebook 08).
        """
        for slot in self.plan + self.plan[-1:] * beyond:
            x = self.ffn[slot.ffn](self.attention[slot.attention](x, attention_mask))
            yield x

    def forward(
        self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S H"]:
        # The queue keeps only the last state, so inference does not hold all L of them.
        return deque(self.steps(x, attention_mask), maxlen=1).pop()


def run_recomputing(
    encoder: SharedEncoder,
    x: Float[Tensor, "B S H"],
    attention_mask: Bool[Tensor, "B S"] | None = None,
) -> Float[Tensor, "B S H"]:
    """Run an encoder, and store nothing but the input of each layer application for its gradient.

    The backward pass runs each application again, with the same dropout. Notebook 10.
    """

    def layer(x: Tensor, slot: LayerSlot) -> Tensor:
        return encoder.ffn[slot.ffn](encoder.attention[slot.attention](x, attention_mask))

    for slot in encoder.plan:
        x = checkpoint(layer, x, slot, use_reentrant=False)
    return x
