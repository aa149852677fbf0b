"""Answers to the exercise of notebook 08 on paths that swing back, right and wrong."""

from itertools import pairwise

import torch
import torch.nn.functional as F

from albert_edu.checks import check_turn_cosine
from tests.bug_zoo.zoo import right, wrong


@right(check_turn_cosine)
def turns_at_once(hidden_states, attention_mask):
    steps = torch.stack(hidden_states).double().diff(dim=0)[:, :, 1:][:, attention_mask[:, 1:].bool()]  # L N H
    return F.cosine_similarity(steps[1:], steps[:-1], dim=-1).mean(1)


@right(check_turn_cosine)
def turns_by_loops(hidden_states, attention_mask):
    found = []
    for a, b, c in zip(hidden_states, hidden_states[1:], hidden_states[2:], strict=False):
        total, count = 0.0, 0
        for i, s in attention_mask.nonzero().tolist():
            first, second = b[i, s] - a[i, s], c[i, s] - b[i, s]
            if s > 0:
                lengths = float(first.norm() * second.norm())
                total, count = total + (float(first @ second) / lengths if lengths else 0), count + 1
        found.append(total / count)
    return found


@right(check_turn_cosine)
def turns_of_unit_steps(hidden_states, attention_mask):
    attention_mask[:, 0] = 0
    units = [F.normalize(y - x, dim=-1) for x, y in pairwise(hidden_states)]
    dots = torch.stack([torch.einsum("bsh,bsh,bs->", x, y, attention_mask.float()) for x, y in pairwise(units)])
    return dots / attention_mask.sum()


def turned(hidden_states, attention_mask, mean=None, measure=None):
    """What most wrong answers below have in common: something of two successive steps, averaged."""
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    steps = [y - x for x, y in pairwise(hidden_states)]
    found = [measure(x, y) if measure else F.cosine_similarity(x, y, dim=-1) for x, y in pairwise(steps)]
    return torch.stack([mean(one) if mean else one[tokens].mean() for one in found])


@wrong(check_turn_cosine, "letting padding vote")
def turns_with_padding(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, lambda one: one[:, 1:].mean())


@wrong(check_turn_cosine, "letting [CLS] vote")
def turns_with_cls(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, lambda one: one[attention_mask.bool()].mean())


@wrong(check_turn_cosine, "has a vote")
def turns_by_median(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, torch.median)


@wrong(check_turn_cosine, "within each sequence first")
def turns_per_sequence(hidden_states, attention_mask):
    attention_mask[:, 0] = 0
    return turned(hidden_states, attention_mask, lambda one: ((one * attention_mask).sum(1) / attention_mask.sum(1)).mean())


@wrong(check_turn_cosine, "states instead of steps")
def states_compared(hidden_states, attention_mask):
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    return torch.stack([F.cosine_similarity(x, y, dim=-1)[tokens].mean() for x, y in pairwise(hidden_states[1:])])


@wrong(check_turn_cosine, "each step with the first")
def first_step_compared(hidden_states, attention_mask):
    steps = [y - x for x, y in pairwise(hidden_states)]
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    return torch.stack([F.cosine_similarity(steps[0], step, dim=-1)[tokens].mean() for step in steps[1:]])


@wrong(check_turn_cosine, "averaging the steps before")
def steps_averaged(hidden_states, attention_mask):
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    steps = [(y - x)[tokens].mean(0) for x, y in pairwise(hidden_states)]
    return torch.stack([F.cosine_similarity(x, y, dim=0) for x, y in pairwise(steps)])


@wrong(check_turn_cosine, "one of the two steps backwards")
def one_step_backwards(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: F.cosine_similarity(x, -y, dim=-1))


@wrong(check_turn_cosine, "not dividing by the lengths")
def dot_products(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: (x * y).sum(-1))


@wrong(check_turn_cosine, "angle in degrees")
def turns_in_degrees(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: F.cosine_similarity(x, y, dim=-1).arccos().rad2deg())


@wrong(check_turn_cosine, "angle in radians")
def turns_in_radians(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: F.cosine_similarity(x, y, dim=-1).arccos())


@wrong(check_turn_cosine, "taking the sign of the cosine away")
def turns_without_sign(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: F.cosine_similarity(x, y, dim=-1).abs())


@wrong(check_turn_cosine, "tokens that swing back")
def swings_counted(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: (F.cosine_similarity(x, y, dim=-1) < 0).float())


@wrong(check_turn_cosine, "along dim=1, the default")
def default_dim(hidden_states, attention_mask):
    tokens = attention_mask.bool()
    tokens[:, 0] = False
    steps = torch.stack(hidden_states)[:, tokens].diff(dim=0)  # L N H
    return F.cosine_similarity(steps[1:], steps[:-1]).mean(-1)


@wrong(check_turn_cosine, "no direction")
def steps_of_zero_divided(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None, lambda x, y: (x * y).sum(-1) / (x.norm(dim=-1) * y.norm(dim=-1)))


@wrong(check_turn_cosine, "however long they are")
def large_eps(hidden_states, attention_mask):
    return turned(hidden_states, attention_mask, None,
                  lambda x, y: (x * y).sum(-1) / (x.norm(dim=-1) * y.norm(dim=-1) + 0.5))  # fmt: skip


@wrong(check_turn_cosine, "the shape is")
def turns_of_every_layer(hidden_states, attention_mask):
    return turned([torch.zeros_like(hidden_states[0]), *hidden_states], attention_mask)
