"""What the page of claims shows: the single seeds of a claim, and Figure 1 of ten pairs."""

from collections.abc import Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_edu.analysis.plots import SHARED, figure1, style
from albert_paper.outcomes import PARTS, side, table

LABELS = {  # what a column ends in: what it is, the unit of a value, and of a difference
    "accuracy": ("accuracy", "%", " points"),
    "mean_angle": ("mean angle (degrees)", "°", "°"),
    "later_angle": ("angle (degrees)", "°", "°"),
    "roughness": ("mean bend (degrees)", "°", "°"),
    "never_learnt": ("starts that never learnt", "%", " points"),
    "gap": ("held-out minus training loss", "", ""),
    "masked_token_loss": ("held-out MLM loss (nats)", "", ""),
    "": ("", "", ""),
}


MEASURES = {"l2": "l2_std", "angle_degrees": "angle_std"}  # of Figure 1, and their spread


def label(column: str) -> tuple[str, str, str]:
    """Return what a column is, the unit of its values, and that of their differences."""
    return next(words for end, words in LABELS.items() if column.endswith(end))


def seeds_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw every seed: a line from one side of a criterion to the other, or a dot beside its bar.

    A criterion with +- has a band. Returns the figure and its alt text.
    """
    column, low, high, within = PARTS.fullmatch(claim["criterion"][0]).groups()
    values = table(runs, column)
    drawn = {part: side(part, values) for part in (high, low)}
    sides = {name: part for name, part in drawn.items() if part.nunique() > 1}
    style()
    figure, axis = plt.subplots(figsize=(4.6, 2.9))
    ticks = [name.replace(", ", "\n", 1) for name in sides]
    axis.plot(ticks, [*sides.values()], "o-", color=SHARED, alpha=0.6)
    for name in drawn.keys() - sides:
        bar, width = float(name), float(within or 0)
        axis.axhline(bar, color="0.3", linestyle=":")
        axis.axhspan(bar - width, bar + width, color="0.85", zorder=0)
    axis.set(ylabel=label(column)[0], xlim=(-0.4, len(sides) - 0.6))
    axis.set_title(claim["says"], wrap=True)
    ends = [f"{name} {part.min():.2f} to {part.max():.2f}" for name, part in sides.items()]
    return figure, f"{len(values)} seeds: {'; '.join(ends)}."


def layers_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of all pairs: mean and standard deviation over the seeds.

    The shared layer was trained for as many applications as there are separate layers, and applied
    three times as often.
    """
    pair = []
    for row in ("all", "none"):
        kept = {name: [run[name] for run in runs if run["row"] == row] for name in MEASURES}
        spread = {MEASURES[name]: np.std(curves, 0) for name, curves in kept.items()}
        pair.append({name: np.mean(curves, 0) for name, curves in kept.items()} | spread)
    title = f"{claim['says']} ({len(kept['l2'])} pairs, trained for 12 applications)"
    names = ("one shared layer", "separate layers")
    figure, alt = figure1(*pair, names, title, over="seeds")
    for axis in figure.axes:
        axis.axvline(12, color="0.3", linestyle=":")
    return figure, alt
