"""Checks of notebook 02: attention, heads, the norm, the bend between two matrices, and how a layer is put together."""

import functools
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

from albert_edu.checks.trial import Trial, exercise, same


@exercise("02.4")
def check_attention(answer, trial: Trial) -> None:
    """``attention(q, k, v, keep) -> mixed[B,A,S,D]`` from q, k, v of shape [B,A,S,D] and bool keep[B,S], False on padding: each
    token's mean of the values, weighted by the softmax of q·k/√D over the keys that are kept. What a padding token itself gets
    does not matter. Autograd must be able to go through."""
    B, A, S, D = 3, 2, 5, 6
    q, k, v = (trial.randn(B, A, S, D) for _ in range(3))
    keep, everyone = torch.arange(S) < trial.randint(2, S, B, 1), torch.ones(B, S, dtype=torch.bool)

    def ask(q, k, v, keep):
        return _tensor(trial, trial.call(answer, q, k, v, keep), *q.shape)

    got, scores = ask(q, k, v, everyone), q @ k.mT / math.sqrt(D)
    trial.equal("is the weighted mean of the values", got, scores.softmax(-1) @ v, {
        "not dividing the scores by √D": (q @ k.mT).softmax(-1) @ v,
        "dividing by D instead of its root": (q @ k.mT / D).softmax(-1) @ v,
        "dividing by the root of the whole width H = A·D": (q @ k.mT / math.sqrt(A * D)).softmax(-1) @ v,
        "taking the softmax over the queries (dim=-2) instead of the keys": scores.softmax(-2) @ v,
        "exchanging queries and keys": scores.mT.softmax(-1) @ v,
        "letting tokens see only what stands before them, as in GPT": F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "giving all keys the same weight; is the mask upside down?": v.mean(2, keepdim=True).expand(B, A, S, D),
    }, weight=3)  # fmt: skip

    unheard = [name for name, changed in (("queries", (-q, k, v)), ("keys", (q, -k, v)), ("values", (q, k, -v)))
               if same(ask(*changed, everyone), got)]  # fmt: skip
    trial.need("depends on queries, keys and values", not unheard, f"other {', '.join(unheard)} give the same")

    loud = torch.where(keep[:, None, :, None], v, 50 * v)  # what padding hands out must not be heard
    alone = [ask(q[[b], :, :n], k[[b], :, :n], loud[[b], :, :n], keep[[b], :n]) for b, n in enumerate(keep.sum(1).tolist())]
    alone = torch.cat([mixed[0].transpose(0, 1) for mixed in alone])  # real tokens, A D
    seen, weights = keep[:, None, None], scores.softmax(-1)  # B 1 1 S, B A S S
    trial.equal("gives padding no weight: the same as without it", _real(ask(q, k, loud, keep), keep), alone, {
        "letting padding vote (no mask, or one on the queries)": _real(weights @ loud, keep),
        "adding keep to the scores as 1 and 0": _real((scores + seen).softmax(-1) @ loud, keep),
        "multiplying the scores by keep; e to the 0 is 1, not 0": _real((scores * seen).softmax(-1) @ loud, keep),
        "zeroing padding after the softmax, so that the weights no longer sum to 1": _real((weights * seen) @ loud, keep),
        "keeping the padding and hiding the rest": _real(scores.masked_fill(seen, -math.inf).softmax(-1) @ loud, keep),
    }, weight=3)  # fmt: skip

    order = torch.from_numpy(trial.numpy.permutation(S))
    shuffled = ask(q[:, :, order], k[:, :, order], v[:, :, order], everyone)
    reason = "shuffled tokens must give the same, shuffled alike; here the place counts"
    trial.equal("does not know where a token stands", shuffled, got[:, :, order], reason=reason)
    reason = "e to the 89 overflows, and inf / inf is NaN: subtract the largest score first, or use softmax"
    trial.true("survives scores of hundreds", ask(90 * q, k, v, everyone).isfinite().all(), reason)
    gradients = trial.call(functools.partial(_gradients, answer), q, k, v, everyone, name="lets autograd through")
    deaf = [name for name, gradient in zip("qkv", gradients, strict=False) if gradient is None or not gradient.any()]
    trial.true("can be trained on", not deaf, f"no gradient reaches {', '.join(deaf)}: .detach(), .data or NumPy cut it off")


