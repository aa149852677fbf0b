"""What decides, drawn: paired differences with their intervals, and curves over layers."""

import textwrap
from collections.abc import Sequence

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_edu.analysis.charts import lines
from albert_edu.analysis.plots import SEPARATE, SHARED, style
from albert_edu.paper.claims import Less, Near, mean
from albert_edu.paper.outcomes import Outcome, Question, margin
from albert_edu.paper.plan import Experiment
from albert_edu.paper.published import TABLES


def printed(experiment: Experiment, row: str | float) -> float | None:
    """The paper's number beside a row of ours, or None."""
    if row not in experiment.published:
        return None
    table, column, *key = experiment.published[row]
    return TABLES[table].value(column, *key)


def difference_picture(experiment: Experiment, judged: Sequence[tuple[Question, Outcome]]) -> tuple[Figure, str]:
    """One row for each comparison: the mean difference over pairs of seeds in its 95% interval, right of 0 for the claim.

    The band is the smallest difference that would matter. Returns the figure and its alt text.
    """
    parts = [(question, outcome, part, compared) for question, outcome in judged
             for part, compared in zip(question.criterion, outcome.parts, strict=True)]  # fmt: skip
    style()
    figure, axes = plt.subplots(figsize=(8.2, 1.5 + 0.52 * len(parts)))
    labels, told = [], []
    for place, (question, outcome, part, compared) in enumerate(parts):
        least = margin(part, question)
        axes.fill_betweenx([-place - 0.35, -place + 0.35], -least, least, color="#dddddd", linewidth=0)
        decided = outcome.word in ("agrees", "opposes", "reproduced", "contradicted")
        axes.errorbar(compared.difference.value, -place, xerr=compared.difference.half, fmt="o", capsize=3,
                      color=SHARED if compared.difference.value > 0 else SEPARATE,
                      markerfacecolor=None if decided else "white")  # fmt: skip
        labels.append(textwrap.fill(question.text, 58) + f"\n{outcome.word}{_paper(experiment, part)}")
        value, half, n = compared.difference
        told.append(f"{question.text} {value:.3f} ± {half:.3f} (n={n}), {outcome.word}.")
    axes.axvline(0, color="#444444", linewidth=0.8)
    axes.set_yticks([-place for place in range(len(parts))], labels, fontsize=7.5)
    axes.set_ylim(0.6 - len(parts), 0.6)
    axes.set_xlabel(f"in favour of the claim: {experiment.axis}\ngrey: too small to matter; filled: decided", fontsize=8.5)
    question, outcome, _, first = parts[0]
    title = f"{question.text.rstrip('.')}: {first.difference.value:+.2f} ± {first.difference.half:.2f}, {outcome.word}"
    figure.suptitle(f"{experiment.question}\n{title}", fontsize=9.5, x=0.02, ha="left")
    alt = f"Dots with 95% intervals around 0, a row for each comparison. {experiment.question} {' '.join(told)}"
    return figure, alt


def _paper(experiment: Experiment, part: Less | Near) -> str:
    numbers = [printed(experiment, side) for side in (part.low, part.high)]
    return f"; paper: {numbers[0]:g} and {numbers[1]:g}" if None not in numbers else ""


def layer_curves(experiment: Experiment, runs: Sequence[dict]) -> tuple[Figure, str]:
    """A curve over layers for each row: the mean over seeds in its 95% interval."""
    length = min(len(run[experiment.curve]) for run in runs)  # a shared stack was also applied beyond its depth
    series = []
    for row in dict.fromkeys(run["row"] for run in runs):
        found = [mean(at) for at in zip(*(run[experiment.curve][:length] for run in runs if run["row"] == row), strict=True)]
        series.append((row, range(1, len(found) + 1), [m.value for m in found], [m.half for m in found]))
    figure, alt = lines(series, "layer application", experiment.axis, "")
    figure.suptitle(experiment.question, fontsize=9.5, x=0.02, ha="left")
    return figure, f"{alt} {experiment.question}"
