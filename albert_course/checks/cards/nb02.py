"""Cards of notebook 02: masks, biases and blocks of attention, heads, norm, GELU, a layer.

Their known mistakes are edits in mistakes/02.txt.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import gradients, tensor
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def causal_mask(attention_mask: Tensor) -> Tensor:
    """``causal_mask(attention_mask[B,S]) -> bool [B,1,S,S]``: True where the query (row) may read
    the key (column), that is, where the key is neither padding nor after the query."""
    S = attention_mask.shape[1]
    past = torch.ones(S, S, dtype=torch.bool).tril()
    return attention_mask[:, None, None, :] & past


def _causal_mask_cases(draw: Draw) -> Cases:
    # Padding may stand in front, too.
    padded = (torch.arange(5) - torch.arange(3)[:, None]) % 5 < draw.integers(2, 5, 3, 1)
    yield Case("hides later tokens", (torch.ones(2, 4, dtype=torch.bool),))
    yield Case("hides later tokens and padding", (padded,))


check_causal_mask = make_check("notebook 02.1", causal_mask, _causal_mask_cases)


def add_block(state: tuple, scores: Tensor, values: Tensor) -> tuple:
    """``add_block((largest[S], total[S], mixed[S,D]), scores[S,K], values[K,D]) -> new state``:
    the largest score so far, and the sums of exp(score - largest) and of that times the value."""
    largest, total, mixed = state
    new = torch.maximum(largest, scores.amax(-1))
    shrink = (largest - new).exp()
    powers = (scores - new[:, None]).exp()
    return new, shrink * total + powers.sum(-1), shrink[:, None] * mixed + powers @ values


def _add_block_cases(draw: Draw) -> Cases:
    def ask(answer, scores, values):
        """The state after three blocks; each is asked for twice, as the arguments alone count."""
        S = len(scores)
        D = values.shape[1]
        state = torch.zeros(S) - torch.inf, torch.zeros(S), torch.zeros(S, D)
        for block in zip(scores.split((4, 3, 2), 1), values.split((4, 3, 2)), strict=True):
            answer(tuple(map(torch.clone, state)), *block)  # only its arguments matter
            state = answer(state, *block)
        return state

    scores = draw.randn(4, 9)
    values = draw.randn(9, 5)
    yield Case("mixes three blocks", inputs=(scores, values), ask=ask)
    yield Case("survives scores of hundreds", inputs=(200 * scores, values), ask=ask)


check_add_block = make_check("practice 02.9", add_block, _add_block_cases)


def attention(q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Tensor:
    """``attention(q, k, v, attention_mask) -> mixed[B,A,S,D]`` from q, k, v of shape [B,A,S,D] and
    bool attention_mask[B,S], False on padding: each token's mean of the values, weighted by the
    softmax of q·k/√D over the keys that are not padding. What a padding token itself gets does not
    matter. Autograd must be able to go through."""
    seen = attention_mask[:, None, None]  # B 1 1 S
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return weights @ v


def _attention_cases(draw: Draw) -> Cases:
    B = 3
    A = 2
    S = 5
    D = 6
    q, k, v = (draw.randn(B, A, S, D) for _ in range(3))
    mask = torch.arange(S) < draw.integers(2, S, B, 1)
    everyone = torch.ones(B, S, dtype=torch.bool)
    loud = torch.where(mask[:, None, :, None], v, 50 * v)  # padding must not be heard

    def real(answer, *inputs):
        """The result at the tokens that are no padding."""
        return tensor(answer(*inputs), B, A, S, D).transpose(1, 2)[mask]

    yield Case("is the weighted mean of the values", inputs=(q, k, v, everyone), weight=3.0)
    yield Case(
        "gives padding no weight: the same as without it",
        inputs=(q, k, loud, mask),
        weight=3.0,
        ask=real,
    )
    yield Case("survives scores of hundreds", inputs=(90 * q, k, v, everyone), atol=1e-2)
    yield Case(
        "can be trained on",
        inputs=(q, k, v, everyone),
        ask=gradients,
        atol=1e-3,
    )


check_attention = make_check("assignment 02.4", attention, _attention_cases)


def split_heads(x: Tensor, A: int) -> Tensor:
    """``split_heads(x[B,S,H], A) -> [B,A,S,D]`` with D = H / A: head a of a token is columns a·D to
    (a+1)·D of its row."""
    B, S, H = x.shape
    return x.reshape(B, S, A, H // A).permute(0, 2, 1, 3)


def _split_heads_cases(draw: Draw) -> Cases:
    x = draw.randn(2, 5, 12)

    yield Case("cuts each token's row into A slices", inputs=(x, 3), weight=3.0)
    yield Case("keeps four dimensions for a single token", (x[:1, :1], 3))
    yield Case("splits into any number of heads", (x, 2))
    yield Case("leaves the row as it is for one head", (x, 1))


check_split_heads = make_check("assignment 02.5", split_heads, _split_heads_cases)


def post_norm_layer(x, attend, norm1, think, norm2, drop) -> Tensor:
    """``layer(x, attend, norm1, think, norm2, drop) -> [B,S,H]``: an ALBERT layer put together from
    five functions. What a half (attend, then think) returns goes through drop and is added to what
    that half was given; norm1, then norm2, norms the sum."""
    first = drop(attend(x))
    y = norm1(x + first)
    second = drop(think(y))
    return norm2(y + second)


def _norm(gain: Tensor | None = None, bias: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    return lambda y: F.layer_norm(y, y.shape[-1:], gain, bias, 1e-12)


def _post_norm_layer_cases(draw: Draw) -> Cases:
    B = 2
    S = 4
    H = 6
    x = 2 * draw.randn(B, S, H)
    between = draw.randn(S, S)
    across = draw.randn(H, H)
    norm1, norm2 = (_norm(draw.randn(H) + 2, draw.randn(H)) for _ in range(2))

    def attend(y):
        return between @ y + 1

    def think(y):
        return torch.tanh(y @ across) + 1

    def deaf(answer, x):
        """The gradient where both halves give none, so that only the residual paths do."""
        halves = (lambda y: attend(y).detach()), (lambda y: think(y).detach())
        return gradients(lambda x: answer(x, halves[0], norm1, halves[1], norm2, lambda y: y), x)

    functions = x, attend, norm1, think, norm2
    yield Case(
        "adds and norms after each half",
        inputs=(*functions, lambda y: y),
        weight=3.0,
    )
    nothing = torch.zeros_like
    yield Case(
        "drops what both halves return, and nothing else",
        inputs=(*functions, nothing),
        weight=2.0,
    )
    yield Case("drops each half by itself", (*functions, lambda y: y * (y > 0) / 2))
    silent = x, nothing, _norm(), nothing, _norm(), lambda y: y
    yield Case("norms the input and nothing else when both halves are silent", silent)
    yield Case(
        "lets the gradient past both halves",
        inputs=(x,),
        ask=deaf,
        atol=1e-4,
    )


check_post_norm_layer = make_check("assignment 02.8", post_norm_layer, _post_norm_layer_cases)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """``layer_norm(x[...,H], gain[H], bias[H]) -> [...,H]``: each token's row minus its mean, over
    the root of its variance (divided by H) plus 1e-12, times gain, plus bias."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    normed = centred / (variance + 1e-12).sqrt()
    return normed * gain + bias


