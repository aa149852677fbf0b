"""Answers to the exercises of notebook 02 on attention and its heads, right and wrong."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.checks import check_attention, check_split_heads
from tests.bug_zoo.zoo import right, wrong


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


def attend(q, k, v, keep, scale=None, dim=-1):
    """The right way, with things to change."""
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    return scores.masked_fill(~keep[:, None, None], -1e4).softmax(dim) @ v


@wrong(check_attention, "not dividing the scores")
def undivided(q, k, v, keep):
    return attend(q, k, v, keep, scale=1)


@wrong(check_attention, "dividing by D instead of its root")
def divided_twice(q, k, v, keep):
    return attend(q, k, v, keep, scale=1 / q.shape[-1])


@wrong(check_attention, "the whole width")
def divided_by_root_of_h(q, k, v, keep):
    return attend(q, k, v, keep, scale=(q.shape[1] * q.shape[3]) ** -0.5)


@wrong(check_attention, "softmax over the queries")
def softmax_over_queries(q, k, v, keep):
    return attend(q, k, v, keep, dim=2)


@wrong(check_attention, "exchanging queries and keys")
def keys_ask(q, k, v, keep):
    return attend(k, q, v, keep)


@wrong(check_attention, "as in GPT")
def causal(q, k, v, keep):
    before = torch.ones(q.shape[2], q.shape[2]).tril().bool()
    return F.scaled_dot_product_attention(q, k, v, before & keep[:, None, None])


@wrong(check_attention, "letting padding vote")
def mask_ignored(q, k, v, keep):
    return F.scaled_dot_product_attention(q, k, v)


@wrong(check_attention, "adding keep to the scores as 1 and 0")
def mask_as_float(q, k, v, keep):
    return F.scaled_dot_product_attention(q, k, v, keep[:, None, None].float())


@wrong(check_attention, "e to the 0 is 1")
def scores_multiplied(q, k, v, keep):
    return (q @ k.mT / math.sqrt(q.shape[-1]) * keep[:, None, None]).softmax(-1) @ v


@wrong(check_attention, "no longer sum to 1")
def mask_after_softmax(q, k, v, keep):
    return ((q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) * keep[:, None, None]) @ v


@wrong(check_attention, "is the mask upside down?")
def mask_upside_down(q, k, v, keep):
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(keep[:, None, None], -1e9).softmax(-1) @ v


@wrong(check_attention, "e to the 89 overflows")
def exponentials_by_hand(q, k, v, keep):
    powers = (q @ k.mT / math.sqrt(q.shape[-1])).exp() * keep[:, None, None]
    return powers @ v / powers.sum(-1, keepdim=True)


@wrong(check_attention, "no gradient reaches q, k")
def weights_detached(q, k, v, keep):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~keep[:, None, None], -1e9)
    return scores.softmax(-1).detach() @ v


@wrong(check_attention, "you return tuple, not a tensor")
def weights_returned_too(q, k, v, keep):
    return attend(q, k, v, keep), keep


@wrong(check_attention, "other queries, keys give the same")
def values_only(q, k, v, keep):
    return v


@wrong(check_attention, "in mask_of_another_shape, line")
def mask_of_another_shape(q, k, v, keep):
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~keep, -1e9).softmax(-1) @ v


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


@wrong(check_split_heads, "without the transpose")
def heads_torn(x, A):
    return x.view(x.shape[0], A, x.shape[1], -1)


@wrong(check_split_heads, "behind the tokens")
def heads_behind(x, A):
    return x.view(*x.shape[:2], A, -1)


@wrong(check_split_heads, "dealing the columns out")
def heads_dealt_out(x, A):
    return x.view(*x.shape[:2], -1, A).permute(0, 3, 1, 2)


@wrong(check_split_heads, "number of heads with their width")
def heads_as_wide_as_many(x, A):
    return x.view(*x.shape[:2], -1, A).transpose(1, 2)


@wrong(check_split_heads, "in front of the batch")
def heads_in_front(x, A):
    return torch.stack(x.chunk(A, dim=-1))


@wrong(check_split_heads, "squeeze()")
def heads_squeezed(x, A):
    return torch.stack(x.chunk(A, dim=-1), dim=1).squeeze()


@wrong(check_split_heads, "or their width in the code")
def heads_four_wide(x, A):
    return torch.stack(x.split(4, dim=-1), dim=1)
