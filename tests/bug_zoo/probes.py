"""Answers to the exercise of notebook 06 on reading features with a straight line, right and wrong."""

import numpy as np
import torch
import torch.nn.functional as F

from albert_edu.analysis.probes import linear_probe
from albert_edu.checks import check_linear_probe
from tests.bug_zoo.zoo import right, wrong

right(check_linear_probe)(linear_probe)


@right(check_linear_probe)
def probe_with_newton_in_numpy(x, y, tx, ty):
    """One class against the rest, by Newton's method, with a weak penalty."""
    x, y, tx, ty = (np.asarray(part, float) for part in (x, y, tx, ty))
    mean, spread = x.mean(0), np.maximum(x.std(0), 1e-9)
    x, tx = (np.c_[np.ones(len(part)), (part - mean) / spread] for part in (x, tx))
    scores = []
    for c in range(int(y.max()) + 1):
        w = np.zeros(x.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-x @ w))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(len(w))
            w -= np.linalg.solve(hessian, x.T @ (p - (y == c)) + 0.1 * w)
        scores.append(tx @ w)
    told = np.argmax(scores, 0)
    recalls = [np.mean(told[ty == c] == c) if (ty == c).any() else np.nan for c in range(len(scores))]
    return np.mean(told == ty), np.array(recalls)


def fitted(x, y, bias=True, steps=300):
    """Weights of a logistic regression, by plain steps downhill from zero."""
    w = torch.zeros(x.shape[1] + bias, int(y.max()) + 1)
    rows = torch.cat([x, torch.ones(len(x), 1)], 1) if bias else x
    for _ in range(steps):
        w -= 1.0 * rows.T @ ((rows @ w).softmax(1) - F.one_hot(y, w.shape[1])) / len(x)
    return w


def told_by(w, tx):
    return (torch.cat([tx, torch.ones(len(tx), 1)], 1)[:, : len(w)] @ w).argmax(1)


def judged(told, ty, C):
    right = (told == ty).double()
    return right.mean().item(), [right[ty == c].mean().item() for c in range(C)]


def standardised(x, *parts):
    return [(part - x.mean(0)) / (x.std(0) + 1e-7) for part in parts]


@right(check_linear_probe)
def downhill(x, y, tx, ty):
    x, tx = standardised(x, x, tx)
    w = fitted(x, y)
    return judged(told_by(w, tx), ty, w.shape[1])


@wrong(check_linear_probe, "scoring on the training part")
def scored_on_training(x, y, tx, ty):
    return linear_probe(x, y, x, y)


@wrong(check_linear_probe, "fitting on the test part")
def fitted_on_test(x, y, tx, ty):
    return linear_probe(tx, ty, tx, ty)


@wrong(check_linear_probe, "fitting on both parts")
def fitted_on_both(x, y, tx, ty):
    return linear_probe(torch.cat([x, tx]), torch.cat([y, ty]), tx, ty)


@wrong(check_linear_probe, "with its own mean and spread")
def own_statistics(x, y, tx, ty):
    return linear_probe(*standardised(x, x), y, *standardised(tx, tx), ty)


@wrong(check_linear_probe, "features in other units")
def not_standardised(x, y, tx, ty):
    w = fitted(x, y, steps=2000)
    return judged(told_by(w, tx), ty, w.shape[1])


@wrong(check_linear_probe, "features in other units")
def only_centred(x, y, tx, ty):
    w = fitted(x - x.mean(0), y)
    return judged(told_by(w, tx - x.mean(0)), ty, w.shape[1])


@wrong(check_linear_probe, "0 / 0 is not a number")
def spread_of_zero(x, y, tx, ty):
    w = fitted((x - x.mean(0)) / x.std(0), y)
    return judged(told_by(w, (tx - x.mean(0)) / x.std(0)), ty, w.shape[1])


def counted(x, y, tx, ty):
    """The confusion: rows are true classes, columns answers."""
    w = fitted(*standardised(x, x), y)
    told = told_by(w, *standardised(x, tx))
    C = w.shape[1]
    return torch.bincount(ty * C + told, minlength=C * C).view(C, C).double()


@wrong(check_linear_probe, "that is precision")
def precision_for_recall(*parts):
    table = counted(*parts)
    return float(table.trace() / table.sum()), (table.diag() / table.sum(0)).tolist()


@wrong(check_linear_probe, "dividing by all answers")
def shares_of_all(*parts):
    table = counted(*parts)
    return float(table.trace() / table.sum()), (table.diag() / table.sum()).tolist()


@wrong(check_linear_probe, "exchanging the classes")
def recalls_exchanged(*parts):
    accuracy, recalls = linear_probe(*parts)
    return accuracy, recalls[::-1]


@wrong(check_linear_probe, "averaging the recalls")
def mean_of_recalls(*parts):
    recalls = linear_probe(*parts).per_class
    return sum(recalls) / len(recalls), recalls


@wrong(check_linear_probe, "accuracy for both classes")
def one_number_twice(*parts):
    accuracy, recalls = linear_probe(*parts)
    return accuracy, [accuracy for _ in recalls]


@wrong(check_linear_probe, "still on its way")
def two_steps(x, y, tx, ty):
    x, tx = standardised(x, x, tx)
    w = fitted(x, y, steps=2)
    return judged(told_by(w, tx), ty, w.shape[1])


@wrong(check_linear_probe, "in percent")
def in_percent(*parts):
    accuracy, recalls = linear_probe(*parts)
    return 100 * accuracy, recalls


@wrong(check_linear_probe, "0 would say that all were missed")
def zero_for_absent(*parts):
    accuracy, recalls = linear_probe(*parts)
    return accuracy, [0.0 if share != share else share for share in recalls]


@wrong(check_linear_probe, "for two classes only")
def two_classes_only(x, y, tx, ty):
    accuracy, recalls = linear_probe(x, (y > 0).long(), tx, (ty > 0).long())
    return accuracy, recalls


@wrong(check_linear_probe, "is the return missing?")
def accuracy_alone(*parts):
    return linear_probe(*parts).accuracy


@wrong(check_linear_probe, "leaving out the bias")
def without_bias(x, y, tx, ty):
    w = fitted(*standardised(x, x), y, bias=False)
    return judged(told_by(w, *standardised(x, tx)), ty, w.shape[1])


@wrong(check_linear_probe, "still to do")
def probe_not_begun(x, y, tx, ty):
    raise NotImplementedError("Exercise 06.5")
