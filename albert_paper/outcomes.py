"""From the runs of a record to one word: agrees, opposes, same, undecided or void.

The rules stand at the top of ``data/experiments.toml``. ``tests/paper/recompute.py`` computes every
word again without this file. Explained in notebooks 09 and 12.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from albert_edu.errors import InputError

PARTS = re.compile(r"(\S+): (.+?) [<=] (.+?)(?: \+- (\S+))?")
LEVEL, MOST_STUCK = 0.05, 0.25


def compare(text: str, runs: Sequence[dict], least: float) -> dict:
    """Compare two sides, such as ``column: a < b``, over the seeds without a stuck run.

    ``least`` is the smallest difference that counts.
    """
    column, low, high, within = PARTS.fullmatch(text).groups()
    values = table(runs, column)
    least = float(within or least)
    sides = [side(part, values) for part in (low, high)]
    every = (sides[0] - sides[1] if within else sides[1] - sides[0]).dropna()
    if len(every) < 2:
        raise InputError(f"fewer than two seeds have both sides of {text!r}.")
    rows = [part for part in re.split(r" [+-] ", f"{low} - {high}") if part in values]
    bad = stuck(runs).loc[every.index, rows]
    kept = every[~bad.any(axis=1)]
    mean, error = kept.mean(), stats.sem(kept)
    student = stats.t(len(kept) - 1)
    below, above = student.cdf((mean - least) / error), student.sf((mean + least) / error)
    equal = max(below, above)
    return {
        "mean": mean,  # high - low; with +-, the measured side minus the number
        "half": student.ppf(0.975) * error,  # of the 95% interval
        "n": len(kept),
        # two-sided, that there is no difference; with +-, that the value is outside
        "p": equal if within else stats.ttest_1samp(kept, 0).pvalue,
        "p_equal": equal,  # two one-sided tests, that the difference is ``least`` or larger
        "p_outside": min(1 - below, 1 - above),  # with +-, that the value is inside
        "in_favour": int((kept.abs().le(least) if within else kept.gt(0)).sum()),  # seeds
        "seeds": kept.index.to_list(),
        "left_out": len(every) - len(kept),  # seeds with a stuck run
        "void": bool(bad.mean().max() > MOST_STUCK),
    }


def table(runs: Sequence[dict], column: str) -> pd.DataFrame:
    """Return a column of the runs, a row per seed and a column per row of the experiment."""
    return pd.json_normalize(runs).pivot(index="seed", columns="row", values=column)


def side(text: str, values: pd.DataFrame) -> pd.Series:
    """Return a row, a number, or a sum of them such as ``a - b + 0.02``, for every seed.

    >>> values = pd.DataFrame({"a": [3.0, 4.0], "b": [1.0, 1.0]}, index=[20, 21])
    >>> side("a - b + 0.5", values).to_list()
    [2.5, 3.5]
    """
    total, parts = pd.Series(0.0, values.index), re.split(r" ([+-]) ", f"0 + {text}")
    for sign, part in zip(parts[1::2], parts[2::2], strict=True):
        value = values[part] if part in values else float(part)
        total = total + value if sign == "+" else total - value
    return total


def stuck(runs: Sequence[dict]) -> pd.DataFrame:
    """Return which runs never learnt to read: their MLM loss is not below the copy baseline."""
    return table(runs, "held_out_masked_token_loss").ge(table(runs, "copy_baseline"))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean, and half of its 95% interval from Student's t.

    >>> mean, half = interval([1.0, 2.0, 3.0])
    >>> mean, round(half, 2)
    (2.0, 2.48)
    """
    return float(np.mean(values)), float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def holm(p: pd.Series) -> pd.Series:
    """Return Holm's corrected p values.

    >>> {name: round(value, 3) for name, value in holm(pd.Series({"a": 0.01, "b": 0.03})).items()}
    {'a': 0.02, 'b': 0.03}
    """
    p = p.sort_values()
    return (p * np.arange(len(p), 0, -1)).clip(upper=1).cummax()


def judge(claims: dict[str, dict]) -> dict[str, dict]:
    """Return each claim with its word, its corrected p, and what its comparisons find.

    The correction is for all ``claims``: they are one page.
    """
    found = {
        key: [compare(text, claim["runs"], claim["least"]) for text in claim["criterion"]]
        for key, claim in claims.items()
    }
    worst = {key: max(part["p"] for part in parts) for key, parts in found.items()}
    corrected, judged = holm(pd.Series(worst)), {}
    for key, claim in claims.items():
        parts, p = found[key], corrected[key]
        words = {word(*pair, p) for pair in zip(claim["criterion"], parts, strict=True)}
        one = "opposes" if "opposes" in words else "undecided"
        if len(words) == 1:
            (one,) = words
        controls = [compare(text, claim["runs"], 0.0) for text in claim.get("control", ())]
        failed = any(control["mean"] <= control["half"] for control in controls)
        void = failed or any(part["void"] for part in parts)
        judged[key] = claim | {"word": "void" if void else one, "p_holm": p, "parts": parts}
    return judged


def word(text: str, part: dict, p: float) -> str:
    """Return the word for one comparison with its corrected p."""
    if " +- " in text:
        if p < LEVEL:
            return "agrees"
        return "opposes" if part["p_outside"] < LEVEL else "undecided"
    if part["p_equal"] < LEVEL:
        return "same"
    if p >= LEVEL:
        return "undecided"
    return "agrees" if part["mean"] > 0 else "opposes"
