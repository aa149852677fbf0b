"""From seeds to a verdict: what a claim says about rows of results, and whether they bear it out.

A criterion is a list of comparisons written down before the runs. Rows share their seeds, and with
them their batches, so a comparison of two rows looks at the difference seed by seed.
"""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Verdict = Literal["reproduced", "not at this scale", "contradicted", "not recorded yet"]

# Student's t, 97.5% point, by degrees of freedom; beyond, the last one: a little wide.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23,
     11: 2.20, 12: 2.18, 13: 2.16, 14: 2.14, 15: 2.13}  # fmt: skip


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
    """A measured value by its dotted name.

    >>> cell({"head": {"sop": {"accuracy": 0.9}}}, "head.sop.accuracy")
    0.9
    """
    for part in column.split("."):
        result = result[part]
    return result


@dataclass(frozen=True)
class Less:
    """The claim that ``low`` has a smaller value of ``column`` than ``high``, by more than
    ``by``; each a row or a number."""

    column: str
    low: str | float
    high: str | float
    by: float = 0.0  # negative: low may even be larger, by no more than this

    def __str__(self) -> str:
        least = f" {'-' if self.by > 0 else '+'} {abs(self.by):g}" if self.by else ""
        low, high = (side if isinstance(side, str) else f"{side:.3g}"
                     for side in (self.low, self.high))  # fmt: skip
        return f"{self.column}: {low} < {high}{least}"

    def difference(self, results: Sequence[dict]) -> Mean:
        """high - low - by, seed by seed; positive bears the claim out."""
        sides = [self._by_seed(results, side) for side in (self.low, self.high)]
        seeds = [seed for seed in (sides[0] or sides[1])
                 if all(not side or seed in side for side in sides)]  # fmt: skip
        if not seeds:
            raise ValueError(f"no seed has results for both sides of '{self}'.")
        low, high = ([side.get(seed, fixed) for seed in seeds]
                     for side, fixed in zip(sides, (self.low, self.high), strict=True))  # fmt: skip
        return mean([b - a - self.by for a, b in zip(low, high, strict=True)])

    def verdict(self, results: Sequence[dict], exact: bool = False) -> Verdict:
        """Reproduced or contradicted when the interval lies on one side of 0, else not
        decided at this scale."""
        found = self.difference(results)
        if not exact and abs(found.value) <= found.half:
            return "not at this scale"
        return "reproduced" if found.value > 0 else "contradicted"

    def _by_seed(self, results: Sequence[dict], side: str | float) -> dict[int, float]:
        if not isinstance(side, str):
            return {}
        found = {result["seed"]: cell(result, self.column)
                 for result in results if result["row"] == side}  # fmt: skip
        if not found:
            raise ValueError(
                f"no result has the row {side!r}; there are "
                f"{', '.join(sorted({r['row'] for r in results}))}.")  # fmt: skip
        return found


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that our runs can test, and what was asked of them beforehand.

    ``exact`` marks what is counted and not trained: one value decides.
    """

    text: str
    source: str
    criterion: tuple[Less, ...]
    exact: bool = False

    def verdict(self, results: Sequence[dict]) -> Verdict:
        """Not recorded yet where a row of the criterion has no run."""
        rows = {result["row"] for result in results}
        sides = {side for part in self.criterion for side in (part.low, part.high)}
        if any(isinstance(side, str) and side not in rows for side in sides):
            return "not recorded yet"
        return judge(self.criterion, results, self.exact)


@dataclass(frozen=True)
class Near:
    """The claim that two rows, or a row and a number, differ by no more than ``within``."""

    column: str
    low: str | float
    high: str | float
    within: float
    by: float = 0.0

    def __str__(self) -> str:
        return f"{self.column}: {self.low} = {self.high} +- {self.within:g}"


COMPARISON = re.compile(r"(.+?): (.+) ([<=]) (.+?)(?: (\+-|\+|-) (\S+))?")


def comparison(text: str) -> Less | Near:
    """Return the comparison that ``str`` of it shows.

    >>> comparison("loss: a < b + 0.02").by, comparison("accuracy: NSP = 0.5 +- 0.05").within
    (-0.02, 0.05)
    """
    column, low, relation, high, sign, margin = COMPARISON.fullmatch(text).groups()
    sides = _side(low), _side(high)
    if relation == "=":
        return Near(column, *sides, float(margin))
    return Less(column, *sides, by=-float(sign + margin) if sign else 0.0)


def _side(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def judge(criterion: Sequence[Less], results: Sequence[dict], exact: bool = False) -> Verdict:
    """Contradicted if one comparison is, reproduced if all are, else not at this scale."""
    verdicts = [comparison.verdict(results, exact) for comparison in criterion]
    if "contradicted" in verdicts:
        return "contradicted"
    return "reproduced" if set(verdicts) == {"reproduced"} else "not at this scale"
