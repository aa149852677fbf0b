"""Check of notebook 07: LAMB, the optimizer that ALBERT was trained with."""

import functools
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from albert_edu.checks.trial import Trial, exercise

EPS = 1e-6
# What slips into LAMB, as changes to ``_lamb`` below; d is m / (√v + eps), c the decay.
SLIPS = {
    "forgetting the trust ratio, which leaves Adam": {"move": lambda w, d, c: d + c * w},
    "turning the ratio upside down": {"move": lambda w, d, c: (d + c * w) * (d + c * w).norm() / w.norm()},
    "taking a ratio for each row instead of the whole tensor":
        {"move": lambda w, d, c: (d + c * w) * w.norm(dim=-1, keepdim=True) / (d + c * w).norm(dim=-1, keepdim=True)},
    "taking a ratio for each number": {"move": lambda w, d, c: (d + c * w) * w.abs() / (d + c * w).abs()},
    "adding the decay after the ratio, as in AdamW": {"move": lambda w, d, c: d * w.norm() / d.norm() + c * w},
    "measuring |u| before the decay is added": {"move": lambda w, d, c: (d + c * w) * w.norm() / d.norm()},
    "leaving the decay out": {"move": lambda w, d, c: d * w.norm() / d.norm()},
    "taking the squared lengths": {"move": lambda w, d, c: (d + c * w) * (w.norm() / (d + c * w).norm()) ** 2},
    "correcting the bias of m and v, as the LAMB paper does and ALBERT's authors do not":
        {"direction": lambda m, v, t: m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + EPS)},
    "dividing by v instead of its root": {"direction": lambda m, v, t: m / (v + EPS)},
    "exchanging the betas": {"betas": (0.999, 0.9)},
    "starting every step with new moments": {"carry": False},
    "going uphill": {"move": lambda w, d, c: -(d + c * w) * w.norm() / (d + c * w).norm()},
}  # fmt: skip


@exercise("07.3")
def check_lamb(answer, trial: Trial) -> None:
    """``lamb(weights, gradients, lr, decay) -> weights``: LAMB as ALBERT's authors train with it, one step for each entry of the
    list ``gradients``. Weights, each entry and the result are dicts from name to tensor. For each tensor m ← 0.9 m + 0.1 g and
    v ← 0.999 v + 0.001 g², both from 0 and not corrected for that; u = m / (√v + 1e-6) + decay·w; w ← w - lr·(|w| / |u|)·u.
    The ratio is 1 where |w| or |u| is 0. Tensors named ``*bias`` or ``*.norm.*`` get no decay and the ratio 1."""
    lr, decay = (0.1 + 0.1 * trial.numpy.random(2)).tolist()
    ask = functools.partial(_ask_lamb, answer, trial, lr=lr, decay=decay)
    run = functools.partial(_lamb, lr=lr, decay=decay)
    matrices = {"up.weight": (3, 4), "down.weight": (4, 2)}
    both, grown = _draw(trial, matrices), [_draw(trial, matrices) for _ in range(3)]
    both["down.weight"] *= 5  # so that the two ratios are far apart
    trial.equal("takes three steps with two matrices", ask(both, grown), run(both, grown), {
        **{mistake: run(both, grown, **slip) for mistake, slip in SLIPS.items()},
        "adding the decay to the gradient (L2), so that m and v see it": run(both, grown, decay=0, l2=decay),
        "taking one ratio for all tensors together": run(_as_one(both), [_as_one(gradient) for gradient in grown]),
    }, weight=3)  # fmt: skip

    step = ask(both, grown[:1]) - _flat(both)
    shares = torch.stack([step[:12].norm() / both["up.weight"].norm(), step[12:].norm() / both["down.weight"].norm()])
    reason = "the ratio is |w| / |u| for the very u that the tensor then moves along, and for no other tensor's"
    trial.equal("moves each matrix by lr times its own length", shares, torch.tensor([lr, lr]), reason=reason)

    long = {name: 1000 * w for name, w in both.items()}
    limitless = functools.partial(run, long, grown, decay=0.01)  # it is at most 1 / decay, whatever the weights
    trial.equal("has no upper limit on the ratio", ask(long, grown, decay=0.01), limitless(), {
        "cutting the ratio off at 10": limitless(move=lambda w, d, c: (d + c * w) * _ratio(w, d + c * w).clamp(max=10)),
        "cutting |w| off at 10, as some libraries do":
            limitless(move=lambda w, d, c: (d + c * w) * w.norm().clamp(max=10) / (d + c * w).norm()),
    })  # fmt: skip

    faint = [{name: g * 10.0 ** trial.randint(-6, -2, *g.shape) for name, g in grown[0].items()}]
    trial.equal("adds 1e-6 to √v", ask(both, faint), run(both, faint), {
        "adding eps under the root": run(both, faint, direction=lambda m, v, t: m / (v + EPS).sqrt()),
        "using eps = 1e-8, Adam's default": run(both, faint, direction=lambda m, v, t: m / (v.sqrt() + 1e-8)),
        "leaving eps out": run(both, faint, direction=lambda m, v, t: m / v.sqrt()),
    })  # fmt: skip

    shapes = {"up.weight": (3, 4), "up.bias": (4,), "ffn.norm.weight": (4,), "ffn.norm.bias": (4,)}
    spared, grown = _draw(trial, shapes), [_draw(trial, shapes) for _ in range(2)]
    matrix, alone = (1, True), (0, False)  # the share of the decay that it gets, and whether it has a ratio
    trial.equal("spares biases and norms", ask(spared, grown), run(spared, grown), {
        "giving biases and norms a trust ratio": run(spared, grown, treat=(matrix, (0, True), (0, True))),
        "letting biases and norms decay": run(spared, grown, treat=(matrix, (1, False), (1, False))),
        "treating biases and norms like matrices": run(spared, grown, treat=(matrix, matrix, matrix)),
        "sparing the biases, but not the scales of the norms": run(spared, grown, treat=(matrix, alone, matrix)),
        "sparing the matrices too": run(spared, grown, treat=(alone, alone, alone)),
    }, weight=2)  # fmt: skip

    zero = {"up.weight": torch.zeros(3, 4), "down.weight": both["down.weight"]}
    still = {"up.weight": trial.randn(3, 4), "down.weight": torch.zeros(4, 2)}
    got = ask(zero, [still], decay=0.0)  # then u is 0 where the gradient is
    trial.equal("takes 1 for the ratio where a length is 0", got, run(zero, [still], decay=0.0), {
        "taking 0 for the ratio where |w| is 0, so that such a tensor never moves": _flat(zero),
    }, reason="0 / 0: the ratio is 1 where |w| or |u| is 0" if got.isnan().any() else "")  # fmt: skip


