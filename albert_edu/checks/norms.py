"""Cards of notebook 02: layer norm, and GELU."""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_edu.checks.asking import tensor
from albert_edu.checks.engine import Case, Draw, card


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """``layer_norm(x[B,S,H], gain[H], bias[H]) -> [B,S,H]``: each token's row minus its mean, over
    the root of its variance (divided by H) plus 1e-12, times gain, plus bias."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred / (variance + 1e-12).sqrt() * gain + bias


def _tokens(draw: Draw) -> Iterator[Case]:
    x, gain, bias = 2 * draw.randn(2, 4, 5) + 1, draw.randn(5) + 2, draw.randn(5)

    def ask(answer, x, gain, bias):
        return tensor(answer(x, gain, bias), *x.shape)

    yield Case("norms each row, then gain and bias", (x, gain, bias), 3.0, ask)
    yield Case("gives a token alone the same as in company", (x[:1, 1:2], gain, bias), 1.0, ask,
               reason="a token's result depends on its neighbours")
    yield Case("gives a faint row the same as a loud one", (x / 4000, gain, bias), 1.0, ask, 2e-3,
               "the eps is 1e-12, added to the variance")
    yield Case("gives a row far from zero the same as a near one", (x + 3000, gain, bias), 1.0, ask,
               2e-2, "its mean leaves a trace: subtract it first (mean of squares minus square of "
               "mean loses all digits here)")
    yield Case("survives a row of equal numbers", (torch.full((1, 2, 5), 3.0), gain, bias), 1.0,
               ask, reason="0 / 0: add 1e-12 to the variance")


check_layer_norm = card("02.6", layer_norm, _tokens, {
    "dividing by H - 1 in the variance, torch's default":
        "centred.square().mean(-1, keepdim=True) => x.var(-1, keepdim=True)",
    "dividing by the variance instead of its root": ".sqrt() => ",
    "leaving the mean in the row (RMSNorm)": "x - x.mean(-1, keepdim=True) => x",
    "leaving the mean in the row, though it was taken out of the variance": "centred / => x /",
    "norming each column over all tokens (batch norm)": "mean(-1, => mean((0, 1),",
    "norming over the tokens of a sequence (dim=1) instead of a token's numbers":
        "mean(-1, => mean(1,",
    "norming the whole batch at once": "mean(-1, => mean((0, 1, 2),",
    "forgetting gain and bias": " * gain + bias => ",
    "forgetting the bias": " + bias => ",
    "forgetting the gain": " * gain => ",
    "adding the bias before the gain multiplies":
        "centred / (variance + 1e-12).sqrt() * gain + bias => (centred / (variance + 1e-12).sqrt() "
        "+ bias) * gain",
    "using eps = 1e-5, PyTorch's default; ALBERT's is 1e-12": "1e-12 => 1e-5",
    "0 / 0: add 1e-12 to the variance": " + 1e-12 => ",
    "mean of squares minus square of mean loses all digits far from zero":
        "centred.square().mean(-1, keepdim=True) => x.square().mean(-1, keepdim=True) - x.mean(-1, "
        "keepdim=True).square()",
    "adding 1e-12 to the root, behind the root of the variance":
        "(variance + 1e-12).sqrt() => (variance.sqrt() + 1e-4)",
})


def gelu(x: Tensor) -> Tensor:
    """``gelu(x) -> tensor of x's shape``: x·Φ(x) in the form that ALBERT uses, where
    ½ + ½ tanh(√(2/π) (x + 0.044715 x³)) stands for Φ(x)."""
    bent = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return x * (0.5 + 0.5 * bent)


def _numbers(draw: Draw) -> Iterator[Case]:
    def ask(answer, x):
        return tensor(answer(x), *x.shape)

    yield Case("is x·Φ(x) by the tanh form", (2 * draw.randn(3, 4, 25),), 3.0, ask)
    yield Case("survives large numbers", (torch.tensor([-1e4, -200.0, 200.0, 1e4]),), 1.0, ask,
               reason="e to the 89 overflows and inf / inf is NaN; use torch.tanh")
    yield Case("is 0 at 0, and takes a single number", (torch.tensor(0.0),), 1.0, ask)


check_gelu = card("02.7", gelu, _numbers, {
    "using the exact form with erf, 'gelu' in transformers; ALBERT's is 'gelu_new'":
        lambda x: F.gelu(x),
    "using x·sigmoid(1.702 x), a third form": lambda x: x * (1.702 * x).sigmoid(),
    "using SiLU, x·sigmoid(x)": lambda x: F.silu(x),
    "using ReLU": lambda x: F.relu(x),
    "forgetting the ½": "(0.5 + 0.5 * bent) => (1 + bent)",
    "halving only one of the two terms": "(0.5 + 0.5 * bent) => (1 + 0.5 * bent)",
    "subtracting where Φ adds": "0.5 + 0.5 => 0.5 - 0.5",
    "returning Φ(x) alone, without the x": "return x * => return",
    "taking 2/π without its root": "math.sqrt(2 / math.pi) => 2 / math.pi",
    "leaving out √(2/π)": "math.sqrt(2 / math.pi) * => ",
    "squaring where x is to be cubed": "x**3 => x**2",
    "leaving out the cubic term": " + 0.044715 * x**3 => ",
    "multiplying 0.044715 with the sum, not with x³ alone":
        "(x + 0.044715 * x**3) => 0.044715 * (x + x**3)",
    "using sigmoid where the formula has tanh": "torch.tanh( => torch.sigmoid(",
    "e to the 89 overflows and inf / inf is NaN; use torch.tanh":
        ("torch.tanh(math.sqrt => (math.sqrt", "return x * (0.5 + 0.5 * bent) => return x * (0.5 + "
         "0.5 * (bent.exp() - (-bent).exp()) / (bent.exp() + (-bent).exp()))"),
})
