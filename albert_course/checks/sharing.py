"""Card of notebook 04: a stack that shares."""

import copy  # noqa: F401 - edits use it

import torch
from torch import Tensor, nn

from albert_course.checks.asking import need, tensor
from albert_course.checks.engine import Case, Cases, Draw, card


class SharedEncoder(nn.Module):
    """``Encoder(make_attention, make_ffn, L, share)`` makes an nn.Module; called with x[B,S,H] it
    applies attention, then feed-forward, L times. Each call of make_attention() and make_ffn()
    makes a new block, to be called with x[B,S,H]. ``share`` is "all", "attention", "ffn" or "none":
    of a shared half there is one block, of another there are L, used in the order in which they
    were made. The blocks are the only parameters, and each tensor has one name in the
    state_dict."""

    def __init__(self, make_attention, make_ffn, L: int, share: str):
        super().__init__()
        self.L = L
        attentions = 1 if share in ("all", "attention") else L
        ffns = 1 if share in ("all", "ffn") else L
        self.attention = nn.ModuleList(make_attention() for _ in range(attentions))
        self.ffn = nn.ModuleList(make_ffn() for _ in range(ffns))

    def forward(self, x: Tensor) -> Tensor:
        for i in range(self.L):
            attention = self.attention[i % len(self.attention)]
            ffn = self.ffn[i % len(self.ffn)]
            x = ffn(attention(x))
        return x


class _Mix(nn.Module):
    """Stands for an attention block: adds a map of the tokens' mean. It has one 4 x 4 matrix."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + x.mean(1, keepdim=True) @ self.weight


class _Bend(_Mix):
    """Stands for a feed-forward block: bends each number. It has one vector of 4."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.tanh(x * self.weight)


def _stacks(draw: Draw) -> Cases:
    L, x, seed = draw.integer(3, 6), draw.randn(2, 3, 4), draw.integer(1, 10**6)

    def make(answer, share, L=L):
        chance = [torch.Generator().manual_seed(seed + half) for half in (0, 1)]
        encoder = answer(
            lambda: _Mix(torch.randn(4, 4, generator=chance[0]) / 2),
            lambda: _Bend(torch.randn(4, generator=chance[1])),
            L,
            share,
        )
        kind = type(encoder).__name__
        need(isinstance(encoder, nn.Module), f"you return {kind}, not an nn.Module")
        return encoder

    def count(answer, *shares):
        sizes = [[weight.ndim for weight in make(answer, share).parameters()] for share in shares]
        return [[size.count(2), size.count(1)] for size in sizes]

    def run(answer, share, x):
        return tensor(make(answer, share)(x), 2, 3, 4)

    def learn(answer, share, x):
        encoder = make(answer, share)
        value = encoder(x).square().sum()
        need(
            value.requires_grad, "no gradient reaches the blocks: is there a detach() or no_grad()?"
        )
        return torch.autograd.grad(value, list(encoder.parameters()), materialize_grads=True)

    def named(answer, share):
        places = [weight.data_ptr() for weight in make(answer, share).state_dict().values()]
        return len(places) - len(set(places))

    yield Case("trains one block of each half when all is shared", ("all",), 4.0, count)
    yield Case("applies attention, then feed-forward, L times", ("all", x), 3.0, run)
    yield Case("learns from all L applications", ("all", x), 2.0, learn, 1e-4)
    yield Case("names each tensor once in its state_dict", ("all",), 1.0, named)
    yield Case(
        "makes L blocks of the half that is not shared", ("attention", "ffn", "none"), 3.0, count
    )
    yield Case("applies each block once when nothing is shared", ("none", x), 1.0, run)
    yield Case("applies L blocks of attention and one feed-forward block", ("ffn", x), 1.0, run)


ATTENTION = "self.attention = nn.ModuleList("
FFN = "self.ffn = nn.ModuleList("
check_shared_encoder = card(
    "04.5",
    SharedEncoder,
    _stacks,
    {
        "copying the one block; name it again instead": (
            ATTENTION + "copy.deepcopy(block) for block in [make_attention()] * L)",
            FFN + "copy.deepcopy(block) for block in [make_ffn()] * L)",
        ),
        "making new blocks in each turn of the loop": (
            ATTENTION + "make_attention() for _ in range(L))",
            FFN + "make_ffn() for _ in range(L))",
        ),
        "keeping the blocks where nn.Module does not look, as in a plain list: use an nn.ModuleList": "nn.ModuleList( => list(",
        "sharing the attention alone": ("attentions = 1", "ffns = L"),
        "applying one layer too few": "range(self.L) => range(self.L - 1)",
        "applying a shared layer once": "range(self.L) => range(max(len(self.attention), len(self.ffn)))",
        "applying feed-forward first": "x = attention(ffn(x))",
        "applying attention L times and then feed-forward L times": (
            "x = attention(x)",
            "return x => for i in range(self.L):\n            x = "
            "self.ffn[i % len(self.ffn)](x)\n        return x",
        ),
        "adding a residual; a block has one of its own": "x = x + ffn(attention(x))",
        "leaving out the feed-forward half": "x = attention(x)",
        "leaving out the attention": "x = ffn(x)",
        "letting the last application alone learn; is there a detach() or no_grad()?": "x = ffn(attention(x.detach()))",
        "several names for one tensor: keep the block once and go round L times, not [block] * L": ATTENTION
        + "[make_attention() for _ in range(attentions)] * (L // attentions))",
        "swapping the halves: 'attention' is what is shared": (
            'attentions = 1 if share in ("all", "ffn") else L',
            'ffns = 1 if share in ("all", "attention") else L',
        ),
        "sharing both halves whatever is named, perhaps by accident: [block] * L is one block": (
            ATTENTION + "[make_attention()] * attentions)",
            FFN + "[make_ffn()] * ffns)",
        ),
        "sharing nothing unless it is all": (
            "attentions = 1 if share == 'all' else L",
            "ffns = 1 if share == 'all' else L",
        ),
        "sharing where 'none' is asked for": (
            'attentions = L if share == "ffn" else 1',
            'ffns = L if share == "attention" else 1',
        ),
        "applying the first layer L times": "i % len(self. => 0 * len(self.",
        "going through the layers backwards": "i % len(self. => -1 - i % len(self.",
    },
)
