"""More answers to the exercise of notebook 09 on the difference of two rows: seeds that do not meet their like."""

import math

from albert_edu.checks import check_paired_difference
from tests.bug_zoo.ablations import by_seed, interval_by_hand
from tests.bug_zoo.zoo import wrong


@wrong(check_paired_difference, "in the order of sorted seeds")
def sorted_and_zipped(results, column, low, high):
    first, second = (by_seed(results, column, row) for row in (low, high))
    return interval_by_hand([second[b] - first[a] for a, b in zip(sorted(first), sorted(second), strict=False)])


@wrong(check_paired_difference, "with all seeds and the t of each")
def squares_of_the_widths(results, column, low, high):
    first, second = (interval_by_hand(list(by_seed(results, column, row).values())) for row in (low, high))
    return second[0] - first[0], math.hypot(first[1], second[1])
