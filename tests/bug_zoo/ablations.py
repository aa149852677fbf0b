"""Right answers to the exercises of notebook 09 on intervals, in other styles."""

import math

import numpy as np

from albert_edu.checks import check_interval, check_paired_difference
from tests.bug_zoo.zoo import right

T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # with three digits


@right(check_interval)
def interval_by_hand(values):
    n = len(values)
    if n == 0 or any(math.isnan(value) or math.isinf(value) for value in values):
        raise ValueError(values)
    if n == 1:
        return values[0], float("inf")
    centre = sum(values) / n
    squares = [(value - centre) ** 2 for value in values]
    return centre, T[n - 2] * (sum(squares) / (n - 1)) ** 0.5 / n**0.5


@right(check_interval)
def interval_in_numpy(values):
    x = np.array(values)
    if x.size == 0 or not np.isfinite(x).all():
        raise ValueError("no interval")
    half = T[len(x) - 2] * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.inf
    return np.array([x.mean(), half])


@right(check_paired_difference)
def difference_by_two_loops(results, column, low, high):
    pairs = [(one["seed"], other[column] - one[column]) for one in results for other in results
             if (one["row"], other["row"]) == (low, high) and one["seed"] == other["seed"]]  # fmt: skip
    runs = [(one["row"], one["seed"]) for one in results if one["row"] in {low, high}]
    if not pairs or len(set(runs)) < len(runs):
        raise ValueError("no common seed, or one twice")
    return interval_by_hand([difference for _, difference in pairs])


@right(check_paired_difference)
def difference_in_numpy(results, column, low, high):
    sides = {low: {}, high: {}}
    for one in results:
        if one["row"] in sides:
            if one["seed"] in sides[one["row"]]:
                raise ValueError(one)
            sides[one["row"]][one["seed"]] = one[column]
    both = sorted(sides[low].keys() & sides[high].keys())
    return interval_in_numpy([sides[high][seed] - sides[low][seed] for seed in both])
