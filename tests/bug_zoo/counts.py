"""Answers to the exercises of notebook 03 on what a width costs and what a whole model weighs, right and wrong."""

import math

import torch
from torch import nn

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from albert_edu.checks import check_parameter_count, check_widest
from tests.bug_zoo.zoo import right

# The first model on the meta device loads a part of torch, for seconds on a busy machine: not within the limit of an answer.
count_parameters(AlbertConfig(num_heads=1))


@right(check_widest)
def widest_by_division(V, H, budget):
    return min(max((budget - H) // (V + H), 0), H - 1)


@right(check_widest)
def widest_by_counting(V, H, budget):
    best = 0
    for E in range(1, H):
        if V * E + E * H + H <= budget:
            best = E
    return best


@right(check_widest)
def widest_by_halving(V, H, budget):
    low, high = 0, H - 1
    while low < high:
        E = (low + high + 1) // 2
        low, high = (E, high) if V * E + E * H + H <= budget else (low, E - 1)
    return low


@right(check_parameter_count)
def counted_in_the_library_s_model(V, E, H, L, share):
    sizes = dict(vocab_size=V, embedding_size=E, hidden_size=H, num_layers=L, num_heads=1)
    return count_parameters(AlbertConfig(**sizes, share=share)).total


@right(check_parameter_count)
def counted_by_shapes(V, E, H, L, share):
    attention = [(H, H), (H,)] * 4 + [(H,)] * 2
    ffn = [(H, 4 * H), (4 * H,), (4 * H, H), (H,), (H,), (H,)]
    shapes = [(V, E), (512, E), (2, E), (E,), (E,), (H, H), (H,)]
    shapes += [(E, H), (H,)] if E != H else []
    shapes += attention * (1 if share in ("all", "attention") else L)
    shapes += ffn * (1 if share in ("all", "ffn") else L)
    return float(sum(math.prod(shape) for shape in shapes))  # a float that is a whole number will do


@right(check_parameter_count)
def counted_in_modules(V, E, H, L, share):
    def block(*sizes):
        return nn.ModuleList([nn.LayerNorm(H), *(nn.Linear(n, m) for n, m in sizes)])

    with torch.device("meta"):
        tables = [nn.Embedding(V, E), nn.Embedding(512, E), nn.Embedding(2, E), nn.LayerNorm(E)]
        attention = [block(*[(H, H)] * 4) for _ in range(L if share in ("ffn", "none") else 1)]
        ffn = [block((H, 4 * H), (4 * H, H)) for _ in range(L if share in ("attention", "none") else 1)]
        maps = [nn.Linear(H, H)] + [nn.Linear(E, H)] * (E != H)
    return sum(weight.numel() for weight in nn.ModuleList([*tables, *maps, *attention, *ffn]).parameters())
