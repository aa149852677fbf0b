"""The pictures of the page of claims: the single seeds of a claim, and Figure 1 of all pairs.

A judged claim and its runs go in; a figure and its alt text come out. Explained in notebook 09.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from albert_edu.analysis.plots import SEPARATE, SHARED, figure1, save, style
from albert_paper.columns import label
from albert_paper.criterion import Comparison, parse, side
from albert_paper.outcomes import table

MEASURES = {"l2": "l2_std", "angle_degrees": "angle_std"}  # of Figure 1, and their spread


def seeds_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw every seed of every criterion, beside each other where they are of several columns.

    Returns the figure and its alt text.
    """
    compared: dict[str, list[tuple[Comparison, list[int]]]] = {}
    for text, part in zip(claim["criterion"], claim["parts"], strict=True):
        criterion = parse(text)
        compared.setdefault(criterion.column, []).append((criterion, part["seeds"]))
    style()
    wide = max(4.6, 3.2 * len(compared))
    figure, axes = plt.subplots(1, len(compared), figsize=(wide, 2.9), squeeze=False)
    ends = []
    for axis, (column, comparisons) in zip(axes[0], compared.items(), strict=True):
        reached = "; ".join(draw_seeds(axis, comparisons, runs))
        ends.append(f"{label(column).what}: {reached}" if len(compared) > 1 else reached)
    if len(compared) > 1:
        figure.suptitle(title_of(claim))
    else:
        axes[0, 0].set_title(title_of(claim), wrap=True)
    return figure, f"{len(claim['parts'][0]['seeds'])} seeds: {'; '.join(ends)}."


def draw_seeds(
    axis: Axes, comparisons: Sequence[tuple[Comparison, list[int]]], runs: Sequence[dict]
) -> list[str]:
    """Draw a line per seed from one side of a criterion to the other, or a dot beside its bar.

    It goes on to what a further criterion of the same column compares with its end. A criterion
    with +- has a band. ``comparisons`` have the seeds that they leave in. Returns what the sides
    reach from and to.
    """
    (column, low, high, within), kept = comparisons[0]
    values = table(runs, column)
    seeds_of = {high: kept, low: kept}
    for further, kept in comparisons[1:]:
        end = list(seeds_of)[-1]
        if end in (further.high, further.low):
            seeds_of[further.low if end == further.high else further.high] = kept
    sides = {}
    bars = []
    for name, kept in seeds_of.items():
        if name.replace(".", "").isdigit():
            bars.append(float(name))
        else:
            seeds = side(name, values)
            sides[name] = seeds.where(seeds.index.isin(kept))
    ticks = [name.replace(", ", "\n", 1) for name in sides]
    axis.plot(ticks, list(sides.values()), "o-", color=SHARED, alpha=0.6)
    width = within or 0.0
    for bar in bars:
        axis.axhline(bar, color="0.3", linestyle=":")
        axis.axhspan(bar - width, bar + width, color="0.85", zorder=0)
    axis.set(ylabel=label(column).what, xlim=(-0.4, len(sides) - 0.6))
    return [f"{name} {seeds.min():.2f} to {seeds.max():.2f}" for name, seeds in sides.items()]


