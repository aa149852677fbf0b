"""What decides, drawn: paired differences with their intervals, and curves over layers."""

import textwrap
from collections.abc import Collection, Sequence

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_course.charts import lines
from albert_edu.analysis.plots import SEPARATE, SHARED, figure1, style
from albert_paper.claims import mean, quantity, shown
from albert_paper.outcomes import margin
from albert_paper.pair import MEMBERS, PLAN
from albert_paper.plan import Experiment
from albert_paper.published import TABLES
from albert_paper.report import Entry, Report


def printed(reference: Sequence) -> float:
    """Return a number of the paper: table, column, and what identifies the row."""
    return TABLES[reference[0]].value(*reference[1:])


def difference_picture(entry: Entry, report: Report) -> tuple[Figure, str]:
    """Draw a row for each comparison: the mean difference over pairs of seeds in its 95% interval.

    Each measured quantity has a panel with an axis of its own. A criterion with < holds right of
    0; the band is the smallest difference that would matter. Returns the figure and its alt text.
    """
    panels: dict[str, list] = {}
    for question in entry.questions:
        outcome = report.outcomes[question.key]
        for part, compared in zip(question.criterion, outcome.parts, strict=bool(outcome.parts)):
            if compared.difference.half:  # a difference of counts is certain: nothing to draw
                panels.setdefault(part.column, []).append((question, outcome, part, compared))
    style()
    heights = [len(rows) + 0.9 for rows in panels.values()]
    figure, axes = plt.subplots(
        len(panels), figsize=(8.2, 1.1 + 0.56 * sum(heights)), squeeze=False, height_ratios=heights
    )
    sentences = []
    for axis, (column, rows) in zip(axes[:, 0], panels.items(), strict=True):
        labels = []
        for place, (question, outcome, part, compared) in enumerate(rows):
            (value, half, n), least = compared.difference, margin(part, question)
            axis.barh(-place, 2 * least, 0.7, -least, color="#dddddd", linewidth=0)
            value = -value if part.within else value  # measured minus the number
            decided = outcome.word in ("agrees", "opposes", "reproduced", "contradicted")
            axis.errorbar(
                value,
                -place,
                xerr=half,
                fmt="o",
                capsize=3,
                color=SHARED if part.within or value > 0 else SEPARATE,
                markerfacecolor=None if decided else "white",
            )
            paper = " against ".join(str(printed(r)) for r in report.paper.get(question.key, ()))
            criterion = part.text.removeprefix(f"{column}: ")
            verdict = f"{criterion}: {outcome.word}" + (f"; paper: {paper}" if paper else "")
            labels.append(f"{textwrap.fill(question.text, 58)}\n{verdict}")
            sentences.append(f"{question.text} {value:.3f} ± {half:.3f} (n={n}), {verdict}.")
        axis.axvline(0, color="#444444", linewidth=0.8)
        axis.set_yticks([-place for place in range(len(rows))], labels, fontsize=7.5)
        axis.set_ylim(0.6 - len(rows), 0.6)
        label = "right minus left: {} ({})".format(*report.columns[column])
        axis.set_xlabel(textwrap.fill(label, 60), fontsize=8.5)
    figure.supxlabel(
        "Bars: 95% intervals of one comparison; an outcome is corrected for all claims"
        " of its family.\nRight of 0 a criterion with < holds. Grey: too small to"
        " matter. Filled: decided.",
        fontsize=8,
    )
    every = [row for rows in panels.values() for row in rows]
    asked = {line["claim"] for line in report.headline}
    _, _, part, (first, *_) = next((row for row in every if row[0].key in asked), every[0])
    (words, unit), (rows, value) = report.columns[part.column], quantity(part, first)
    title = textwrap.fill(f"{words}: {rows} = {shown(value, unit)}".replace("`", ""), 100)
    figure.suptitle(f"{entry.experiment.question}\n{title}", fontsize=9.5, x=0.02, ha="left")
    return figure, (
        "Dots with 95% intervals around 0, a row for each comparison. "
        f"{entry.experiment.question} {' '.join(sentences)}"
    )


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

    Where they hold ``similarity_untrained``, random stacks of their shapes are drawn, too.
    """
    trained = [member["similarity"] for member in members]
    untrained = [
        member["similarity_untrained"] for member in members if "similarity_untrained" in member
    ]
    title = (
        "The last application turns its input by {:.0f} degrees (shared layer) "
        "and by {:.0f} degrees (separate layers)"
    )
    last = [curves["angle_degrees"][-1] for curves in trained]
    names = tuple(PLAN["labels"][member] for member in MEMBERS)
    figure, alt = figure1(*trained, names, title.format(*last), untrained)
    figure.set_figheight(4.0)
    figure.supxlabel(
        "Bands: one standard deviation over tokens. "
        f"{'Dotted: random weights. ' if untrained else ''}Hollow: the step from the embedding.",
        fontsize=8,
    )
    return figure, alt
