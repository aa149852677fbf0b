"""Cards of the exercises in notebook 06: swapping a pair, words without order, whole sentences."""

import torch

from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.text.tokenizer import CLS, SEP


def swap_pair(token_ids: list[int]) -> tuple[list[int], list[int]]:
    """``swap_pair(token_ids) -> (swapped ids, segment ids)`` of one pair ``[CLS] A [SEP] B [SEP]``
    without padding, with [CLS] = 2 and [SEP] = 3. The result is ``[CLS] B [SEP] A [SEP]``, and the
    segment ids are 0 up to and with the first [SEP], and 1 after it."""
    cut = token_ids.index(SEP)
    first, second = token_ids[1:cut], token_ids[cut + 1 : -1]
    swapped = [CLS, *second, SEP, *first, SEP]
    return swapped, [0] * (len(second) + 2) + [1] * (len(first) + 1)


def _pairs(draw: Draw) -> Cases:
    for name, a, b in (("swaps a short A, a long B", 3, 6), ("swaps a long A, a short B", 7, 2)):
        A, B = (draw.integers(5, 90, length).tolist() for length in (a, b))
        yield Case(name, ([CLS, *A, SEP, *B, SEP],), 2.0)


check_swap_pair = card(
    "06.1",
    swap_pair,
    _pairs,
    {
        "letting the segment ids travel with the text, so that they tell the label": "return swapped, [1] * (len(second) + 2) + [0] * (len(first) + 1)",
        "keeping the segment ids of the pair before the swap": "return swapped, [0] * (len(first) + 2) + [1] * (len(second) + 1)",
        "returning the pair in its old order": "swapped = [CLS, *first, SEP, *second, SEP]",
    },
    pure=True,
)


def word_score(token_ids, segment_ids, weight):
    """``word_score(token_ids[B,S], segment_ids[B,S], weight[V]) -> score[B]``: the sum of the
    weights of the tokens in the first place (segment id 0) minus the sum of the weights of the
    tokens in the second place. The special tokens, with ids 0 to 4, do not count."""
    sign = (1 - 2 * segment_ids) * (token_ids > 4)
    return (weight[token_ids] * sign).sum(-1)


def _rows(draw: Draw) -> Cases:
    B, S, V = 4, 12, 30
    ids, weight = draw.integers(5, V, B, S), draw.randn(V)
    ids[:, [0, 2, 3, 8, 9, 10, 11]] = torch.tensor([CLS, 1, 4, 5, SEP, 0, 0])
    cut, place = torch.tensor([[5], [6], [7], [5]]), torch.arange(S).expand(B, S)
    ids[:, 4] = ids.scatter_(1, cut, SEP)[:, 1]  # a word that comes twice counts twice
    segment_ids = ((place > cut) & (place < 10)).long()
    yield Case("subtracts the second place", (ids, segment_ids, weight * (torch.arange(V) > 4)), 2)
    yield Case("leaves the special tokens out", (ids, segment_ids, weight))


check_word_score = card(
    "06.2",
    word_score,
    _rows,
    {
        "adding the two places, which no swap can change": "1 - 2 * segment_ids => 1",
        "subtracting the first place from the second": "1 - 2 * segment_ids => 2 * segment_ids - 1",
        "counting [CLS], [SEP] and padding as words": " * (token_ids > 4) => ",
    },
)


def fit_sentences(A: list[list[int]], B: list[list[int]], room: int) -> tuple[list, list]:
    """``fit_sentences(A, B, room) -> (A, B)``: drop whole sentences until both segments together
    have at most ``room`` tokens. A segment is a list of sentences, and A comes before B in the
    text. Drop from the segment with more tokens (from B if both have the same number): the first
    sentence of A or the last of B, so that what remains is still one run of text. The last sentence
    of a segment is never dropped: then drop from the other segment, and raise ValueError if neither
    can lose one."""
    A, B = list(A), list(B)
    while sum(map(len, A + B)) > room:
        longer_is_A = sum(map(len, A)) > sum(map(len, B))
        if len(A) == 1 and len(B) == 1:
            raise ValueError("the two sentences at the cut do not fit")
        if len(B) == 1 or (longer_is_A and len(A) > 1):
            A.pop(0)
        else:
            B.pop()
    return A, B


def _segments(draw: Draw) -> Cases:
    def segment(*lengths):
        return [draw.integers(5, 90, length).tolist() for length in lengths]

    yield Case("drops the end of a long B", (segment(2, 3), segment(4, 3, 5, 6), 16))
    yield Case("drops from what is longer now", (segment(6, 5, 7), segment(3, 2, 9), 18))
    yield Case("drops the end of B where both are equally long", (segment(4, 1), segment(4, 1), 9))
    yield Case("drops from B where A has one sentence", (segment(9), segment(2, 3), 11))
    yield Case("keeps a pair that just fits", (segment(7), segment(7), 14))
    yield Case("refuses two sentences that are too long", (segment(3, 9), segment(8, 2), 16))


check_fit_sentences = card(
    "06.3",
    fit_sentences,
    _segments,
    {
        "cutting single tokens off, so that a sentence stays unfinished": (
            "A.pop(0) => A = [A[0][1:], *A[1:]] if A[0][1:] else A[1:]",
            "B.pop() => B = [*B[:-1], B[-1][:-1]] if B[-1][:-1] else B[:-1]",
        ),
        "dropping the last sentence of A, which leaves a gap at the cut": "A.pop(0) => A.pop()",
        "dropping from A where both are equally long": "> sum(map(len, B)) => >= sum(map(len, B))",
        "refusing where one segment has one sentence": "len(A) == 1 and => len(A) == 1 or",
        "dropping once more than needed: a pair of exactly `room` tokens fits": "> room => >= room",
    },
    pure=True,
)
