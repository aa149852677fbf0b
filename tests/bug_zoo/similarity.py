"""Answers to the exercise of notebook 08 on the distance and the angle of each layer, right and wrong."""

import math
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_layer_similarity
from tests.bug_zoo.zoo import right, wrong


@right(check_layer_similarity)
def similarity_at_once(hidden_states, attention_mask):
    h = torch.stack(hidden_states).double()[:, :, 1:][:, attention_mask[:, 1:].bool()]  # L+1 N H
    cosine = F.cosine_similarity(h[1:], h[:-1], dim=-1).clamp(-1, 1)
    return (h[1:] - h[:-1]).norm(dim=-1).mean(1), torch.rad2deg(cosine.arccos()).mean(1)


@right(check_layer_similarity)
def similarity_by_loops(hidden_states, attention_mask):
    rows = []
    for before, after in pairwise(hidden_states):
        found = []
        for b, s in attention_mask.nonzero().tolist():
            if s > 0:
                x, y = before[b, s].double(), after[b, s].double()
                cosine = (x @ y / (x.norm() * y.norm())).clamp(-1, 1)
                found.append(torch.stack([(y - x).norm(), torch.rad2deg(cosine.arccos())]))
        rows.append(torch.stack(found).mean(0))
    return torch.stack(rows).T


@right(check_layer_similarity)
def similarity_in_numpy(hidden_states, attention_mask):
    weight = attention_mask.double().numpy()
    weight[:, 0] = 0
    distances, degrees = [], []
    for before, after in pairwise(state.double().numpy() for state in hidden_states):
        distances.append((np.linalg.norm(after - before, axis=-1) * weight).sum() / weight.sum())
        x, y = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (before, after))
        half = np.arctan2(np.linalg.norm(x - y, axis=-1), np.linalg.norm(x + y, axis=-1))  # needs no clamp
        degrees.append(np.degrees((2 * half * weight).sum() / weight.sum()))
    return distances, degrees


def by_steps(hidden_states, attention_mask, mean=None, measure=None):
    """What most wrong answers below have in common; ``measure`` gives [B,S] distances and degrees, ``mean`` averages them."""
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    pairs = [(measure or distance_and_degrees)(x.double(), y.double()) for x, y in pairwise(hidden_states)]
    return [torch.stack([mean(one) if mean else one[tokens].mean() for one in column]) for column in zip(*pairs, strict=True)]


def distance_and_degrees(x, y):
    return (y - x).norm(dim=-1), F.cosine_similarity(x, y, dim=-1).clamp(-1, 1).arccos().rad2deg()


@wrong(check_layer_similarity, "letting padding vote")
def padding_counted(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: one[:, 1:].mean())


@wrong(check_layer_similarity, "letting [CLS] vote")
def cls_counted(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: one[attention_mask.bool()].mean())


@wrong(check_layer_similarity, "letting padding and [CLS] vote")
def everything_counted(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, torch.mean)


@wrong(check_layer_similarity, "[CLS] alone")
def cls_alone(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: one[:, 0].mean())


@wrong(check_layer_similarity, "within each sequence first")
def mean_of_sequences(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: torch.stack(
        [row[: int(n)][1:].mean() for row, n in zip(one, attention_mask.sum(1), strict=True)]).mean())  # fmt: skip


@wrong(check_layer_similarity, "dividing by all places")
def zeroed_and_averaged(hidden_states, attention_mask):
    tokens = attention_mask.clone()
    tokens[:, 0] = 0
    return by_steps(hidden_states, attention_mask, lambda one: (one * tokens).mean())


@wrong(check_layer_similarity, "number of pieces with [CLS]")
def divided_by_all_pieces(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: (one * attention_mask)[:, 1:].sum() / attention_mask.sum())


@wrong(check_layer_similarity, "adding up instead of averaging")
def added_up(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, lambda one: (one * attention_mask)[:, 1:].sum())


@wrong(check_layer_similarity, "make it .bool()")
def indexed_with_integers(hidden_states, attention_mask):
    attention_mask[:, 0] = 0
    return by_steps(hidden_states, attention_mask, lambda one: one[attention_mask].mean())


