"""What decides, drawn: paired differences with their intervals, and curves over layers."""

import textwrap
from collections.abc import Collection, Sequence

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_edu.analysis.charts import lines
from albert_edu.analysis.plots import SEPARATE, SHARED, figure1, style
from albert_edu.paper.claims import mean
from albert_edu.paper.outcomes import Outcome, Question, margin
from albert_edu.paper.pair import MEMBERS, PLAN
from albert_edu.paper.plan import Experiment
from albert_edu.paper.published import TABLES


def printed(experiment: Experiment, row: str | float) -> float | None:
    """Return the paper's number beside a row of ours, or None."""
    if row not in experiment.published:
        return None
    table, column, *key = experiment.published[row]
    return TABLES[table].value(column, *key)


def difference_picture(
    experiment: Experiment, judged: Sequence[tuple[Question, Outcome]]
) -> tuple[Figure, str]:
    """Draw a row for each comparison: the mean difference over pairs of seeds in its 95% interval.

    Right of 0 is for the claim; the band is the smallest difference that would matter. Returns the
    figure and its alt text.
    """
    parts = [(question, outcome, part, compared) for question, outcome in judged
             for part, compared in zip(question.criterion, outcome.parts, strict=True)]  # fmt: skip
    style()
    figure, axes = plt.subplots(figsize=(8.2, 1.5 + 0.52 * len(parts)))
    labels, sentences = [], []
    for place, (question, outcome, part, compared) in enumerate(parts):
        value, half, n = compared.difference
        least = margin(part, question)
        band = [-place - 0.35, -place + 0.35]
        axes.fill_betweenx(band, -least, least, color="#dddddd", linewidth=0)
        decided = outcome.word in ("agrees", "opposes", "reproduced", "contradicted")
        axes.errorbar(value, -place, xerr=half, fmt="o", capsize=3,
                      color=SHARED if value > 0 else SEPARATE,
                      markerfacecolor=None if decided else "white")  # fmt: skip
        numbers = [printed(experiment, side) for side in (part.low, part.high)]
        paper = "; paper: {:g} and {:g}".format(*numbers) if None not in numbers else ""
        labels.append(f"{textwrap.fill(question.text, 58)}\n{outcome.word}{paper}")
        sentences.append(f"{question.text} {value:.3f} ± {half:.3f} (n={n}), {outcome.word}.")
    axes.axvline(0, color="#444444", linewidth=0.8)
    axes.set_yticks([-place for place in range(len(parts))], labels, fontsize=7.5)
    axes.set_ylim(0.6 - len(parts), 0.6)
    axes.set_xlabel(f"in favour of the claim: {experiment.axis}\n"
                    "grey: too small to matter; filled: decided", fontsize=8.5)  # fmt: skip
    question, outcome, _, (first, *_) = parts[0]
    title = (f"{question.text.rstrip('.')}: {first.value:+.2f} ± {first.half:.2f}, "
             f"{outcome.word}")  # fmt: skip
    figure.suptitle(f"{experiment.question}\n{title}", fontsize=9.5, x=0.02, ha="left")
    return figure, ("Dots with 95% intervals around 0, a row for each comparison. "
                    f"{experiment.question} {' '.join(sentences)}")  # fmt: skip


def layer_curves(experiment: Experiment, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw a curve over layers for each row: the mean over seeds in its 95% interval."""
    curves: dict[str, list] = {}
    for run in runs:
        curves.setdefault(run["row"], []).append(run[experiment.curve])
    # A shared stack was also applied beyond its depth.
    length = min(len(curve) for of_row in curves.values() for curve in of_row)
    series = []
    for row, of_row in curves.items():
        means = [mean(values) for values in zip(*(curve[:length] for curve in of_row), strict=True)]
        values, halves, _ = zip(*means, strict=True)
        series.append((row, range(1, length + 1), values, halves))
    figure, alt = lines(series, "layer application", experiment.axis, "")
    figure.suptitle(experiment.question, fontsize=9.5, x=0.02, ha="left")
    return figure, f"{alt} {experiment.question}"


def pair_picture(members: Collection[dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of a pair: its members in the order of ``MEMBERS``, as a record has them.

    Where they hold ``similarity_untrained``, both stacks are drawn before any training, too.
    """
    trained = [member["similarity"] for member in members]
    untrained = [member["similarity_untrained"] for member in members
                 if "similarity_untrained" in member]  # fmt: skip
    title = ("The last application turns its input by {:.0f} degrees (shared layer) "
             "and by {:.0f} degrees (separate layers)")  # fmt: skip
    last = [curves["angle_degrees"][-1] for curves in trained]
    names = tuple(PLAN["labels"][member] for member in MEMBERS)
    figure, alt = figure1(*trained, names, title.format(*last), untrained)
    figure.set_figheight(4.0)
    dotted = "Dotted: before training. " if untrained else ""
    figure.supxlabel(
        f"Bands: one standard deviation over tokens. {dotted}"
        "Hollow: the step from the embedding.\nThe separate layers began as copies of a shallower "
        "stack, and their curve can jump where a set of copies ends.", fontsize=8,
    )  # fmt: skip
    return figure, alt
