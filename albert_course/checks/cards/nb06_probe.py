"""Card of notebook 06: what a linear classifier reads from features.

Its known mistakes are edits in mistakes/06.txt.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check

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
    x, y = _clusters(draw, 120, 0.8)
    tx, cluster_of = _clusters(draw, 90, 0.3)
    for cluster in (0, 1):  # one in twelve is mislabelled, so that no line is perfect in training
        y[(x[:, 0] > 3).long().eq(cluster).nonzero()[::12, 0]] = 1 - cluster
    # Each point is there twice, with the noise turned round: the best line sees the first feature.
    x, y = torch.cat([x, x * torch.tensor([1.0, -1.0, -1.0, -1.0])]), torch.cat([y, y])
    tx[(cluster_of == 0).nonzero()[:12, 0], 0] = 2.2  # beyond the training mean, nearer to 0
    ty = torch.where(torch.arange(len(tx)) % draw.integer(3, 5) == 1, 1 - cluster_of, cluster_of)
    tx[:, 2] = 3.0 * ty - 1.5  # in the test this feature tells the label, in training it is noise
    stretch = torch.tensor([1e-4, 1.0, 1.0, 50.0])
    shift = torch.tensor([0.01, -3.0, 0.0, 40.0])
    flat, flat_test = (F.pad(part, (0, 1), value=0.5) for part in (x, tx))
    side = torch.arange(240) % 2
    drift = 1.5 * draw.randn(240).clamp(-2, 2)
    both = torch.stack([2.0 * side - 1 + drift, drift], 1)  # their difference tells the label
    far = tx.clone()
    far[(cluster_of == 1).nonzero()[:3, 0], 0] = 1e10  # three rows on the right side
    corners = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    y3 = draw.integers(0, 3, 90)
    ty3 = draw.integers(0, 3, 60)
    x3, tx3 = (corners[labels] + draw.randn(len(labels), 2) / 2 for labels in (y3, ty3))

    accuracy = part_of(0)
    recalls = part_of(1)
    yield Case(
        "scores on the test what it learnt in training",
        inputs=(x, y, tx, ty),
        weight=3.0,
        ask=accuracy,
        atol=STEP,
    )
    yield Case(
        "gives the recall of each class",
        inputs=(x, y, tx, ty),
        weight=3.0,
        ask=recalls,
        atol=STEP,
    )
    units = x * stretch + shift, y, tx * stretch + shift, ty
    yield Case(
        "does not care in which units the features are",
        inputs=units,
        weight=2.0,
        atol=STEP,
    )
    yield Case(
        "is not moved by a feature that never changes",
        inputs=(flat, y, flat_test, ty),
        atol=STEP,
    )
    yield Case(
        "takes mean and spread from the training part alone",
        inputs=(x, y, far, ty),
        atol=STEP,
    )
    slow = both[:160], side[:160], both[160:], side[160:]
    yield Case(
        "takes steps until the answers stay",
        inputs=slow,
        ask=accuracy,
        atol=STEP,
    )
    zeros, ones = ((x, y, tx[ty == label], ty[ty == label]) for label in (0, 1))
    yield Case(
        "gives NaN for a class that is not in the test",
        inputs=ones,
        ask=recalls,
        atol=STEP,
    )
    yield Case(
        "counts the classes in the training labels",
        inputs=zeros,
        ask=recalls,
        atol=STEP,
    )
    yield Case("tells three classes apart", inputs=(x3, y3, tx3, ty3), atol=STEP)


check_linear_probe = make_check("assignment 06.5", linear_probe, _linear_probe_cases)
