"""What a claim says about rows of results: comparisons of two rows, or of a row and a number.

A criterion is a list of comparisons written down before the runs. Rows share their seeds, and with
them their batches, so a comparison of two rows looks at the difference seed by seed.
"""

import math
import re
import statistics
from collections.abc import Sequence
from typing import NamedTuple

# Student's t, 97.5% point, by degrees of freedom; beyond, the last one: a little wide.
T = {
    1: 12.71,
    2: 4.30,
    3: 3.18,
    4: 2.78,
    5: 2.57,
    6: 2.45,
    7: 2.36,
    8: 2.31,
    9: 2.26,
    10: 2.23,
    11: 2.20,
    12: 2.18,
    13: 2.16,
    14: 2.14,
    15: 2.13,
}


class Mean(NamedTuple):
    """A mean over n seeds and the half-width of its 95% interval (infinite for one seed)."""

    value: float
    half: float
    n: int


def mean(values: Sequence[float]) -> Mean:
    """Mean and 95% interval from Student's t.

    >>> found = mean([1.0, 2.0, 3.0])
    >>> found.value, round(found.half, 2), found.n
    (2.0, 2.48, 3)
    """
    n = len(values)
    half = math.inf if n < 2 else T.get(n - 1, T[15]) * statistics.stdev(values) / math.sqrt(n)
    return Mean(statistics.fmean(values), half, n)


def cell(result: dict, column: str) -> float:
    """A measured value by its dotted name; a number in it counts from 0 in a list.

    >>> cell({"head": {"sop": {"accuracy": 0.9, "recall": [1.0, 0.8]}}}, "head.sop.recall.1")
    0.8
    """
    for part in column.split("."):
        result = result[int(part) if isinstance(result, list) else part]
    return result


class Comparison(NamedTuple):
    """The claim that a row's value of ``column`` is smaller than another's by more than ``by``.

    With ``within`` it is the claim that the two differ by no more than that. ``low`` and ``high``
    are the names of rows, or one of them is a number.
    """

    text: str  # as it was written down before the runs
    column: str
    low: str | float
    high: str | float
    by: float = 0.0  # negative: low may even be larger, by no more than this
    within: float = 0.0

    def __str__(self) -> str:
        return self.text


NUMBER = re.compile(r"-?\d*\.?\d+")
PARTS = re.compile(r"(.+?): (.+) ([<=]) (.+?)(?: (\+-|\+|-) (\S+))?")


def comparison(text: str) -> Comparison:
    """Return the comparison that a criterion states.

    >>> comparison("loss: a < b + 0.02").by, comparison("accuracy: NSP = 0.5 +- 0.05").within
    (-0.02, 0.05)
    """
    column, low, relation, high, sign, margin = PARTS.fullmatch(text).groups()
    sides = (float(side) if NUMBER.fullmatch(side) else side for side in (low, high))
    if relation == "=":
        return Comparison(text, column, *sides, within=float(margin))
    return Comparison(text, column, *sides, by=-float(sign + margin) if sign else 0.0)


def rows_by_seed(part: Comparison, results: Sequence[dict]) -> dict[str, dict[int, dict]]:
    """Return the results of each row that a comparison names, by seed.

    Raises ValueError for a row that has no result.
    """
    rows = {
        side: {result["seed"]: result for result in results if result["row"] == side}
        for side in (part.low, part.high)
        if isinstance(side, str)
    }
    for row in rows:
        if not rows[row]:
            known = ", ".join(sorted({result["row"] for result in results}))
            raise ValueError(f"no result has the row {row!r}; there are {known}.")
    return rows


def differences(part: Comparison, results: Sequence[dict]) -> dict[int, float]:
    """Return high - low - by for every seed that both rows have. Raises ValueError without one."""
    rows = rows_by_seed(part, results)
    seeds = sorted(set.intersection(*map(set, rows.values())))
    if not seeds:
        raise ValueError(f"no seed has results for both sides of '{part}'.")

    def value(side: str | float, seed: int) -> float:
        return cell(rows[side][seed], part.column) if side in rows else side

    return {seed: value(part.high, seed) - value(part.low, seed) - part.by for seed in seeds}


def quantity(part: Comparison, difference: Mean) -> tuple[str, Mean]:
    """Return what a comparison measures: a row minus a row, or the row that has to reach a number.

    The margin of the criterion is in neither.
    """
    rows = [f"`{side}`" for side in (part.high, part.low) if isinstance(side, str)]
    number = sum(side for side in (part.high, part.low) if isinstance(side, float))
    sign = -1 if isinstance(part.high, float) else 1
    value = number + sign * (difference.value + part.by)
    return " − ".join(rows), difference._replace(value=value)


def shown(mean: Mean, unit: str = "") -> str:
    """Return a mean with its interval, unit and number of seeds in words."""
    digits = 3 if abs(mean.value) < 100 else 1
    half, n = (f" ± {mean.half:.{digits}f}", f" (n={mean.n})") if mean.n > 1 else ("", "")
    return f"{mean.value:.{digits}f}{half}{unit and ' '}{unit}{n}"
