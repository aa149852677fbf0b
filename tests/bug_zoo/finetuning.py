"""Right answers to the exercises of notebook 11 in other styles."""

import numpy as np
import torch
from torch import nn

from albert_edu.checks import (
    check_best_span,
    check_classification_head,
    check_pair_layout,
    check_span_labels,
)
from albert_edu.text.tasks import as_data, truncate_pair, with_special_tokens
from tests.bug_zoo.zoo import right


@right(check_classification_head)
class HeadByHand(nn.Module):
    """A mask drawn by hand, and a product written out."""

    def __init__(self, H, C, p):
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(p)
        self.p, self.weight, self.bias = p, nn.Parameter(torch.randn(C, H)), nn.Parameter(torch.zeros(C))

    def forward(self, x):
        if self.training:
            x = x * (torch.rand_like(x) >= self.p) / (1 - self.p)
        return torch.einsum("bh,ch->bc", x, self.weight) + self.bias


@right(check_pair_layout)
def layout_of_the_library(pairs, S):
    laid = []
    for a, b in pairs:
        a, second = [*a], [*(b or [])]
        truncate_pair(a, second, S - (2 if b is None else 3))
        laid.append(with_special_tokens(a, b if b is None else second))
    data = as_data(laid, [0] * len(laid), S)
    return data.token_ids, data.segment_ids, data.attention_mask


def longest_first(a, b, room):
    surplus = len(a) + len(b) - room
    if surplus > 0:  # at once: the longer one down to the shorter, then in turns
        from_a = surplus if len(a) - len(b) >= surplus else max(0, (len(a) - len(b) + surplus) // 2)
        a, b = a[: len(a) - min(len(a), from_a)], b[: len(b) - (surplus - min(len(a), from_a))]
    return a, b


@right(check_pair_layout)
def layout_in_lists(pairs, S):
    ids, segments, masks = [], [], []
    for a, b in pairs:
        first, second = (a[: S - 2], []) if b is None else longest_first(a, b, S - 3)
        row = [2, *first, 3, *second, *[3] * (b is not None)]
        ids.append(row + [0] * (S - len(row)))
        segments.append([int(len(first) + 2 <= place < len(row)) for place in range(S)])
        masks.append([int(place < len(row)) for place in range(S)])
    return ids, segments, masks


@right(check_span_labels)
def labels_by_a_map_of_characters(question, characters, start, text, S):
    if start < 0:
        return torch.tensor([-100, -100])
    tokens_at = {}
    for place, (b, e) in enumerate(characters, start=len(question) + 2):
        for character in range(b, e):
            tokens_at.setdefault(character, []).append(place)
    places = [place for character in range(start, start + len(text)) for place in tokens_at.get(character, [])]
    return torch.tensor([min(places), max(places)]) if places and max(places) <= S - 2 else None


@right(check_span_labels)
def labels_in_numpy(question, characters, start, text, S):
    row = np.full((max(S, 200), 2), -1)  # the whole row, with -1 on what is not context
    row[len(question) + 2 :][: len(characters)] = characters
    inside = (row[:, 0] < start + len(text)) & (row[:, 1] > start) & (row[:, 0] >= 0)
    found = np.flatnonzero(inside) if text else [-100]
    return None if not len(found) or found[-1] + 2 > S else np.array([found[0], found[-1]])


@right(check_best_span)
def span_by_loops(start, end, context, none, longest=30):
    found = []
    for row in range(len(start)):
        S = len(start[row])
        pairs = [(float(start[row][i] + end[row][j]), i, j)
                 for i in range(S) for j in range(i, min(i + longest, S)) if context[row][i] and context[row][j]]
        found.append(max(pairs)[1:] if pairs and none[row] <= 0 else [-100, -100])
    return found


@right(check_best_span)
def span_by_lengths(start, end, context, none, longest=30):
    best, found = torch.full(none.shape, float("-inf")), torch.full((len(start), 2), -100)
    for length in range(min(longest, start.shape[1])):  # all answers of one length at once
        both = context[:, : context.shape[1] - length] & context[:, length:]
        score = (start[:, : start.shape[1] - length] + end[:, length:]).masked_fill(~both, float("-inf"))
        most, at = score.max(1)
        found[most > best] = torch.stack([at, at + length], 1)[most > best]
        best = torch.maximum(best, most)
    found[none > 0] = -100
    return found.numpy()
