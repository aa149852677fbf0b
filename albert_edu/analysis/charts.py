"""The three kinds of chart the notebooks draw: lines, bars, and a grid of numbers. Same style and alt text as ``plots``.

Each returns ``(figure, alt)`` for ``course.show``. Titles state the finding; lines are labelled at their ends.
"""

from collections.abc import Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from albert_edu.analysis.plots import SEPARATE, SHARED, THIRD, style

COLOURS = (SHARED, SEPARATE, THIRD, "#009e73")
LINES, MARKERS, HATCHES = ("-", "--", "-.", ":"), ("o", "s", "^", "D"), ("", "///", "...", "xx")


def lines(
    series: Sequence[tuple], xlabel: str, ylabel: str, title: str, baselines: dict[str, float] | None = None,
    logx: bool = False, logy: bool = False, zero: bool = False,
) -> tuple[Figure, str]:  # fmt: skip
    """Up to four curves, each ``(name, xs, ys)`` or ``(name, xs, ys, spreads)``; a spread is drawn as a band of +- itself.

    ``baselines`` are horizontal lines with a name. Curves of at most 30 points get markers. ``zero`` starts the y axis at 0.
    """
    if not 1 <= len(series) <= len(COLOURS):
        raise ValueError(f"a readable chart has 1 to {len(COLOURS)} curves, got {len(series)}: split it in two.")
    style()
    figure, axis = plt.subplots(figsize=(6.8, 3.6))
    for (_, xs, ys, *spread), colour, line, marker in zip(series, COLOURS, LINES, MARKERS, strict=False):
        xs, ys = np.asarray(xs, float), np.asarray(ys, float)
        axis.plot(xs, ys, color=colour, linestyle=line, marker=marker if len(xs) <= 30 else None)
        if spread:
            low, high = ys - np.asarray(spread[0], float), ys + np.asarray(spread[0], float)
            axis.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    axis.set(xlabel=xlabel, ylabel=ylabel, title=title, xscale="log" if logx else "linear", yscale="log" if logy else "linear")
    if logx:
        axis.xaxis.set_minor_formatter(NullFormatter())  # labels of a span of a decade would run into each other
    if zero:
        axis.set_ylim(bottom=0)
    for value in (baselines or {}).values():
        axis.axhline(value, color="#777777", linewidth=1, linestyle=":")
    for name, value in (baselines or {}).items():  # after all lines: now the axes have their limits
        at, side = _free_side(axis, series, value)
        axis.text(at, value, name, transform=axis.get_yaxis_transform(), va="bottom", ha=side, fontsize=8, color="#555555")
    _label_ends(axis, series)
    ends = "; ".join(f"{' '.join(name.split())} from {_short(ys[0])} to {_short(ys[-1])}" for name, _, ys, *_ in series)
    levels = "".join(f"; {name} at {_short(value)}" for name, value in (baselines or {}).items())
    scale = {(True, True): ", both axes logarithmic", (True, False): ", x logarithmic", (False, True): ", y logarithmic"}
    return figure, f"Line chart of {ylabel} over {xlabel}{scale.get((logx, logy), '')}. {title}. {ends}{levels}."


def bars(
    groups: Sequence[str], series: dict[str, Sequence], ylabel: str, title: str, baselines: dict[str, float] | None = None,
    spreads: dict[str, Sequence] | None = None, digits: int = 2,
) -> tuple[Figure, str]:  # fmt: skip
    """Bars side by side: one cluster a group, one bar a series, the value on top. ``spreads`` draws +- around a bar."""
    if not 1 <= len(series) <= len(COLOURS):
        raise ValueError(f"a readable chart has 1 to {len(COLOURS)} series, got {len(series)}: split it in two.")
    style()
    figure, axis = plt.subplots(figsize=(max(4.8, 0.7 * len(groups) * len(series) + 1.5), 3.6))
    width, places = 0.8 / len(series), np.arange(len(groups))
    for number, ((name, values), colour, hatch) in enumerate(zip(series.items(), COLOURS, HATCHES, strict=False)):
        spread = (spreads or {}).get(name)
        at = places + (number - (len(series) - 1) / 2) * width
        drawn = axis.bar(at, values, width * 0.94, label=name, color=colour, hatch=hatch, edgecolor="white", yerr=spread, capsize=3)
        axis.bar_label(drawn, [f"{value:,.{digits}f}" for value in values], fontsize=8, padding=2)
    for name, value in (baselines or {}).items():
        axis.axhline(value, color="#444444", linewidth=1, linestyle=":")
        axis.text(1.01, value, name, transform=axis.get_yaxis_transform(), va="center", fontsize=8, color="#444444")
    axis.set_xticks(places, groups)
    axis.grid(axis="x", visible=False)
    axis.set(ylabel=ylabel, title=title)
    axis.margins(y=0.12)
    if len(series) > 1:
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{group} {value:,.{digits}f}" for group, value in zip(groups, values, strict=True))
        for name, values in series.items()
    )
    levels = "".join(f"; {name} at {_short(value)}" for name, value in (baselines or {}).items())
    return figure, f"Bar chart of {ylabel}. {title}. {told}{levels}."


