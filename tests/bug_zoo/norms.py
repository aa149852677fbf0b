"""Answers to the exercises of notebook 02 on the norm, the GELU and the whole layer, right and wrong."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_gelu, check_layer_norm, check_post_norm_layer
from tests.bug_zoo.zoo import right


@right(check_layer_norm)
def norm_of_torch(x, gain, bias):
    return F.layer_norm(x, gain.shape, gain, bias, eps=1e-12)


@right(check_layer_norm)
def norm_by_loops_in_double(x, gain, bias):
    out = torch.empty_like(x, dtype=torch.double)
    for b, s in np.ndindex(*x.shape[:2]):
        row = x[b, s].double() - x[b, s].double().mean()
        out[b, s] = row / math.sqrt((row @ row).item() / len(row) + 1e-12) * gain + bias
    return out


@right(check_layer_norm)
def norm_in_place(x, gain, bias):
    x -= x.mean(-1, keepdim=True)
    x /= (x.square().mean(-1, keepdim=True) + 1e-12).sqrt()
    return x.mul_(gain).add_(bias)


@right(check_gelu)
def gelu_written_out(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))


@right(check_gelu)
def gelu_by_sigmoid(x):
    return x * torch.sigmoid(math.sqrt(8 / math.pi) * x * (1 + 0.044715 * x * x))  # (1 + tanh u) / 2 is the sigmoid of 2u


@right(check_gelu)
def gelu_number_by_number(x):
    bent = [y / 2 * (1 + math.tanh((2 / math.pi) ** 0.5 * (y + 0.044715 * y**3))) for y in x.double().flatten().tolist()]
    return np.reshape(bent, x.shape)


@right(check_post_norm_layer)
def layer_in_two_lines(x, attend, norm1, think, norm2, drop):
    x = norm1(x + drop(attend(x)))
    return norm2(x + drop(think(x)))


@right(check_post_norm_layer)
def layer_by_loop(x, attend, norm1, think, norm2, drop):
    for half, norm in ((attend, norm1), (think, norm2)):
        x += drop(half(x))  # in place
        x = norm(x)
    return x


@right(check_post_norm_layer)
def layer_by_reduce(x, attend, norm1, think, norm2, drop):
    return functools.reduce(lambda y, half: half[1](torch.add(drop(half[0](y)), y)), [(attend, norm1), (think, norm2)], x)
