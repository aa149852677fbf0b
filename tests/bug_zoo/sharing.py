"""Answers to the exercise of notebook 04 on the stack that shares, right and wrong."""

import copy

from torch import nn

from albert_edu.checks import check_shared_encoder
from albert_edu.model.sharing import layer_plan
from tests.bug_zoo.zoo import right, wrong


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


@wrong(check_shared_encoder, "copying the one block")
class EncoderOfDeepCopies(Encoder):
    """Makes one block and copies it: equal at the start, and never again."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        if share == "all":
            self.attention = nn.ModuleList(copy.deepcopy(self.attention[0]) for _ in range(L))
            self.ffn = nn.ModuleList(copy.deepcopy(self.ffn[0]) for _ in range(L))
            self.plan = layer_plan(L, "none")


@wrong(check_shared_encoder, "new blocks in each turn of the loop")
class EncoderOfNewBlocks(Encoder):
    """Shares nothing."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, "none")


@wrong(check_shared_encoder, "exchanging the halves")
class EncoderOfTheOtherHalf(Encoder):
    """Takes 'attention' for the half that is not shared."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, {"attention": "ffn", "ffn": "attention"}.get(share, share))


@wrong(check_shared_encoder, "sharing the attention alone")
class EncoderOfOneHalf(Encoder):
    """Always shares the attention and never the rest."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, "attention")


@wrong(check_shared_encoder, "unless it is all")
class EncoderAllOrNothing(Encoder):
    """Knows no halves."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, "all" if share == "all" else "none")


@wrong(check_shared_encoder, "[block] * L holds one block L times")
class EncoderSharedByAccident(Encoder):
    """Multiplies a list where it should make blocks."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, "all")
        if share != "all":
            self.attention, self.ffn = (nn.ModuleList([*blocks] * L) for blocks in (self.attention, self.ffn))
            self.plan = layer_plan(L, "none")


@wrong(check_shared_encoder, "keep the block once and go round L times")
class EncoderOfManyNames(Encoder):
    """Shares by a list of L times the same block."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        self.attention, self.ffn = (nn.ModuleList([*blocks] * (L // len(blocks))) for blocks in (self.attention, self.ffn))
        self.plan = layer_plan(L, "none")


@wrong(check_shared_encoder, "as in a plain list")
class EncoderInAList(Encoder):
    """Hides its blocks from parameters()."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        attention, ffn = [*self.attention], [*self.ffn]
        del self.attention, self.ffn
        self.attention, self.ffn = attention, ffn


@wrong(check_shared_encoder, "one layer too few")
class EncoderTooShort(Encoder):
    """Loses a layer."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        self.plan = self.plan[:-1]


@wrong(check_shared_encoder, "one layer too many")
class EncoderTooLong(Encoder):
    """Goes round once more than asked."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        self.plan = self.plan + self.plan[-1:]


@wrong(check_shared_encoder, "applying a shared layer once")
class EncoderOfOneStep(Encoder):
    """Loops over its blocks instead of its layers."""

    def forward(self, x):
        for attention, ffn in zip(self.attention, self.ffn, strict=False):
            x = ffn(attention(x))
        return x


@wrong(check_shared_encoder, "feed-forward first")
class EncoderBackToFront(Encoder):
    """Exchanges the two halves of a layer."""

    def forward(self, x):
        for a, f in self.plan:
            x = self.attention[a](self.ffn[f](x))
        return x


@wrong(check_shared_encoder, "and then feed-forward L times")
class EncoderHalfAfterHalf(Encoder):
    """Has two loops where there should be one."""

    def forward(self, x):
        for a, _ in self.plan:
            x = self.attention[a](x)
        for _, f in self.plan:
            x = self.ffn[f](x)
        return x


@wrong(check_shared_encoder, "applying the first layer L times")
class EncoderOfTheFirstLayer(Encoder):
    """Makes L blocks and uses one."""

    def forward(self, x):
        for _ in self.plan:
            x = self.ffn[0](self.attention[0](x))
        return x


@wrong(check_shared_encoder, "going through the layers backwards")
class EncoderBackwards(Encoder):
    """Begins with the last layer."""

    def __init__(self, make_attention, make_ffn, L, share):
        super().__init__(make_attention, make_ffn, L, share)
        self.plan = self.plan[::-1]


@wrong(check_shared_encoder, "is there a detach()")
class EncoderDetached(Encoder):
    """Cuts the path behind every layer."""

    def forward(self, x):
        for a, f in self.plan:
            x = self.ffn[f](self.attention[a](x.detach()))
        return x


@wrong(check_shared_encoder, "leaving out the feed-forward half")
class EncoderWithoutFfn(Encoder):
    """Forgets the second half."""

    def forward(self, x):
        for a, _ in self.plan:
            x = self.attention[a](x)
        return x


@wrong(check_shared_encoder, "is the return missing?")
class EncoderWithoutReturn(Encoder):
    """Forgets the return."""

    def forward(self, x):
        super().forward(x)


@wrong(check_shared_encoder, "applying the last layer L times")
class EncoderOfTheLastLayer(Encoder):
    """Keeps using the block that the loop made last."""

    def forward(self, x):
        for _ in self.plan:
            x = self.ffn[-1](self.attention[-1](x))
        return x


@wrong(check_shared_encoder, "you return function")
def encoder_without_a_class(make_attention, make_ffn, L, share):
    return Encoder(make_attention, make_ffn, L, share).forward.__func__
