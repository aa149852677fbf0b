"""Right answers to assignment 12, written in another style than ours."""

OTHER_STYLE = {
    "gap_range": """
import numpy as np


def gap_range(after, before, decimals=1):
    if set(after) != set(before):
        raise ValueError("tasks")
    gaps = [np.mean(after[task]) - np.mean(before[task]) for task in before]
    return np.mean(gaps) - 10**-decimals, np.mean(gaps) + 10**-decimals""",
    "survivors": """
def survivors(gaps, printed, times=1.0):
    pairs = [
        abs(a - b) for scores in printed.values() for a, b in itertools.combinations(scores, 2)
    ]
    if len(pairs) == 0:
        raise ValueError("no repeat")
    by_size = sorted(((-abs(gap), name) for name, gap in gaps.items()), key=lambda pair: pair[0])
    return [name for size, name in by_size if -size > times * max(pairs)]""",
    "chosen_afterwards": """
import numpy as np


def chosen_afterwards(criteria, results, k=1):
    table = np.array([[rule(d) for rule in criteria.values()] for d in results], dtype=float)
    return dict(zip(criteria, table.mean(axis=0))), (table.sum(axis=1) >= k).mean()""",
}
