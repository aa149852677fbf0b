"""Cards of notebook 12: what rounding hides, what a repeat measures, what a late choice buys."""

from statistics import fmean

from albert_course.checks.engine.card import Case, Cases, Draw, card


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
    return gap - 0.1, gap + 0.1


def _gap_range_cases(draw: Draw) -> Cases:
    def score() -> float:
        return draw.integer(600, 900) / 10

    def row(*pairs: str) -> dict:
        tasks = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE")
        return {task: (score(), score()) if task in pairs else score() for task in tasks}

    both = ("SQuAD1.1", "SQuAD2.0")
    yield Case("takes rows of single scores", (row(), row()), 2.0)
    yield Case("averages F1 and EM first", (row(*both), row(*both)), 3.0)
    first = row("SQuAD2.0")
    last = dict(reversed(row("SQuAD2.0").items()))
    yield Case("finds the tasks in another order", (first, last))
    yield Case("refuses rows with other tasks", (row(), row() | {"CoLA": score()}))


check_gap_range = card("assignment 12.4", gap_range, _gap_range_cases, pure=True)


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
    yield Case("names what is larger than the yardstick", (gaps, printed), 3.0)
    yield Case("leaves out a gap of just the same size", ({"as large": 0.5}, printed))
    yield Case("finds that nothing survives", ({"small": 0.25, "smaller": -0.125}, printed))
    yield Case("refuses a paper without a repeat", (gaps, {"once": scaled(1)}), 2.0)


check_survivors = card("assignment 12.5", survivors, _survivors_cases, pure=True)


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
    results, first = draw.randn(60, 5).tolist(), {"first": lambda d: d[0] > 0}
    most = {"most": lambda d: sum(x > 0 for x in d) > 0.7 * len(d)}
    three = {"mean": lambda d: fmean(d) > 0.3} | most | first
    yield Case("takes several criteria", (three, results), 3.0)
    yield Case("takes a single one", (first, results))
    apart = {"up": lambda d: d[0] > 1, "down": lambda d: d[0] < -1}
    yield Case("adds up criteria that exclude each other", (apart, results))
    yield Case("finds criteria that never accept", ({"no": lambda d: fmean(d) > 99}, results))


check_chosen_afterwards = card("assignment 12.6", chosen_afterwards, _chosen_cases, pure=True)
