"""Answers to the exercise of notebook 08 on paths that swing back, right and wrong."""

from itertools import pairwise

import torch
import torch.nn.functional as F

from albert_edu.checks import check_turn_cosine
from tests.bug_zoo.zoo import right


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
