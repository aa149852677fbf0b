"""Drawings of notebook 08: the paper's Figure 1 from its description, and the teeth of stacking."""

import math

import torch

from albert_edu import Albert, AlbertConfig
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.text.batches import PretrainingBatch
from figures.drawings.palette import GREY, INK, PALE, SMALL, STATE, WEIGHT
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


def stacked_angles(copies: int, layers: int, seeds=4) -> list[float]:
    """Return the mean angle at each application of a stack of random layers, each copied in a row.

    Groups of applications that share a layer compute what a stack computes whose layers are copies.
    """
    curves = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        config = AlbertConfig(
            vocab_size=100,
            embedding_size=32,
            hidden_size=64,
            num_heads=4,
            ffn_size=256,
            num_layers=copies * layers,
            num_groups=layers,
            init_std=0.07,
        )
        token_ids = torch.randint(5, 100, (8, 32))
        nothing = torch.full((8, 1), -100)  # no position is masked
        batch = PretrainingBatch(
            token_ids,
            torch.zeros_like(token_ids),
            torch.ones_like(token_ids),
            torch.zeros_like(nothing),
            nothing,
            nothing[:, 0] * 0,
        )
        curves.append(layer_similarity(Albert(config), batch).angle_degrees)
    return [round(angle, 1) for angle in torch.stack(curves).mean(0).tolist()]


def stacking_makes_teeth(copies=3, layers=4):
    """Copies of one layer turn a vector less and less, so a stack of copies has a tooth where
    each new layer begins.
    """
    angles = stacked_angles(copies, layers)
    starts = [1 + copies * i for i in range(1, layers)]
    assert all(angles[n - 1] > angles[n - 2] for n in starts)
    drawing = canvas(
        400,
        "Progressive stacking copies layers, and the copies leave teeth in the curve",
        f"Top: {layers} layers, a to {'abcdefgh'[layers - 1]}, are copied to a stack of "
        f"{copies * layers} layers, so that each of them occurs {copies} times in a row. Bottom: "
        f"a curve with the angle of each application before any training. Within the copies of "
        f"one layer the angle falls. It jumps up at applications {', '.join(map(str, starts))}, "
        f"where the copies of the next layer begin. The angles are "
        f"{', '.join(f'{angle:.0f}' for angle in angles)} degrees.",
    )
    x0, step, base = 62, 43, 344
    text(
        drawing,
        16,
        20,
        f"{layers} layers, copied {copies} times each",
        anchor="start",
        weight="bold",
    )
    for i in range(copies * layers):
        n, x = i // copies, x0 + i * step
        shade = 0.12 if n % 2 else 0.4
        box(drawing, x, 40, step - 5, 34, WEIGHT, "abcdefgh"[n], 16, strength=shade)
        text(drawing, x + (step - 5) / 2, base + 18, i + 1, SMALL)
    for n in range(1, layers):
        x = x0 + n * copies * step - 2.5
        line(drawing, [(x, 116), (x, base)], PALE, 1.5)
    text(
        drawing,
        16,
        98,
        "angle between input and output, before training (degrees)",
        anchor="start",
        weight="bold",
    )
    line(drawing, [(x0 - 8, 120), (x0 - 8, base), (586, base)], INK, 1.5)
    text(drawing, x0 - 14, base, "0", SMALL, anchor="end")
    points = [
        (x0 + i * step + (step - 5) / 2, round(base - angle / max(angles) * 188, 1))
        for i, angle in enumerate(angles)
    ]
    line(drawing, points, STATE, 3)
    for i, (x, y) in enumerate(points):
        valley = i + 2 in starts or i == len(points) - 1
        text(drawing, x, y + (18 if valley else -16), f"{angles[i]:.0f}", SMALL)
    text(drawing, 300, base + 40, "layer application", SMALL)
    return drawing


DRAWINGS = (figure1_redrawn, stacking_makes_teeth)
