"""Every figure of the course, in one style: colour-blind-safe, lines that differ in style too, opaque, units on the axes.

Each function returns the figure and its alt text, which says what someone who cannot see it needs to know.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

SHARED, SEPARATE, THIRD = "#0072b2", "#d55e00", "#3a3a3a"  # Okabe-Ito blue and vermilion, and a grey; apart in greyscale too


def style() -> None:
    """Set the house style for everything drawn after this call."""
    plt.rcdefaults()
    plt.rcParams.update({
        "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": 110,
        "figure.constrained_layout.use": True, "font.size": 10, "axes.titlesize": 11, "axes.titlelocation": "left",
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
        "grid.color": "#dddddd", "grid.linewidth": 0.6,
        "lines.linewidth": 1.8, "lines.markersize": 4, "legend.frameon": False, "svg.hashsalt": "albert_edu",
    })  # fmt: skip


def save(figure: Figure, path: str | Path, alt: str) -> None:
    """Write a PNG that is the same bytes at every run, with the alt text inside."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None, "Description": alt})
    plt.close(figure)


def figure1(shared: dict, separate: dict, names: tuple[str, str], title: str) -> tuple[Figure, str]:
    """L2 distance and angle between input and output of each layer (the paper's Figure 1).

    ``shared`` and ``separate`` are ``LayerSimilarity.as_lists()``. The step from the embedding is drawn hollow and
    unconnected, since the embedding is not normed at width H.
    """
    style()
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.5))
    looks = [(shared, names[0], SHARED, "-", "o"), (separate, names[1], SEPARATE, "--", "s")]
    measures = [("l2", "l2_std", "L2 distance", ""), ("angle_degrees", "angle_std", "angle", " (degrees)")]
    for axis, (mean, spread, label, unit) in zip(panels, measures, strict=True):
        for curves, name, colour, line, marker in looks:
            layers = range(1, len(curves[mean]) + 1)
            low, high = ([m + sign * s for m, s in zip(curves[mean], curves[spread], strict=True)] for sign in (-1, 1))
            axis.fill_between(layers[1:], low[1:], high[1:], color=colour, alpha=0.13, linewidth=0)
            axis.plot(layers[1:], curves[mean][1:], color=colour, linestyle=line, marker=marker, label=name)
            axis.plot(layers[:1], curves[mean][:1], color=colour, marker=marker, fillstyle="none", linestyle="none")
        axis.set(xlabel="layer application", ylabel=f"{label} from input to output{unit}")
        axis.set_xticks([x for x in layers if x == 1 or x % max(1, len(layers) // 6) == 0])
        axis.set_ylim(bottom=0)
    panels[0].legend(loc="best")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    last = {name: (curves["l2"][-1], curves["angle_degrees"][-1]) for curves, name, *_ in looks}
    ends = "; ".join(f"{name} ends at {l2:.1f} and {angle:.0f} degrees" for name, (l2, angle) in last.items())
    alt = (
        f"Two line charts over layer applications 1 to {len(layers)}: L2 distance and angle between a layer's input and output, "
        f"mean with a band of one standard deviation over tokens. {title}. {ends}."
    )
    return figure, alt


def parameter_bars(rows: list[tuple[str, dict[str, int]]], title: str) -> tuple[Figure, str]:
    """Stacked bars of parameters by component, one bar a model: ``(name, {component: parameters})``."""
    style()
    figure, axis = plt.subplots(figsize=(8.0, 0.36 * len(rows) + 1.3))
    hatches, colours = ("", "///", "...", "xx"), (SHARED, SEPARATE, "#999999", "#e5c700")
    left = [0.0] * len(rows)
    for component, hatch, colour in zip(rows[0][1], hatches, colours, strict=False):
        values = [parts[component] / 1e6 for _, parts in rows]
        axis.barh(range(len(rows)), values, left=left, label=component, hatch=hatch, color=colour, edgecolor="white", height=0.7)
        left = [a + b for a, b in zip(left, values, strict=True)]
    for y, total in enumerate(left):
        axis.text(total, y, f" {total:,.1f}M", va="center", fontsize=9)
    axis.set_yticks(range(len(rows)), [name for name, _ in rows])
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set(xlabel="parameters (millions)", title=title, xlim=(0, max(left) * 1.12))
    axis.legend(loc="lower right")
    alt = f"Horizontal stacked bars of parameters in millions. {title}. " + "; ".join(
        f"{name} {total:.1f}" for (name, _), total in zip(rows, left, strict=True)
    )
    return figure, alt + "."


def loss_curves(runs: list[tuple[str, list[int], list[float]]], baselines: dict[str, float], title: str) -> tuple[Figure, str]:
    """Masked-token loss over steps, with the losses that need no understanding drawn in: (name, steps, losses) per run."""
    style()
    figure, axis = plt.subplots(figsize=(6.6, 3.6))
    for (name, steps, losses), colour, line in zip(runs, (SHARED, SEPARATE, THIRD), ("-", "--", "-."), strict=False):
        axis.plot(steps, losses, color=colour, linestyle=line, label=name)
    for name, value in baselines.items():
        axis.axhline(value, color="#777777", linewidth=1, linestyle=":")
        axis.text(1.0, value, name, transform=axis.get_yaxis_transform(), ha="right", va="bottom", fontsize=8, color="#555555")
    axis.set(xlabel="step", ylabel="masked-token loss (nats)", title=title)
    axis.legend(loc="upper right", bbox_to_anchor=(1.0, 0.88))
    ends = ", ".join(f"{name} from {losses[0]:.2f} to {losses[-1]:.2f}" for name, _, losses in runs)
    alt = f"Line chart of masked-token loss over training steps. {title}. {ends}. Baselines: " + ", ".join(
        f"{name} {value:.2f}" for name, value in baselines.items()
    )
    return figure, alt + "."


def pipeline_diagram(embedding_size: int, hidden_size: int) -> tuple[Figure, str]:
    """From ids to the two questions of pre-training, with the one shared layer marked (notebook 00)."""
    style()
    figure, axis = plt.subplots(figsize=(8.6, 2.1))
    stages = ["ids", f"table\nE = {embedding_size}", f"project\nH = {hidden_size}", "one layer,\napplied L times"]
    places = [(0, 0.5), (1.2, 0.5), (2.4, 0.5), (3.9, 0.5), (5.9, 0.88), (5.9, 0.12)]
    drawn = []
    for (x, y), text in zip(places, [*stages, "[CLS]: swapped?", "[MASK]: which piece?"], strict=True):
        edge = (SHARED, 2.5) if "layer" in text else (THIRD, 1.0)
        box = dict(boxstyle="round,pad=0.5", facecolor="white", edgecolor=edge[0], linewidth=edge[1])
        drawn.append(axis.text(x, y, text, ha="center", va="center", bbox=box, fontsize=9))
    for start, end in ((0, 1), (1, 2), (2, 3), (3, 4), (3, 5)):
        look = dict(arrowstyle="->", color=THIRD, patchA=drawn[start].get_bbox_patch(), patchB=drawn[end].get_bbox_patch())
        axis.annotate("", xy=places[end], xytext=places[start], arrowprops=look)
    axis.set(xlim=(-0.4, 6.8), ylim=(-0.15, 1.15))
    axis.axis("off")
    alt = (
        f"Flow diagram: ids go through an embedding table of width {embedding_size}, a projection to width {hidden_size}, one "
        "layer applied L times, and then to two questions: is the pair swapped, asked at [CLS], and which piece stood here, "
        "asked at [MASK]."
    )
    return figure, alt
