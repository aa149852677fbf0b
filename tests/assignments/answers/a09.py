"""Right answers to assignment 09, written in another style than ours."""

OTHER_STYLE = {
    "interval": """
import numpy as np


def interval(values, level=0.95):
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0 or np.isnan(x).any() or np.isinf(x).any():
        raise ValueError("a seed is missing or diverged")
    centre = x.sum() / x.size
    if x.size == 1:
        return centre, np.inf
    squares = ((x - centre) ** 2).sum()
    return centre, stats.t(x.size - 1).isf((1 - level) / 2) * (squares / (x.size - 1) / x.size) ** 0.5""",
    "difference": """
from collections import defaultdict


def difference(results, column, low, high, level=0.95):
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
    return interval(gaps, level)""",
    "verdict": """
def verdict(results, column, low, high, m=0.05):
    if not m >= 0:
        raise ValueError("m")
    mean, half = difference(results, column, low, high)
    seeds = [{run["seed"] for run in results if run["row"] == row} for row in (low, high)]
    n = len(seeds[0].intersection(seeds[1]))
    if n > 1:
        narrow = half * stats.t(n - 1).ppf(0.95) / stats.t(n - 1).ppf(0.975)
        if -m < mean - narrow and mean + narrow < m:
            return mean, half, "same"
    if mean - half <= 0 <= mean + half:
        return mean, half, "undecided"
    return mean, half, "agrees" if mean > 0 else "opposes"
""",
}
