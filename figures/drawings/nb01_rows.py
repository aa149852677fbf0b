"""Drawing of notebook 01: how few rows of the table one batch looks up."""

import drawsvg as svg

from albert_edu.text.batches import PretrainingStream
from albert_edu.text.prepare import prepare
from figures.drawings.palette import (
    LARGE,
    PAPER,
    SMALL,
    WEIGHT,
    tint,
)
from figures.drawings.style import box, canvas, text


def rows_looked_up():
    """One batch looks up a quarter of the rows, so most rows get no gradient from the lookup."""
    prepared = prepare("sotu")
    V, B, S = len(prepared.tokenizer), 32, 128
    stream = PretrainingStream(
        prepared.train, prepared.tokenizer, "sop", batch_size=B, sequence_length=S
    )
    rows = set(stream.batch(step=0).token_ids.unique().tolist())
    columns, size, left, top = 80, 7, 20, 52
    drawing = canvas(
        446,
        "Rows of the embedding table that one batch looks up",
        f"A field of {V:,} small squares, {columns} in a line, one for each row of the embedding "
        f"table; the ids run from left to right and from top to bottom. A batch of {B} sequences "
        f"of {S} positions looks up {len(rows):,} rows, {len(rows) / V:.0%} of the table, and "
        "these "
        f"squares are dark. Almost all squares in the first two lines are dark, because frequent "
        f"tokens have small ids; further down dark squares become rare.",
    )
    lines = V // columns
    drawing.append(
        svg.Rectangle(left, top, columns * size - 1, lines * size - 1, fill=tint(WEIGHT, 0.12))
    )
    dark, gaps = svg.Path(fill=WEIGHT), svg.Path(stroke=PAPER, stroke_width=1)
    for i in sorted(rows):
        dark.M(left + i % columns * size, top + i // columns * size).h(6).v(6).h(-6).Z()
    for j in range(1, columns):
        gaps.M(left + j * size - 0.5, top).v(lines * size - 1)
    for i in range(1, lines):
        gaps.M(left, top + i * size - 0.5).h(columns * size - 1)
    drawing.append(dark)
    drawing.append(gaps)
    text(drawing, 300, 24, f"one batch looks up {len(rows):,} of {V:,} rows", LARGE, weight="bold")
    box(drawing, 20, 416, 16, 16, WEIGHT, radius=2, line=1, strength=1)
    text(drawing, 44, 424, "row looked up", SMALL, anchor="start")
    box(drawing, 170, 416, 16, 16, WEIGHT, radius=2, line=1, strength=0.12)
    text(drawing, 194, 424, "row not looked up", SMALL, anchor="start")
    text(drawing, 580, 424, f"batch: {B} × {S} positions", SMALL, anchor="end")
    return drawing


DRAWINGS = (rows_looked_up,)
