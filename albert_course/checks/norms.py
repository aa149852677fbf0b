"""Cards of notebook 02: layer norm, and GELU."""

import math

import torch
import torch.nn.functional as F  # noqa: F401 - edits use it
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """``layer_norm(x[B,S,H], gain[H], bias[H]) -> [B,S,H]``: each token's row minus its mean, over
    the root of its variance (divided by H) plus 1e-12, times gain, plus bias."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    normed = centred / (variance + 1e-12).sqrt()
    return normed * gain + bias


def _tokens(draw: Draw) -> Cases:
    x, gain, bias = 2 * draw.randn(2, 4, 5) + 1, draw.randn(5) + 2, draw.randn(5)

    yield Case("norms each row, then gain and bias", (x, gain, bias), 3.0)
    yield Case("gives a token alone the same as in company", (x[:1, 1:2], gain, bias))
    yield Case("gives a faint row the same as a loud one", (x / 4000, gain, bias), atol=2e-3)
    yield Case(
        "gives a row far from zero the same as a near one", (x + 3000, gain, bias), atol=2e-2
    )
    yield Case("survives a row of equal numbers", (torch.full((1, 2, 5), 3.0), gain, bias))


check_layer_norm = card(
    "02.6",
    layer_norm,
    _tokens,
    {
        "dividing by H - 1 in the variance, torch's default": "variance = x.var(-1, keepdim=True)",
        "dividing by the variance instead of its root": ".sqrt() => ",
        "leaving the mean in the row (RMSNorm)": "centred = x",
        "leaving the mean in the row, though not in the variance": "centred / => x /",
        "norming each column over all tokens (batch norm)": "mean(-1, => mean((0, 1),",
        "norming over the tokens (dim=1) instead of a token's numbers": "mean(-1, => mean(1,",
        "norming a whole sequence at once": "mean(-1, => mean((1, 2),",
        "norming the whole batch at once": "mean(-1, => mean((0, 1, 2),",
        "forgetting gain and bias": "return normed",
        "forgetting the bias": "return normed * gain",
        "forgetting the gain": "return normed + bias",
        "adding the bias before the gain multiplies": "return (normed + bias) * gain",
        "using eps = 1e-5, PyTorch's default; ALBERT's is 1e-12": "1e-12 => 1e-5",
        "0 / 0: add 1e-12 to the variance": " + 1e-12 => ",
        "mean of squares minus square of mean loses all digits far from zero": "variance = x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()",
        "adding eps behind the root of the variance": "normed = centred / (variance.sqrt() + 1e-4)",
    },
)


def gelu(x: Tensor) -> Tensor:
    """``gelu(x) -> tensor of x's shape``: x·Φ(x) in the form that ALBERT uses, where
    ½ + ½ tanh(√(2/π) (x + 0.044715 x³)) stands for Φ(x)."""
    cubic = x + 0.044715 * x**3
    bent = torch.tanh(math.sqrt(2 / math.pi) * cubic)
    return x * (0.5 + 0.5 * bent)


def _numbers(draw: Draw) -> Cases:
    yield Case("is x·Φ(x) by the tanh form", (2 * draw.randn(3, 4, 25),), 3.0)
    yield Case("survives large numbers", (torch.tensor([-1e4, -200.0, 200.0, 1e4]),))
    yield Case("is 0 at 0, and takes a single number", (torch.tensor(0.0),))


check_gelu = card(
    "02.7",
    gelu,
    _numbers,
    {
        "using the exact form with erf; ALBERT's is 'gelu_new'": "return F.gelu(x)",
        "using x·sigmoid(1.702 x), a third form": "return x * (1.702 * x).sigmoid()",
        "using SiLU, x·sigmoid(x)": "return F.silu(x)",
        "using ReLU": "return F.relu(x)",
        "forgetting the ½": "return x * (1 + bent)",
        "halving only one of the two terms": "return x * (1 + 0.5 * bent)",
        "halving only the first term, not tanh": "return x * (0.5 + bent)",
        "multiplying tanh by √(2/π), not what is inside": "bent = (2 / math.pi)**0.5 * cubic.tanh()",
        "taking √2 / π for √(2/π)": "sqrt(2 / math.pi) => sqrt(2) / math.pi",
        "writing 0.44715 for 0.044715": "0.044715 => 0.44715",
        "subtracting where Φ adds": "return x * (0.5 - 0.5 * bent)",
        "returning Φ(x) alone, without the x": "return 0.5 + 0.5 * bent",
        "taking 2/π without its root": "math.sqrt(2 / math.pi) => 2 / math.pi",
        "leaving out √(2/π)": "bent = torch.tanh(cubic)",
        "squaring where x is to be cubed": "x**3 => x**2",
        "leaving out the cubic term": "cubic = x",
        "subtracting the cubic term": "cubic = x - 0.044715 * x**3",
        "multiplying 0.044715 with the sum, not with x³ alone": "cubic = 0.044715 * (x + x**3)",
        "using sigmoid where the formula has tanh": "torch.tanh( => torch.sigmoid(",
        "e to the 89 overflows and inf / inf is NaN; use torch.tanh": (
            "torch.tanh => ",
            "0.5 * bent => 0.5 * (bent.exp() - (-bent).exp()) / (bent.exp() + (-bent).exp())",
        ),
    },
)
