"""From the results of two rows to one word: agrees, opposes, no difference, undecided or void.

``compare`` makes one comparison over pairs of seeds and leaves out pairs with a stuck run.
``judge_family`` does this for all questions of a plan and corrects their p values together (Holm);
``_word`` has the rules at the top of ``data/planned.toml`` as code. ``tests/paper/recompute.py``
computes every outcome again without this file. Explained in notebook 12.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from albert_paper.claims import Comparison, Mean, T, cell, differences, mean, rows_by_seed

Scope = Literal["exact", "same question", "small-scale analogue", "other setting"]
OWN_SCALE = ("exact", "same question")  # only these can be reproduced or contradicted
LOSS = "held_out_masked_token_loss"
LEVEL, MOST_STUCK = 0.05, 0.25
ACCURACIES = ("accuracy", "tuned", "frozen")  # what the name of a column of accuracies ends in


class Question(NamedTuple):
    """A claim of the paper as our runs are judged on it, and what was fixed beforehand."""

    key: str  # EXPERIMENT.NAME
    text: str
    source: str
    scope: Scope
    criterion: tuple[Comparison, ...]
    least: float  # the smallest difference that would matter
    quote: str = ""  # the paper's sentence
    differs: str = ""  # how our experiment differs from it
    control: tuple[Comparison, ...] = ()  # what must hold for the runs to show anything
    stuck: float = 0.0  # a loss from here on is stuck, where runs do not name their baseline
    items: int = 0  # examples of the one test sample that all seeds share
    chance: float = 0.5  # the accuracy of guessing, where the column is an accuracy
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
    p: float  # two-sided, that there is no difference (of a claim of equality: that there is one)
    p_equal: float  # two one-sided tests, that the difference is ``least`` or larger
    favourable: int  # pairs that do as the criterion says
    stuck_pairs: int
    stuck_share: float  # of the worse row
    with_stuck: Mean
    limit: str  # the end of the scale ("chance", "100%") near which both rows lie, or ""


class Outcome(NamedTuple):
    """What the runs say about a question, after the correction for all questions of its family."""

    word: str  # agrees, opposes, no difference ..., undecided, void ..., not finished ..., not run
    parts: tuple[Compared, ...]
    p: float  # corrected


def tail(t: float, freedom: int) -> float:
    """Return the chance that Student's t is larger than ``t``.

    >>> round(tail(2.262, 9), 4)
    0.025
    """
    # With t = sqrt(freedom) tan(angle) the density becomes a power of a cosine.
    start = math.atan(abs(t) / math.sqrt(freedom))
    angles = start + (np.arange(4000) + 0.5) / 4000 * (math.pi / 2 - start)
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    density = math.exp(log_scale) / math.sqrt(math.pi) * np.cos(angles) ** (freedom - 1)
    upper = float(np.mean(density) * (math.pi / 2 - start))
    return upper if t > 0 else 1 - upper


def compare(part: Comparison, runs: Sequence[dict], question: Question) -> Compared:
    """Compare two rows, or a row with a number, by seed. Raises what ``differences`` raises."""
    rows, by_seed = rows_by_seed(part, runs), differences(part, runs)
    stuck = [any(is_stuck(row[seed], question) for row in rows.values()) for seed in by_seed]
    every = list(by_seed.values())
    kept = [difference for difference, bad in zip(every, stuck, strict=True) if not bad]
    shares = [fmean(is_stuck(run, question) for run in row.values()) for row in rows.values()]
    means = [fmean(cell(run, part.column) for run in row.values()) for row in rows.values()]
    # The rows' accuracies are taken as independent, which is wide.
    error = sum(mean * (1 - mean) / question.items for mean in means) if question.items else 0.0
    mean, least = seed_interval(kept or every, error), margin(part, question)
    favourable = sum(abs(x) <= part.within if part.within else x > 0 for x in kept)
    p_equal = max(_p(mean, -least), _p(mean, least, side=-1))
    p = p_equal if part.within else 2 * min(_p(mean, 0.0), _p(mean, 0.0, side=-1))
    return Compared(
        mean,
        min(1.0, p),
        p_equal,
        favourable,
        sum(stuck),
        max(shares),
        seed_interval(every, error),
        _limit(part, means, least, question.chance),
    )


def _limit(part: Comparison, means: Sequence[float], least: float, chance: float) -> str:
    """Return the end of the scale from which both rows of accuracies are no further than ``least``.

    Nothing is learnt at chance, and at 100% no difference that matters has room.
    """
    ends = {"chance": chance, "100%": 1.0} if part.column.endswith(ACCURACIES) else {}
    near = [name for name, end in ends.items() if all(abs(mean - end) <= least for mean in means)]
    return near[0] if near and len(means) == 2 else ""


def margin(part: Comparison, question: Question) -> float:
    """Return the difference that would matter in a comparison."""
    return part.within or question.least


def is_stuck(run: dict, question: Question) -> bool:
    """Whether a run's held-out loss is not below what copying and frequencies give."""
    baseline = run.get("copy_baseline", question.stuck)
    column = LOSS if LOSS in run else "sotu.masked_token_loss" if "sotu" in run else ""
    return bool(baseline and column) and cell(run, column) >= baseline


