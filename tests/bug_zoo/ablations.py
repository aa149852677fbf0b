"""Answers to the exercises of notebook 09 on intervals, right and wrong."""

import itertools
import math
import statistics

import numpy as np

from albert_edu.checks import check_interval, check_paired_difference
from albert_edu.paper.claims import Less, T, mean
from tests.bug_zoo.zoo import right, wrong

right(check_interval)(mean)  # the library's, with n as a third number


@right(check_interval)
def interval_by_hand(values):
    n = len(values)
    if n == 1:
        return values[0], float("inf")
    centre = sum(values) / n
    squares = [(value - centre) ** 2 for value in values]
    return centre, T[n - 1] * (sum(squares) / (n - 1)) ** 0.5 / n**0.5


@right(check_interval)
def interval_in_numpy(values):
    x = np.array(values)
    t = dict(enumerate((12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262), start=2))  # with three digits
    return np.array([x.mean(), t[len(x)] * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.inf])


def interval_with(values, t=None, ddof=1, root=math.sqrt):
    """What most wrong answers below have in common."""
    n = len(values)
    return np.mean(values), (t or T[n - 1]) * np.std(values, ddof=ddof) / root(n) if n > 1 else math.inf


@wrong(check_interval, "1.96, which is right for many seeds")
def normal_factor(values):
    return interval_with(values, t=1.96)


@wrong(check_interval, "2 instead of Student's t")
def two_deviations(values):
    return interval_with(values, t=2)


@wrong(check_interval, "t at n degrees of freedom")
def a_degree_too_many(values):
    return interval_with(values, t=(T | {10: 2.23})[len(values)])


@wrong(check_interval, "a 90% interval")
def one_sided_point(values):
    points = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83)
    return interval_with(values, t=([math.inf, *points])[len(values) - 1])


@wrong(check_interval, "by n instead of n - 1 (the default of NumPy)")
def population_variance(values):
    return interval_with(values, ddof=0)


@wrong(check_interval, "by n, and taking 1.96")
def habits_of_numpy(values):
    return interval_with(values, t=1.96, ddof=0)


@wrong(check_interval, "not dividing by the root of n")
def of_single_runs(values):
    return interval_with(values, root=lambda n: 1)


@wrong(check_interval, "dividing by n instead of its root")
def divided_by_n(values):
    return interval_with(values, root=lambda n: n)


@wrong(check_interval, "the whole width")
def whole_width(values):
    return interval_with(values)[0], 2 * interval_with(values)[1]


@wrong(check_interval, "the standard error, without t")
def standard_error(values):
    return interval_with(values, t=1)


@wrong(check_interval, "the standard deviation")
def plus_minus_deviation(values):
    return interval_with(values, t=1, root=lambda n: 1)


@wrong(check_interval, "a root is missing")
def variance_for_deviation(values):
    n = len(values)
    return np.mean(values), T[n - 1] * statistics.variance(values) / math.sqrt(n) if n > 1 else math.inf


@wrong(check_interval, "the two ends")
def ends(values):
    centre, half = interval_with(values, t=1.96, ddof=0)
    return centre - half, centre + half


@wrong(check_interval, "not about 0")
def spread_about_zero(values):
    n = len(values)
    return np.mean(values), T[n - 1] * math.sqrt(sum(v * v for v in values) / (n - 1)) / math.sqrt(n) if n > 1 else math.inf


@wrong(check_interval, "its interval is math.inf wide")
def sure_after_one(values):
    return interval_with(values) if len(values) > 1 else (values[0], 0.0)