@wrong(check_layer_similarity, "averaging over padding only")
def mask_upside_down(hidden_states, attention_mask):
    tokens = ~attention_mask.bool() if not attention_mask.all() else attention_mask.bool()
    return by_steps(hidden_states, attention_mask, lambda one: one[tokens].mean())


@wrong(check_layer_similarity, "distance of the averages")
def averages_compared(hidden_states, attention_mask):
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    return by_steps([h[tokens].mean(0, keepdim=True) for h in hidden_states], attention_mask, lambda one: one[0])


@wrong(check_layer_similarity, "as arccos gives it")
def in_radians(hidden_states, attention_mask):
    distances, degrees = by_steps(hidden_states, attention_mask)
    return distances, torch.deg2rad(degrees)


@wrong(check_layer_similarity, "deg2rad where rad2deg")
def converted_the_wrong_way(hidden_states, attention_mask):
    distances, degrees = by_steps(hidden_states, attention_mask)
    return distances, degrees * (math.pi / 180) ** 2


@wrong(check_layer_similarity, "returning the cosine")
def cosine_returned(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, None, lambda x, y: ((y - x).norm(dim=-1), F.cosine_similarity(x, y, dim=-1)))


@wrong(check_layer_similarity, "before the arccos")
def cosines_averaged(hidden_states, attention_mask):
    distances, cosines = cosine_returned(hidden_states, attention_mask)
    return distances, cosines.clamp(-1, 1).arccos().rad2deg()


@wrong(check_layer_similarity, "squaring the distance")
def squared(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, None,
                    lambda x, y: ((y - x).square().sum(-1), distance_and_degrees(x, y)[1]))  # fmt: skip


@wrong(check_layer_similarity, "(L1)")
def absolute_differences(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, None, lambda x, y: ((y - x).abs().sum(-1), distance_and_degrees(x, y)[1]))


@wrong(check_layer_similarity, "root of H")
def root_mean_square(hidden_states, attention_mask):
    distances, degrees = by_steps(hidden_states, attention_mask)
    return distances / hidden_states[0].shape[-1] ** 0.5, degrees


@wrong(check_layer_similarity, "comparing lengths instead of vectors")
def lengths_compared(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, None,
                    lambda x, y: ((y.norm(dim=-1) - x.norm(dim=-1)).abs(), distance_and_degrees(x, y)[1]))  # fmt: skip


@wrong(check_layer_similarity, "from h₀ each time")
def from_the_start(hidden_states, attention_mask):
    first, *rest = hidden_states
    columns = zip(*(by_steps([first, state], attention_mask) for state in rest), strict=True)
    return [torch.cat(column) for column in columns]


@wrong(check_layer_similarity, "clamp it to [-1, 1]")
def not_clamped(hidden_states, attention_mask):
    def measure(x, y):
        return (y - x).norm(dim=-1), ((x * y).sum(-1) / (x.norm(dim=-1) * y.norm(dim=-1))).arccos().rad2deg()

    return by_steps(hidden_states, attention_mask, None, measure)


@wrong(check_layer_similarity, ".double() the states")
def in_float32(hidden_states, attention_mask):
    h = torch.stack(hidden_states)[:, :, 1:][:, attention_mask[:, 1:].bool()]
    cosine = F.cosine_similarity(h[1:], h[:-1], dim=-1).clamp(-1, 1)
    return (h[1:] - h[:-1]).norm(dim=-1).mean(1), torch.rad2deg(cosine.arccos()).mean(1)


@wrong(check_layer_similarity, "has a vote")
def median_over_all(hidden_states, attention_mask):
    return by_steps(hidden_states, attention_mask, torch.median)


@wrong(check_layer_similarity, "the shape is")
def one_layer_too_few(hidden_states, attention_mask):
    return by_steps(hidden_states[1:], attention_mask)


@wrong(check_layer_similarity, "distances, then degrees")
def stacked_the_other_way(hidden_states, attention_mask):
    return torch.stack(by_steps(hidden_states, attention_mask), dim=-1)  # L 2


@wrong(check_layer_similarity, "is the return missing?")
def similarity_not_returned(hidden_states, attention_mask):
    by_steps(hidden_states, attention_mask)


@wrong(check_layer_similarity, "still to do")
def not_begun(hidden_states, attention_mask):
    raise NotImplementedError("Exercise 08.4")
