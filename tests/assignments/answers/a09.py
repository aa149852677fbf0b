"""What a class hands in for assignment 09: the same answers in another style, and a known mistake for each."""

OTHER_STYLE = {
    "interval": """
import numpy as np

POINTS = dict(zip(range(2, 11), (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)))


def interval(values):
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0 or np.isnan(x).any() or np.isinf(x).any():
        raise ValueError("a seed is missing or diverged")
    centre = x.sum() / x.size
    if x.size == 1:
        return centre, np.inf
    squares = ((x - centre) ** 2).sum()
    return centre, POINTS[x.size] * (squares / (x.size - 1) / x.size) ** 0.5""",
    "difference": """
from collections import defaultdict


def difference(results, column, low, high):
    found = defaultdict(lambda: defaultdict(list))
    for one in results:
        found[one["seed"]][one["row"]].append(one[column])
    gaps = []
    for rows in found.values():
        if len(rows[low]) > 1 or len(rows[high]) > 1:
            raise ValueError("recorded twice")
        if rows[low] and rows[high]:
            gaps.append(rows[high][0] - rows[low][0])
    if not gaps:
        raise ValueError("nothing to compare")
    return interval(gaps)""",
    "verdict": '''
def verdict(results, column, low, high, margin=0.05):
    if not margin >= 0:
        raise ValueError("margin")
    mean, half = difference(results, column, low, high)
    ends = mean - half, mean + half
    zero = ends[0] <= 0 <= ends[1]
    if max(ends) > margin or min(ends) < -margin:
        return mean, half, "open" if zero else "apart"
    return mean, half, "alike" if zero else "apart, but little"''',
}

WRONG = {
    "interval": ('''
def interval(values):
    if len(values) == 1:
        return values[0], math.inf
    return statistics.fmean(values), 1.96 * statistics.stdev(values) / math.sqrt(len(values))''',
    "1.96, which is right for many seeds"),
    "difference": ('''
def difference(results, column, low, high):
    first, second = ([one[column] for one in results if one["row"] == row] for row in (low, high))
    return interval([b - a for a, b in zip(first, second)])''',
    "pairing in the order of the list instead of by seed"),
    "verdict": ('''
def verdict(results, column, low, high, margin=0.05):
    mean, half = difference(results, column, low, high)
    if abs(mean) <= half:  # not decided, so the same
        return mean, half, "alike"
    return mean, half, "apart" if mean - half > margin else "apart, but little"''',
    "2 ± 12.71"),
}  # fmt: skip
