"""The two kinds of chart of the notebooks: lines and bars.

Each returns ``(figure, alt)`` for ``cells.show``. Titles state the finding; lines are labelled at
their ends. The style is that of ``plots``.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from albert_edu.analysis.plots import SEPARATE, SHARED, THIRD, style

COLOURS = (SHARED, SEPARATE, THIRD, "#009e73")
LINES, MARKERS = ("-", "--", "-.", ":"), ("o", "s", "^", "D")
HATCHES = ("", "///", "...", "xx")
BASELINE = "#666666"
LABEL_HEIGHT = 0.075  # of the axes' height


class End(NamedTuple):
    """The right end of a line, where its name is written."""

    name: str
    y: float
    colour: Any


def lines(
    series: Sequence[tuple],
    xlabel: str,
    ylabel: str,
    title: str,
    baselines: dict[str, float] | None = None,
    **axes,
) -> tuple[Figure, str]:
    """Draw up to four curves, each ``(name, xs, ys)``.

    ``baselines`` are horizontal lines with a name. Curves of at most 30 points get markers. More
    names are properties of the axes, as in ``xscale="log"``.
    """
    baselines = baselines or {}
    style()
    figure, axis = plt.subplots(figsize=(6.8, 3.6))
    axis.set_prop_cycle(color=COLOURS, linestyle=LINES, marker=MARKERS)
    ends: list[End] = []
    for name, xs, ys in series:
        (curve,) = axis.plot(xs, ys)
        if len(xs) > 30:
            curve.set_marker("")
        ends.append(End(name, ys[-1], curve.get_color()))
    for name, value in baselines.items():
        axis.axhline(value, color=BASELINE, linewidth=1, linestyle=":")
        ends.append(End(name, value, BASELINE))
    axis.set(xlabel=xlabel, ylabel=ylabel, title=title, **axes)
    axis.xaxis.set_minor_formatter(NullFormatter())  # Within a decade labels would collide.
    _label_ends(axis, ends)
    ways = (f"{name} from {_short(ys[0])} to {_short(ys[-1])}" for name, _, ys in series)
    changes = " ".join("; ".join(ways).split())  # a name may have several lines
    levels = "".join(f"; {name} at {_short(value)}" for name, value in baselines.items())
    scale = "".join(f", {name[0]} logarithmic" for name in axes if axes[name] == "log")
    alt = f"Line chart of {ylabel} over {xlabel}{scale}. {title}. {changes}{levels}."
    return figure, alt


def bars(
    groups: Sequence[str], series: dict[str, Sequence], ylabel: str, title: str, digits: int = 2
) -> tuple[Figure, str]:
    """Draw one cluster of bars per group, one bar for each of up to four series, with its value."""
    style()
    figure, axis = plt.subplots(figsize=(max(4.8, 0.7 * len(groups) * len(series) + 1.5), 3.6))
    width, places, listing = 0.8 / len(series), np.arange(len(groups)), []
    for number, (name, values) in enumerate(series.items()):
        at = places + (number - (len(series) - 1) / 2) * width
        drawn = axis.bar(
            at,
            values,
            width * 0.94,
            label=name,
            color=COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
        )
        labels = [f"{value:,.{digits}f}" for value in values]
        axis.bar_label(drawn, labels, fontsize=8, padding=2)
        said = (f"{group} {label}" for group, label in zip(groups, labels, strict=True))
        listing.append(f"{name}: {', '.join(said)}".replace(",\n", " ").replace("\n", " "))
    axis.set_xticks(places, groups)
    axis.grid(axis="x", visible=False)
    axis.set(ylabel=ylabel, title=title, ymargin=0.12)
    if len(series) > 1:
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure, f"Bar chart of {ylabel}. {title}. {'; '.join(listing)}."


def _label_ends(axis, ends: list[End]) -> None:
    """Write each (name, y, colour) at the right end, pushed apart where two ends lie close."""
    axis.autoscale_view()
    to_axes = axis.transData + axis.transAxes.inverted()
    x = axis.get_xlim()[1]
    heights = [to_axes.transform((x, y))[1] for _, y, _ in ends]
    order = sorted(range(len(ends)), key=heights.__getitem__)
    for below, above in pairwise(order):
        heights[above] = max(heights[above], heights[below] + LABEL_HEIGHT)
    excess = max(0.0, max(heights) - 1.0)  # A stack that is too high moves down.
    for (name, _, colour), height in zip(ends, heights, strict=True):
        y = height - excess * (height > 1.0 - LABEL_HEIGHT * len(ends))
        axis.text(1.02, y, name, transform=axis.transAxes, color=colour, va="center", fontsize=9)


def _short(value: float) -> str:
    """A number with three digits, or a whole one with commas."""
    return f"{float(value):,.3g}" if abs(value) < 1e3 else f"{float(value):,.0f}"
