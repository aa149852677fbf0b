"""The house style and Figure 1 (notebook 08); ``albert_course.charts`` has the other figures.

Colours are safe for colour-blind readers, lines differ in style too, backgrounds are opaque. A
figure comes with its alt text, which says what someone who cannot see it must know.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's blue and vermilion, and a grey: they differ in greyscale too.
SHARED = "#0072b2"
SEPARATE = "#d55e00"
THIRD = "#3a3a3a"


def style() -> None:
    """Set the house style, ``house.mplstyle``, for everything drawn after this call."""
    plt.style.use(["default", Path(__file__).with_name("house.mplstyle")])


def save(figure: Figure, path: str | Path, alt: str) -> None:
    """Write a PNG with the alt text inside; it has the same bytes at every run."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None, "Description": alt})
    plt.close(figure)


@dataclass(frozen=True)
class Measure:
    """One of the two panels of Figure 1: which numbers it draws, and what they are called."""

    mean: str  # names in ``LayerSimilarity.as_lists()``
    deviation: str
    label: str
    unit: str = ""


PANELS = (
    Measure("l2", "l2_std", "L2 distance"),
    Measure("angle_degrees", "angle_std", "angle", " (degrees)"),
)


@dataclass(frozen=True)
class Curves:
    """The numbers of one model, ``LayerSimilarity.as_lists()``, and how they look."""

    numbers: dict
    name: str
    colour: str
    linestyle: str
    marker: str


def figure1(
    shared: dict,
    separate: dict,
    names: Sequence[str],
    title: str,
    untrained: Sequence[dict] = (),
    over: str = "tokens",
) -> tuple[Figure, str]:
    """Draw L2 distance and angle between the input and the output of each layer (Figure 1).

    ``shared`` and ``separate`` are ``LayerSimilarity.as_lists()``. ``untrained`` may hold two
    random stacks of their shapes, drawn dotted. The step from the embedding is drawn hollow and
    unconnected, since the embedding is not normed at width H. The bands are one standard deviation
    ``over`` tokens, or whatever the curves are means of. Returns the figure and its alt text.
    Notebook 08.
    """
    style()
    models = [
        Curves(shared, names[0], SHARED, linestyle="-", marker="o"),
        Curves(separate, names[1], SEPARATE, linestyle="--", marker="s"),
    ]
    num_layers = max(len(curves.numbers["l2"]) for curves in models)
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 4.0))
    for axis, measure in zip(panels, PANELS, strict=True):
        for curves in models:
            _draw_curves(axis, measure, curves)
        for numbers, curves in zip(untrained, models, strict=False):
            _draw_untrained(axis, numbers[measure.mean], curves.colour)
        _name_axes(axis, measure, num_layers)
    # Above the panel, because inside it hides a curve.
    panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    dotted = "Dotted: random weights. " if untrained else ""
    caption = f"one standard deviation over {over}. {dotted}Hollow: the step from the embedding."
    figure.supxlabel(f"Bands: {caption}", fontsize=8)
    return figure, _alt_text(models, num_layers, title, untrained, over)


def _draw_curves(axis: Axes, measure: Measure, curves: Curves) -> None:
    """Draw a line with its band from application 2 on, and application 1 hollow and alone."""
    mean = np.asarray(curves.numbers[measure.mean])
    deviation = np.asarray(curves.numbers[measure.deviation])
    layers = np.arange(1, len(mean) + 1)
    low = mean - deviation
    high = mean + deviation
    look: dict[str, Any] = {"color": curves.colour, "marker": curves.marker}
    axis.fill_between(layers[1:], low[1:], high[1:], color=curves.colour, alpha=0.13, linewidth=0)
    axis.plot(layers[1:], mean[1:], linestyle=curves.linestyle, label=curves.name, **look)
    axis.plot(layers[:1], mean[:1], linestyle="none", fillstyle="none", **look)


def _draw_untrained(axis: Axes, mean: Sequence[float], colour: str) -> None:
    """Draw the dotted line of random weights, from application 2 on."""
    layers = np.arange(1, len(mean) + 1)
    axis.plot(layers[1:], mean[1:], color=colour, linestyle=":", linewidth=1.1)


def _name_axes(axis: Axes, measure: Measure, num_layers: int) -> None:
    """Label a panel, and mark at most seven of its layers: the first, and every so many."""
    label = f"{measure.label} from input to output{measure.unit}"
    axis.set(xlabel="layer application", ylabel=label, ylim=0)
    every = max(1, num_layers // 6)
    axis.set_xticks([x for x in range(1, num_layers + 1) if x == 1 or x % every == 0])


def _alt_text(
    models: Sequence[Curves],
    num_layers: int,
    title: str,
    untrained: Sequence[dict],
    over: str,
) -> str:
    """Return what someone who cannot see Figure 1 must know: what is drawn, and how it ends."""
    ends = []
    for curves in models:
        l2 = curves.numbers["l2"][-1]
        angle = curves.numbers["angle_degrees"][-1]
        ends.append(f"{curves.name} ends at {l2:.1f} and {angle:.0f} degrees")
    text = (
        f"Two line charts over layer applications 1 to {num_layers}: L2 distance and angle "
        f"between a layer's input and output, mean with a band of one standard deviation over "
        f"{over}. {title}. {'; '.join(ends)}."
    )
    if untrained:
        angles = " and ".join(f"{numbers['angle_degrees'][-1]:.0f}" for numbers in untrained)
        text += (
            f" Dotted lines show random stacks of the same shapes; they end at {angles} degrees."
        )
    return text