def _layer_norm_cases(draw: Draw) -> Cases:
    x = 2 * draw.randn(2, 4, 5) + 1
    gain = draw.randn(5) + 2
    bias = draw.randn(5)

    yield Case("norms each row, then gain and bias", inputs=(x, gain, bias), weight=3.0)
    yield Case("gives a token alone the same as in company", (x[:1, 1:2], gain, bias))
    yield Case("norms a single row x[H]", (x[0, 0], gain, bias))
    yield Case(
        "gives a faint row the same as a loud one",
        inputs=(x / 4000, gain, bias),
        atol=2e-3,
    )
    far = x + 3000, gain, bias
    yield Case("gives a row far from zero the same as a near one", inputs=far, atol=2e-2)
    yield Case("survives a row of equal numbers", (torch.full((1, 2, 5), 3.0), gain, bias))


check_layer_norm = make_check("assignment 02.6", layer_norm, _layer_norm_cases)


def gelu(x: Tensor) -> Tensor:
    """``gelu(x) -> tensor of x's shape``: x·Φ(x) in the form that ALBERT uses, where
    ½ + ½ tanh(√(2/π) (x + 0.044715 x³)) stands for Φ(x)."""
    cubic = x + 0.044715 * x**3
    bent = torch.tanh(math.sqrt(2 / math.pi) * cubic)
    return x * (0.5 + 0.5 * bent)


def _gelu_cases(draw: Draw) -> Cases:
    yield Case("is x·Φ(x) by the tanh form", inputs=(2 * draw.randn(3, 4, 25),), weight=3.0)
    yield Case("survives large numbers", (torch.tensor([-1e4, -200.0, 200.0, 1e4]),))
    yield Case("is 0 at 0, and takes a single number", (torch.tensor(0.0),))


check_gelu = make_check("assignment 02.7", gelu, _gelu_cases)
