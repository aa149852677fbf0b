"""Cards of notebook 02: attention, heads, the norm, GELU, and how a layer is put together."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.asking import gradients, tensor
from albert_course.checks.engine import Case, Cases, Draw, card


def attention(q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Tensor:
    """``attention(q, k, v, attention_mask) -> mixed[B,A,S,D]`` from q, k, v of shape [B,A,S,D] and
    bool attention_mask[B,S], False on padding: each token's mean of the values, weighted by the
    softmax of q·k/√D over the keys that are not padding. What a padding token itself gets does not
    matter. Autograd must be able to go through."""
    seen = attention_mask[:, None, None]  # B 1 1 S
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return weights @ v


def _heads(draw: Draw) -> Cases:
    B, A, S, D = 3, 2, 5, 6
    q, k, v = (draw.randn(B, A, S, D) for _ in range(3))
    mask, everyone = torch.arange(S) < draw.integers(2, S, B, 1), torch.ones(B, S, dtype=torch.bool)
    loud = torch.where(mask[:, None, :, None], v, 50 * v)  # padding must not be heard

    def real(answer, *inputs):
        return tensor(answer(*inputs), B, A, S, D).transpose(1, 2)[mask]

    yield Case("is the weighted mean of the values", (q, k, v, everyone), 3.0)
    yield Case("gives padding no weight: the same as without it", (q, k, loud, mask), 3.0, real)
    yield Case("survives scores of hundreds", (90 * q, k, v, everyone), atol=1e-2)
    yield Case("can be trained on", (q, k, v, everyone), 1.0, gradients, 1e-3)


check_attention = card(
    "02.4",
    attention,
    _heads,
    {
        "not dividing the scores by √D": "scores = q @ k.mT",
        "dividing by D instead of its root": "scores = q @ k.mT / q.shape[-1]",
        "dividing by √H, the whole width": "scores = q @ k.mT / math.sqrt(q.shape[1] * q.shape[-1])",
        "dividing by √S, the number of tokens": "math.sqrt(q.shape[-1] => math.sqrt(q.shape[-2]",
        "swapping keys and values": ("q @ k.mT => q @ v.mT", "return weights @ k"),
        "multiplying -inf by 0, which is NaN; masked_fill does not multiply": "weights = (scores + ~seen * -math.inf).softmax(-1)",
        "multiplying by √D instead of dividing": " / math.sqrt => * math.sqrt",
        "taking the softmax over the queries (dim=-2), not the keys": "softmax(-1) => softmax(-2)",
        "swapping queries and keys": "q @ k.mT => k @ q.mT",
        "hiding later tokens, as in GPT": "scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill("
        "torch.ones(2 * k.shape[2:3]).triu(1).bool(), -math.inf)",
        "giving all keys the same weight: other queries, keys give the same": "scores = 0 * q @ k.mT",
        "returning the values as they are: other queries, keys give the same": "return v",
        "letting padding vote (no mask, or one on the queries)": "weights = scores.softmax(-1)",
        "multiplying the scores by the mask; e to the 0 is 1": "weights = (scores * seen).softmax(-1)",
        "zeroing padding after the softmax, so that the weights no longer sum to 1": "weights = scores.softmax(-1) * seen",
        "keeping the padding and hiding the rest: is the mask upside down?": "weights = scores.masked_fill(seen, -1e9).softmax(-1)",
        "e to the 89 overflows, and inf / inf is NaN: subtract the largest score first": (
            "weights = scores.exp() * seen",
            "return weights / weights.sum(-1, keepdim=True) @ v",
        ),
        "detaching the weights, so that no gradient reaches q, k": "return weights.detach() @ v",
        "returning the weights instead of the mixed values": "return weights",
        "leaving out the softmax": "weights = scores * seen",
    },
)


def split_heads(x: Tensor, A: int) -> Tensor:
    """``split_heads(x[B,S,H], A) -> [B,A,S,D]`` with D = H / A: head a of a token is columns a·D to
    (a+1)·D of its row."""
    B, S, H = x.shape
    return x.reshape(B, S, A, H // A).permute(0, 2, 1, 3)


def _rows(draw: Draw) -> Cases:
    x = draw.randn(2, 5, 12)

    yield Case("cuts each token's row into A slices", (x, 3), 3.0)
    yield Case("keeps four dimensions for a single token", (x[:1, :1], 3))
    yield Case("splits into any number of heads", (x, 2))
    yield Case("leaves the row as it is for one head", (x, 1))


check_split_heads = card(
    "02.5",
    split_heads,
    _rows,
    {
        "cutting with view or reshape alone, without the transpose: heads then mix tokens": "return x.reshape(B, A, S, H // A)",
        "leaving the heads behind the tokens, [B,S,A,D]": ".permute(0, 2, 1, 3) => ",
        "dealing the columns out in turn, so that head a gets columns a, a + A, ...": "return x.reshape(B, S, H // A, A).permute(0, 3, 1, 2)",
        "swapping the number of heads with their width": "A, H // A => H // A, A",
        "putting the heads in front of the batch, [A,B,S,D]": "(0, 2, 1, 3) => (2, 0, 1, 3)",
        "taking away every dimension of size 1, with squeeze()": "1, 3) => 1, 3).squeeze()",
        "fixing the number of heads or their width in the code": "A, H // A => 3, H // 3",
    },
)


def post_norm_layer(
    x: Tensor, attend: Callable, norm1: Callable, think: Callable, norm2: Callable, drop: Callable
) -> Tensor:
    """``layer(x, attend, norm1, think, norm2, drop) -> [B,S,H]``: an ALBERT layer put together from
    five functions. What a half (attend, then think) returns goes through drop and is added to what
    that half was given; norm1, then norm2, norms the sum."""
    first = drop(attend(x))
    y = norm1(x + first)
    second = drop(think(y))
    return norm2(y + second)


def _norm(gain: Tensor | None = None, bias: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    return lambda y: F.layer_norm(y, y.shape[-1:], gain, bias, 1e-12)


def _functions(draw: Draw) -> Cases:
    B, S, H = 2, 4, 6
    x, between, across = 2 * draw.randn(B, S, H), draw.randn(S, S), draw.randn(H, H)
    norm1, norm2 = (_norm(draw.randn(H) + 2, draw.randn(H)) for _ in range(2))

    def attend(y):
        return between @ y + 1

    def think(y):
        return torch.tanh(y @ across) + 1

    def deaf(answer, x):
        halves = (lambda y: attend(y).detach()), (lambda y: think(y).detach())
        return gradients(lambda x: answer(x, halves[0], norm1, halves[1], norm2, lambda y: y), x)

    functions = x, attend, norm1, think, norm2
    yield Case("adds and norms after each half", (*functions, lambda y: y), 3.0)
    yield Case(
        "drops what both halves return, and nothing else", (*functions, torch.zeros_like), 2.0
    )
    yield Case("drops each half by itself", (*functions, lambda y: y * (y > 0) / 2))
    silent = x, torch.zeros_like, _norm(), torch.zeros_like, _norm()
    yield Case(
        "norms the input and nothing else when both halves are silent", (*silent, lambda y: y)
    )
    yield Case("lets the gradient past both halves", (x,), 1.0, deaf, 1e-4)


check_post_norm_layer = card(
    "02.8",
    post_norm_layer,
    _functions,
    {
        "norming before each half (pre-LN) instead of after the sum": (
            "first = drop(attend(norm1(x)))",
            "y = x + first",
            "second = drop(think(norm2(y)))",
            "return y + second",
        ),
        "leaving out both residuals": ("y = norm1(first)", "return norm2(second)"),
        "leaving out the residual of the first half": "y = norm1(first)",
        "norming what a half returns before it is added": (
            "y = x + norm1(first)",
            "return y + norm2(second)",
        ),
        "norming what a half is given, and adding to that": (
            "y = norm1(x) + first",
            "return norm2(y) + second",
        ),
        "giving the second half the sum before its norm": "second = drop(think(x + first))",
        "stopping after the first half": "return y",
        "adding the layer's input again after the second half": "return norm2(x + second)",
        "giving the second half the layer's input": "second = drop(think(x))",
        "norming only once, at the end": "y = x + first",
        "leaving out the norm at the end": "return y + second",
        "leaving out both norms": ("y = x + first", "return y + second"),
        "swapping the norms": ("y = norm2(x + first)", "return norm1(y + second)"),
        "using norm1 twice": "return norm1(y + second)",
        "swapping the halves: think comes second": (
            "first = drop(think(x))",
            "second = drop(attend(y))",
        ),
        "running both halves side by side on the same input": (
            "y = norm1(x + first + drop(think(x)))",
            "return norm2(y)",
        ),
        "leaving out the second half: of attend and think you called attend": "return norm2(y)",
        "leaving out the first half: of attend and think you called think": "y = x",
        "not dropping at all": ("first = attend(x)", "second = think(y)"),
        "not dropping what the second half returns, as in transformers": "second = think(y)",
        "dropping the sums, and with them the residuals": (
            "y = norm1(drop(x + attend(x)))",
            "return norm2(drop(y + think(y)))",
        ),
        "dropping what the norms return": (
            "y = drop(norm1(x + attend(x)))",
            "return drop(norm2(y + think(y)))",
        ),
        "dropping what a half is given": ("first = attend(drop(x))", "second = think(drop(y))"),
        "the residual carries no gradient: cut off by detach()": (
            "y = norm1(x.detach() + first)",
            "return norm2(y.detach() + second)",
        ),
    },
)
