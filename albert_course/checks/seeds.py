"""Cards of notebook 09: how sure a few seeds make you, and the difference of two rows."""

import math
import statistics
from collections.abc import Sequence

from albert_course.checks.engine import Case, Cases, Draw, card

# Student's t at n - 1 degrees of freedom, by n: with 2.5% beyond it on either side, and with 5%.
TWO_SIDED = {
    2: 12.71,
    3: 4.30,
    4: 3.18,
    5: 2.78,
    6: 2.57,
    7: 2.45,
    8: 2.36,
    9: 2.31,
    10: 2.26,
    11: 2.23,
}
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
    yield Case(
        "gives the half-width (shown as a share of the right one)",
        tuple(draws),
        4.0,
        shares,
        ROUNDING,
    )
    yield Case(
        "is as wide wherever the values lie",
        ([value - 9 for value in draws[1]],),
        1.0,
        shares,
        ROUNDING,
    )
    yield Case(
        "is infinite for one seed",
        (draws[0][:1],),
        2.0,
        lambda answer, values: pair_of(answer(values))[1],
    )
    yield Case("refuses an empty list", ([],), 1.0, both_of)
    for strange in (math.nan, -math.inf):
        yield Case(f"refuses a value of {strange}", ([*draws[1], strange],), 0.5, both_of)


WIDTHS = {
    "taking 1.96, which is right for many seeds, instead of Student's t": "TWO_SIDED[n] * s => 1.96 * s",
    "taking t at n degrees of freedom instead of n - 1": "TWO_SIDED[n] * s => TWO_SIDED[n + 1] * s",
    "taking t with 5% on either side, a 90% interval": "TWO_SIDED[n] * s => ONE_SIDED[n] * s",
    "dividing the squares by n instead of n - 1 (the default of NumPy)": "s = statistics.pstdev(values)",
    "not dividing by the root of n: that is where single runs lie, not their mean": "half = TWO_SIDED[n] * s",
    "dividing by the root of n - 1 although the variance was divided by n - 1 already": "half = TWO_SIDED[n] * s / math.sqrt(n - 1)",
    "giving the whole width": "half = 2 * TWO_SIDED[n] * s / math.sqrt(n)",
    "giving the standard error, without t": "half = s / math.sqrt(n)",
    "taking the variance for the deviation: a root is missing": "half = TWO_SIDED[n] * s * s / math.sqrt(n)",
}
check_interval = card(
    "09.4",
    interval,
    _values,
    WIDTHS
    | {
        "giving the two ends instead of mean and half-width": "return mean - half, mean + half",
        "swapping the two: the mean comes first": "return half, mean",
        "taking the median": "mean = statistics.median(values)",
        "adding up instead of averaging": "mean = sum(values)",
        "taking the spread about zero; the spread is about the mean of the values, not about 0": "s = math.sqrt(sum(v * v for v in values) / (n - 1))",
        "giving 0 for one seed, but one run says nothing about luck: its interval is math.inf wide": "math.inf => 0.0",
        "giving nan for one seed, whose interval is math.inf wide": "math.inf => math.nan",
        "averaging a run that diverged; nan or an infinite value is a ValueError": '    if not all(map(math.isfinite, values)):\n        raise ValueError("a run that '
        'diverged is a result: do not average it away")\n => ',
        "leaving out a run that diverged; nan or an infinite value is a ValueError": "n = len(values)\n => values = [value for value in values if math.isfinite(value)] if "
        "values else values\n    n = len(values)\n",
        "giving a number for an empty list: raise a ValueError": 'raise ValueError("no seeds, no mean") => return 0.0, math.inf',
    },
)


def paired_difference(results: Sequence[dict], column: str, low: str, high: str) -> tuple:
    """``difference(results, column, low, high) -> (mean, half)``: high minus low, seed by seed, as
    mean and half-width of the 95% interval (as in exercise 09.4). ``results`` is a list of
    dictionaries in any order, such as {"row": "E = 64", "seed": 3, "loss": 4.1, "seconds": 8.0};
    ``low`` and ``high`` are two rows, ``column`` what is compared. A seed that only one of them has
    is left out. A ValueError if they have no seed in common, and if one of them has a seed
    twice."""
    have = [(one["row"], one["seed"]) for one in results if one["row"] in (low, high)]
    if len(have) > len(set(have)):
        raise ValueError("a row has a seed twice: which of the two counts?")
    first = {one["seed"]: one[column] for one in results if one["row"] == low}
    second = {one["seed"]: one[column] for one in results if one["row"] == high}
    values = [second[seed] - first[seed] for seed in first if seed in second]
    n = len(values)
    if n == 0:
        raise ValueError(f"{low} and {high} have no seed in common")
    mean = sum(values) / n
    if n == 1:
        return mean, math.inf
    s = statistics.stdev(values)
    half = TWO_SIDED[n] * s / math.sqrt(n)
    return mean, half


