"""Cards of notebook 04: gradients of tied layers, and an encoder that shares its blocks.

Their known mistakes are edits in mistakes/04.txt.
"""

from functools import partial

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import gradients, need, tensor
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def tie_gradients(layers: list[nn.Module]) -> None:
    """``tie_gradients(layers)``: the layers have equal parameters, and each parameter has a
    ``.grad`` of its own. Afterwards the ``.grad`` of each parameter is the sum over all layers, in
    a tensor of its own. Nothing is returned."""
    for same in zip(*(layer.parameters() for layer in layers), strict=True):
        total = sum(weight.grad for weight in same)
        for weight in same:
            weight.grad = total.clone()


def _tie_gradients_cases(draw: Draw) -> Cases:
    def tied(answer, size, gradients):
        """What an optimizer sees afterwards, clipped: the gradients, then the weights."""
        layers = [nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) for _ in gradients[::4]]
        weights = [weight for layer in layers for weight in layer.parameters()]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        answer(layers)
        nn.utils.clip_grad_norm_(weights, size)
        return [weight.grad for weight in weights] + weights

    drawn = [draw.randn(*shape) for _ in range(draw.integer(3, 6)) for shape in ((3, 3), (3,)) * 2]
    yield Case(
        "gives each weight and each bias the sum",
        inputs=(1e9, drawn),
        weight=2.0,
        ask=tied,
    )
    yield Case("leaves gradients that can be clipped", inputs=(0.1, drawn), ask=tied)


check_tie_gradients = make_check("notebook 04.3", tie_gradients, _tie_gradients_cases)


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


class _Block(nn.Module):
    """Stands for a block. One with a matrix adds a map of the tokens' mean, as attention does; one
    with a vector bends each number, as feed-forward does."""

    def __init__(self, *shape: int, chance: torch.Generator):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape, generator=chance) / 2)

    def forward(self, x: Tensor) -> Tensor:
        mixes = self.weight.ndim == 2
        return x + (x.mean(1, keepdim=True) @ self.weight if mixes else torch.tanh(x * self.weight))


def _shared_encoder_cases(draw: Draw) -> Cases:
    L = draw.integer(3, 6)
    x = draw.randn(2, 3, 4)
    seed = draw.integer(1, 10**6)

    def make(answer, share, L=L):
        """The encoder that an answer makes of blocks with numbers of their own."""
        attention, ffn = (torch.Generator().manual_seed(seed + half) for half in (0, 1))
        halves = partial(_Block, 4, 4, chance=attention), partial(_Block, 4, chance=ffn)
        encoder = answer(*halves, L, share)
        kind = type(encoder).__name__
        need(isinstance(encoder, nn.Module), f"you return {kind}, not an nn.Module")
        return encoder

    def count(answer, *shares):
        """How many matrices and how many vectors there are with each kind of sharing."""
        sizes = [[weight.ndim for weight in make(answer, share).parameters()] for share in shares]
        return [[size.count(2), size.count(1)] for size in sizes]

    def run(answer, share, x):
        """The output of the encoder."""
        return tensor(make(answer, share)(x), 2, 3, 4)

    def learn(answer, share, x):
        """The gradients of the input and of the parameters."""
        return gradients(make(answer, share), x)

    def named(answer, share):
        """How many names of the state dict lead to a tensor that has a name already."""
        places = [weight.data_ptr() for weight in make(answer, share).state_dict().values()]
        return len(places) - len(set(places))

    yield Case(
        "trains one block of each half when all is shared",
        inputs=("all",),
        weight=4.0,
        ask=count,
    )
    yield Case(
        "applies attention, then feed-forward, L times",
        inputs=("all", x),
        weight=3.0,
        ask=run,
    )
    yield Case(
        "learns from all L applications",
        inputs=("all", x),
        weight=2.0,
        ask=learn,
        atol=1e-4,
    )
    yield Case("names each tensor once in its state_dict", inputs=("all",), ask=named)
    halves = "attention", "ffn", "none"
    yield Case(
        "makes L blocks of the half that is not shared",
        inputs=halves,
        weight=3.0,
        ask=count,
    )
    yield Case(
        "applies each block once when nothing is shared",
        inputs=("none", x),
        ask=run,
    )
    yield Case(
        "applies L blocks of attention and one feed-forward block",
        inputs=("ffn", x),
        ask=run,
    )


check_shared_encoder = make_check("assignment 04.5", SharedEncoder, _shared_encoder_cases)
