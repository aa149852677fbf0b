"""The house style and Figure 1 (notebook 08); ``albert_course.charts`` has the other figures.

Colours are safe for colour-blind readers, lines differ in style too, backgrounds are opaque. A
figure comes with its alt text, which says what someone who cannot see it must know.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

# Okabe and Ito's blue and vermilion, and a grey: they differ in greyscale too.
SHARED, SEPARATE, THIRD = "#0072b2", "#d55e00", "#3a3a3a"


def style() -> None:
    """Set the house style, ``house.mplstyle``, for everything drawn after this call."""
    plt.style.use(["default", Path(__file__).with_name("house.mplstyle")])


def save(figure: Figure, path: str | Path, alt: str) -> None:
    """Write a PNG with the alt text inside; it has the same bytes at every run."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None, "Description": alt})
    plt.close(figure)


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
    ``over`` tokens, or whatever the curves are means of. Notebook 08.
    """
    style()
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 4.0))
    looks = [(shared, names[0], SHARED, "-", "o"), (separate, names[1], SEPARATE, "--", "s")]
    measures = [
        ("l2", "l2_std", "L2 distance", ""),
        ("angle_degrees", "angle_std", "angle", " (degrees)"),
    ]
    for axis, (measure, spread, label, unit) in zip(panels, measures, strict=True):
        for curves, name, colour, line, marker in looks:
            mean, width = np.asarray(curves[measure]), np.asarray(curves[spread])
            layers = np.arange(1, len(mean) + 1)
            look = {"color": colour, "marker": marker}
            band = (layers[1:], (mean - width)[1:], (mean + width)[1:])
            axis.fill_between(*band, color=colour, alpha=0.13, linewidth=0)
            axis.plot(layers[1:], mean[1:], linestyle=line, label=name, **look)
            axis.plot(layers[:1], mean[:1], linestyle="none", fillstyle="none", **look)
        for curves, colour in zip(untrained, (SHARED, SEPARATE), strict=False):
            axis.plot(layers[1:], curves[measure][1:], color=colour, linestyle=":", linewidth=1.1)
        layers = np.arange(1, 1 + max(len(curves[measure]) for curves, *_ in looks))
        axis.set(xlabel="layer application", ylabel=f"{label} from input to output{unit}", ylim=0)
        axis.set_xticks([x for x in layers if x == 1 or x % max(1, len(layers) // 6) == 0])
    panels[0].legend(loc="best")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    dotted = "Dotted: random weights. " if untrained else ""
    caption = f"one standard deviation over {over}. {dotted}Hollow: the step from the embedding."
    figure.supxlabel(f"Bands: {caption}", fontsize=8)
    ends = "; ".join(
        f"{name} ends at {curves['l2'][-1]:.1f} and {curves['angle_degrees'][-1]:.0f} degrees"
        for curves, name, *_ in looks
    )
    alt = (
        f"Two line charts over layer applications 1 to {len(layers)}: L2 distance and angle "
        f"between a layer's input and output, mean with a band of one standard deviation over "
        f"{over}. {title}. {ends}."
    )
    if untrained:
        before = " and ".join(f"{curves['angle_degrees'][-1]:.0f}" for curves in untrained)
        alt += f" Dotted lines show random stacks of the same shapes; they end at {before} degrees."
    return figure, alt
