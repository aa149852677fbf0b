"""Drawings of notebook 08: the paper's Figure 1 from its description."""

import math

from figures.drawings.palette import GREY, INK, SMALL, STATE
from figures.drawings.style import box, canvas, line, text

LAYERS, TOPS = 24, (18, 45)  # the paper's axes: layers, L2 distance and degrees


def described(kind: str, phase: float) -> list[float]:
    """Return heights between 0 and 1 that have the properties the paper's text gives to a curve.

    They are not the authors' measurements: BERT is jagged and higher; ALBERT is smooth, lower, and
    not at 0 after the last layer.
    """
    if kind == "BERT-large":
        return [
            0.63 + 0.12 * math.sin(2.4 * i + phase) + 0.1 * math.sin(1.1 * i * i)
            for i in range(LAYERS)
        ]
    return [
        0.2 + 0.34 * math.exp(-i / 2.2) + 0.015 * math.sin(0.9 * i + phase) for i in range(LAYERS)
    ]


def figure1_redrawn():
    """The text says that ALBERT's curves are smoother and lower than BERT's, but do not reach 0."""
    drawing = canvas(
        374,
        "The paper's Figure 1, redrawn from its description",
        f"Two panels over the layers 1 to {LAYERS}. This is a sketch from the description in the "
        f"text, not the authors' data. Left panel: L2 distance between the input and the output "
        f"of a layer, axis from 0 to {TOPS[0]}. Right panel: angle between them, axis from 0 to "
        f"{TOPS[1]} degrees. In both panels the curve of BERT-large is jagged and high. The "
        f"curve of ALBERT-large falls in the first layers, runs on smoothly below BERT's curve, "
        f"and is clearly above 0 at layer {LAYERS}. The text says only smoother, lower "
        f"and not 0; everything else in the curves is invented.",
    )
    wide, high, base = 226, 210, 270
    for x0, top, words in ((52, TOPS[0], "L2 distance"), (352, TOPS[1], "angle in degrees")):
        text(drawing, x0, 24, words, anchor="start", weight="bold")
        line(drawing, [(x0, base - high), (x0, base), (x0 + wide, base)], INK, 1.5)
        text(drawing, x0 - 8, base - high + 4, top, SMALL, anchor="end")
        text(drawing, x0 - 8, base, 0, SMALL, anchor="end")
        text(drawing, x0, base + 18, 1, SMALL)
        text(drawing, x0 + wide, base + 18, LAYERS, SMALL)
        text(drawing, x0 + wide / 2, base + 18, "layer", SMALL)
        for name, colour in (("BERT-large", GREY), ("ALBERT-large", STATE)):
            points = [
                (round(x0 + i / (LAYERS - 1) * wide, 1), round(base - share * high, 1))
                for i, share in enumerate(described(name, x0))
            ]
            line(drawing, points, colour, 3)
        text(drawing, x0 + wide, base - 0.95 * high, "BERT-large", SMALL, anchor="end")
        text(drawing, x0 + wide, base - 0.33 * high, "ALBERT-large", SMALL, anchor="end")
        text(drawing, x0 + wide, base - 0.09 * high, "not 0 at the last layer", SMALL, anchor="end")
    box(
        drawing,
        60,
        316,
        480,
        40,
        GREY,
        "Redrawn from the description, not the original's data.",
        14,
        "bold",
    )
    return drawing


DRAWINGS = (figure1_redrawn,)
