"""Right answers to assignment 09, written in another style than ours."""

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
