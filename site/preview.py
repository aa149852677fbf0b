"""The picture that a message or a post shows beside a link to the site: 1200 by 630 pixels."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

INK, BLUE, ORANGE, PALE = "#1A1A1A", "#0072B2", "#E69F00", "#F4F4F4"
WORDS = ["the", "united", "?", "of", "america"]


def draw(path: Path) -> None:
    """Write the title of the course and a sentence with a gap."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 1200)
    axes.set_ylim(0, 630)
    axes.set_axis_off()
    axes.text(80, 500, "ALBERT, built and measured", size=44, weight="bold", color=INK)
    axes.text(80, 430, "a language model from an empty cell, on a laptop", size=25, color=INK)
    left = 80
    for word in WORDS:
        width = 60 + 24 * max(len(word), 3)
        is_gap = word == "?"
        box = FancyBboxPatch(
            (left, 230),
            width,
            96,
            boxstyle="round,pad=0,rounding_size=14",
            facecolor=ORANGE if is_gap else PALE,
            edgecolor=BLUE,
            linewidth=3,
        )
        axes.add_patch(box)
        axes.text(left + width / 2, 276, word, size=30, ha="center", va="center", color=INK)
        left += width + 22
    axes.text(
        80, 120, "Which word is hidden? Guess first, then train a model.", size=25, color=BLUE
    )
    figure.savefig(path, facecolor="white", metadata={"Title": "ALBERT, built and measured"})