def _ask_lamb(answer, trial: Trial, weights: Mapping, gradients: Sequence, lr: float, decay: float) -> Tensor:
    """The answered weights, one after another in a row; the check ends if they are not there."""
    given = {name: w.clone() for name, w in weights.items()}, [{name: g.clone() for name, g in one.items()} for one in gradients]
    got = trial.call(answer, *given, lr, decay, name="takes weights, gradients, lr and decay")
    if not isinstance(got, Mapping):
        trial.need("returns a dict", False, f"you return {type(got).__name__}, not a dict; is the return missing?")
    found = {name: got[name] for name in weights if isinstance(got.get(name), Tensor) and not got[name].is_complex()}
    lost = [name for name, w in weights.items() if name not in found or found[name].shape != w.shape]
    if lost:
        trial.need("returns every tensor in its shape", False, f"{', '.join(lost)} came back as something else, or not at all")
    return _flat({name: found[name].detach().cpu().double() for name in weights})


def _flat(weights: Mapping[str, Tensor]) -> Tensor:
    return torch.cat([w.flatten() for w in weights.values()])


def _as_one(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {"all": _flat(weights)}


def _draw(trial: Trial, shapes: Mapping[str, tuple]) -> dict[str, Tensor]:
    return {name: trial.randn(*shape) for name, shape in shapes.items()}


def _kind(name: str) -> int:
    """0 for a matrix, 1 for a bias (a norm's too), 2 for the scale of a norm."""
    return 1 if name.endswith("bias") else 2 if ".norm." in name else 0


def _ratio(w: Tensor, u: Tensor) -> Tensor:
    return torch.where((w.norm() > 0) & (u.norm() > 0), w.norm() / u.norm(), 1.0)


def _lamb(
    weights: Mapping, gradients: Sequence, lr: float, decay: float, betas=(0.9, 0.999), carry: bool = True, l2: float = 0,
    direction: Callable = lambda m, v, t: m / (v.sqrt() + EPS), move: Callable = lambda w, d, c: (d + c * w) * _ratio(w, d + c * w),
    treat: Sequence[tuple[int, bool]] = ((1, True), (0, False), (0, False)),
) -> Tensor:  # fmt: skip
    """The weights after LAMB, in a row; every argument behind ``decay`` is a place for a mistake to slip in."""
    after = []
    for name, w in weights.items():
        (decays, adapts), w = treat[_kind(name)], w.double()
        m, v = torch.zeros_like(w), torch.zeros_like(w)
        for t, gradient in enumerate(gradients, start=1):
            g = gradient[name] + l2 * w
            m = carry * betas[0] * m + (1 - betas[0]) * g
            v = carry * betas[1] * v + (1 - betas[1]) * g**2
            d, c = direction(m, v, t), decay * decays
            w = w - lr * (move(w, d, c) if adapts else d + c * w)
        after.append(w.flatten())
    return torch.cat(after)