@exercise("02.5")
def check_split_heads(answer, trial: Trial) -> None:
    """``split_heads(x[B,S,H], A) -> [B,A,S,D]`` with D = H / A: head a of a token is columns a·D to (a+1)·D of its row."""
    B, S, A, D = 2, 5, 3, 4
    x = trial.randn(B, S, A * D)
    got = trial.call(answer, x, A, name="takes x[B,S,H] and the number of heads")
    trial.equal("cuts each token's row into A slices", got, x.view(B, S, A, D).transpose(1, 2), {
        "cutting the block with view or reshape alone, without the transpose: heads then mix tokens": x.view(B, A, S, D),
        "leaving the heads behind the tokens, [B,S,A,D]": x.view(B, S, A, D),
        "dealing the columns out in turn, so that head a gets columns a, a + A, ...": x.view(B, S, D, A).permute(0, 3, 1, 2),
        "exchanging the number of heads with their width": x.view(B, S, D, A).transpose(1, 2),
        "putting the heads in front of the batch, [A,B,S,D]": x.view(B, S, A, D).permute(2, 0, 1, 3),
    }, weight=3)  # fmt: skip
    got = _tensor(trial, got, B, A, S, D)
    token, head = int(trial.randint(0, S, 1)), int(trial.randint(0, A, 1))
    changed = x.index_fill(1, torch.tensor(token), 7.0)
    moved = _tensor(trial, trial.call(answer, changed, A), B, A, S, D) != got
    reason = "numbers of one token turn up in the row of another"
    trial.true("keeps a token's numbers in that token's rows", not moved[:, :, torch.arange(S) != token].any(), reason)
    changed = x.index_fill(2, torch.arange(head * D, (head + 1) * D), 7.0)
    moved = _tensor(trial, trial.call(answer, changed, A), B, A, S, D) != got
    reason = "D neighbouring columns go to different heads"
    trial.true("puts neighbouring columns into one head", not moved[:, torch.arange(A) != head].any(), reason)
    one = trial.call(answer, x[:1, :1], A, name="survives one sequence of one token")
    trial.equal("keeps four dimensions for a single token", one, got[:1, :, :1],
                {"taking away every dimension of size 1, with squeeze()": got[0, :, 0]})  # fmt: skip
    other = trial.call(answer, x, 2, name="survives another number of heads")
    trial.equal("splits into any number of heads", other, x.view(B, S, 2, 6).transpose(1, 2),
                {"fixing the number of heads or their width in the code": got})  # fmt: skip


@exercise("02.6")
def check_layer_norm(answer, trial: Trial) -> None:
    """``layer_norm(x[B,S,H], gain[H], bias[H]) -> [B,S,H]``: each token's row minus its mean, over the root of its variance
    (divided by H) plus 1e-12, times gain, plus bias."""
    B, S, H = 2, 4, 5
    x, gain, bias = 2 * trial.randn(B, S, H) + 1, trial.randn(H) + 2, trial.randn(H)
    got = trial.call(answer, x, gain, bias, name="takes x, gain and bias")
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    normed = (x - mean) / variance.sqrt()
    trial.equal("norms each row, then gain and bias", got, normed * gain + bias, {
        "dividing by H - 1 in the variance, torch's default": normed * math.sqrt(1 - 1 / H) * gain + bias,
        "dividing by the variance instead of its root": (x - mean) / variance * gain + bias,
        "leaving the mean in the row (RMSNorm)": x / x.square().mean(-1, keepdim=True).sqrt() * gain + bias,
        "norming each column over all tokens (batch norm)": _over(x, 0, 1) * gain + bias,
        "norming over the tokens of a sequence (dim=1) instead of a token's numbers": _over(x, 1) * gain + bias,
        "norming the whole batch at once": _over(x, 0, 1, 2) * gain + bias,
        "forgetting gain and bias": normed,
        "adding the bias before the gain multiplies": (normed + bias) * gain,
    }, weight=3)  # fmt: skip
    got = _tensor(trial, got, B, S, H)
    alone = trial.call(answer, x[:1, 1:2], gain, bias, name="survives one token")
    reason = "a token's result depends on its neighbours"
    trial.equal("gives a token alone the same as in company", alone, got[:1, 1:2], reason=reason)
    faint = trial.call(answer, x / 4000, gain, bias)
    trial.equal("gives a faint row the same as a loud one", faint, got, {
        "using eps = 1e-5, PyTorch's default; ALBERT's is 1e-12": F.layer_norm(x / 4000, (H,), gain, bias, 1e-5),
        "using eps = 1e-6; ALBERT's is 1e-12": F.layer_norm(x / 4000, (H,), gain, bias, 1e-6),
    }, atol=2e-3)  # fmt: skip
    far = _tensor(trial, trial.call(answer, x + 3000, gain, bias), B, S, H)
    reason = "its mean leaves a trace: subtract it first (mean of squares minus square of mean loses all digits here)"
    trial.true("gives a row far from zero the same as a near one", same(far, got, 2e-2), reason)
    flat = _tensor(trial, trial.call(answer, torch.full((1, 2, H), 3.0), gain, bias), 1, 2, H)
    trial.true("survives a row of equal numbers", flat.isfinite().all(), "0 / 0: add 1e-12 to the variance")


