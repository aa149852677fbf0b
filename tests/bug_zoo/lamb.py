"""Answers to the exercise of notebook 07 on LAMB, right and wrong."""

import math

import torch
from torch import nn

from albert_edu.checks import check_lamb
from albert_edu.training.lamb import Lamb
from tests.bug_zoo.zoo import right


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
            if not (name.endswith("bias") or ".norm." in name):
                u += decay * w
                w_length, u_length = torch.linalg.vector_norm(w), torch.linalg.vector_norm(u)
                u *= w_length / u_length if w_length * u_length > 0 else 1
            w -= lr * u
    return weights
