"""Checks of notebook 09: how sure a few seeds make you, of a row and of the difference of two rows."""

import math
import statistics
from collections.abc import Iterable, Sequence

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise

# Student's t at n - 1 degrees of freedom, by n: with 2.5% beyond it on either side, and with 5%.
TWO_SIDED = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26, 11: 2.23}
ONE_SIDED = {2: 6.31, 3: 2.92, 4: 2.35, 5: 2.13, 6: 2.02, 7: 1.94, 8: 1.89, 9: 1.86, 10: 1.83}
ROUNDING = 0.004  # tables print t with two digits or three


@exercise("09.4")
def check_interval(answer, trial: Trial) -> None:
    """``interval(values) -> (mean, half)``: mean and half-width of the 95% interval from the values of n seeds, a list of floats.
    Student's t is 12.71 for n = 2, then 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, and 2.26 for n = 10; there are never more than
    10 seeds. One seed gives an infinite half-width."""
    sizes = [2, 3, 5, int(trial.randint(6, 11, 1))]
    draws = [(3 + 0.2 * trial.randn(n)).tolist() for n in sizes]
    got = [_pair(trial, trial.call(answer, draw, name="takes a list of values")) for draw in draws]
    ends = [_interval(draw) for draw in draws]
    trial.equal("gives the mean", [round(mean, 5) for mean, _ in got], [round(mean, 5) for mean, _ in ends], {
        "giving the two ends instead of mean and half-width": _first_of_two_ends(got, ends),
        "taking the median": [statistics.median(draw) for draw in draws],
        "adding up instead of averaging": [sum(draw) for draw in draws],
        "dividing by n - 1, which is for the variance": [sum(draw) / (len(draw) - 1) for draw in draws],
    }, weight=1)  # fmt: skip
    rows = list(zip(sizes, [statistics.stdev(draw) for draw in draws], [statistics.pstdev(draw) for draw in draws], strict=True))
    name = f"gives the half-width for {', '.join(map(str, sizes))} seeds (shown as a share of the right one)"
    trial.equal(name, [round(half / e, 4) for (_, half), (_, e) in zip(got, ends, strict=True)], [1.0] * 4, {
        mistake: [wide(*row) / e for row, (_, e) in zip(rows, ends, strict=True)] for mistake, wide in WIDTHS.items()
    }, weight=4, atol=ROUNDING)  # fmt: skip
    if got[1][1]:  # an answer without any width has nothing that could change
        _, moved = _pair(trial, trial.call(answer, [value - 9 for value in draws[1]]))
        reason = "the spread is about the mean of the values, not about 0 and not in percent of the mean"
        trial.equal("is as wide wherever the values lie", moved / got[1][1], 1.0, atol=ROUNDING, reason=reason)
    _, alone = _pair(trial, trial.call(answer, draws[0][:1], name="survives one seed"))
    reason = "one run says nothing about luck: its interval is math.inf wide, not 0 and not nan"
    trial.true("is infinite for one seed", alone == math.inf, reason, weight=2, expected="inf", got=brief(alone))


def _first_of_two_ends(got: Sequence[tuple[float, float]], right: Sequence[tuple[float, float]]) -> list[float] | None:
    """What was given first, if the mean lies halfway to the second, however wide."""
    halfway = all(abs((a + b) / 2 - mean) < 1e-4 for (a, b), (mean, _) in zip(got, right, strict=True))
    return [a for a, _ in got] if halfway else None


# What known mistakes make of n, the sample's deviation s and the population's p.
WIDTHS = {
    "taking 1.96, which is right for many seeds, instead of Student's t": lambda n, s, p: 1.96 * s / n**0.5,
    "taking 2 instead of Student's t": lambda n, s, p: 2 * s / n**0.5,
    "taking t at n degrees of freedom instead of n - 1": lambda n, s, p: TWO_SIDED[n + 1] * s / n**0.5,
    "taking t with 5% on either side, a 90% interval": lambda n, s, p: ONE_SIDED[n] * s / n**0.5,
    "dividing the squares by n instead of n - 1 (the default of NumPy)": lambda n, s, p: TWO_SIDED[n] * p / n**0.5,
    "dividing the squares by n, and taking 1.96 instead of Student's t": lambda n, s, p: 1.96 * p / n**0.5,
    "not dividing by the root of n: that is where single runs lie, not their mean": lambda n, s, p: TWO_SIDED[n] * s,
    "dividing by n instead of its root": lambda n, s, p: TWO_SIDED[n] * s / n,
    "dividing by the root of n - 1 although the variance was divided by n - 1 already":
        lambda n, s, p: TWO_SIDED[n] * s / (n - 1) ** 0.5,
    "giving the whole width": lambda n, s, p: 2 * TWO_SIDED[n] * s / n**0.5,
    "giving the standard error, without t": lambda n, s, p: s / n**0.5,
    "giving the standard deviation": lambda n, s, p: s,
    "taking the variance for the deviation: a root is missing": lambda n, s, p: TWO_SIDED[n] * s * s / n**0.5,
}  # fmt: skip


