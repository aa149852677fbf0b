"""Card of notebook 07: LAMB, the optimizer of ALBERT."""

import torch
from torch import Tensor

from albert_course.checks.engine.card import Case, Cases, Draw, card


def lamb(weights, gradients, lr, decay) -> dict[str, Tensor]:
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


def _lamb_cases(draw: Draw) -> Cases:
    lr, decay = (0.1 + 0.1 * draw.numpy.random(2)).tolist()

    def tensors(**shapes):
        return {name.replace("__", "."): draw.randn(*shape) for name, shape in shapes.items()}

    matrices = {"up__weight": (3, 4), "down__weight": (4, 2)}
    both, steps = tensors(**matrices), [tensors(**matrices) for _ in range(3)]
    both["down.weight"] *= 5  # so that the two ratios are far apart
    yield Case("takes three steps with two matrices", (both, steps, lr, decay), 3.0)
    yield Case("takes one step", (both, steps[:1], lr, decay))
    long = {name: 1000 * w for name, w in both.items()}
    yield Case("has no upper limit on the ratio", (long, steps, lr, 0.01))
    faint = [{name: g * 10.0 ** draw.integers(-6, -2, *g.shape) for name, g in steps[0].items()}]
    yield Case("adds 1e-6 to √v", (both, faint, lr, decay))
    shapes = dict(up__weight=(3, 4), up__bias=(4,), ffn__norm__weight=(4,), ffn__norm__bias=(4,))
    two = [tensors(**shapes) for _ in range(2)]
    yield Case("spares biases and norms", (tensors(**shapes), two, lr, decay), 2.0)
    shapes = {"scale": (4,), "normal__weight": (3, 4), "bias__table": (2, 3), "head__bias": (2, 3)}
    named = tensors(**shapes), [tensors(**shapes)], lr, decay
    yield Case("spares by name, and no other tensors", named)
    zero = {"up.weight": torch.zeros(3, 4), "down.weight": both["down.weight"]}
    still = {"up.weight": draw.randn(3, 4), "down.weight": torch.zeros(4, 2)}
    yield Case("takes 1 for the ratio where a length is 0", (zero, [still], lr, 0.0))


check_lamb = card("assignment 07.6", lamb, _lamb_cases)
