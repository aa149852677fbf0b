"""From recorded runs to an outcome a referee would sign: paired, with controls, equivalence, and many looks paid for.

The rules stand at the top of ``data/planned.toml``; ``tests/paper/recompute.py`` computes every outcome again without us.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from albert_edu.paper.claims import Less, Mean, Near, T, cell

Scope = Literal["exact", "same question", "small-scale analogue", "other setting"]
OWN_SCALE = ("exact", "same question")  # only these can be reproduced or contradicted
LOSS = "held_out_masked_token_loss"
LEVEL, MOST_STUCK = 0.05, 0.25


@dataclass(frozen=True)
class Question:
    """A claim of the paper as our runs are judged on it, and what was fixed about that beforehand."""

    key: str  # EXPERIMENT.NAME
    text: str
    source: str
    scope: Scope
    criterion: tuple[Less | Near, ...]
    least: float  # the smallest difference that would matter
    quote: str = ""  # the paper's sentence
    differs: str = ""  # how our experiment differs from it
    control: tuple[Less | Near, ...] = ()  # what must hold for the runs to show anything
    stuck: float = 0.0  # where runs do not name their copy baseline: a loss from here on counts as stuck
    items: int = 0  # examples of the one test sample that all seeds share
    history: str = ""  # second looks, replaced records, known prototypes
    profile: str = ""  # the profile that decides, where the one with most seeds should not
    family: str = "planned"  # its plan; "recorded" is what was recorded before the rules existed

    @property
    def experiment(self) -> str:
        """The name of the experiment that the question belongs to."""
        return self.key.split(".")[0]


class Compared(NamedTuple):
    """One comparison on a set of runs: high - low - by over pairs of seeds without a stuck run."""

    difference: Mean
    p: float  # two-sided, that there is no difference (for "no difference" claims: that there is one)
    p_equal: float  # two one-sided tests, that the difference is ``least`` or larger
    positive: int  # pairs in favour of the claim
    stuck_pairs: int
    stuck_share: float  # of the worse row
    with_stuck: Mean


class Outcome(NamedTuple):
    """What the runs say about a question, after the correction for all questions of its family."""

    word: str  # agrees, opposes, no difference larger than m, undecided, void, not finished, not run
    parts: tuple[Compared, ...]
    p: float  # corrected


def tail(t: float, freedom: int) -> float:
    """The chance that Student's t is larger than ``t``.

    >>> round(tail(2.262, 9), 4)
    0.025
    """
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    start = math.atan(abs(t) / math.sqrt(freedom))  # t = sqrt(freedom) tan(angle): the density becomes a power of a cosine
    angles = start + (np.arange(4000) + 0.5) / 4000 * (math.pi / 2 - start)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    upper = float(scale * np.mean(np.cos(angles) ** (freedom - 1)) * (math.pi / 2 - start))
    return upper if t > 0 else 1 - upper


def compare(part: Less | Near, runs: Sequence[dict], question: Question) -> Compared:
    """Compare two rows, or a row with a number, seed by seed."""
    sides = [{run["seed"]: run for run in runs if run["row"] == side} if isinstance(side, str) else None
             for side in (part.low, part.high)]  # fmt: skip
    seeds = sorted(set.intersection(*(set(side) for side in sides if side is not None)))
    if not seeds:
        raise ValueError(f"no seed has results for both sides of '{part}'.")

    def value(side, fixed, seed):
        return fixed if side is None else cell(side[seed], part.column)

    differences, clean = [], []
    for seed in seeds:
        low, high = (value(side, fixed, seed) for side, fixed in zip(sides, (part.low, part.high), strict=True))
        differences.append(high - low - part.by)
        clean.append(not any(is_stuck(side[seed], question) for side in sides if side is not None))
    shares = [np.mean([is_stuck(run, question) for run in side.values()]) for side in sides if side is not None]
    kept = [difference for difference, whole in zip(differences, clean, strict=True) if whole]
    error = _test_error(part, [side for side in sides if side is not None], question.items)
    mean, with_stuck = (seed_interval(values, error) for values in (kept or differences, differences))
    least = margin(part, question)
    p_equal = max(_p(mean, -least), _p(mean, least, upper=False))
    p = p_equal if isinstance(part, Near) else 2 * min(_p(mean, 0.0), _p(mean, 0.0, upper=False))
    return Compared(mean, min(1.0, p), p_equal, sum(value > 0 for value in kept), len(differences) - len(kept),
                    float(max(shares)), with_stuck)  # fmt: skip


def margin(part: Less | Near, question: Question) -> float:
    """The difference that would matter in a comparison."""
    return part.within if isinstance(part, Near) else question.least


def is_stuck(run: dict, question: Question) -> bool:
    """Whether a run never learnt to read: its held-out loss is not below what copying and frequencies give."""
    baseline = run.get("copy_baseline", question.stuck)
    column = LOSS if LOSS in run else "sotu.masked_token_loss" if "sotu" in run else ""
    return bool(baseline and column) and cell(run, column) >= baseline


def seed_interval(values: Sequence[float], error: float = 0.0) -> Mean:
    """Mean and 95% interval over seeds; ``error`` is the variance that a test sample shared by all seeds adds."""
    n = len(values)
    if n < 2:
        return Mean(float(np.mean(values)), math.inf, n)
    return Mean(float(np.mean(values)), T.get(n - 1, T[15]) * math.sqrt(np.var(values, ddof=1) / n + error), n)


def _test_error(part: Less | Near, sides: Sequence[Mapping[int, dict]], items: int) -> float:
    """Binomial variance of the accuracies on a test sample of ``items``; rows are taken as independent, which is wide."""
    means = [np.mean([cell(run, part.column) for run in side.values()]) for side in sides]
    return sum(mean * (1 - mean) / items for mean in means) if items else 0.0


def _p(mean: Mean, bound: float, upper: bool = True) -> float:
    """One-sided p value that the true mean is not above (``upper``), or not below, a bound."""
    if math.isinf(mean.half):
        return 1.0
    distance = (mean.value - bound) * (1 if upper else -1)
    error = mean.half / T.get(mean.n - 1, T[15])
    return tail(distance / error if error else math.copysign(math.inf, distance) if distance else 0.0, mean.n - 1)


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Holm's corrected p values.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected, largest = {}, 0.0
    for rank, (name, p) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(values) - rank) * p))
        corrected[name] = largest
    return corrected


def judge_family(
    questions: Sequence[Question], runs: Mapping[str, Sequence[dict]], unfinished: Mapping[str, str]
) -> dict[str, Outcome]:
    """The outcome of every question of a family; ``unfinished`` says why some have none yet."""
    parts = {q.key: tuple(compare(part, runs[q.key], q) for part in q.criterion)
             for q in questions if q.key not in unfinished}  # fmt: skip
    seeded = [q for q in questions if q.scope != "exact"]
    p = {q.key: max((part.p for part in parts[q.key]), default=1.0) if q.key in parts else 1.0 for q in seeded}
    corrected = holm(p)
    outcomes = {}
    for q in questions:
        if q.key in unfinished:
            outcomes[q.key] = Outcome(unfinished[q.key], (), 1.0)
        else:
            word = _word(q, parts[q.key], runs[q.key], corrected.get(q.key, 0.0))
            outcomes[q.key] = Outcome(word, parts[q.key], corrected.get(q.key, 0.0))
    return outcomes


def _word(question: Question, parts: Sequence[Compared], runs: Sequence[dict], p: float) -> str:
    if question.scope == "exact":
        return "reproduced" if all(part.difference.value > 0 for part in parts) else "contradicted"
    for control in question.control:
        checked = compare(control, runs, question).difference
        if checked.value - checked.half <= 0:
            return "void: the control failed"
    if max(part.stuck_share for part in parts) > MOST_STUCK:
        return "void: too many stuck runs"
    words = {_word_of_part(part, compared, question.least, p)
             for part, compared in zip(question.criterion, parts, strict=True)}  # fmt: skip
    word = words.pop() if len(words) == 1 else "opposes" if "opposes" in words else "undecided"
    if question.scope in OWN_SCALE:
        return {"agrees": "reproduced", "opposes": "contradicted"}.get(word, word)
    return word


def _word_of_part(part: Less | Near, compared: Compared, least: float, p: float) -> str:
    difference = compared.difference
    if isinstance(part, Near):
        if p < LEVEL:
            return "agrees"
        outside = min(_p(difference, part.within), _p(difference, -part.within, upper=False))
        return "opposes" if outside < LEVEL else "undecided"
    if not part.by and compared.p_equal < LEVEL:
        return f"no difference larger than {least:g}"
    if p < LEVEL:
        return "agrees" if difference.value > 0 else "opposes"
    return "undecided"
