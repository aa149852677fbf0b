"""Right answers to the exercises of notebook 07 in other styles."""

import math

import numpy as np
import torch
from torch import nn

from albert_edu.checks import check_accumulation, check_lamb, check_schedule
from albert_edu.training.lamb import Lamb
from albert_edu.training.settings import learning_rate
from tests.bug_zoo.zoo import right


@right(check_schedule)
def rate_of_the_library(step, settings):
    return learning_rate(step, settings)


@right(check_schedule)
def rate_from_a_table(step, settings):
    up = np.linspace(0, settings.learning_rate, settings.warmup_steps + 1)[1:]
    down = np.linspace(settings.learning_rate, 0, settings.steps - settings.warmup_steps + 1)[:-1]
    return torch.tensor(np.concatenate([up, down])[step])


def excluded(name):
    return name.endswith("bias") or ".norm." in name


@right(check_lamb)
def lamb_of_the_library(weights, gradients, lr, decay):
    params = {name: nn.Parameter(w) for name, w in weights.items()}
    groups = [{"params": [p], "adapt": not excluded(name), "weight_decay": 0 if excluded(name) else decay}
              for name, p in params.items()]
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


@right(check_accumulation)
def step_by_sums_then_scaled(model, parts, optimizer):
    nats = torch.zeros(1)
    for part in filter(lambda part: part.num_masked, parts):
        loss = model(part).masked_token_loss * part.num_masked
        loss.backward()
        nats += loss.detach()
    whole = sum(part.num_masked for part in parts)
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= whole
    optimizer.step()
    optimizer.zero_grad()
    return nats / whole


@right(check_accumulation)
def step_without_backward(model, parts, optimizer):
    params, losses = list(model.parameters()), []
    shares = np.array([part.num_masked for part in parts]) / sum(part.num_masked for part in parts)
    for p in params:
        p.grad = torch.zeros_like(p)
    for part, share in zip(parts, shares.tolist(), strict=True):
        loss = model(part).masked_token_loss
        for p, gradient in zip(params, torch.autograd.grad(loss, params, allow_unused=True), strict=True):
            if gradient is not None:
                p.grad += share * gradient
        losses.append(loss.item())
    optimizer.step()
    return float(shares @ losses)
