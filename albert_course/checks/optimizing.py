"""Cards of notebook 07: LAMB, the optimizer of ALBERT, and the learning rate at each step."""

import math  # noqa: F401 - edits use it
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.training.settings import PretrainSettings


def lamb(
    weights: Mapping[str, Tensor],
    gradients: Sequence[Mapping[str, Tensor]],
    lr: float,
    decay: float,
) -> dict[str, Tensor]:
    """``lamb(weights, gradients, lr, decay) -> weights``: LAMB as ALBERT's authors train with it,
    one step for each entry of the list ``gradients``. Weights, each entry and the result are dicts
    from name to tensor. For each tensor m ← 0.9 m + 0.1 g and v ← 0.999 v + 0.001 g², both from 0
    and not corrected for that; u = m / (√v + 1e-6) + decay·w; w ← w - lr·(|w| / |u|)·u. The ratio
    is 1 where |w| or |u| is 0. Tensors named ``*bias`` or ``*.norm.*`` get no decay and the ratio
    1, and no other tensors."""
    after = {}
    for name, w in weights.items():
        spared = name.endswith("bias") or ".norm." in name
        c = 0.0 if spared else decay
        w, m, v = w.double(), 0.0, 0.0
        for step, entry in enumerate(gradients):  # noqa: B007 - an edit uses step
            g = entry[name].double()
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g**2
            u = m / (v.sqrt() + 1e-6) + c * w
            ratio = w.norm() / u.norm() if w.any() and u.any() else 1.0
            w = w - lr * (1.0 if spared else ratio) * u
        after[name] = w
    return after


def _weights(draw: Draw) -> Cases:
    lr, decay = (0.1 + 0.1 * draw.numpy.random(2)).tolist()

    def tensors(**shapes):
        return {name.replace("__", "."): draw.randn(*shape) for name, shape in shapes.items()}

    def ask(answer, weights, gradients, lr, decay):
        after = answer(weights, gradients, lr, decay)
        kind = type(after).__name__
        need(isinstance(after, Mapping), f"you return {kind}, not a dict")
        lost = [
            name
            for name, w in weights.items()
            if getattr(after.get(name), "shape", None) != w.shape
        ]
        need(not lost, f"{', '.join(lost)} came back as something else, or not at all")
        return {name: after[name].detach().double() for name in weights}

    matrices = {"up__weight": (3, 4), "down__weight": (4, 2)}
    both, steps = tensors(**matrices), [tensors(**matrices) for _ in range(3)]
    both["down.weight"] *= 5  # so that the two ratios are far apart
    yield Case("takes three steps with two matrices", (both, steps, lr, decay), 3.0, ask)
    yield Case("takes one step", (both, steps[:1], lr, decay), 1.0, ask)
    long = {name: 1000 * w for name, w in both.items()}
    yield Case("has no upper limit on the ratio", (long, steps, lr, 0.01), 1.0, ask)
    faint = [{name: g * 10.0 ** draw.integers(-6, -2, *g.shape) for name, g in steps[0].items()}]
    yield Case("adds 1e-6 to √v", (both, faint, lr, decay), 1.0, ask)
    shapes = dict(up__weight=(3, 4), up__bias=(4,), ffn__norm__weight=(4,), ffn__norm__bias=(4,))
    yield Case(
        "spares biases and norms",
        (tensors(**shapes), [tensors(**shapes) for _ in range(2)], lr, decay),
        2.0,
        ask,
    )
    shapes = {"scale": (4,), "normal__weight": (3, 4), "bias__table": (2, 3), "head__bias": (2, 3)}
    yield Case(
        "spares by name, and no other tensors",
        (tensors(**shapes), [tensors(**shapes)], lr, decay),
        1.0,
        ask,
    )
    zero = {"up.weight": torch.zeros(3, 4), "down.weight": both["down.weight"]}
    still = {"up.weight": draw.randn(3, 4), "down.weight": torch.zeros(4, 2)}
    yield Case("takes 1 for the ratio where a length is 0", (zero, [still], lr, 0.0), 1.0, ask)


