"""Answers to the exercise of notebook 04 on the plan, right and wrong."""

import math
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import torch

from albert_edu.checks import check_layer_plan
from tests.bug_zoo.zoo import right, wrong


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


def plan(L, share, G, group=lambda i, L, G: i * G // L, own=lambda i, L, G: i):
    """The right way, with groups and rows of its own to change."""
    if share not in ("all", "attention", "ffn", "none") or not 1 <= G <= L:
        raise ValueError(f"{G} groups of {L} layers, {share}")
    rules = [group if share in ("all", half) else own for half in ("attention", "ffn")]
    return [tuple(rule(i, L, G) for rule in rules) for i in range(L)]


@wrong(check_layer_plan, "counting blocks from 1")
def plan_from_one(L, share, G):
    return [(a + 1, f + 1) for a, f in plan(L, share, G)]


@wrong(check_layer_plan, "exchanging the halves")
def plan_of_the_other_half(L, share, G):
    return [(f, a) for a, f in plan(L, share, G)]


@wrong(check_layer_plan, "whatever is named")
def plan_without_share(L, share, G):
    return plan(L, share and "all", G)


@wrong(check_layer_plan, "unless it is all")
def plan_all_or_nothing(L, share, G):
    return plan(L, "all" if share == "all" else "none", G)


@wrong(check_layer_plan, "a block of its own")
def plan_that_ignores_sharing(L, share, G):
    return plan(L, "none", G)


@wrong(check_layer_plan, "one layer too few")
def plan_too_short(L, share, G):
    return plan(L, share, G)[1:]


@wrong(check_layer_plan, "which is a cycle")
def plan_in_turn(L, share, G):
    return plan(L, share, G, lambda i, L, G: i % G)


@wrong(check_layer_plan, "the size of a group (i // G)")
def plan_by_size(L, share, G):
    return plan(L, share, G, lambda i, L, G: i // G if G > 1 else 0)


@wrong(check_layer_plan, "ignoring the groups")
def plan_without_groups(L, share, G):
    return plan(L, share, G, lambda i, L, G: 0)


@wrong(check_layer_plan, "a group too many")
def plan_rounded_down(L, share, G):
    return plan(L, share, G, lambda i, L, G: i // (L // G))


@wrong(check_layer_plan, "the whole rest to the last group")
def plan_with_a_long_end(L, share, G):
    return plan(L, share, G, lambda i, L, G: min(i // (L // G), G - 1))


@wrong(check_layer_plan, "rounding the size of a group up")
def plan_rounded_up(L, share, G):
    return plan(L, share, G, lambda i, L, G: i // math.ceil(L / G))


@wrong(check_layer_plan, "as array_split does")
def plan_by_array_split(L, share, G):
    group = [g for g, part in enumerate(torch.arange(L).tensor_split(G)) for _ in part] if G > 0 else []
    return plan(L, share, G, lambda i, L, G: group[i])


@wrong(check_layer_plan, "to the nearest whole number")
def plan_rounded(L, share, G):
    return plan(L, share, G, lambda i, L, G: round(i * G / L) if G > 1 else 0)


@wrong(check_layer_plan, "to the nearest whole number")
def plan_rounded_even_in_one_group(L, share, G):
    return plan(L, share, G, lambda i, L, G: round(i * G / L))


@wrong(check_layer_plan, "each half has blocks of its own, from 0")
def plan_in_one_numbering(L, share, G):
    return [(a, f + 1 + max(a for a, _ in plan(L, share, G))) for a, f in plan(L, share, G)]


@wrong(check_layer_plan, "where 'none' is asked for")
def plan_none_as_all(L, share, G):
    return plan(L, "all" if share == "none" else share, G)


@wrong(check_layer_plan, "int(i / L * G)")
def plan_in_floats(L, share, G):
    return plan(L, share, G, lambda i, L, G: int(i / L * G))


@wrong(check_layer_plan, "int(i / (L / G))")
def plan_in_other_floats(L, share, G):
    return plan(L, share, G, lambda i, L, G: int(i / (L / G)))


@wrong(check_layer_plan, "in the half that is not shared")
def plan_groups_everywhere(L, share, G):
    return plan(L, share, G, own=lambda i, L, G: i if G == 1 else i * G // L)


@wrong(check_layer_plan, "no ValueError for (L, share, G) = (4, 'all', 5)")
def plan_of_too_many_groups(L, share, G):
    return plan(L, share, G) if G < 1 or share == "both" else plan(max(L, G), share, G)[:L]


@wrong(check_layer_plan, "is the return missing?")
def plan_not_returned(L, share, G):
    plan(L, share, G)


@wrong(check_layer_plan, "still to do")
def plan_not_begun(L, share, G):
    raise NotImplementedError("Exercise 04.4")
