"""Card of notebook 09: the difference of two rows, seed by seed."""

import math
import statistics
from collections.abc import Sequence

from albert_edu.checks.engine import Case, Cases, Draw, card
from albert_edu.checks.seeds import (  # noqa: F401 - edits use ONE_SIDED
    ONE_SIDED,
    ROUNDING,
    TWO_SIDED,
    WIDTHS,
    both_of,
    pair_of,
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
    have = {"low": seeds[: common + 1], "other": seeds[: common + 2],
            "high": seeds[:common] + seeds[common + 1 : common + 3]}
    results = [
        {"row": row, "seed": seed, "seconds": float(draw.randn(1)),
         "loss": luck[seed] + by + 0.2 * float(draw.randn(1))}
        for row, by in (("low", 0.0), ("high", 0.3), ("other", 1.0)) for seed in have[row]]
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
    yield Case("takes the interval of the differences (shown as a share of the right one)", inputs,
               4.0, half, ROUNDING)
    yield Case("turns its sign with the two rows", (results, "loss", "high", "low"), 1.0, mean,
               1e-4, "it is always high minus low, whichever is larger, in the units of the column")
    yield Case("compares another column", (results, "seconds", "low", "high"), 1.0, mean, 1e-4)
    yield Case("is infinite for one common seed", (one, "loss", "low", "high"), 1.0,
               width, reason="count the seeds that both rows have, "
                      "not those of one: one pair says nothing about luck")
    yield Case("refuses rows without a common seed", (none, "loss", "low", "high"), 1.0, both_of,
               reason="nothing was compared, so no number may come out: raise a ValueError")
    twice = [*results, next(row for row in results if row["row"] == "high")]
    yield Case("refuses a row that has a seed twice", (twice, "loss", "low", "high"), 1.0, both_of,
               reason="a record may be written again, and you cannot know which one counts: raise "
                      "a ValueError")


WIDE = "TWO_SIDED[len({0})] * statistics.stdev({0}) / math.sqrt(len({0}))"
LOW, HIGH = "[first[x] for x in first if x in second]", "[second[x] for x in first if x in second]"
check_paired_difference = card("09.5", paired_difference, _rows, WIDTHS | {
    "subtracting the other way round": "second[seed] - first[seed] => first[seed] - second[seed]",
    "subtracting means of all seeds, also of those that only one row has":
        "mean = statistics.fmean(second.values()) - statistics.fmean(first.values())",
    "pairing in the order of the list instead of by seed":
        "values = [b - a for a, b in zip(first.values(), second.values())]",
    "pairing every run with every other":
        "values = [b - a for a in first.values() for b in second.values()][:10]",
    "taking 0 for a seed that a row does not have":
        "values = [second.get(x, 0) - first.get(x, 0) for x in {**first, **second}]",
    "taking absolute differences":
        "second[seed] - first[seed] => abs(second[seed] - first[seed])",
    "giving the difference in percent of low":
        "second[seed] - first[seed] => 100 * (second[seed] / first[seed] - 1)",
    "dividing high by low": "second[seed] - first[seed] => second[seed] / first[seed]",
    "always comparing the column 'loss'": "one[column] => one['loss']",
    "taking the two rows for independent (unpaired): what a seed does to both does not cancel":
        "half = TWO_SIDED[2 * n - 1] * math.sqrt((statistics.variance(" + LOW + ") + "
        "statistics.variance(" + HIGH + ")) / n)",
    "taking the two rows for independent (unpaired), with all seeds and the t of each":
        "half = math.hypot(" + WIDE.format("[*first.values()]") + ", "
        + WIDE.format("[*second.values()]") + ")",
    "adding the half-widths of the two rows":
        "half = " + WIDE.format(LOW) + " + " + WIDE.format(HIGH),
    "giving 0 for one pair; one pair says nothing about luck": "math.inf => 0.0",
    "giving nan for one pair, whose interval is math.inf wide": "math.inf => math.nan",
    "taking the last of two records of one seed; you cannot know which one counts":
        "len(have) > len(set(have)) => False",
    "nothing was compared, so no number may come out: raise a ValueError":
        'raise ValueError(f"{low} and {high} have no seed in common") => return 0.0, math.inf',
})