@exercise("09.5")
def check_paired_difference(answer, trial: Trial) -> None:
    """``difference(results, column, low, high) -> (mean, half)``: high minus low, seed by seed, as mean and half-width of the 95%
    interval (as in exercise 09.4). ``results`` is a list of dictionaries in any order, such as {"row": "E = 64", "seed": 3,
    "loss": 4.1, "seconds": 8.0}; ``low`` and ``high`` are two rows, ``column`` what is compared. A seed that only one of them has
    is left out. A ValueError if they have no seed in common."""
    common, luck = int(trial.randint(3, 5, 1)), (4 + trial.randn(20)).tolist()
    seeds = trial.numpy.permutation(20).tolist()
    here = {"low": seeds[: common + 1], "high": seeds[:common] + seeds[common + 1 : common + 3], "other": seeds[: common + 2]}
    results = [{"row": row, "seed": seed, "loss": luck[seed] + by + 0.2 * float(trial.randn(1)), "seconds": float(trial.randn(1))}
               for row, by in (("low", 0.0), ("high", 0.3), ("other", 1.0)) for seed in here[row]]  # fmt: skip
    results = [results[i] for i in trial.numpy.permutation(len(results))]

    def ask(*rows: str, given: Sequence[dict] = results) -> tuple[float, float]:
        return _pair(trial, trial.call(answer, [dict(one) for one in given], "loss", *rows))

    mean, half = ask("low", "high")
    low, high = ({one["seed"]: one["loss"] for one in results if one["row"] == row} for row in ("low", "high"))
    both = [seed for seed in low if seed in high]
    paired = [high[seed] - low[seed] for seed in both]
    a, b = ([side[seed] for seed in both] for side in (low, high))
    listed = [y - x for x, y in zip(low.values(), high.values(), strict=False)]
    in_order = [high[b] - low[a] for a, b in zip(sorted(low), sorted(high), strict=False)]
    filled = [high.get(seed, 0) - low.get(seed, 0) for seed in set(low) | set(high)]
    other = [_seconds(results, "high", seed) - _seconds(results, "low", seed) for seed in both]
    right_mean, right = _interval(paired)
    trial.equal("averages high minus low over the common seeds", mean, right_mean, {
        "subtracting the other way round": -right_mean,
        "subtracting means of all seeds, also of those that only one row has": _mean(high.values()) - _mean(low.values()),
        "pairing in the order of the list instead of by seed": _mean(listed),
        "pairing in the order of sorted seeds: one that a row lacks moves all behind it": _mean(in_order),
        "taking 0 for a seed that a row does not have": _mean(filled),
        "taking absolute differences": _mean(map(abs, paired)),
        "taking the median": statistics.median(paired),
        "adding up instead of averaging": sum(paired),
        "comparing another column": _mean(other),
    }, weight=2, atol=1e-4)  # fmt: skip
    apart = math.sqrt(sum(statistics.variance(side) for side in (a, b)) / len(both))
    widths = {
        "taking the two rows for strangers (unpaired): what a seed does to both does not cancel": _t(2 * len(both) - 1) * apart,
        "taking the two rows for strangers (unpaired), with t of one row": _t(len(both)) * apart,
        "taking the two rows for strangers (unpaired), with all seeds of each": _unpaired(low, high),
        "taking the two rows for strangers (unpaired), with all seeds and the t of each": math.hypot(_wide(low), _wide(high)),
        "adding the half-widths of the two rows": _interval(a)[1] + _interval(b)[1],
        "subtracting the half-widths of the two rows": _interval(b)[1] - _interval(a)[1],
        "pairing in the order of the list instead of by seed": _interval(listed)[1],
        "pairing in the order of sorted seeds: one that a row lacks moves all behind it": _interval(in_order)[1],
        "taking 0 for a seed that a row does not have": _interval(filled)[1],
        "taking absolute differences": _interval([abs(one) for one in paired])[1],
        "comparing another column": _interval(other)[1],
    }
    widths |= {mistake: wide(len(both), statistics.stdev(paired), statistics.pstdev(paired)) for mistake, wide in WIDTHS.items()}
    trial.equal("takes the interval of the differences", half, right, widths, weight=4, atol=ROUNDING * right)
    back, _ = ask("high", "low")
    turned = {"subtracting the other way round": right_mean} if abs(back + mean) < 1e-9 else {}  # |d| gives that without a sign
    trial.equal("turns its sign with the two rows", back, -right_mean, turned | {
        "taking absolute differences": _mean(map(abs, paired)),
    }, reason="high minus low, whichever is larger")  # fmt: skip
    one = [row for row in results if row["row"] != "low" or row["seed"] == both[0]]
    _, alone = ask("low", "high", given=one)
    reason = "count the seeds that both rows have, not those of one: one pair says nothing about luck"
    trial.true("is infinite for one common seed", alone == math.inf, reason, expected="inf", got=brief(alone))
    none = [row for row in results if row["row"] != "low" or row["seed"] not in both]
    refused = trial.refuses(answer, none, "loss", "low", "high", name="refuses rows without a common seed")
    trial.true("refuses rows without a common seed", refused, "nothing was compared, so no number may come out: raise a ValueError")


def _t(n: int) -> float:
    return TWO_SIDED[n]


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    return _mean(values), _t(len(values)) * statistics.stdev(values) / math.sqrt(len(values))


def _unpaired(low: dict[int, float], high: dict[int, float]) -> float:
    """The half-width for two rows that know nothing of each other; their degrees of freedom add up."""
    return _t(len(low) + len(high) - 1) * math.sqrt(sum(statistics.variance(side.values()) / len(side) for side in (low, high)))


def _wide(row: dict[int, float]) -> float:
    return _interval(list(row.values()))[1]


def _seconds(results: Sequence[dict], row: str, seed: int) -> float:
    return next(one["seconds"] for one in results if (one["row"], one["seed"]) == (row, seed))


def _pair(trial: Trial, answered) -> tuple[float, float]:
    """The mean and the half-width out of what was returned; the check ends if they are not there."""
    try:
        mean, half = (float(number) for number in tuple(answered)[:2])
    except (TypeError, ValueError, OverflowError, RuntimeError):
        trial.need("returns two numbers", False, "mean and half-width are asked for; is the return missing?", got=brief(answered))
    return mean, half