def counts_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw how many seeds are 1 on both sides, on one, or on none, of a column of zeros and ones.

    Returns the figure and its alt text.
    """
    column, low, high, _ = parse(claim["criterion"][0])
    values = table(runs, column)
    first = values[low].eq(1)
    second = values[high].eq(1)
    counts = {
        "both": int((first & second).sum()),
        f"only {high}": int((second & ~first).sum()),
        f"only {low}": int((first & ~second).sum()),
        "neither": int((~first & ~second).sum()),
    }
    style()
    figure, axis = plt.subplots(figsize=(4.6, 2.9))
    bars = axis.barh(list(counts), list(counts.values()), color=SHARED)
    axis.bar_label(bars, padding=3)
    axis.invert_yaxis()
    axis.set(xlabel=f"{label(column).what}, of {len(values)} seeds")
    axis.set_title(title_of(claim), wrap=True)
    found = ", ".join(f"{name} {number}" for name, number in counts.items())
    return figure, f"{len(values)} seeds: {found}."


def curves_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw what was watched while runs trained that branch, as Figures 2a and 2b of the paper.

    A curve is the mean over the seeds, and its band one standard deviation. The branches begin at
    the dotted line. Returns the figure and its alt text.
    """
    column = parse(claim["criterion"][0]).column
    watched = column.split(".")[-1].removeprefix("held_out_")
    style()
    figure, axis = plt.subplots(figsize=(4.6, 2.9))
    ends = []
    for row, colour, line in zip(rows_of(runs), (SEPARATE, SHARED), ("--", "-"), strict=True):
        own = [run["watched"] for run in runs if run["row"] == row]
        steps = [point["step"] for point in own[0]]
        values = np.array([[point[watched] for point in points] for points in own])
        mean = values.mean(axis=0)
        spread = values.std(axis=0)
        axis.plot(steps, mean, color=colour, linestyle=line, label=row)
        axis.fill_between(steps, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
        ends.append(f"{row} {mean[-1]:.2f}")
    axis.axvline(runs[0]["steps"], color="0.3", linestyle=":")
    axis.set(xlabel="step", ylabel=label(column).what)
    axis.legend()
    axis.set_title(title_of(claim), wrap=True)
    found = f"Mean of {len(own)} seeds, on fewer batches than the criterion"
    return figure, f"{found}; at the end: {', '.join(ends)}."


def title_of(claim: dict) -> str:
    """Return the sentence that is judged, and the word for it: a picture alone would assert it."""
    return f"{claim['says']}: {claim['word']}"


def rows_of(runs: Sequence[dict]) -> list[str]:
    """Return the rows that the runs belong to, in their order."""
    return list(dict.fromkeys(run["row"] for run in runs))


def layers_picture(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of all pairs: mean and standard deviation over the seeds.

    The shared layer was trained for as many applications as there are separate layers, and applied
    three times as often.
    """
    shared = [run for run in runs if run["row"] == "all"]
    separate = [run for run in runs if run["row"] == "none"]
    title = f"{title_of(claim)} ({len(shared)} pairs of 12 applications)"
    names = ("one shared layer", "separate layers")
    curves = (mean_curves(shared), mean_curves(separate))
    figure, _ = figure1(*curves, names, title, over="seeds")
    for axis in figure.axes:
        axis.axvline(12, color="0.3", linestyle=":")
    return figure, f"{title}. L2 distance and angle end at {ends_of(*curves)}."


def figure1_picture(runs: Sequence[dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of pairs that differ in their seeds, and what they were before training.

    Rows are "shared" and "separate". Only applications that the shared layer was trained for are
    drawn.
    """
    shared = [run for run in runs if run["row"] == "shared"]
    separate = [run for run in runs if run["row"] == "separate"]
    depth = dict(shared[0]["config"])["num_layers"]
    trained = [mean_curves(kept, depth) for kept in (shared, separate)]
    before = [mean_curves([run["untrained"] for run in kept]) for kept in (shared, separate)]
    title = f"Before training, too, a shared layer takes smaller steps ({len(shared)} pairs)"
    names = ("one shared layer", "separate layers")
    figure, _ = figure1(trained[0], trained[1], names, title, before, over="seeds")
    after, earlier = ends_of(*trained), ends_of(*before)
    return figure, f"{title}. L2 distance and angle end at {after}; untrained (dotted) {earlier}."


def ends_of(shared: dict, separate: dict) -> str:
    """Return where the curves of Figure 1 end, for a description in few words."""
    ends = []
    for name, curves in (("shared", shared), ("separate", separate)):
        last = f"{curves['l2'][-1]:.1f} and {curves['angle_degrees'][-1]:.0f}°"
        ends.append(f"{name} {last}")
    return ", ".join(ends)


def mean_curves(measured: Sequence[dict], depth: int | None = None) -> dict[str, np.ndarray]:
    """Return the curves of Figure 1 as means over what was measured, and their spread.

    Only the first ``depth`` applications are kept, or all.
    """
    curves = {}
    for name, spread in MEASURES.items():
        seeds = [one[name][:depth] for one in measured]
        curves[name] = np.mean(seeds, axis=0)
        curves[spread] = np.std(seeds, axis=0)
    return curves


def save_picture(key: str, claim: dict, figures: Path) -> str:
    """Draw the picture of a judged claim into ``figures/claims``, and return its alt text."""
    figure, alt = picture_of(claim, runs_kept(claim))
    save(figure, figures / "claims" / f"{key}.png", alt)
    return alt


def picture_of(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Return the picture of a claim and its alt text, which its measure chooses.

    Angles are drawn over the layers, starts are counted, and what was watched is drawn over the
    steps.
    """
    column = parse(claim["criterion"][0]).column
    if column == "mean_angle":
        return layers_picture(claim, runs)
    if column == "never_learnt":
        return counts_picture(claim, runs)
    if "watched" in runs[0]:
        return curves_picture(claim, runs)
    return seeds_picture(claim, runs)


def runs_kept(claim: dict) -> list[dict]:
    """Return the runs of the seeds that a claim's first comparison leaves in."""
    return [run for run in claim["runs"] if run["seed"] in claim["parts"][0]["seeds"]]