check_lamb = card(
    "07.6",
    lamb,
    _weights,
    {
        "forgetting the trust ratio, which leaves Adam": "ratio = 1.0",
        "turning the ratio upside down": "w.norm() / u.norm() => u.norm() / w.norm()",
        "taking a ratio for each row": ".norm() => .norm(dim=-1, keepdim=True)",
        "taking one ratio for all tensors together": "w.norm() => sum(x.norm() ** 2 for x in weights.values()) ** 0.5",
        "adding the decay after the ratio, as in AdamW": (
            "u = m / (v.sqrt() + 1e-6)",
            "* u\n => * u - lr * c * w\n",
        ),
        "decaying the weights after the step": (
            "u = m / (v.sqrt() + 1e-6)",
            "* u\n => * u; w = w - lr * c * w\n",
        ),
        "taking 0.99 for 0.999": "v = 0.99 * v + 0.01 * g**2",
        "measuring |u| before the decay is added": "u.norm() => (u - c * w).norm()",
        "leaving the decay out": " + c * w => ",
        "correcting the bias of m and v, as the LAMB paper does and ALBERT's authors do not": "u = m / (1 - 0.9 ** (step + 1)) / ((v / (1 - 0.999 ** (step + 1))).sqrt() + 1e-6) + c * w",
        "dividing by v instead of its root": "v.sqrt() => v",
        "swapping the betas": ("m = 0.999 * m + 0.001 * g", "v = 0.9 * v + 0.1 * g**2"),
        "starting every step with new moments": ("m = 0.1 * g", "v = 0.001 * g**2"),
        "forgetting to square the gradient in v": "g**2 => g.abs()",
        "adding the decay to the gradient (L2), so that m and v see it": (
            "g = entry[name].double() + c * w",
            "u = m / (v.sqrt() + 1e-6)",
        ),
        "going uphill": "w - lr => w + lr",
        "forgetting the learning rate": "w - lr * => w -",
        "cutting the ratio off at 10": "w.norm() / u.norm() => (w.norm() / u.norm()).clamp(max=10)",
        "cutting |w| off at 10, as some libraries do": "w.norm() => w.norm().clamp(max=10)",
        "adding eps under the root": "u = m / (v + 1e-6).sqrt() + c * w",
        "using eps = 1e-8, Adam's default": "1e-6 => 1e-8",
        "leaving eps out": "u = m / v.sqrt() + c * w",
        "giving biases and norms a trust ratio": "(1.0 if spared else ratio) => ratio",
        "letting biases and norms decay": "c = decay",
        "treating biases and norms like matrices": "spared = False",
        "sparing the biases, but not the scales of the norms": 'spared = name.endswith("bias")',
        "sparing the norms, but not the biases": 'spared = ".norm." in name',
        "sparing by shape: all tensors of one dimension, whatever their names": "spared = w.ndim < 2",
        "sparing every name with 'norm' in it; only *.norm.* is meant": '".norm." => "norm"',
        "sparing every name with 'bias' in it; only *bias is meant": 'name.endswith("bias") => "bias" in name',
        "taking 0 for the ratio where |w| is 0, so that such a tensor never moves": "if w.any() and u.any() => if u.any()",
        "0 / 0: the ratio is 1 where |w| or |u| is 0": "ratio = w.norm() / u.norm()",
    },
)


def schedule(step: int, settings: PretrainSettings) -> float:
    """``learning_rate(step, settings) -> float`` for steps 0 to N - 1; ``settings.steps`` is N,
    ``settings.warmup_steps`` is W, ``settings.learning_rate`` the peak. A straight line up, peak /
    W at step 0 and the peak at step W - 1; then one down, the peak at step W and 0 at step N, one
    after the last. W may be 0 (no way up) or N (no way down)."""
    N, W = settings.steps, settings.warmup_steps
    peak = settings.learning_rate
    up = (step + 1) / max(W, 1)
    down = (N - step) / max(N - W, 1)
    return peak * (up if step < W else down)


def _steps(draw: Draw) -> Cases:
    N, W, peak = draw.integer(14, 20), draw.integer(4, 6), 1 + draw.numpy.random()

    def rates(answer, steps, warmup):
        settings = PretrainSettings(steps=N, learning_rate=peak, warmup_steps=warmup)
        return torch.tensor([float(answer(step, settings)) for step in steps], dtype=torch.double)

    order = draw.numpy.permutation(N).tolist()
    yield Case("rises over the warm-up, then falls to the end", (range(N), W), 3.0, rates)
    yield Case(
        "moves at the first step and at the last",
        ([0, N - 1], W),
        2.0,
        lambda *inputs: (rates(*inputs) > 0).tolist(),
    )
    yield Case("depends on nothing but step and settings", (order, W), 1.0, rates)
    yield Case("starts at the peak without a warm-up", (range(N), 0), 1.0, rates)
    yield Case("only rises when all is warm-up", (range(N), N), 1.0, rates)


check_schedule = card(
    "07.4",
    schedule,
    _steps,
    {
        "starting at 0 (step / W), as transformers does: the first step moves nothing": "up = step / max(W, 1)",
        "reaching 0 at the last step already, which then moves nothing": "down = (N - 1 - step) / max(N - 1 - W, 1)",
        "going up one step too long, past the peak": "step < W else => step <= W else",
        "giving the rate of the next step": "peak = settings.learning_rate; step = step + 1",
        "giving the rate of step 0, whichever step is asked": "peak = settings.learning_rate; step = 0",
        "counting steps from 1": "peak = settings.learning_rate; step = step - 1",
        "falling over all N steps, so that the rate jumps down behind the warm-up": "down = (N - step) / N",
        "multiplying the warm-up with a fall over all N steps": (
            "up = (step + 1) / max(W, 1) * (N - step) / N",
            "down = (N - step) / N",
        ),
        "staying at the peak after the warm-up": "down = 1",
        "leaving the warm-up out": ("up = (N - step) / N", "down = (N - step) / N"),
        "falling along a cosine": "down = (1 + math.cos(math.pi * (step - W) / max(N - W, 1))) / 2",
        "returning the share of the peak, not the rate": "return up if step < W else down",
        "warming up for a step all the same": "N, W = settings.steps, max(settings.warmup_steps, 1)",
        "falling where all is warm-up": "up = (step + 1) / max(W, 1) * (1 if W < N else (N - step) / N)",
    },
)