def _rows(draw: Draw) -> Cases:
    common, luck = 3 + 2 * draw.integer(0, 2), (4 + draw.randn(20)).tolist()
    seeds = draw.numpy.permutation(20).tolist()
    have = {
        "low": seeds[: common + 1],
        "other": seeds[: common + 2],
        "high": seeds[:common] + seeds[common + 1 : common + 3],
    }
    results = [
        {
            "row": row,
            "seed": seed,
            "seconds": float(draw.randn(1)),
            "loss": luck[seed] + by + 0.2 * float(draw.randn(1)),
        }
        for row, by in (("low", 0.0), ("high", 0.3), ("other", 1.0))
        for seed in have[row]
    ]
    results = [results[i] for i in draw.numpy.permutation(len(results))]
    one = [row for row in results if row["row"] != "low" or row["seed"] == seeds[0]]
    none = [row for row in results if row["row"] != "low" or row["seed"] not in have["high"]]

    def mean(answer, *inputs):
        return pair_of(answer(*inputs))[0]

    def half(answer, *inputs):
        """The half-width as a share of the right one."""
        return pair_of(answer(*inputs))[1] / paired_difference(*inputs)[1]

    def width(answer, *inputs):
        return pair_of(answer(*inputs))[1]

    inputs = results, "loss", "low", "high"
    yield Case("averages high minus low over the common seeds", inputs, 2.0, mean, 1e-4)
    yield Case(
        "takes the interval of the differences (shown as a share of the right one)",
        inputs,
        4.0,
        half,
        ROUNDING,
    )
    yield Case(
        "turns its sign with the two rows", (results, "loss", "high", "low"), 1.0, mean, 1e-4
    )
    yield Case("compares another column", (results, "seconds", "low", "high"), 1.0, mean, 1e-4)
    yield Case("is infinite for one common seed", (one, "loss", "low", "high"), 1.0, width)
    yield Case("refuses rows without a common seed", (none, "loss", "low", "high"), 1.0, both_of)
    twice = [*results, next(row for row in results if row["row"] == "high")]
    yield Case("refuses a row that has a seed twice", (twice, "loss", "low", "high"), 1.0, both_of)


WIDE = "TWO_SIDED[len({0})] * statistics.stdev({0}) / math.sqrt(len({0}))"
LOW, HIGH = "[first[x] for x in first if x in second]", "[second[x] for x in first if x in second]"
check_paired_difference = card(
    "09.5",
    paired_difference,
    _rows,
    WIDTHS
    | {
        "subtracting the other way round": "second[seed] - first[seed] => first[seed] - second[seed]",
        "subtracting means of all seeds, also of those that only one row has": "mean = statistics.fmean(second.values()) - statistics.fmean(first.values())",
        "pairing in the order of the list instead of by seed": "values = [b - a for a, b in zip(first.values(), second.values())]",
        "taking 0 for a seed that a row does not have": "values = [second.get(x, 0) - first.get(x, 0) for x in {**first, **second}]",
        "taking absolute differences": "second[seed] - first[seed] => abs(second[seed] - first[seed])",
        "giving the difference in percent of low": "second[seed] - first[seed] => 100 * (second[seed] / first[seed] - 1)",
        "dividing high by low": "second[seed] - first[seed] => second[seed] / first[seed]",
        "always comparing the column 'loss'": "one[column] => one['loss']",
        "taking the two rows for independent (unpaired): what a seed does to both does not cancel": "half = TWO_SIDED[2 * n - 1] * math.sqrt((statistics.variance("
        + LOW
        + ") + "
        "statistics.variance(" + HIGH + ")) / n)",
        "adding the half-widths of the two rows": "half = "
        + WIDE.format(LOW)
        + " + "
        + WIDE.format(HIGH),
        "giving 0 for one pair; one pair says nothing about luck": "math.inf => 0.0",
        "giving nan for one pair, whose interval is math.inf wide": "math.inf => math.nan",
        "taking the last of two records of one seed; you cannot know which one counts": "len(have) > len(set(have)) => False",
        "nothing was compared, so no number may come out: raise a ValueError": 'raise ValueError(f"{low} and {high} have no seed in common") => return 0.0, math.inf',
    },
)
