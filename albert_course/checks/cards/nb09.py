"""Cards of notebook 09: extra cost, early stops, sign flips; intervals of seeds and differences.

Their known mistakes are edits in mistakes/09.txt.
"""

import itertools
import math
import statistics
from collections.abc import Sequence

from albert_course.checks.engine.asking import part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def extra_cost(none_wide, none_narrow, all_wide, all_narrow):
    """``extra_cost(none_wide, none_narrow, all_wide, all_narrow) -> (mean, half)``: how much more a
    narrow embedding costs with sharing than without, with its 95% interval. Each argument is a
    list of losses, one for each seed, in the same order of seeds."""
    pairs = zip(none_wide, none_narrow, all_wide, all_narrow, strict=True)
    return interval([(d - c) - (b - a) for a, b, c, d in pairs])


def _extra_cost_cases(draw: Draw) -> Cases:
    for n in (3, 5):
        losses = tuple(draw.randn(4, n).tolist())
        yield Case(
            f"gives mean and half-width of {n} seeds",
            inputs=losses,
            atol=2 * ROUNDING,
        )


check_extra_cost = make_check("notebook 09.1", extra_cost, _extra_cost_cases, pure=True)


def early_stop(differences: list[float]):
    """``early_stop(differences) -> n or None``: the number of seeds at which somebody stops who
    looks after each seed, from the third on: the first n for which the 95% interval of the first n
    differences excludes 0. None if there is no such n."""
    for n in range(3, len(differences) + 1):
        mean, half = interval(differences[:n])
        if abs(mean) > half:
            return n
    return None


def _early_stop_cases(draw: Draw) -> Cases:
    again = [1.0] * 4  # with these eight seeds it would be decided again
    yield Case("stops at the third seed", ([1.0, 1.25, 1.125, 6.0, *again],))
    yield Case("stops later, on either side of 0", ([-0.25, 1.0, -2.5, *[-1.2] * 5],))
    yield Case("does not look at two seeds", ([1.0, 1.0, -4.0, 3.0],))
    yield Case("returns None if nothing is decided", ([1.5, -1.5, 0.25, -0.25, 2.0, -2.0],))


check_early_stop = make_check("notebook 09.2", early_stop, _early_stop_cases, pure=True)


def sign_flip_p(differences: list[float]) -> float:
    """``sign_flip_p(differences) -> p``: the exact two-sided p value of a sign-flip test. Of all
    2**n ways to give the n absolute differences a sign, count those whose sum is at least as far
    from 0 as the observed sum (up to 1e-9), and divide by 2**n."""
    observed = abs(sum(differences))
    flips = itertools.product((1, -1), repeat=len(differences))
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in flips]
    return sum(abs(total) >= observed - 1e-9 for total in sums) / len(sums)


def _sign_flip_p_cases(draw: Draw) -> Cases:
    yield Case("gives 2/32 for five of one sign", ([-0.08, -0.11, -0.06, -0.10, -0.05],))
    yield Case("counts all sign patterns of seven", (draw.randn(7).tolist(),))
    yield Case("counts ties up to a rounding error", ([0.1, 0.1, 0.1, -0.1],))


check_sign_flip_p = make_check("notebook 09.3", sign_flip_p, _sign_flip_p_cases, pure=True)


# Student's t at n - 1 degrees of freedom, by n, with 2.5% beyond it on either side.
TWO_SIDED = dict(
    enumerate([12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281], 2)
)
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


mean_of, half_of = part_of(0), part_of(1)


def _interval_cases(draw: Draw) -> Cases:
    sizes = [2, 3, 5, draw.integer(6, 11)]
    draws = tuple((3 + 0.2 * draw.randn(n)).tolist() for n in sizes)

    def means(answer, *draws):
        """The mean of each draw."""
        return [mean_of(answer, values) for values in draws]

    def shares(answer, *draws):
        """The half-widths as shares of the right ones."""
        return [half_of(answer, values) / half_of(interval, values) for values in draws]

    yield Case("gives the mean", inputs=draws, ask=means)
    yield Case(
        "gives the half-width (as a share of the right one)",
        inputs=draws,
        weight=4.0,
        ask=shares,
        atol=ROUNDING,
    )
    lower = [value - 9 for value in draws[1]]
    yield Case(
        "is as wide wherever the values lie",
        inputs=(lower,),
        ask=shares,
        atol=ROUNDING,
    )
    yield Case(
        "is infinite for one seed",
        inputs=(draws[0][:1],),
        weight=2.0,
        ask=half_of,
    )
    yield Case("refuses an empty list", ([],))
    for strange in (math.nan, -math.inf):
        yield Case(
            f"refuses a value of {strange}",
            inputs=([*draws[1], strange],),
            weight=0.5,
        )


check_interval = make_check("assignment 09.4", interval, _interval_cases)


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
    mean, half = interval(values)  # a ValueError for no seed
    return mean, half


def _paired_difference_cases(draw: Draw) -> Cases:
    common = 3 + 2 * draw.integer(0, 2)
    luck = (4 + draw.randn(20)).tolist()
    seeds = draw.numpy.permutation(20).tolist()
    have = {
        "low": seeds[: common + 1],
        "other": seeds[: common + 2],
        "high": seeds[:common] + seeds[common + 1 : common + 3],
    }

    def record(row, seed, by):
        """The record of a run: its seed's luck, what its row adds, and some noise."""
        noise, seconds = draw.randn(2).tolist()
        return {"row": row, "seed": seed, "seconds": seconds, "loss": luck[seed] + by + noise / 5}

    means = {"low": 0.0, "high": 0.3, "other": 1.0}
    results = [record(row, seed, means[row]) for row in means for seed in have[row]]
    results = [results[i] for i in draw.numpy.permutation(len(results))]
    one = [row for row in results if row["row"] != "low" or row["seed"] == seeds[0]]
    none = [row for row in results if row["row"] != "low" or row["seed"] not in have["high"]]

    def share(answer, *inputs):
        """The half-width as a share of the right one."""
        return half_of(answer, *inputs) / half_of(paired_difference, *inputs)

    inputs = results, "loss", "low", "high"
    yield Case(
        "averages high minus low over the common seeds",
        inputs=inputs,
        weight=2.0,
        ask=mean_of,
        atol=1e-4,
    )
    yield Case(
        "takes the interval of the differences (as a share of it)",
        inputs=inputs,
        weight=4.0,
        ask=share,
        atol=ROUNDING,
    )
    turned = results, "loss", "high", "low"
    yield Case(
        "turns its sign with the two rows",
        inputs=turned,
        ask=mean_of,
        atol=1e-4,
    )
    yield Case(
        "compares another column",
        inputs=(results, "seconds", "low", "high"),
        ask=mean_of,
        atol=1e-4,
    )
    yield Case(
        "is infinite for one common seed",
        inputs=(one, "loss", "low", "high"),
        ask=half_of,
    )
    yield Case("refuses rows without a common seed", (none, "loss", "low", "high"))
    twice = [*results, next(row for row in results if row["row"] == "high")]
    yield Case("refuses a row that has a seed twice", (twice, "loss", "low", "high"))


check_paired_difference = make_check("assignment 09.5", paired_difference, _paired_difference_cases)
