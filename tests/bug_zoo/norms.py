"""Answers to the exercises of notebook 02 on the norm, the GELU and the whole layer, right and wrong."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_gelu, check_layer_norm, check_post_norm_layer
from tests.bug_zoo.zoo import right, wrong


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


def normed(x, dims=-1, correction=0, eps=1e-12):
    return (x - x.mean(dims, keepdim=True)) / (x.var(dims, keepdim=True, correction=correction) + eps).sqrt()


@wrong(check_layer_norm, "H - 1 in the variance")
def unbiased(x, gain, bias):
    return normed(x, correction=1) * gain + bias


@wrong(check_layer_norm, "variance instead of its root")
def root_forgotten(x, gain, bias):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-12) * gain + bias


@wrong(check_layer_norm, "RMSNorm")
def mean_kept(x, gain, bias):
    return x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * gain + bias


@wrong(check_layer_norm, "batch norm")
def columns_normed(x, gain, bias):
    return normed(x, (0, 1)) * gain + bias


@wrong(check_layer_norm, "over the tokens of a sequence")
def wrong_dimension(x, gain, bias):
    return normed(x, 1) * gain + bias


@wrong(check_layer_norm, "the whole batch at once")
def all_at_once(x, gain, bias):
    return normed(x, (0, 1, 2)) * gain + bias


@wrong(check_layer_norm, "forgetting gain and bias")
def nothing_learnt(x, gain, bias):
    return normed(x)


@wrong(check_layer_norm, "adding the bias before")
def bias_first(x, gain, bias):
    return (normed(x) + bias) * gain


@wrong(check_layer_norm, "eps = 1e-5")
def default_eps(x, gain, bias):
    return F.layer_norm(x, gain.shape, gain, bias)


@wrong(check_layer_norm, "0 / 0")
def no_eps(x, gain, bias):
    return normed(x, eps=0) * gain + bias


@wrong(check_layer_norm, "mean of squares minus square of mean")
def mean_of_squares(x, gain, bias):
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) / (variance + 1e-12).sqrt() * gain + bias


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


@wrong(check_gelu, "'gelu' in transformers")
def gelu_exact(x):
    return F.gelu(x)


@wrong(check_gelu, "1.702")
def gelu_quick(x):
    return x * torch.sigmoid(1.702 * x)


@wrong(check_gelu, "using ReLU")
def relu(x):
    return x.clamp(min=0)


@wrong(check_gelu, "without the x")
def only_phi(x):
    return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@wrong(check_gelu, "forgetting the ½")
def twice(x):
    return 2 * F.gelu(x, approximate="tanh")


@wrong(check_gelu, "without its root")
def root_of_two_over_pi_forgotten(x):
    return 0.5 * x * (1 + torch.tanh(2 / math.pi * (x + 0.044715 * x**3)))


@wrong(check_gelu, "to be cubed")
def squared(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**2)))


@wrong(check_gelu, "use torch.tanh")
def tanh_by_hand(x):
    power = torch.exp(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + (power - 1) / (power + 1))


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


@wrong(check_post_norm_layer, "pre-LN")
def norm_first(x, attend, norm1, think, norm2, drop):
    x = x + drop(attend(norm1(x)))
    return x + drop(think(norm2(x)))


@wrong(check_post_norm_layer, "leaving out both residuals")
def no_residual(x, attend, norm1, think, norm2, drop):
    return norm2(drop(think(norm1(drop(attend(x))))))


@wrong(check_post_norm_layer, "residual of the second half")
def one_residual(x, attend, norm1, think, norm2, drop):
    return norm2(drop(think(norm1(x + drop(attend(x))))))


@wrong(check_post_norm_layer, "before it is added")
def branch_normed(x, attend, norm1, think, norm2, drop):
    x = x + norm1(drop(attend(x)))
    return x + norm2(drop(think(x)))


@wrong(check_post_norm_layer, "adding the layer's input again")
def old_residual(x, attend, norm1, think, norm2, drop):
    return norm2(x + drop(think(norm1(x + drop(attend(x))))))


@wrong(check_post_norm_layer, "norming only once")
def one_norm(x, attend, norm1, think, norm2, drop):
    x = x + drop(attend(x))
    return norm2(x + drop(think(x)))


@wrong(check_post_norm_layer, "exchanging the norms")
def norms_exchanged(x, attend, norm1, think, norm2, drop):
    return layer_in_two_lines(x, attend, norm2, think, norm1, drop)


@wrong(check_post_norm_layer, "side by side")
def parallel(x, attend, norm1, think, norm2, drop):
    return norm2(norm1(x + drop(attend(x)) + drop(think(x))))


@wrong(check_post_norm_layer, "as in transformers")
def second_half_not_dropped(x, attend, norm1, think, norm2, drop):
    x = norm1(x + drop(attend(x)))
    return norm2(x + think(x))


@wrong(check_post_norm_layer, "with them the residuals")
def residual_dropped(x, attend, norm1, think, norm2, drop):
    x = norm1(drop(x + attend(x)))
    return norm2(drop(x + think(x)))


@wrong(check_post_norm_layer, "what the norms return")
def norms_dropped(x, attend, norm1, think, norm2, drop):
    return layer_in_two_lines(x, attend, lambda y: drop(norm1(y)), think, lambda y: drop(norm2(y)), lambda y: y)


@wrong(check_post_norm_layer, "not dropping at all")
def never_dropped(x, attend, norm1, think, norm2, drop):
    return layer_in_two_lines(x, attend, norm1, think, norm2, lambda y: y)


@wrong(check_post_norm_layer, "cut off by detach()")
def residual_detached(x, attend, norm1, think, norm2, drop):
    x = norm1(x.detach() + drop(attend(x)))
    return norm2(x.detach() + drop(think(x)))


@wrong(check_post_norm_layer, "you called attend")
def never_thought(x, attend, norm1, think, norm2, drop):
    return norm2(norm1(x + drop(attend(x))))


@wrong(check_post_norm_layer, "still to do")
def not_begun(x, attend, norm1, think, norm2, drop):
    raise NotImplementedError("Exercise 02.8")
