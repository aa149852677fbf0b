"""Answers to the exercise of notebook 07 on LAMB, right and wrong."""

import math

import torch
from torch import nn

from albert_edu.checks import check_lamb
from albert_edu.training.lamb import Lamb
from tests.bug_zoo.zoo import right, wrong


def excluded(name):
    return name.endswith("bias") or ".norm." in name


@right(check_lamb)
def lamb_of_the_library(weights, gradients, lr, decay):
    params = {name: nn.Parameter(w) for name, w in weights.items()}
    groups = [{"params": [p], "adapt": not excluded(name), "weight_decay": 0 if excluded(name) else decay}
              for name, p in params.items()]  # fmt: skip
    optimizer = Lamb(groups, lr=lr)
    for gradient in gradients:
        for name, p in params.items():
            p.grad = gradient[name]
        optimizer.step()
    return params


@right(check_lamb)
def lamb_on_lists(weights, gradients, lr, decay):
    out = {}
    for name, tensor in weights.items():
        w = tensor.flatten().tolist()
        m, v, c = [0.0] * len(w), [0.0] * len(w), 0.0 if excluded(name) else decay
        for gradient in gradients:
            g = gradient[name].flatten().tolist()
            m = [0.9 * a + 0.1 * b for a, b in zip(m, g, strict=True)]
            v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g, strict=True)]
            u = [a / (b**0.5 + 1e-6) + c * x for a, b, x in zip(m, v, w, strict=True)]
            lengths = math.hypot(*w), math.hypot(*u)
            ratio = lengths[0] / lengths[1] if all(lengths) and not excluded(name) else 1.0
            w = [x - lr * ratio * y for x, y in zip(w, u, strict=True)]
        out[name] = torch.tensor(w, dtype=torch.double).view_as(tensor)
    return out


@right(check_lamb)
def lamb_in_place(weights, gradients, lr, decay):
    m, v = ({name: torch.zeros_like(w) for name, w in weights.items()} for _ in range(2))
    for gradient in gradients:
        for name, w in weights.items():
            g = gradient[name]
            m[name].lerp_(g, 0.1)
            v[name].mul_(0.999).addcmul_(g, g, value=0.001)
            u = m[name] / (v[name].sqrt() + 1e-6)
            if w.ndim > 1:  # biases and norms are rows of numbers, and nothing else is
                u += decay * w
                w_length, u_length = torch.linalg.vector_norm(w), torch.linalg.vector_norm(u)
                u *= w_length / u_length if w_length * u_length > 0 else 1
            w -= lr * u
    return weights


def ratio_of(w, u):
    return w.norm() / u.norm() if w.norm() > 0 and u.norm() > 0 else 1.0


class Steps:
    """LAMB in methods of few lines; each wrong answer below overwrites one."""

    betas, eps = (0.9, 0.999), 1e-6

    def __call__(self, weights, gradients, lr, decay):
        self.m, self.v = ({name: torch.zeros_like(w) for name, w in weights.items()} for _ in range(2))
        for self.t, gradient in enumerate(gradients, start=1):
            weights = {name: w - lr * self.move(name, w, gradient[name], decay) for name, w in weights.items()}
        return weights

    def moments(self, name, g):
        (b1, b2), m, v = self.betas, self.m, self.v
        m[name], v[name] = b1 * m[name] + (1 - b1) * g, b2 * v[name] + (1 - b2) * g**2
        return m[name], v[name]

    def direction(self, m, v):
        return m / (v.sqrt() + self.eps)

    def move(self, name, w, g, decay):
        d = self.direction(*self.moments(name, g))
        return d if self.plain(name) else self.adapted(w, d, decay)

    def adapted(self, w, d, decay):
        u = d + decay * w
        return ratio_of(w, u) * u

    def plain(self, name):
        return excluded(name)


def slip(says, method, by):
    """A wrong answer: LAMB with one of its methods, or constants, overwritten."""
    answer = type("Slipped", (Steps,), {method: by})()
    answer.__name__ = by.__name__ if callable(by) else f"{method}_{by}"
    wrong(check_lamb, says)(answer)


def adam(self, w, d, decay):
    return d + decay * w


def upside_down(self, w, d, decay):
    u = d + decay * w
    return u.norm() / w.norm() * u if w.norm() > 0 else u


