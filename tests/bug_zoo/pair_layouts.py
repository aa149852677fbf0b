"""Answers to the exercise of notebook 11 on texts and pairs of texts as rows, right and wrong."""

import torch

from albert_edu.checks import check_pair_layout
from albert_edu.text.tasks import as_data, truncate_pair, with_special_tokens
from tests.bug_zoo.zoo import right, wrong


@right(check_pair_layout)
def layout_of_the_library(pairs, S):
    laid = []
    for a, b in pairs:
        truncate_pair(a, b or [], S - (2 if b is None else 3))
        laid.append(with_special_tokens(a, b))
    data = as_data(laid, [0] * len(laid), S)
    return data.token_ids, data.segment_ids, data.attention_mask


@right(check_pair_layout)
def layout_in_lists(pairs, S):
    return laid_out(pairs, S)


def longest_first(a, b, room):
    surplus = len(a) + len(b) - room
    if surplus > 0:  # at once: the longer one down to the shorter, then in turns
        from_a = min(len(a), max(0, surplus if len(a) - len(b) >= surplus else (len(a) - len(b) + surplus) // 2))
        a, b = a[: len(a) - from_a], b[: len(b) - (surplus - from_a)]
    return a, b


def laid_out(pairs, S, cut=longest_first, begin_b=0, end_b=0, pad_segment=0, pad_mask=0, single=2, second_sep=False, at_last=False):
    """What most wrong answers below have in common."""
    ids, segments, masks = [], [], []
    for a, b in pairs:
        if b is None:
            a, rest = a[: S - single], [3] * second_sep
        else:
            a, b = (a, b) if at_last else cut(a, b, S - 3)
            rest = [*b, 3]
        row = [2, *a, 3, *rest]
        n, free = len(row), max(0, S - len(row))
        marks = [int(b is not None and len(a) + 2 + begin_b <= place < n + end_b) for place in range(n)]
        ids.append((row + [0] * free)[:S])
        segments.append((marks + [pad_segment] * free)[:S])
        masks.append(([1] * n + [pad_mask] * free)[:S])
    return ids, segments, masks


@wrong(check_pair_layout, "cutting the front")
def front_cut(pairs, S):
    def cut(a, b, room):
        a, b = longest_first(a[::-1], b[::-1], room)
        return a[::-1], b[::-1]

    return laid_out(pairs, S, cut)


@wrong(check_pair_layout, "cutting A alone")
def only_a_cut(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: (a[: max(0, room - len(b))], b[:room]))


@wrong(check_pair_layout, "cutting B alone")
def only_b_cut(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: (a[:room], b[: max(0, room - len(a))]))


@wrong(check_pair_layout, "one half of the room")
def half_each(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: (a[: room // 2], b[: room - room // 2]))


@wrong(check_pair_layout, "half of the room where they do not fit")
def half_where_too_long(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: (a, b) if len(a) + len(b) <= room else (a[: room // 2], b[: room - room // 2]))


@wrong(check_pair_layout, "and A the place left over")
def larger_half_for_a(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: (a, b) if len(a) + len(b) <= room else (a[: room - room // 2], b[: room // 2]))


@wrong(check_pair_layout, "in proportion")
def in_proportion(pairs, S):
    def cut(a, b, room):
        keep = room * len(a) // (len(a) + len(b)) if len(a) + len(b) > room else len(a)
        return a[:keep], b[: room - keep]

    return laid_out(pairs, S, cut)


@wrong(check_pair_layout, "cutting A where both are equally long")
def a_first(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: longest_first(b, a, room)[::-1])


@wrong(check_pair_layout, "a place more free")
def a_place_wasted(pairs, S):
    return laid_out(pairs, S, lambda a, b, room: longest_first(a, b, room - 1))


@wrong(check_pair_layout, "loses its last [SEP]")
def cut_at_last(pairs, S):
    return laid_out(pairs, S, at_last=True, single=-100)


@wrong(check_pair_layout, "giving the first [SEP] to B")
def separator_of_b(pairs, S):
    return laid_out(pairs, S, begin_b=-1)


@wrong(check_pair_layout, "giving the last [SEP] to A")
def last_separator_of_a(pairs, S):
    return laid_out(pairs, S, end_b=-1)


@wrong(check_pair_layout, "giving padding the segment 1")
def padding_of_b(pairs, S):
    return laid_out(pairs, S, pad_segment=1)


@wrong(check_pair_layout, "everything the segment 0")
def one_segment(pairs, S):
    return laid_out(pairs, S, begin_b=S)


@wrong(check_pair_layout, "attending to padding")
def nothing_masked(pairs, S):
    return laid_out(pairs, S, pad_mask=1)


@wrong(check_pair_layout, "upside down")
def mask_upside_down(pairs, S):
    ids, segments, mask = map(torch.tensor, laid_out(pairs, S))
    return ids, segments, 1 - mask


@wrong(check_pair_layout, "between A and B")
def no_separator_between(pairs, S):
    ids, segments, masks = laid_out(pairs, S)
    for row, marks, (a, b) in zip(ids, segments, pairs, strict=True):
        if b is not None and len(a) + 1 < S:
            row.append(row.pop(row.index(3)) * 0)
            marks.append(0)
            del marks[0]
    return ids, segments, masks


@wrong(check_pair_layout, "in front of the row")
def padded_in_front(pairs, S):
    ids, segments, masks = map(torch.tensor, laid_out(pairs, S))
    shifts = (S - masks.sum(1)).tolist()
    return [torch.stack([row.roll(n) for row, n in zip(part, shifts, strict=True)]) for part in (ids, segments, masks)]


@wrong(check_pair_layout, "a second [SEP] behind")
def single_as_pair(pairs, S):
    return laid_out([(a, b or []) for a, b in pairs], S)


@wrong(check_pair_layout, "leaving room for a second [SEP]")
def room_for_two_separators(pairs, S):
    return laid_out(pairs, S, single=3)


@wrong(check_pair_layout, "not in what was there before")
def segments_of_the_long_text(pairs, S):
    ids, segments, masks = laid_out(pairs, S)
    for row, marks, (a, b) in zip(ids, segments, pairs, strict=True):
        n = sum(piece != 0 for piece in row)
        marks[:] = [int(b is not None and len(a) + 2 <= place < n) for place in range(S)]
    return ids, segments, masks


@wrong(check_pair_layout, "a row not padded")
def not_padded(pairs, S):
    return [[row[:5] for row in part] for part in laid_out(pairs, S)]


@wrong(check_pair_layout, "(a, list(b)) for a, b in pairs")
def pairs_only(pairs, S):
    return laid_out([(a, list(b)) for a, b in pairs], S)