def seed_interval(values: Sequence[float], error: float = 0.0) -> Mean:
    """Return the mean over seeds; ``error`` is the variance that a shared test sample adds."""
    half = math.hypot(mean(values).half, _t(len(values)) * math.sqrt(error))
    return Mean(float(np.mean(values)), half, len(values))


def _t(n: int) -> float:
    """The 97.5% point of Student's t for n seeds."""
    return T.get(n - 1, T[15])


def _p(mean: Mean, bound: float, side: int = 1) -> float:
    """One-sided p value that the true mean is not above a bound (``side`` -1: not below it)."""
    if math.isinf(mean.half):
        return 1.0
    distance = (mean.value - bound) * side
    error = mean.half / _t(mean.n)
    if not error:
        return 0.5 if not distance else float(distance < 0)
    return tail(distance / error, mean.n - 1)


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Return Holm's corrected p values, the smallest first.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    names = sorted(values, key=values.get)
    steps = (min(1.0, (len(names) - rank) * values[name]) for rank, name in enumerate(names))
    return dict(zip(names, itertools.accumulate(steps, max), strict=True))


def judge_family(
    questions: Sequence[Question], runs: Mapping[str, Sequence[dict]], unfinished: Mapping[str, str]
) -> dict[str, Outcome]:
    """Return the outcome of every question of a family; ``unfinished`` says why some have none."""
    compared, p = {}, {}
    for q in questions:
        if q.key not in unfinished:
            compared[q.key] = tuple(compare(part, runs[q.key], q) for part in q.criterion)
        if q.scope != "exact":
            p[q.key] = max((part.p for part in compared.get(q.key, ())), default=1.0)
    corrected = {q.key: 0.0 for q in questions} | holm(p)
    outcomes = {key: Outcome(reason, (), 1.0) for key, reason in unfinished.items()}
    for q in (q for q in questions if q.key in compared):
        word = _word(q, compared[q.key], runs[q.key], corrected[q.key])
        outcomes[q.key] = Outcome(word, compared[q.key], corrected[q.key])
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
    if limits := [part.limit for part in parts if part.limit]:
        return f"void: both rows at {limits[0]}"
    words = {
        _word_of_part(part, compared, question.least, p)
        for part, compared in zip(question.criterion, parts, strict=True)
    }
    word = words.pop() if len(words) == 1 else "opposes" if "opposes" in words else "undecided"
    own = {"agrees": "reproduced", "opposes": "contradicted"} if question.scope in OWN_SCALE else {}
    return own.get(word, word)


def _word_of_part(part: Comparison, compared: Compared, least: float, p: float) -> str:
    difference = compared.difference
    if part.within:
        if p < LEVEL:
            return "agrees"
        outside = min(_p(difference, part.within), _p(difference, -part.within, side=-1))
        return "opposes" if outside < LEVEL else "undecided"
    if not part.by and compared.p_equal < LEVEL:
        return f"no difference larger than {least:g}"
    if p < LEVEL:
        return "agrees" if difference.value > 0 else "opposes"
    return "undecided"
