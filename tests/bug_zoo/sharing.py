"""Answers to the exercise of notebook 04 on the stack that shares, right and wrong."""


from torch import nn

from albert_edu.checks import check_shared_encoder
from albert_edu.model.sharing import layer_plan
from tests.bug_zoo.zoo import right


class Encoder(nn.Module):
    """The right way, in the manner of the library."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__()
        self.plan = layer_plan(L, share)
        self.attention = nn.ModuleList(make_attention() for _ in {a for a, _ in self.plan})
        self.ffn = nn.ModuleList(make_ffn() for _ in {f for _, f in self.plan})

    def forward(self, x):
        for a, f in self.plan:
            x = self.ffn[f](self.attention[a](x))
        return x


right(check_shared_encoder)(Encoder)


@right(check_shared_encoder)
class EncoderByRemainder(nn.Module):
    """Goes round the blocks by the remainder, makes all in pairs, and calls itself for the layer before."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__()
        self.L = L
        makers = {"attention": make_attention, "ffn": make_ffn}
        self.blocks = nn.ModuleDict({half: nn.ModuleList() for half in makers})
        for half, make in makers.items():
            self.blocks[half].extend([make() for _ in range(1 if share in ("all", half) else L)])

    def forward(self, x, depth=None):
        depth = self.L if depth is None else depth
        if not depth:
            return x
        x = self.forward(x, depth - 1)
        for blocks in self.blocks.values():
            x = blocks[(depth - 1) % len(blocks)](x)
        return x
