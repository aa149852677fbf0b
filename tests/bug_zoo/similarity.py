"""Answers to the exercise of notebook 08 on the distance and the angle of each layer, right and wrong."""

from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_layer_similarity
from tests.bug_zoo.zoo import right


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