@exercise("02.7")
def check_gelu(answer, trial: Trial) -> None:
    """``gelu(x) -> tensor of x's shape``: x·Φ(x) in the form that ALBERT uses, where ½ + ½ tanh(√(2/π) (x + 0.044715 x³))
    stands for Φ(x)."""
    x = 2 * trial.randn(3, 4, 25)
    got = trial.call(answer, x, name="takes a tensor")
    bent = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    trial.equal("is x·Φ(x) by the tanh form", got, F.gelu(x, approximate="tanh"), {
        "using the exact form with erf, 'gelu' in transformers; ALBERT's is 'gelu_new'": F.gelu(x),
        "using x·sigmoid(1.702 x), a third form": x * (1.702 * x).sigmoid(),
        "using ReLU": F.relu(x),
        "forgetting the ½": x * (1 + bent),
        "returning Φ(x) alone, without the x": 0.5 * (1 + bent),
        "taking 2/π without its root": 0.5 * x * (1 + torch.tanh(2 / math.pi * (x + 0.044715 * x**3))),
        "squaring where x is to be cubed": 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**2))),
    }, weight=3)  # fmt: skip
    got = _tensor(trial, got, *x.shape)
    mirrored = _tensor(trial, trial.call(answer, -x), *x.shape)
    reason = "Φ(x) + Φ(-x) is 1, so this holds for every x·Φ(x); is there a factor too many or too few?"
    trial.equal("gives x when its value at -x is subtracted", got - mirrored, x, reason=reason)
    trial.true("dips below zero left of 0", (got[(x < -0.1) & (x > -3)] < 0).all(), "there GELU is small and negative, not cut off")
    far = _tensor(trial, trial.call(answer, torch.tensor([-1e4, -200.0, 200.0, 1e4])), 4)
    trial.true("survives large numbers", far.isfinite().all(), "e to the 89 overflows and inf / inf is NaN; use torch.tanh")


