"""Cards of notebook 12: what is printed, what rounding hides, what a late choice buys.

Their known mistakes are edits in mistakes/12.txt.
"""

from statistics import fmean

from albert_course.checks.cards.nb09 import interval
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def fitting_rules(printed: int, counts: dict[str, int]) -> list[str]:
    """``fitting_rules(printed, counts) -> names``: the rules, in the order of ``counts``, whose
    exact count rounds to ``printed`` millions. A printed number of four digits or more was rounded
    to the nearest ten millions."""
    step = 10 if printed >= 1000 else 1
    return [rule for rule, count in counts.items() if round(count / 1e6 / step) * step == printed]


def _fitting_rules_cases(draw: Draw) -> Cases:
    for name, printed, half in (
        ("to millions", 10 * draw.integer(2, 40), 500_000),
        ("more than 1000 to tens", 10 * draw.integer(120, 300), 5_000_000),
        ("1000 to tens, too, since it has four digits", 1000, 5_000_000),
    ):
        near = draw.integer(half // 2, half)
        far = draw.integer(half + 1, 2 * half)
        off = {"just below": -near, "too low": -far, "just above": near, "too high": far}
        yield Case(f"rounds {name}", (printed, {k: printed * 10**6 + by for k, by in off.items()}))


check_fitting_rules = make_check("notebook 12.1", fitting_rules, _fitting_rules_cases, pure=True)


def speed_range(steps: int, hours: int, base_steps: int, base_hours: int) -> tuple[float, float]:
    """``speed_range(steps, hours, base_steps, base_hours) -> (low, high)``: the smallest and the
    largest ratio of the steps per hour to those of the baseline, where the printed hours were
    rounded to whole hours."""
    low = (steps / (hours + 0.5)) / (base_steps / (base_hours - 0.5))
    high = (steps / (hours - 0.5)) / (base_steps / (base_hours + 0.5))
    return low, high


def _speed_range_cases(draw: Draw) -> Cases:
    yield Case("takes Table 6", inputs=(125_000, 32, 400_000, 34), weight=2.0)
    steps, base_steps = (1000 * draw.integer(50, 500) for _ in range(2))
    yield Case("takes other runs", (steps, draw.integer(5, 12), base_steps, draw.integer(13, 20)))


check_speed_range = make_check("notebook 12.2", speed_range, _speed_range_cases)


def most_of_the_drop(none: list[float], ffn: list[float], all_shared: list[float]) -> str:
    """``most_of_the_drop(none, ffn, all_shared) -> word`` of three lists of losses, one per seed:
    "void" unless the 95% interval of d_all = all_shared - none is above 0; else "agrees", "opposes"
    or "undecided" by the interval of d_ffn - d_all / 2, where d_ffn = ffn - none."""
    drops = [a - z for a, z in zip(all_shared, none, strict=True)]
    value, half = interval(drops)
    if value - half <= 0:
        return "void"
    value, half = interval([f - z - d / 2 for f, z, d in zip(ffn, none, drops, strict=True)])
    if abs(value) <= half:
        return "undecided"
    return "agrees" if value > 0 else "opposes"


def _most_of_the_drop_cases(draw: Draw) -> Cases:
    even = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    uneven = (0.15, 1.0, 1.0, 1.0, 1.0, 1.0)  # a quotient of the two costs would hang on one seed
    for name, ffn, all_shared, shares in (
        ("agrees above half of the drop", 0.16, 0.2, uneven),
        ("opposes below half, although the FFN costs", 0.05, 0.2, even),
        ("is void where nothing is lost", 0.0, 0.0, even),
        ("is void where sharing helps", 0.16, -0.2, even),
        ("is undecided at half of the drop", 0.103, 0.2, even),
    ):
        none = [3 + 0.2 * luck for luck in draw.randn(6).tolist()]
        noise = (0.005, -0.004, 0.008, -0.008, 0.004, -0.004)
        noisy = [z + x for z, x in zip(none, noise, strict=True)]
        everything = [z + all_shared * share for z, share in zip(noisy, shares, strict=True)]
        yield Case(name, (none, [z + ffn for z in noisy], everything))


check_most_of_the_drop = make_check(
    "notebook 12.3", most_of_the_drop, _most_of_the_drop_cases, pure=True
)


def gap_range(after: dict, before: dict) -> tuple[float, float]:
    """``gap_range(after, before) -> (low, high)``: the smallest and the largest difference, after
    minus before, of the means of two printed rows. A row is a dictionary from a task to its score,
    which was rounded to one decimal, or to a tuple (F1, EM) of such scores, whose mean is the score
    of the task. ValueError if the rows have not the same tasks."""
    if after.keys() != before.keys():
        raise ValueError("the rows have other tasks")

    def mean(row):
        return fmean(fmean(score) if isinstance(score, tuple) else score for score in row.values())

    gap = mean(after) - mean(before)
    return gap - 0.1, gap + 0.1  # each mean is off by at most 0.05


def _gap_range_cases(draw: Draw) -> Cases:
    def score() -> float:
        """A drawn score with one digit after the point."""
        return draw.integer(600, 900) / 10

    def row(*pairs: str) -> dict:
        """A row of scores; these tasks have two, F1 and EM."""
        tasks = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE")
        return {task: (score(), score()) if task in pairs else score() for task in tasks}

    both = ("SQuAD1.1", "SQuAD2.0")
    yield Case("takes rows of single scores", inputs=(row(), row()), weight=2.0)
    yield Case("averages F1 and EM first", inputs=(row(*both), row(*both)), weight=3.0)
    first = row("SQuAD2.0")
    last = dict(reversed(row("SQuAD2.0").items()))
    yield Case("finds the tasks in another order", (first, last))
    yield Case("refuses rows with other tasks", (row(), row() | {"CoLA": score()}))


check_gap_range = make_check("assignment 12.4", gap_range, _gap_range_cases, pure=True)


def survivors(gaps: dict[str, float], printed: dict[str, list[float]]) -> list[str]:
    """``survivors(gaps, printed) -> names``: the names of the gaps whose size is larger than the
    yardstick, the largest first. ``printed`` has all scores that a paper prints for each model. The
    yardstick is the largest distance between two scores of one model. ValueError if no model has
    two."""
    repeats = [max(scores) - min(scores) for scores in printed.values() if len(scores) > 1]
    if not repeats:
        raise ValueError("no model is printed twice")
    names = [name for name, gap in gaps.items() if abs(gap) > max(repeats)]
    return sorted(names, key=lambda name: -abs(gaps[name]))


def _survivors_cases(draw: Draw) -> Cases:
    def scaled(*sixteenths: int) -> list[float]:
        """Scores that are so many sixteenths above 80."""
        return [80 + n / 16 for n in sixteenths]  # exact, so that equal sizes are equal

    base = draw.integer(0, 9)
    printed = {
        "twice": scaled(base, base + 3),
        "three times": scaled(base + 6, base + 8, base),
        "once": scaled(99),
        "the same twice": scaled(base, base),
    }
    gaps = {"small": 7, "above": 10, "far below": -draw.integer(30, 40), "far above": 20}
    gaps = {name: n / 16 for name, n in gaps.items()}
    yield Case(
        "names what is larger than the yardstick",
        inputs=(gaps, printed),
        weight=3.0,
    )
    yield Case("leaves out a gap of just the same size", ({"as large": 0.5}, printed))
    yield Case("finds that nothing survives", ({"small": 0.25, "smaller": -0.125}, printed))
    yield Case(
        "refuses a paper without a repeat",
        inputs=(gaps, {"once": scaled(1)}),
        weight=2.0,
    )


check_survivors = make_check("assignment 12.5", survivors, _survivors_cases, pure=True)


def chosen_afterwards(criteria, results) -> tuple[dict[str, float], float]:
    """``chosen_afterwards(criteria, results) -> (alone, any_of_them)``: a criterion is a function
    from the differences of one experiment to True or False, and ``results`` has the differences of
    many experiments. ``alone`` is the share of experiments that each criterion accepts, by its
    name. ``any_of_them`` is the share that at least one criterion accepts."""
    accepted = {
        name: [bool(accepts(differences)) for differences in results]
        for name, accepts in criteria.items()
    }
    alone = {name: fmean(found) for name, found in accepted.items()}
    at_least_one = [any(found) for found in zip(*accepted.values(), strict=True)]
    return alone, fmean(at_least_one)


def _chosen_cases(draw: Draw) -> Cases:
    results = draw.randn(60, 5).tolist()
    first = {"first": lambda d: d[0] > 0}
    most = {"most": lambda d: sum(x > 0 for x in d) > 0.7 * len(d)}
    three = {"mean": lambda d: fmean(d) > 0.3} | most | first
    yield Case("takes several criteria", inputs=(three, results), weight=3.0)
    yield Case("takes a single one", (first, results))
    apart = {"up": lambda d: d[0] > 1, "down": lambda d: d[0] < -1}
    yield Case("adds up criteria that exclude each other", (apart, results))
    yield Case("finds criteria that never accept", ({"no": lambda d: fmean(d) > 99}, results))


check_chosen_afterwards = make_check("assignment 12.6", chosen_afterwards, _chosen_cases, pure=True)
