"""Drawings of notebook 04: one layer with a loop, and where its gradient comes from."""

import torch

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import GRADIENT, LARGE, SMALL, STATE, WEIGHT, WIDTH
from figures.drawings.style import arrow, box, canvas, circle, line, text


def twelve_and_one():
    """Both models have twelve layer applications, but ALBERT stores one layer."""
    config = AlbertConfig.named("albert-base-v2")
    layers = config.num_layers
    one = count_parameters(config).encoder
    every = count_parameters(config.replace(share="none")).encoder
    drawing = canvas(
        470,
        "Twelve separate layers and one shared layer",
        f"Left, under the heading {layers} separate layers: an arrow from the input passes through "
        f"{layers} boxes in a column, layer 1 at the top to layer {layers} at the bottom, and "
        f"leads to the output. Below is written {layers} times {one:,} = {every:,} parameters. "
        f"Right, under the heading 1 shared layer: the arrow passes through a single box, layer 1. "
        f"A second arrow leaves the path below the box and joins it again above the box; its label "
        f"is applied {layers} times. Below is written {one:,} parameters.",
    )
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
    line(
        drawing,
        [
            (right, middle + 30),
            (right, middle + 62),
            (right + 104, middle + 62),
            (right + 104, middle - 62),
            (right + 80, middle - 62),
        ],
        STATE,
        2.5,
        curve=16,
    )
    arrow(drawing, [(right + 80, middle - 62), (right + 2, middle - 62)])
    arrow(drawing, [(right, 60), (right, middle - 30)])
    box(drawing, right - 75, middle - 30, 150, 60, WEIGHT, "layer 1", 16)
    arrow(drawing, [(right, middle + 30), (right, bottom + 20)])
    text(drawing, WIDTH - 20, middle - 80, f"applied {layers} times", anchor="end")
    for x, words in (
        (left, f"{layers} × {one:,}\n= {every:,} parameters"),
        (right, f"{one:,} parameters"),
    ):
        text(drawing, x, bottom + 32, "output")
        text(drawing, x, bottom + 68, words, 16, weight="bold")
    return drawing


def gradients_meet():
    """The gradient of a shared weight is the sum of the gradients of its applications."""
    w, b, x, uses = 3, 1, 1, 3
    states = [x]
    for _ in range(uses):
        states.append(w * states[-1] + b)
    upstream = [w ** (uses - i) for i in range(1, uses + 1)]
    parts = [states[i] * upstream[i] for i in range(uses)]
    weight, h = torch.tensor(float(w), requires_grad=True), x
    for _ in range(uses):
        h = weight * h + b
    h.backward()
    assert sum(parts) == weight.grad
    total = " + ".join(map(str, parts)) + f" = {sum(parts)}"
    words = " ".join(
        f"Application {i + 1}: input {states[i]}, upstream gradient {upstream[i]}, "
        f"product {parts[i]}."
        for i in range(uses)
    )
    drawing = canvas(
        440,
        "The gradients of three applications meet in one weight",
        f"Top row, left to right: the input {x} is multiplied by w = {w} and {b} is added, three "
        f"times, which gives {', '.join(map(str, states[1:]))}. Below, dashed and from right to "
        f"left: the upstream gradients {', '.join(map(str, upstream[::-1]))}, each {w} times the "
        f"one before. {words} Three dashed arrows lead from the products into one box at the "
        f"bottom, the weight w, whose gradient is {total}.",
    )
    circles, boxes = [42 + 172 * i for i in range(4)], [128 + 172 * i for i in range(3)]
    forward, back, card = 84, 178, 254
    text(
        drawing,
        20,
        20,
        f"forward: multiply by w = {w} and add {b}, three times",
        anchor="start",
        weight="bold",
    )
    for i, (centre, state) in enumerate(zip(circles, states, strict=True)):
        circle(drawing, centre, forward, 22, STATE, state)
        text(drawing, centre, forward - 36, f"h_{{{i}}}")
    for i, centre in enumerate(boxes):
        arrow(drawing, [(circles[i] + 22, forward), (centre - 34, forward)])
        arrow(drawing, [(centre + 34, forward), (circles[i + 1] - 22, forward)])
        box(drawing, centre - 34, forward - 20, 68, 40, WEIGHT, f"× {w} + {b}", 16)
    text(drawing, 20, back - 44, "backward: upstream gradients", anchor="start", weight="bold")
    for i in range(uses):
        circle(drawing, circles[i + 1], back, 22, GRADIENT, upstream[i], dashed=True)
        if i:
            arrow(
                drawing,
                [(circles[i + 1] - 22, back), (circles[i] + 22, back)],
                GRADIENT,
                dashed=True,
            )
            text(drawing, boxes[i], back - 16, f"times {w}", SMALL)
    text(
        drawing,
        20,
        card - 24,
        "gradient of each application: input times upstream gradient",
        anchor="start",
        weight="bold",
    )
    for i, centre in enumerate(boxes):
        box(drawing, centre - 76, card, 152, 58, GRADIENT, dashed=True)
        text(drawing, centre, card + 17, f"application {i + 1}", SMALL)
        text(
            drawing,
            centre,
            card + 40,
            f"{states[i]} × {upstream[i]} = {parts[i]}",
            17,
            weight="bold",
        )
        arrow(drawing, [(centre, card + 58), (300 + (i - 1) * 80, 366)], GRADIENT, dashed=True)
    box(drawing, 160, 368, 280, 58, WEIGHT)
    text(drawing, 300, 385, "gradient of the one weight w")
    text(drawing, 300, 409, total, LARGE, weight="bold")
    return drawing


DRAWINGS = (twelve_and_one, gradients_meet)
