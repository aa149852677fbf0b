"""Answers to the exercise of notebook 04 on the plan, right and wrong."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import torch

from albert_edu.checks import check_layer_plan
from tests.bug_zoo.zoo import right


@right(check_layer_plan)
def plan_in_numpy(L, share, G):
    if G < 1 or G > L:
        raise ValueError("1 to L groups")
    group, own = np.arange(L) * G // L, np.arange(L)
    match share:
        case "all":
            return np.stack([group, group], axis=1)
        case "attention":
            return np.stack([group, own], axis=1)
        case "ffn":
            return np.stack([own, group], axis=1)
        case "none":
            return np.stack([own, own], axis=1)
    raise ValueError(share)


@right(check_layer_plan)
def plan_by_ruler(L, share, G):
    if share not in ("all", "attention", "ffn", "none") or not 0 < G <= L:
        raise ValueError("no such plan")
    cuts = [Fraction(g, G) for g in range(G)]
    group = [bisect_right(cuts, Fraction(i, L)) - 1 for i in range(L)]
    return torch.tensor([[group[i] if share in ("all", half) else i for half in ("attention", "ffn")] for i in range(L)])