@exercise("02.8")
def check_post_norm_layer(answer, trial: Trial) -> None:
    """``layer(x, attend, norm1, think, norm2, drop) -> [B,S,H]``: an ALBERT layer put together from five functions. What a half
    (attend, then think) returns goes through drop and is added to what that half was given; norm1, then norm2, norms the sum."""
    B, S, H = 2, 4, 6
    x, between, across = 2 * trial.randn(B, S, H), trial.randn(S, S), trial.randn(H, H)
    norm1, norm2 = (_norm(trial.randn(H) + 2, trial.randn(H)) for _ in range(2))
    used, as_it_is = set(), lambda y: y
    attend, think = (lambda y: used.add("attend") or between @ y + 1), (lambda y: used.add("think") or torch.tanh(y @ across) + 1)
    got = trial.call(answer, x, attend, norm1, think, norm2, as_it_is, name="takes x and five functions")
    trial.need("uses both halves", len(used) == 2, f"of attend and think you called {' and '.join(used) or 'neither'}")
    trial.equal("adds and norms after each half", got, _post(think, norm2)(_post(attend, norm1)(x)), {
        "norming before each half (pre-LN) instead of after the sum": _pre(think, norm2)(_pre(attend, norm1)(x)),
        "leaving out both residuals": norm2(think(norm1(attend(x)))),
        "leaving out the residual of the second half": norm2(think(_post(attend, norm1)(x))),
        "norming what a half returns before it is added": _branch(think, norm2)(_branch(attend, norm1)(x)),
        "adding the layer's input again after the second half": norm2(x + think(_post(attend, norm1)(x))),
        "norming only once, at the end": _post(think, norm2)(x + attend(x)),
        "leaving out the norm at the end": _post(think, as_it_is)(_post(attend, norm1)(x)),
        "exchanging the norms": _post(think, norm1)(_post(attend, norm2)(x)),
        "running both halves side by side on the same input": norm2(norm1(x + attend(x) + think(x))),
    }, weight=3)  # fmt: skip
    _tensor(trial, got, B, S, H)
    silent = trial.call(answer, x, torch.zeros_like, _norm(), torch.zeros_like, _norm(), as_it_is)
    trial.equal("norms the input and nothing else when both halves are silent", silent, _norm()(x), {
        "norming the halves and not the sums, so that nothing norms the input": x,
        "leaving out a residual, so that nothing is left of the input": torch.zeros_like(x),
    })  # fmt: skip
    plain = _tensor(trial, trial.call(answer, x, attend, _norm(), think, _norm(), as_it_is), B, S, H)
    level = same(plain.var(-1, correction=0), torch.ones(B, S), 1e-3)
    reason = "something is added behind the last norm, or that norm is missing"
    trial.true("leaves every row with variance 1 where gains are 1", level, reason)

    # A dropout that lets nothing through must leave what silent halves leave, whatever the rest of the answer does.
    dropped = trial.call(answer, x, attend, norm1, think, norm2, torch.zeros_like)
    silent = trial.call(answer, x, torch.zeros_like, norm1, torch.zeros_like, norm2, as_it_is)
    trial.equal("drops what both halves return, and nothing else", dropped, silent, {
        "not dropping at all": got,
        "not dropping what the second half returns, as in transformers": _post(think, norm2)(norm1(x)),
        "dropping the sums, and with them the residuals": norm2(torch.zeros_like(x)),
        "dropping what the norms return": torch.zeros_like(x),
        "dropping what a half is given": norm2((y := norm1(x + attend(0 * x))) + think(0 * y)),
    }, weight=2)  # fmt: skip
    gradient = trial.call(lambda x: _gradients(answer, x, _deaf(attend), norm1, _deaf(think), norm2, as_it_is)[0], x)
    passed = gradient is not None and bool(gradient.any())
    trial.true("lets the gradient past both halves", passed, "the residual carries none: is it missing, or cut off by detach()?")


def _tensor(trial: Trial, answered, *shape: int) -> torch.Tensor:
    """What was answered as a tensor of that shape; otherwise the check ends with a property that says so."""
    try:
        got = torch.as_tensor(answered).cpu().float()
    except (TypeError, ValueError, RuntimeError):
        got = None
    if got is None or got.shape != shape:
        found = f"you return {type(answered).__name__}, not a tensor; is the return missing?"
        trial.need(f"has the shape {shape}", False, found if got is None else f"the shape is {tuple(got.shape)}")
    return got


def _real(mixed: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    """The rows of real tokens; what a padding token gets does not matter."""
    return mixed.transpose(1, 2)[keep]


def _gradients(answer, *inputs) -> tuple[torch.Tensor | None, ...]:
    """The gradients of a number made of what is answered, for the inputs that hold floats."""
    leaves = [x.clone().requires_grad_() for x in inputs if isinstance(x, torch.Tensor) and x.is_floating_point()]
    rest = inputs[len(leaves) :]
    value = answer(*(leaf.clone() for leaf in leaves), *rest)  # clones, so that an answer may work in place
    if not (isinstance(value, torch.Tensor) and value.requires_grad):
        return (None,) * len(leaves)
    return torch.autograd.grad(value.square().sum(), leaves, allow_unused=True)


def _over(x: torch.Tensor, *dims: int) -> torch.Tensor:
    return (x - x.mean(dims, keepdim=True)) / x.var(dims, keepdim=True, correction=0).sqrt()


def _norm(gain: torch.Tensor | None = None, bias: torch.Tensor | None = None) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda y: F.layer_norm(y, y.shape[-1:], gain, bias, 1e-12)


def _post(half: Callable, norm: Callable) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda y: norm(y + half(y))


def _pre(half: Callable, norm: Callable) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda y: y + half(norm(y))


def _branch(half: Callable, norm: Callable) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda y: y + norm(half(y))


def _deaf(half: Callable) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda y: half(y).detach()
