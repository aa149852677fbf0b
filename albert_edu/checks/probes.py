"""Check of notebook 06: what a straight line can read from frozen features."""

import math

import torch

from albert_edu.analysis.probes import linear_probe, recall
from albert_edu.checks.trial import Trial, exercise


@exercise("06.5")
def check_linear_probe(answer, trial: Trial) -> None:
    """``probe(features[N,D], labels[N], test_features[M,D], test_labels[M]) -> accuracy, recalls``: standardise with the mean and
    the spread of the training features, fit a logistic regression with a bias on them (labels 0 to C-1; no penalty, or a weak
    one), and score it on the test features, which it has not seen. ``accuracy`` is the share of right answers, ``recalls`` the C
    shares of right answers within each true class, NaN for a class that the test does not have."""
    (x, y), (tx, told) = _clusters(trial, 120, 0.8), _clusters(trial, 90, 0.3)
    for cluster in (0, 1):  # one in twelve is mislabelled in each cluster, so that no line is perfect on the training part
        y[(x[:, 0] > 3).long().eq(cluster).nonzero()[::12, 0]] = 1 - cluster
    # Each point is there twice, with the noise turned round, so that the best line looks at the first feature alone.
    x, y = torch.cat([x, x * torch.tensor([1.0, -1.0, -1.0, -1.0])]), torch.cat([y, y])
    tx[(told == 0).nonzero()[:12, 0], 0] = 2.2  # beyond the training part's mean, 1.2, and still nearer to 0 than to 6
    ty = torch.where(torch.arange(len(tx)) % int(trial.randint(3, 5, 1)) == 1, 1 - told, told)
    tx[:, 2] = 3.0 * ty - 1.5  # in the test this feature tells the label, in the training it is noise

    def ask(*parts, C=2, name="takes features, labels, test features and test labels"):
        got = _scores(trial.call(answer, *parts, name=name), C)
        if got is None:
            told = "is it made for two classes only?" if C > 2 else "is the return missing?"
            trial.need("returns accuracy and recalls", False, f"a number and a sequence of {C} are asked for; {told}")
        return got

    right = _scores(recall(torch.eye(2)[told], ty), 2)
    z, z_test = ((part - part.mean(0)) / part.std(0) for part in (x, tx))
    values = {
        "scoring on the training part": linear_probe(x, y, x, y),
        "fitting on the test part": linear_probe(tx, ty, tx, ty),
        "fitting on both parts": linear_probe(torch.cat([x, tx]), torch.cat([y, ty]), tx, ty),
        "standardising the test with its own mean and spread": linear_probe(z, y, z_test, ty),
    }
    values["leaving out the bias: the line goes through the mean"] = recall(torch.eye(2)[(tx[:, 0] > x[:, 0].mean()).long()], ty)
    mistakes = {mistake: _scores(value, 2) for mistake, value in values.items()}
    accuracy, recalls = right
    precision = [float((ty[told == c] == c).double().mean()) for c in (0, 1)]
    got = ask(x, y, tx, ty)
    trial.equal("scores on the test what was fitted on the training part", got[0], accuracy, {
        **{mistake: value[0] for mistake, value in mistakes.items()},
        "averaging the recalls; the accuracy counts each answer once": sum(recalls) / 2,
        "counting the wrong answers": 1 - accuracy,
        "counting right answers instead of dividing by their number": accuracy * len(ty),
        "answering in percent": 100 * accuracy,
    }, weight=3, atol=0.006)  # fmt: skip
    trial.equal("gives the recall of each class", got[1], recalls, {
        **{mistake: value[1] for mistake, value in mistakes.items()},
        "dividing by how often a class was answered (that is precision)": precision,
        "dividing by all answers": [float(((told == c) & (ty == c)).double().mean()) for c in (0, 1)],
        "exchanging the classes": recalls[::-1],
        "giving the accuracy for both classes": [accuracy, accuracy],
    }, weight=3, atol=0.006)  # fmt: skip
    stretch, shift = torch.tensor([1e-4, 1.0, 1.0, 50.0]), torch.tensor([0.01, -3.0, 0.0, 40.0])
    scaled = ask(x * stretch + shift, y, tx * stretch + shift, ty)
    reason = "features in other units give other answers: standardise each with the training part's mean and spread"
    trial.equal("does not care in which units the features are", scaled, got, atol=0.006, reason=reason, weight=2)
    flat, flat_test = (torch.cat([part, torch.full((len(part), 1), 0.5)], 1) for part in (x, tx))
    constant = ask(flat, y, flat_test, ty, name="survives a feature that never changes")
    reason = "its spread is 0, and 0 / 0 is not a number: divide by at least something small"
    trial.equal("is not moved by a feature that never changes", constant, got, atol=0.006, reason=reason)
    side, drift = torch.arange(240) % 2, 1.5 * trial.randn(240).clamp(-2, 2)
    both = torch.stack([2.0 * side - 1 + drift, drift], 1)  # alike, and their difference tells the label
    slow = ask(both[:160], side[:160], both[160:], side[160:], name="survives two features that are much alike")[0]
    reason = "a line that is still on its way: take more steps, or longer ones"
    trial.equal("takes steps until the answers stay", slow, 1.0, atol=0.006, reason=reason)
    lone = ask(x, y, tx[ty == 1], ty[ty == 1], name="survives a test of one class")[1]
    trial.true("gives NaN for a class that the test does not have", math.isnan(lone[0]),
               "0 would say that all were missed, and none was there")  # fmt: skip
    other = ask(x, y, tx[ty == 0], ty[ty == 0], name="survives a test without the last class")[1]
    trial.true("takes the number of classes from the training labels", math.isnan(other[1]),
               "the last class has no test row: its recall is NaN")  # fmt: skip
    corners = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    y3, ty3 = (trial.randint(0, 3, size) for size in (90, 60))
    x3, tx3 = (corners[labels] + trial.randn(len(labels), 2) / 2 for labels in (y3, ty3))
    three = ask(x3, y3, tx3, ty3, C=3, name="survives three classes")
    trial.equal("tells three classes apart", three, (1.0, [1.0] * 3), atol=0.006, reason="is it made for two classes only?")


def _clusters(trial: Trial, N: int, share: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Two clusters, at 0 and 6 of the first feature, and their numbers; the other three features are noise."""
    labels = torch.from_numpy(trial.numpy.permutation((torch.arange(N) >= share * N).long().numpy()))
    features = trial.randn(N, 4)
    features[:, 0] = 6 * labels + 0.25 * features[:, 0].clamp(-2, 2)
    return features, labels


def _scores(answered, C: int) -> tuple[float, list[float]] | None:
    try:
        accuracy, recalls = answered
        found = float(accuracy), [float(one) for one in recalls]
    except (TypeError, ValueError, RuntimeError):
        return None
    return found if len(found[1]) == C else None