def grid(
    values, rows: Sequence[str], columns: Sequence[str], title: str, xlabel: str = "", ylabel: str = "", digits: int = 2,
) -> tuple[Figure, str]:  # fmt: skip
    """A matrix as shaded cells with the number written in each: attention weights, recalls, a plan of layers."""
    values = np.asarray(values, float)
    style()
    figure, axis = plt.subplots(figsize=(min(9.5, 0.55 * len(columns) + 2.2), 0.42 * len(rows) + 1.3))
    span = (values - values.min()) / max(values.max() - values.min(), 1e-12)
    axis.imshow(span, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        look = {"ha": "center", "va": "center", "fontsize": 8, "color": "white" if span[row, column] > 0.75 else "black"}
        axis.text(column, row, f"{values[row, column]:,.{digits}f}", **look)
    axis.set_xticks(range(len(columns)), columns)
    axis.set_yticks(range(len(rows)), rows)
    axis.grid(visible=False)
    axis.set(title=title, xlabel=xlabel, ylabel=ylabel)
    told = "; ".join(f"{name}: " + " ".join(f"{x:.{digits}f}" for x in line) for name, line in zip(rows, values, strict=True))
    return figure, f"Grid of {len(rows)} by {len(columns)} numbers. {title}. {told}."


def _label_ends(axis, series: Sequence[tuple]) -> None:
    """Name every curve at its right end, pushed apart where two ends lie close."""
    to_axes = axis.transAxes.inverted()
    axis.autoscale_view()
    heights = [to_axes.transform(axis.transData.transform((float(xs[-1]), float(ys[-1]))))[1] for _, xs, ys, *_ in series]
    order = sorted(range(len(series)), key=lambda i: heights[i])
    for before, after in pairwise(order):
        heights[after] = max(heights[after], heights[before] + 0.075)
    above = max(0.0, max(heights) - 1.0)  # a stack that would stick out at the top goes down as a whole
    heights = [height - above if height > 1.0 - 0.075 * len(series) else height for height in heights]
    for (name, *_), height, colour in zip(series, heights, COLOURS, strict=False):
        axis.text(1.02, height, name, transform=axis.transAxes, color=colour, va="center", fontsize=9)


def _free_side(axis, series: Sequence[tuple], level: float) -> tuple[float, str]:
    """The end of a horizontal line at which its name stands farther from every curve, and so how the name is aligned."""
    axis.autoscale_view()
    to_axes = axis.transData + axis.transAxes.inverted()
    height = to_axes.transform((axis.get_xlim()[1], level))[1] + 0.03  # the middle of the name, just above its line
    room = {}
    for side, places in (("left", np.linspace(0, 0.3, 20)), ("right", np.linspace(0.7, 1, 20))):
        curves = (to_axes.transform(np.column_stack([xs, ys]).astype(float)) for _, xs, ys, *_ in series)
        room[side] = min(abs(np.interp(places, *curve.T) - height).min() for curve in curves)
    return (0.99, "right") if room["right"] > room["left"] + 0.02 else (0.01, "left")


def _short(value: float) -> str:
    return f"{float(value):,.3g}" if abs(value) < 1e3 else f"{float(value):,.0f}"
