"""Answers to the exercises of notebook 02 on attention and its heads, right and wrong."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_attention, check_split_heads
from tests.bug_zoo.zoo import right


@right(check_attention)
def attention_fused(q, k, v, keep):
    return F.scaled_dot_product_attention(q, k, v, keep[:, None, None, :])


@right(check_attention)
def attention_by_einsum_in_double(q, k, v, keep):
    scores = torch.einsum("baid,bajd->baij", q.double(), k.double()) * q.shape[-1] ** -0.5
    scores -= 1e4 * (1 - keep.double())[:, None, None]  # the original's way to hide
    return torch.einsum("baij,bajd->baid", scores.softmax(-1), v.double())


@right(check_attention)
def attention_by_loops(q, k, v, keep):
    rows = []
    for b, a, i in np.ndindex(*q.shape[:3]):
        scores = torch.stack([q[b, a, i] @ k[b, a, j] for j in range(q.shape[2]) if keep[b, j]]) / math.sqrt(q.shape[3])
        powers = (scores - scores.max()).exp()
        rows.append((powers[:, None] * v[b, a, keep[b]]).sum(0) / powers.sum())
    return torch.stack(rows).view(q.shape)


@right(check_split_heads)
def heads_by_view(x, A):
    return x.view(*x.shape[:2], A, -1).transpose(1, 2)


@right(check_split_heads)
def heads_by_slices(x, A):
    return torch.stack(x.chunk(A, dim=-1), dim=1)


@right(check_split_heads)
def heads_in_numpy(x, A):
    D = x.shape[-1] // A
    return np.stack([x.numpy()[:, :, a * D : (a + 1) * D] for a in range(A)], axis=1)
