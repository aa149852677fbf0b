"""Cards of notebook 06: swapped pairs, scores of words, whole sentences, a head and a probe."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_course.checks.engine.asking import learns, output, parameters, part_of, same_twice
from albert_course.checks.engine.card import Case, Cases, Draw, card
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
        yield Case(name, ([CLS, *A, SEP, *B, SEP],), 2.0)


check_swap_pair = card("notebook 06.1", swap_pair, _swap_pair_cases, pure=True)


def word_score(token_ids, segment_ids, weight):
    """``word_score(token_ids[B,S], segment_ids[B,S], weight[V]) -> score[B]``: the sum of the
    weights of the tokens in the first place (segment id 0) minus the sum of the weights of the
    tokens in the second place. The special tokens, with ids 0 to 4, do not count."""
    sign = (1 - 2 * segment_ids) * (token_ids > 4)
    return (weight[token_ids] * sign).sum(-1)


def _word_score_cases(draw: Draw) -> Cases:
    B, S, V = 4, 12, 30
    ids, weight = draw.integers(5, V, B, S), draw.randn(V)
    ids[:, [0, 2, 3, 8, 9, 10, 11]] = torch.tensor([CLS, 1, 4, 5, SEP, 0, 0])
    cut, place = torch.tensor([[5], [6], [7], [5]]), torch.arange(S).expand(B, S)
    ids[:, 4] = ids.scatter_(1, cut, SEP)[:, 1]  # a word that comes twice counts twice
    segment_ids = ((place > cut) & (place < 10)).long()
    yield Case("subtracts the second place", (ids, segment_ids, weight * (torch.arange(V) > 4)), 2)
    yield Case("leaves the special tokens out", (ids, segment_ids, weight))


check_word_score = card("notebook 06.2", word_score, _word_score_cases)


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
        return [draw.integers(5, 90, length).tolist() for length in lengths]

    yield Case("drops the end of a long B", (segment(2, 3), segment(4, 3, 5, 6), 16))
    yield Case("drops from what is longer now", (segment(6, 5, 7), segment(3, 2, 9), 18))
    yield Case("drops the end of B where both are equally long", (segment(4, 1), segment(4, 1), 9))
    yield Case("drops from B where A has one sentence", (segment(9), segment(2, 3), 11))
    yield Case("keeps a pair that just fits", (segment(7), segment(7), 14))
    yield Case("refuses two sentences that are too long", (segment(3, 9), segment(8, 2), 16))


check_fit_sentences = card("notebook 06.3", fit_sentences, _fit_sentences_cases, pure=True)


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
    B, S, H = 3, 5, draw.integer(4, 8)
    x = draw.randn(B, S, H)
    yield Case("has the parameters of a pooler and of two scores", ((H,), x), 2.0, parameters)
    yield Case("maps [CLS], bends it by tanh and scores it", ((H,), x), 3.0, output)
    yield Case("can be trained on", ((H,), x), 1.0, learns)
    yield Case("gives the same scores twice", ((H,), draw.randn(64, S, H)), 1.0, same_twice)
    yield Case("keeps the dimension of a batch of one", ((H,), x[:1, :1]), 1.0, output)


check_sentence_order_head = card("assignment 06.4", SentenceOrderHead, _sentence_order_head_cases)


STEP = 0.006  # less than one answer in 120


def linear_probe(features, labels, test_features, test_labels) -> tuple[float, list[float]]:
    """``probe(features[N,D], labels[N], test_features[M,D], test_labels[M]) -> accuracy, recalls``:
    standardise all features with the mean and the spread of the training features, fit a logistic
    regression with a bias on the training part (labels 0 to C-1; no penalty, or a weak one whose
    weight is at most a thousandth of the mean loss's), and score it on the test part. ``accuracy``
    is the share of right answers, ``recalls`` the C shares of right answers within each true class,
    NaN for a class that the test does not have."""
    x, y, tx, ty = features, labels, test_features, test_labels
    C = int(y.max()) + 1
    mean, spread = x.mean(0), x.std(0).clamp(min=1e-6)
    x, tx = (F.pad((part - mean) / spread, (0, 1), value=1.0) for part in (x, tx))
    w = torch.zeros(x.shape[1], C)
    for _ in range(300):
        w -= x.T @ ((x @ w).softmax(1) - F.one_hot(y, C)) / len(x)
    said = (tx @ w).argmax(1)
    right = (said == ty).double()
    accuracy = right.mean().item()
    recalls = [right[ty == c].mean().item() for c in range(C)]
    return accuracy, recalls


def _clusters(draw: Draw, N: int, share: float) -> tuple[Tensor, Tensor]:
    """Two clusters, at 0 and 6 of the first feature, and their numbers; the other three features
    are noise."""
    labels = torch.from_numpy(draw.numpy.permutation((torch.arange(N) >= share * N).long().numpy()))
    features = draw.randn(N, 4)
    features[:, 0] = 6 * labels + 0.25 * features[:, 0].clamp(-2, 2)
    return features, labels


def _linear_probe_cases(draw: Draw) -> Cases:
    (x, y), (tx, cluster_of) = _clusters(draw, 120, 0.8), _clusters(draw, 90, 0.3)
    for cluster in (0, 1):  # one in twelve is mislabelled, so that no line is perfect in training
        y[(x[:, 0] > 3).long().eq(cluster).nonzero()[::12, 0]] = 1 - cluster
    # Each point is there twice, with the noise turned round: the best line sees the first feature.
    x, y = torch.cat([x, x * torch.tensor([1.0, -1.0, -1.0, -1.0])]), torch.cat([y, y])
    tx[(cluster_of == 0).nonzero()[:12, 0], 0] = 2.2  # beyond the training mean, nearer to 0
    ty = torch.where(torch.arange(len(tx)) % draw.integer(3, 5) == 1, 1 - cluster_of, cluster_of)
    tx[:, 2] = 3.0 * ty - 1.5  # in the test this feature tells the label, in training it is noise
    stretch, shift = torch.tensor([1e-4, 1.0, 1.0, 50.0]), torch.tensor([0.01, -3.0, 0.0, 40.0])
    flat, flat_test = (F.pad(part, (0, 1), value=0.5) for part in (x, tx))
    side, drift = torch.arange(240) % 2, 1.5 * draw.randn(240).clamp(-2, 2)
    both = torch.stack([2.0 * side - 1 + drift, drift], 1)  # their difference tells the label
    far = tx.clone()
    far[(cluster_of == 1).nonzero()[:3, 0], 0] = 1e10  # three rows on the right side
    corners = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    y3, ty3 = draw.integers(0, 3, 90), draw.integers(0, 3, 60)
    x3, tx3 = (corners[labels] + draw.randn(len(labels), 2) / 2 for labels in (y3, ty3))

    accuracy, recalls = part_of(0), part_of(1)
    yield Case("scores on the test what it learnt in training", (x, y, tx, ty), 3.0, accuracy, STEP)
    yield Case("gives the recall of each class", (x, y, tx, ty), 3.0, recalls, STEP)
    units = x * stretch + shift, y, tx * stretch + shift, ty
    yield Case("does not care in which units the features are", units, 2.0, atol=STEP)
    yield Case("is not moved by a feature that never changes", (flat, y, flat_test, ty), atol=STEP)
    yield Case("takes mean and spread from the training part alone", (x, y, far, ty), atol=STEP)
    slow = both[:160], side[:160], both[160:], side[160:]
    yield Case("takes steps until the answers stay", slow, 1.0, accuracy, STEP)
    zeros, ones = ((x, y, tx[ty == label], ty[ty == label]) for label in (0, 1))
    yield Case("gives NaN for a class that is not in the test", ones, 1.0, recalls, STEP)
    yield Case("counts the classes in the training labels", zeros, 1.0, recalls, STEP)
    yield Case("tells three classes apart", (x3, y3, tx3, ty3), atol=STEP)


check_linear_probe = card("assignment 06.5", linear_probe, _linear_probe_cases)
