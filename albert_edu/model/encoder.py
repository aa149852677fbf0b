"""A stack of layer applications that may all be the same layer. Built in notebook 04."""

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor, nn

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import FeedForward, SelfAttention
from albert_edu.model.sharing import layer_plan


class SharedEncoder(nn.Module):
    """Apply L layers drawn from as few blocks as the plan asks for.

    Sharing is nothing but naming the same module twice: autograd adds up the gradients of all its applications.
    """

    def __init__(self, config: AlbertConfig):
        super().__init__()
        self.plan = layer_plan(config.num_layers, config.share, config.num_groups)
        self.attention = nn.ModuleList(SelfAttention(config) for _ in range(1 + max(slot.attention for slot in self.plan)))
        self.ffn = nn.ModuleList(FeedForward(config) for _ in range(1 + max(slot.ffn for slot in self.plan)))

    def steps(
        self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None, beyond: int = 0
    ) -> Iterator[Tensor]:
        """Yield x after each layer application; ``beyond`` repeats the last layer that many times more (notebook 08)."""
        for slot in self.plan + self.plan[-1:] * beyond:
            x = self.ffn[slot.ffn](self.attention[slot.attention](x, attention_mask))
            yield x

    def forward(self, x: Float[Tensor, "B S H"], attention_mask: Bool[Tensor, "B S"] | None = None) -> Float[Tensor, "B S H"]:
        *_, last = self.steps(x, attention_mask)
        return last
