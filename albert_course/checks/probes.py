"""Card of notebook 06: what a straight line can read from frozen features."""

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card

STEP = 0.006  # less than one answer in 120


def linear_probe(
    features: Tensor, labels: Tensor, test_features: Tensor, test_labels: Tensor
) -> tuple:
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


def _features(draw: Draw) -> Cases:
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

    def ask(answer, *parts):
        accuracy, recalls = answer(*parts)
        C = int(parts[1].max()) + 1
        need(len(recalls) == C, f"{len(recalls)} recalls for {C} classes of the training labels")
        return [float(accuracy), [float(recall) for recall in recalls]]

    def accuracy(answer, *parts):
        return ask(answer, *parts)[0]

    def recalls(answer, *parts):
        return ask(answer, *parts)[1]

    yield Case(
        "scores on the test what was fitted on the training part",
        (x, y, tx, ty),
        3.0,
        accuracy,
        STEP,
    )
    yield Case("gives the recall of each class", (x, y, tx, ty), 3.0, recalls, STEP)
    yield Case(
        "does not care in which units the features are",
        (x * stretch + shift, y, tx * stretch + shift, ty),
        2.0,
        ask,
        STEP,
    )
    yield Case(
        "is not moved by a feature that never changes", (flat, y, flat_test, ty), 1.0, ask, STEP
    )
    yield Case(
        "takes mean and spread from the training part alone", (x, y, far, ty), 1.0, ask, STEP
    )
    yield Case(
        "takes steps until the answers stay",
        (both[:160], side[:160], both[160:], side[160:]),
        1.0,
        accuracy,
        STEP,
    )
    yield Case(
        "gives NaN for a class that the test does not have",
        (x, y, tx[ty == 1], ty[ty == 1]),
        1.0,
        recalls,
        STEP,
    )
    yield Case(
        "takes the number of classes from the training labels",
        (x, y, tx[ty == 0], ty[ty == 0]),
        1.0,
        recalls,
        STEP,
    )
    yield Case("tells three classes apart", (x3, y3, tx3, ty3), 1.0, ask, STEP)


PARTS = "test_features, test_labels"
check_linear_probe = card(
    "06.5",
    linear_probe,
    _features,
    {
        "scoring on the training part": "x, y, tx, ty = features, labels, features, labels",
        "fitting on the test part": f"x, y, tx, ty = {PARTS}, {PARTS}",
        "fitting on both parts": "x, y, tx, ty = torch.cat([features, test_features]), torch.cat(["
        f"labels, test_labels]), {PARTS}",
        "standardising the test with its own mean and spread": "x, tx = (F.pad((part - part.mean(0)) / part.std(0).clamp(min=1e-6), (0, 1), value=1.0) "
        "for part in (x, tx))",
        "standardising with mean and spread of both parts together": "x.mean(0), x.std(0) => torch.cat([x, tx]).mean(0), torch.cat([x, tx]).std(0)",
        "not standardising, so that features in other units give other answers": "mean, spread = 0.0, 1.0",
        "its spread is 0, and 0 / 0 is not a number": ".clamp(min=1e-6) => ",
        "leaving out the bias: the line goes through the mean": "value=1.0 => value=0.0",
        "a line that is still on its way: take more steps, or longer ones": "range(300) => range(2)",
        "dividing by how often a class was answered (that is precision)": "right[ty == c] => right[said == c]",
        "dividing by all answers": "recalls = [(right * (ty == c)).mean().item() for c in range(C)]",
        "swapping the classes": "return accuracy, recalls[::-1]",
        "averaging the recalls; the accuracy counts each answer once": "return sum(recalls) / C, recalls",
        "answering in percent": "return 100 * accuracy, recalls",
        "giving 0 for an absent class: 0 would say that all were missed, and none was there": "return accuracy, [r if r == r else 0.0 for r in recalls]",
        "taking the number of classes from the test labels": "C = int(ty.max()) + 1",
        "telling one class from all others: is it made for two classes only?": "C = 2; y, ty = y.clamp(max=1), ty.clamp(max=1)",
        "returning the accuracy alone": "return accuracy",
    },
)
