"""Card of notebook 09: how sure a few seeds make you."""

import math
import statistics
from collections.abc import Sequence

from albert_edu.checks.engine import Case, Cases, Draw, card

# Student's t at n - 1 degrees of freedom, by n: with 2.5% beyond it on either side, and with 5%.
TWO_SIDED = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26,
             11: 2.23}
ONE_SIDED = {2: 6.31, 3: 2.92, 4: 2.35, 5: 2.13, 6: 2.02, 7: 1.94, 8: 1.89, 9: 1.86, 10: 1.83}
ROUNDING = 0.004  # tables print t with two digits or three


def interval(values: Sequence[float]) -> tuple[float, float]:
    """``interval(values) -> (mean, half)``: mean and half-width of the 95% interval from the values
    of n seeds, a list of floats. Student's t is 12.71 for n = 2, then 4.30, 3.18, 2.78, 2.57, 2.45,
    2.36, 2.31, and 2.26 for n = 10; there are never more than 10 seeds. One seed gives an infinite
    half-width. No seed is a ValueError, and so is a value that is nan or infinite."""
    n = len(values)
    if n == 0:
        raise ValueError("no seeds, no mean")
    if not all(map(math.isfinite, values)):
        raise ValueError("a run that diverged is a result: do not average it away")
    mean = sum(values) / n
    if n == 1:
        return mean, math.inf
    s = statistics.stdev(values)
    half = TWO_SIDED[n] * s / math.sqrt(n)
    return mean, half


def pair_of(found) -> tuple[float, float]:
    """Mean and half-width out of what was returned; Unusable if they are not there."""
    mean, half, *_ = found
    return float(mean), float(half)


def both_of(answer, *inputs) -> tuple[float, float]:
    """Ask for mean and half-width."""
    return pair_of(answer(*inputs))


def _values(draw: Draw) -> Cases:
    sizes = [2, 3, 5, draw.integer(6, 11)]
    draws = [(3 + 0.2 * draw.randn(n)).tolist() for n in sizes]

    def means(answer, *draws):
        pairs = [pair_of(answer(values)) for values in draws]
        return [mean for mean, _ in pairs]

    def shares(answer, *draws):
        """The half-widths as shares of the right ones."""
        return [pair_of(answer(values))[1] / interval(values)[1] for values in draws]

    yield Case("gives the mean", tuple(draws), 1.0, means)
    yield Case("gives the half-width (shown as a share of the right one)", tuple(draws), 4.0,
               shares, ROUNDING)
    yield Case("is as wide wherever the values lie", ([value - 9 for value in draws[1]],), 1.0,
               shares, ROUNDING, "the spread is about the mean of the values, not about 0")
    yield Case("is infinite for one seed", (draws[0][:1],), 2.0,
               lambda answer, values: pair_of(answer(values))[1],
               reason="one run says nothing about luck: its interval is math.inf wide")
    yield Case("refuses an empty list", ([],), 1.0, both_of,
               reason="without a value there is no mean: raise a ValueError")
    for strange in (math.nan, -math.inf):
        yield Case(f"refuses a value of {strange}", ([*draws[1], strange],), 0.5, both_of,
                   reason="a row with a run that diverged has no interval: raise a ValueError")


WIDTHS = {
    "taking 1.96, which is right for many seeds, instead of Student's t":
        "TWO_SIDED[n] * s => 1.96 * s",
    "taking t at n degrees of freedom instead of n - 1": "TWO_SIDED[n] * s => TWO_SIDED[n + 1] * s",
    "taking t with 5% on either side, a 90% interval": "TWO_SIDED[n] * s => ONE_SIDED[n] * s",
    "dividing the squares by n instead of n - 1 (the default of NumPy)":
        "s = statistics.pstdev(values)",
    "not dividing by the root of n: that is where single runs lie, not their mean":
        "half = TWO_SIDED[n] * s",
    "dividing by the root of n - 1 although the variance was divided by n - 1 already":
        "half = TWO_SIDED[n] * s / math.sqrt(n - 1)",
    "giving the whole width": "half = 2 * TWO_SIDED[n] * s / math.sqrt(n)",
    "giving the standard error, without t": "half = s / math.sqrt(n)",
    "taking the variance for the deviation: a root is missing":
        "half = TWO_SIDED[n] * s * s / math.sqrt(n)",
}
check_interval = card("09.4", interval, _values, WIDTHS | {
    "giving the two ends instead of mean and half-width": "return mean - half, mean + half",
    "swapping the two: the mean comes first": "return half, mean",
    "taking the median": "mean = statistics.median(values)",
    "adding up instead of averaging": "mean = sum(values)",
    "taking the spread about zero; the spread is about the mean of the values, not about 0":
        "s = math.sqrt(sum(v * v for v in values) / (n - 1))",
    "giving 0 for one seed, but one run says nothing about luck: its interval is math.inf wide":
        "math.inf => 0.0",
    "giving nan for one seed, whose interval is math.inf wide": "math.inf => math.nan",
    "averaging a run that diverged; nan or an infinite value is a ValueError":
        '    if not all(map(math.isfinite, values)):\n        raise ValueError("a run that '
        'diverged is a result: do not average it away")\n => ',
    "leaving out a run that diverged; nan or an infinite value is a ValueError":
        "n = len(values)\n => values = [value for value in values if math.isfinite(value)] if "
        "values else values\n    n = len(values)\n",
    "giving a number for an empty list: raise a ValueError":
        'raise ValueError("no seeds, no mean") => return 0.0, math.inf',
})
