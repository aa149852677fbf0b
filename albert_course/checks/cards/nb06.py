"""Cards of notebook 06: swapped pairs, scores of words, whole sentences, a head.

Their known mistakes are edits in mistakes/06.txt.
"""

import torch
from torch import Tensor, nn

from albert_course.checks.engine.asking import each, learns, output, parameters, same_twice
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.text.tokenizer import CLS, SEP


def swap_pair(token_ids: list[int]) -> tuple[list[int], list[int]]:
    """``swap_pair(token_ids) -> (swapped ids, segment ids)`` of one pair ``[CLS] A [SEP] B [SEP]``
    without padding, with [CLS] = 2 and [SEP] = 3. The result is ``[CLS] B [SEP] A [SEP]``, and the
    segment ids are 0 up to and with the first [SEP], and 1 after it."""
    cut = token_ids.index(SEP)
    first, second = token_ids[1:cut], token_ids[cut + 1 : -1]
    swapped = [CLS, *second, SEP, *first, SEP]
    return swapped, [0] * (len(second) + 2) + [1] * (len(first) + 1)


def _swap_pair_cases(draw: Draw) -> Cases:
    for name, a, b in (("swaps a short A, a long B", 3, 6), ("swaps a long A, a short B", 7, 2)):
        A, B = (draw.integers(5, 90, length).tolist() for length in (a, b))
        yield Case(name, inputs=([CLS, *A, SEP, *B, SEP],), weight=2.0)


check_swap_pair = make_check("notebook 06.1", swap_pair, _swap_pair_cases, pure=True)


def word_score(token_ids, segment_ids, weight):
    """``word_score(token_ids[B,S], segment_ids[B,S], weight[V]) -> score[B]``: the sum of the
    weights of the tokens in the first place (segment id 0) minus the sum of the weights of the
    tokens in the second place. The special tokens, with ids 0 to 4, do not count."""
    sign = (1 - 2 * segment_ids) * (token_ids > 4)
    return (weight[token_ids] * sign).sum(-1)


def _word_score_cases(draw: Draw) -> Cases:
    B = 4
    S = 12
    V = 30
    ids = draw.integers(5, V, B, S)
    weight = draw.randn(V)
    ids[:, [0, 2, 3, 8, 9, 10, 11]] = torch.tensor([CLS, 1, 4, 5, SEP, 0, 0])
    cut = torch.tensor([[5], [6], [7], [5]])
    place = torch.arange(S).expand(B, S)
    ids[:, 4] = ids.scatter_(1, cut, SEP)[:, 1]  # a word that comes twice counts twice
    segment_ids = ((place > cut) & (place < 10)).long()
    yield Case(
        "subtracts the second place",
        inputs=(ids, segment_ids, weight * (torch.arange(V) > 4)),
        weight=2,
    )
    yield Case("leaves the special tokens out", (ids, segment_ids, weight))


check_word_score = make_check("notebook 06.2", word_score, _word_score_cases)


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


def _fit_sentences_cases(draw: Draw) -> Cases:
    def segment(*lengths):
        """Sentences of so many drawn ids each."""
        return [draw.integers(5, 90, length).tolist() for length in lengths]

    yield Case("drops the end of a long B", (segment(2, 3), segment(4, 3, 5, 6), 16))
    yield Case("drops from what is longer now", (segment(6, 5, 7), segment(3, 2, 9), 18))
    many_in_A = segment(2, 2, 3), segment(6, 5), 13
    many_in_B = segment(7, 6), segment(2, 3, 2), 13
    yield Case(
        "counts the tokens of a segment, not its sentences",
        inputs=(many_in_A, many_in_B),
        ask=each,
    )
    long_in_A = segment(8, 1), segment(4, 4, 4), 17
    long_in_B = segment(4, 4, 5), segment(1, 8), 18
    yield Case(
        "counts all tokens of a segment, not those of its longest sentence",
        inputs=(long_in_A, long_in_B),
        ask=each,
    )
    yield Case("drops the end of B where both are equally long", (segment(4, 1), segment(4, 1), 9))
    yield Case("drops from B where A has one sentence", (segment(9), segment(2, 3), 11))
    yield Case("drops from A where B has one sentence", (segment(2, 3), segment(9), 12))
    yield Case("keeps a pair that just fits", (segment(7), segment(7), 14))
    yield Case("refuses two sentences that are too long", (segment(3, 9), segment(8, 2), 16))


check_fit_sentences = make_check("notebook 06.3", fit_sentences, _fit_sentences_cases, pure=True)


class SentenceOrderHead(nn.Module):
    """``Head(H)`` makes an nn.Module without dropout; called with the encoder's last_hidden[B,S,H]
    it gives scores[B,2], for 'in order' and 'swapped'. The vector of [CLS], the first of each
    sequence, is mapped from H to H and bent by tanh (the pooler); a second map makes two scores of
    it. Both maps have a bias; nothing else has parameters."""

    def __init__(self, H: int):
        super().__init__()
        self.pooler = nn.Linear(H, H)
        self.scores = nn.Linear(H, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        first = hidden[:, 0]
        x = torch.tanh(self.pooler(first))
        return self.scores(x)


def _sentence_order_head_cases(draw: Draw) -> Cases:
    B = 3
    S = 5
    H = draw.integer(4, 8)
    x = draw.randn(B, S, H)
    yield Case(
        "has the parameters of a pooler and of two scores",
        inputs=((H,), x),
        weight=2.0,
        ask=parameters,
    )
    yield Case(
        "maps [CLS], bends it by tanh and scores it",
        inputs=((H,), x),
        weight=3.0,
        ask=output,
    )
    yield Case("can be trained on", inputs=((H,), x), ask=learns)
    yield Case(
        "gives the same scores twice",
        inputs=((H,), draw.randn(64, S, H)),
        ask=same_twice,
    )
    yield Case(
        "keeps the dimension of a batch of one",
        inputs=((H,), x[:1, :1]),
        ask=output,
    )


check_sentence_order_head = make_check(
    "assignment 06.4", SentenceOrderHead, _sentence_order_head_cases
)
