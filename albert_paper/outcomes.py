"""From the runs of a record to one word: agrees, opposes, same, undecided or void.

The rules stand at the top of ``data/plan.toml``. ``tests/paper/recompute.py`` computes every
word again without this file. Explained in notebooks 09 and 12.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from albert_edu.config import check_one_of
from albert_edu.errors import InputError
from albert_paper.criterion import Comparison, parse, side

TESTS = ("t", "rank", "sign")
LEVEL = 0.05
MOST_STUCK = 0.25


def compare(text: str, claim: dict) -> dict:
    """Compare two sides, such as ``column: a < b``, over the seeds of a claim without a stuck run.

    Of the claim count its ``runs``, ``least``, the smallest difference that matters, ``test``, and
    ``keep_stuck``, which leaves no run out. Raises InputError for what does not fit the runs.
    """
    test = claim.get("test", "t")
    check_one_of("test", test, TESTS)
    asked = parse(text)
    near = asked.within is not None
    margin = claim.get("least", 0.0) if asked.within is None else asked.within
    every = differences(asked, claim["runs"])
    if len(every) < 2:
        raise InputError(f"fewer than two seeds have both sides of {text!r}.")
    bad = stuck_among(asked, claim).loc[every.index]
    kept = every[~bad.any(axis=1)]
    different = min(1.0, 2 * min(chance(kept, test), chance(-kept, test)))
    equal = max(chance(margin - kept, test), chance(kept + margin, test))
    if test == "sign" and not near:
        equal = 1.0  # seeds that tie say nothing about how large a difference is
    outside = min(chance(kept - margin, test), chance(-margin - kept, test))
    mean, half = interval(kept)
    return {
        "mean": mean,  # high - low; with +-, the measured side minus the number
        "half": half,  # of the 95% interval
        "n": len(kept),
        # two-sided, that there is no difference; with +-, that the value is outside
        "p": equal if near else different,
        "p_equal": equal,  # two one-sided tests, that the difference is ``least`` or larger
        "p_outside": outside,  # with +-, that the value is inside
        "seeds": kept.index.to_list(),
        "stuck": {row: int(number) for row, number in bad.sum().items()},
        "void": bool(bad.mean().max() > MOST_STUCK),
    }


def differences(asked: Comparison, runs: Sequence[dict]) -> pd.Series:
    """Return high - low for each seed with both; with +-, the measured side minus the number."""
    values = table(runs, asked.column)
    difference = side(asked.high, values) - side(asked.low, values)
    return (difference if asked.within is None else -difference).dropna()


def stuck_among(asked: Comparison, claim: dict) -> pd.DataFrame:
    """Return for each seed which runs of the rows that are compared count as stuck.

    Raises InputError for a run that does not say so, or that lacks what is compared.
    """
    runs = claim["runs"]
    named = re.split(r" [+-] ", f"{asked.low} - {asked.high}")
    check_whole_runs([run for run in runs if run["row"] in named], asked.column)
    bad = stuck(runs) & (not claim.get("keep_stuck"))
    return bad[[row for row in named if row in bad]]


def check_whole_runs(runs: Sequence[dict], column: str) -> None:
    """Raise InputError for a run without the column, or without what tells whether it is stuck.

    What is infinite is missing, too: no mean can be made of it.
    """
    for run in runs:
        for name in (column, "held_out_masked_token_loss", "copy_baseline", "health.alive"):
            value = look_up(run, name)
            if not np.isfinite(value):
                has = "no" if np.isnan(value) else f"{value} as its"
                raise InputError(f"the run {run['row']!r} of seed {run['seed']} has {has} {name}.")


def chance(values: pd.Series, test: str) -> float:
    """Return the one-sided p of a test that the centre of the values is 0 or lower.

    "t" is Student's, "sign" the sign test, and "rank" Wilcoxon's signed ranks. Zeros count for
    neither side.

    >>> values = pd.Series([1.0, 2.0, 3.0, -0.5])
    >>> [round(chance(values, test), 4) for test in ("t", "rank", "sign")]
    [0.0814, 0.125, 0.3125]
    """
    if test == "t":
        if len(values) < 2:
            return 1.0  # one seed shows nothing
        error = stats.sem(values)
        if error == 0:
            return 0.0 if values.mean() > 0 else 1.0  # all seeds have one value
        return float(stats.t.sf(values.mean() / error, len(values) - 1))
    values = values[values != 0]
    if test == "sign":
        return float(stats.binom.sf(values.gt(0).sum() - 1, len(values), 0.5))
    return signed_rank_chance(values)


def signed_rank_chance(values: pd.Series) -> float:
    """Return the exact one-sided p of Wilcoxon's signed ranks, which holds with ties, too.

    SciPy has it for ties only by going through all 2^n choices of signs: too many for 30 seeds.
    """
    doubled = (2 * stats.rankdata(values.abs())).astype(int)  # ties have halves
    ways = np.zeros(doubled.sum() + 1)  # how many choices of signs have a sum of positive ranks
    ways[0] = 1
    for rank in doubled:
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    observed = doubled[values > 0].sum()
    return float(ways[observed:].sum() / ways.sum())


def table(runs: Sequence[dict], column: str) -> pd.DataFrame:
    """Return a column of the runs, a row per seed and a column per row of the experiment.

    Raises InputError for a column that no run has.
    """
    values = [look_up(run, column) for run in runs]
    if all(value is np.nan for value in values):
        raise InputError(f"no run has {column!r}.")
    seeds = [run["seed"] for run in runs]
    rows = [run["row"] for run in runs]
    frame = pd.DataFrame({"seed": seeds, "row": rows, "value": values})
    return frame.pivot(index="seed", columns="row", values="value")


def look_up(run: dict, column: str) -> float:
    """Return what a run has in a column such as ``head.sop.accuracy``, NaN where it has none.

    >>> look_up({"head": {"sop": {"accuracy": 0.9}}}, "head.sop.accuracy")
    0.9
    """
    found: Any = run
    for name in column.split("."):
        if name not in found:
            return np.nan
        found = found[name]
    return found


def stuck(runs: Sequence[dict]) -> pd.DataFrame:
    """Return which runs are stuck.

    Their MLM loss is not below the copy baseline, or half of the model is dead.
    """
    bad = table(runs, "held_out_masked_token_loss").ge(table(runs, "copy_baseline"))
    return bad | table(runs, "health.alive").eq(False)


def interval(values: Sequence[float] | pd.Series) -> tuple[float, float]:
    """Return the mean, and half of its 95% interval from Student's t: of one value nobody knows it.

    >>> mean, half = interval([1.0, 2.0, 3.0])
    >>> mean, round(half, 2)
    (2.0, 2.48)
    """
    known = len(values) > 1
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if known else np.nan
    return float(np.mean(values)), float(half)


def holm(p: pd.Series) -> pd.Series:
    """Return Holm's corrected p values.

    >>> {name: round(value, 3) for name, value in holm(pd.Series({"a": 0.01, "b": 0.03})).items()}
    {'a': 0.02, 'b': 0.03}
    """
    p = p.sort_values()
    return (p * np.arange(len(p), 0, -1)).clip(upper=1).cummax()


def judge(claims: dict[str, dict], family: Sequence[str] = ()) -> dict[str, dict]:
    """Return each claim with its word, its corrected p, and what its comparisons find.

    The correction is for all ``claims`` and for the rest of ``family``, the names of claims that
    have no runs yet. These count with p = 1, so a corrected p can only fall when they have run.
    """
    found = {}
    for key, claim in claims.items():
        if not claim["criterion"] or isinstance(claim["criterion"], str):
            raise InputError(f"the criterion of {key} must be a list of comparisons.")
        found[key] = [compare(text, claim) for text in claim["criterion"]]
    worst = dict.fromkeys(family, 1.0)
    worst |= {key: max(part["p"] for part in parts) for key, parts in found.items()}
    corrected = holm(pd.Series(worst))
    judged = {}
    for key, claim in claims.items():
        said = word_of_claim(claim, found[key], corrected[key])
        judged[key] = claim | {"word": said, "p_holm": corrected[key], "parts": found[key]}
    return judged


def word_of_claim(claim: dict, parts: Sequence[dict], p: float) -> str:
    """Return the word for a claim with its corrected p, from its criterion and its control."""
    controls = [compare(text, claim) for text in claim.get("control", ())]
    # Not so: of fewer than two seeds there is no interval, and NaN is above nothing.
    held = all(control["mean"] > control["half"] for control in controls)
    if not held or any(part["void"] for part in [*parts, *controls]):
        return "void"
    words = {word(text, part, p) for text, part in zip(claim["criterion"], parts, strict=True)}
    if len(words) == 1:
        return words.pop()
    return "opposes" if "opposes" in words else "undecided"


def word(text: str, part: dict, p: float) -> str:
    """Return the word for one comparison with its corrected p."""
    if parse(text).within is not None:
        if p < LEVEL:
            return "agrees"
        return "opposes" if part["p_outside"] < LEVEL else "undecided"
    if part["p_equal"] < LEVEL:
        return "same"
    if p >= LEVEL:
        return "undecided"
    return "agrees" if part["mean"] > 0 else "opposes"