def ratio_per_row(self, w, d, decay):
    u = d + decay * w
    ratio = w.norm(dim=1, keepdim=True) / u.norm(dim=1, keepdim=True)
    return torch.where(ratio.isfinite() & (ratio > 0), ratio, 1.0) * u


def decay_outside(self, w, d, decay):
    return ratio_of(w, d) * d + decay * w


def length_before_decay(self, w, d, decay):
    return ratio_of(w, d) * (d + decay * w)


def no_decay(self, w, d, decay):
    return ratio_of(w, d) * d


def corrected(self, m, v):
    return m / (1 - 0.9**self.t) / ((v / (1 - 0.999**self.t)).sqrt() + self.eps)


def root_forgotten(self, m, v):
    return m / (v + self.eps)


def eps_under_the_root(self, m, v):
    return m / (v + self.eps).sqrt()


def moments_of_this_step_only(self, name, g):
    return 0.1 * g, 0.001 * g**2


def l2(self, name, w, g, decay):
    plain = self.plain(name)
    d = self.direction(*self.moments(name, g if plain else g + decay * w))
    return d if plain else ratio_of(w, d) * d


def uphill(self, w, d, decay):
    return -ratio_of(w, d + decay * w) * (d + decay * w)


def clamped(self, w, d, decay):
    u = d + decay * w
    return min(ratio_of(w, u), 10) * u


def long_weights_cut(self, w, d, decay):
    u = d + decay * w
    return min(w.norm(), 10) / u.norm() * u if w.norm() > 0 and u.norm() > 0 else u


def no_care_for_zeros(self, w, d, decay):
    u = d + decay * w
    return w.norm() / u.norm() * u


def eps_in_the_ratio(self, w, d, decay):
    u = d + decay * w
    return w.norm() / (u.norm() + 1e-9) * u


def nothing_plain(self, name):
    return False


def norms_forgotten(self, name):
    return name.endswith("bias")


def everything_plain(self, name):
    return True


def plain_without_decay_only(self, name, w, g, decay):
    u = self.direction(*self.moments(name, g)) + (0 if excluded(name) else decay) * w
    return ratio_of(w, u) * u


def plain_with_decay(self, name, w, g, decay):
    u = self.direction(*self.moments(name, g)) + decay * w
    return u if excluded(name) else ratio_of(w, u) * u


slip("which leaves Adam", "adapted", adam)
slip("upside down", "adapted", upside_down)
slip("for each row", "adapted", ratio_per_row)
slip("after the ratio, as in AdamW", "adapted", decay_outside)
slip("before the decay is added", "adapted", length_before_decay)
slip("leaving the decay out", "adapted", no_decay)
slip("correcting the bias", "direction", corrected)
slip("instead of its root", "direction", root_forgotten)
slip("under the root", "direction", eps_under_the_root)
slip("Adam's default", "eps", 1e-8)
slip("leaving eps out", "eps", 0.0)
slip("exchanging the betas", "betas", (0.999, 0.9))
slip("new moments", "moments", moments_of_this_step_only)
slip("to the gradient (L2)", "move", l2)
slip("going uphill", "adapted", uphill)
slip("ratio off at 10", "adapted", clamped)
slip("|w| off at 10", "adapted", long_weights_cut)
slip("0 / 0", "adapted", no_care_for_zeros)
slip("never moves", "adapted", eps_in_the_ratio)
slip("like matrices", "plain", nothing_plain)
slip("scales of the norms", "plain", norms_forgotten)
slip("sparing the matrices too", "plain", everything_plain)
slip("giving biases and norms a trust ratio", "move", plain_without_decay_only)
slip("letting biases and norms decay", "move", plain_with_decay)


@wrong(check_lamb, "one ratio for all tensors")
def one_ratio(weights, gradients, lr, decay):
    sizes = [w.numel() for w in weights.values()]
    whole = {"all": torch.cat([w.flatten() for w in weights.values()])}
    steps = [{"all": torch.cat([gradient[name].flatten() for name in weights])} for gradient in gradients]
    rows = Steps()(whole, steps, lr, decay)["all"].split(sizes)
    return {name: row.view_as(w) for (name, w), row in zip(weights.items(), rows, strict=True)}


@wrong(check_lamb, "is the return missing?")
def nothing_returned(weights, gradients, lr, decay):
    lamb_in_place(weights, gradients, lr, decay)


@wrong(check_lamb, "still to do")
def not_begun(weights, gradients, lr, decay):
    raise NotImplementedError("Exercise 07.3")