@wrong(check_interval, "in no_single_seed, line")
def no_single_seed(values):
    return statistics.mean(values), T[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5


@wrong(check_interval, "is the return missing?")
def half_alone(values):
    return interval_with(values)[1]


@wrong(check_interval, "still to do")
def not_begun(values):
    raise NotImplementedError("Exercise 09.4")


@right(check_paired_difference)
def difference_of_the_library(results, column, low, high):
    return Less(column, low, high).difference(results)


@right(check_paired_difference)
def difference_by_two_loops(results, column, low, high):
    found = [other[column] - one[column] for one in results for other in results
             if (one["row"], other["row"]) == (low, high) and one["seed"] == other["seed"]]  # fmt: skip
    if not found:
        raise ValueError("no common seed")
    return interval_by_hand(found)


@right(check_paired_difference)
def difference_in_numpy(results, column, low, high):
    first, second = (by_seed(results, column, row) for row in (low, high))
    both = np.array(sorted(first.keys() & second.keys()))
    if both.size == 0:
        raise ValueError
    return interval_in_numpy(np.array([second[s] for s in both]) - np.array([first[s] for s in both]))


def by_seed(results, column, row):
    return {one["seed"]: one[column] for one in results if one["row"] == row}


def in_pairs(results, column, low, high):
    """The values of the common seeds, high and low."""
    first, second = (by_seed(results, column, row) for row in (low, high))
    pairs = [(second[seed], first[seed]) for seed in first if seed in second]
    if not pairs:
        raise ValueError("no common seed")
    return pairs


@wrong(check_paired_difference, "what a seed does to both does not cancel")
def unpaired(results, column, low, high):
    b, a = zip(*in_pairs(results, column, low, high), strict=True)
    n = len(a)
    if n == 1:
        return b[0] - a[0], math.inf
    return np.mean(b) - np.mean(a), T.get(2 * n - 2, 2.0) * math.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / n)


@wrong(check_paired_difference, "also of those that only one row has")
def means_of_all_seeds(results, column, low, high):
    first, second = (list(by_seed(results, column, row).values()) for row in (low, high))
    spread = sum(np.var(side, ddof=1) / len(side) for side in (first, second))
    return np.mean(second) - np.mean(first), T.get(len(first) + len(second) - 2, 2.0) * math.sqrt(spread)


@wrong(check_paired_difference, "adding the half-widths")
def widths_added(results, column, low, high):
    (b, wide), (a, narrow) = map(interval_by_hand, zip(*in_pairs(results, column, low, high), strict=True))
    return b - a, wide + narrow


@wrong(check_paired_difference, "subtracting the half-widths")
def widths_subtracted(results, column, low, high):
    (b, wide), (a, narrow) = map(interval_by_hand, zip(*in_pairs(results, column, low, high), strict=True))
    return b - a, wide - narrow


@wrong(check_paired_difference, "the other way round")
def sign_turned(results, column, low, high):
    return interval_by_hand([a - b for b, a in in_pairs(results, column, low, high)])


@wrong(check_paired_difference, "absolute differences")
def without_sign(results, column, low, high):
    return interval_by_hand([abs(b - a) for b, a in in_pairs(results, column, low, high)])


@wrong(check_paired_difference, "order of the list")
def zipped(results, column, low, high):
    first, second = ([one[column] for one in results if one["row"] == row] for row in (low, high))
    return interval_by_hand([b - a for a, b in zip(first, second, strict=False)])


@wrong(check_paired_difference, "taking 0 for a seed")
def missing_is_zero(results, column, low, high):
    first, second = (by_seed(results, column, row) for row in (low, high))
    return interval_by_hand([second.get(seed, 0) - first.get(seed, 0) for seed in first.keys() | second.keys()])


@wrong(check_paired_difference, "return interval_by_hand([second[seed] - first[seed]")
def every_seed_expected(results, column, low, high):
    first, second = (by_seed(results, column, row) for row in (low, high))
    return interval_by_hand([second[seed] - first[seed] for seed in first])


@wrong(check_paired_difference, "1.96")
def normal_factor_again(results, column, low, high):
    return interval_with([b - a for b, a in in_pairs(results, column, low, high)], t=1.96)


@wrong(check_paired_difference, "not those of one")
def sure_after_one_pair(results, column, low, high):
    return sure_after_one([b - a for b, a in in_pairs(results, column, low, high)])


@wrong(check_paired_difference, "raise a ValueError")
def nothing_compared(results, column, low, high):
    try:
        return difference_by_two_loops(results, column, low, high)
    except ValueError:
        return 0.0, math.inf


@wrong(check_paired_difference)  # each seed of one row with each of the other: no known half-width comes out
def all_pairs(results, column, low, high):
    first, second = (by_seed(results, column, row).values() for row in (low, high))
    return interval_with([b - a for a, b in itertools.product(first, second)], t=2)
