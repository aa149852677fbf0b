"""Drawings of notebook 04, shared layers."""

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import LARGE, STATE, WEIGHT, WIDTH
from figures.drawings.style import arrow, box, canvas, line, text


def twelve_and_one():
    """Both models apply a layer twelve times, but ALBERT stores one layer instead of twelve."""
    config = AlbertConfig.named("albert-base-v2")
    layers = config.num_layers
    one = count_parameters(config).encoder
    every = count_parameters(config.replace(share="none")).encoder
    drawing = canvas(
        470, "Twelve separate layers and one shared layer",
        f"Left, under the heading {layers} separate layers: an arrow from the input passes through "
        f"{layers} boxes in a column, layer 1 at the top to layer {layers} at the bottom, and "
        f"leads to the output. Below is written {layers} times {one:,} = {every:,} parameters. "
        f"Right, under the heading 1 shared layer: the arrow passes through a single box, layer 1. "
        f"A second arrow leaves the path below the box and joins it again above the box; its label "
        f"is applied {layers} times. Below is written {one:,} parameters.")
    left, right, top, step = 150, 430, 78, 25
    text(drawing, left, 24, f"{layers} separate layers", LARGE, weight="bold")
    text(drawing, right, 24, "1 shared layer", LARGE, weight="bold")
    text(drawing, left, 50, "input")
    text(drawing, right, 50, "input")
    bottom = top + layers * step - 5
    arrow(drawing, [(left, 60), (left, top)])
    for i in range(layers):
        y = top + i * step
        box(drawing, left - 75, y, 150, 20, WEIGHT, f"layer {i + 1}", 14, radius=4, line=1.5)
        if i:
            line(drawing, [(left, y - 5), (left, y)], STATE, 2.5)
    arrow(drawing, [(left, bottom), (left, bottom + 20)])
    middle = (top + bottom) / 2
    line(drawing, [(right, middle + 30), (right, middle + 62), (right + 104, middle + 62),
                   (right + 104, middle - 62), (right + 80, middle - 62)], STATE, 2.5, curve=16)
    arrow(drawing, [(right + 80, middle - 62), (right + 2, middle - 62)])
    arrow(drawing, [(right, 60), (right, middle - 30)])
    box(drawing, right - 75, middle - 30, 150, 60, WEIGHT, "layer 1", 16)
    arrow(drawing, [(right, middle + 30), (right, bottom + 20)])
    text(drawing, WIDTH - 20, middle - 80, f"applied {layers} times", anchor="end")
    for x, words in ((left, f"{layers} × {one:,}\n= {every:,} parameters"),
                     (right, f"{one:,} parameters")):
        text(drawing, x, bottom + 32, "output")
        text(drawing, x, bottom + 68, words, 16, weight="bold")
    return drawing


DRAWINGS = (twelve_and_one,)
