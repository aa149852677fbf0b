"""Drawings of notebook 05: from masked positions to the loss, static and dynamic, baselines."""

from fractions import Fraction

import numpy as np

from albert_edu import AlbertConfig
from albert_edu.text.masking import max_predictions
from albert_edu.text.prepare import prepare
from albert_edu.training.evaluate import baselines
from figures.drawings.palette import GREY, INK, SMALL, STATE, TARGET, WEIGHT
from figures.drawings.style import arrow, box, canvas, grid, line, text

BASE = AlbertConfig.named("albert-base-v2")


def gather():
    """The head runs on the K masked positions only, so it never makes S x V scores."""
    S, K, V = 512, max_predictions(512), BASE.vocab_size
    rows, masked = 8, (2, 5)
    drawing = canvas(
        418,
        "Gathering the masked positions before the decoder",
        f"From left to right. A green matrix with {rows} rows stands for the hidden states, S rows "
        f"of width H, shape B S H; rows {masked[0] + 1} and {masked[1] + 1} are coloured, the "
        f"masked positions. An arrow, gather, leads from these two rows to a matrix with two rows, "
        f"shape B K H. An arrow through a box, dense H to E, leads to a narrower matrix with two "
        f"rows, shape B K E. An arrow through a box, the table transposed, E to V, leads down to a "
        f"matrix with two very long rows, shape B K V, the scores. Numbers for S = {S}, K = {K}, V "
        f"= {V:,}: scores for all positions S x V = {S * V:,}, scores for masked positions K x V = "
        f"{K * V:,}.",
    )
    cell, top = (24, 22), 70
    grid(drawing, 40, top, rows, 4, cell, STATE, strength=0.12)
    for i in masked:
        grid(drawing, 40, top + 22 * i, 1, 4, cell, TARGET, strength=0.45)
    grid(drawing, 216, top + 66, 2, 4, cell, TARGET, strength=0.45)
    for i, row in enumerate(masked):
        arrow(drawing, [(138, top + 22 * row + 11), (212, top + 77 + 22 * i)], INK, 2)
    text(drawing, 88, top - 40, "hidden states", weight="bold")
    text(drawing, 88, top - 16, "B S H", SMALL)
    text(drawing, 264, top + 26, "gather", weight="bold")
    text(drawing, 264, top + 50, "B K H", SMALL)
    box(drawing, 346, top + 58, 80, 60, WEIGHT, "dense\nH → E")
    arrow(drawing, [(314, top + 88), (346, top + 88)], INK, 2)
    arrow(drawing, [(426, top + 88), (470, top + 88)], INK, 2)
    grid(drawing, 472, top + 66, 2, 2, cell, TARGET, strength=0.45)
    text(drawing, 496, top + 50, "B K E", SMALL)
    box(drawing, 438, 212, 116, 56, WEIGHT, "table^{T}\nE → V")
    arrow(drawing, [(496, top + 110), (496, 212)], INK, 2)
    arrow(drawing, [(496, 268), (496, 302)], INK, 2)
    grid(drawing, 160, 304, 2, 17, cell, TARGET, strength=0.45)
    text(drawing, 150, 326, "scores\nB K V", SMALL, anchor="end")
    text(drawing, 300, 374, f"S = {S}, K = {K}, V = {V:,}:", SMALL)
    text(drawing, 300, 398, f"K × V = {K * V:,} scores instead of S × V = {S * V:,}", SMALL)
    return drawing


def only_masked_positions_count():
    """The MLM loss is the mean over the masked positions, and every other position has weight 0."""
    tokens = ("[CLS]", "[MASK]", "of", "ohio", "[SEP]", "<pad>")
    probabilities = {1: Fraction(1, 4), 3: Fraction(1, 16)}
    losses = {i: int(np.log2(float(1 / p))) for i, p in probabilities.items()}
    mean = sum(losses.values()) / len(losses)
    words = " ".join(
        f"{tokens[i]}: the label has probability {p}, the loss is {losses[i]} bits, "
        f"and the weight is 1/{len(losses)}."
        for i, p in probabilities.items()
    )
    drawing = canvas(
        330,
        "Which positions the MLM loss sees",
        f"A row of {len(tokens)} tokens, as the model sees them: {', '.join(tokens)}. The second "
        f"and the fourth are masked positions and coloured. From these two, arrows lead down to a "
        f"box each and from there to one box, MLM loss. {words} The mean is {mean:g} bits. Under "
        f"the other positions, padding included, is written weight 0, and no arrow leaves them.",
    )
    xs = [58 + 97 * i for i in range(len(tokens))]
    text(drawing, 16, 20, "what the model sees", anchor="start", weight="bold")
    for i, (x, token) in enumerate(zip(xs, tokens, strict=True)):
        box(drawing, x - 40, 40, 80, 36, TARGET if i in losses else GREY, token)
        if i in losses:
            arrow(drawing, [(x, 76), (x, 116)], INK, 2)
            box(drawing, x - 64, 116, 128, 66, TARGET)
            text(drawing, x, 134, f"p(label) = {probabilities[i]}", SMALL)
            text(drawing, x, 162, f"loss {losses[i]} bits", 16, weight="bold")
            arrow(drawing, [(x, 182), (252 + 12 * (i - 2), 256)], INK, 2)
            text(drawing, x + (-62 if i == 1 else 62), 218, f"weight 1/{len(losses)}", SMALL)
        else:
            text(drawing, x, 94, "weight 0", SMALL)
    box(drawing, 110, 258, 284, 56, TARGET, strength=0.3)
    total = " + ".join(str(loss) for loss in losses.values())
    text(
        drawing,
        252,
        286,
        f"MLM loss = ({total}) / {len(losses)} = {mean:g} bits",
        16,
        weight="bold",
    )
    return drawing


def baseline_ruler():
    """No baseline needs context. A loss below all three shows that a model has learnt more than
    frequencies and copying."""
    prepared = prepare("sotu")
    V = len(prepared.tokenizer)
    losses = baselines(prepared.train, prepared.held_out, V)
    marks = (
        (losses.uniform, "uniform", f"ln V with V = {V:,}"),
        (losses.unigram, "unigram", "knows the frequencies"),
        (losses.copy, "copy", "copies visible tokens too"),
    )
    words = "; ".join(f"{name}, {loss:.2f}, {meaning}" for loss, name, meaning in marks)
    drawing = canvas(
        276,
        "Baselines for the MLM loss",
        f"A horizontal ruler of the MLM loss in nats, from 0 at the left to 9 at the right. Three "
        f"marks on it are the baselines on held-out State of the Union addresses: {words}. The "
        f"part of the ruler to the left of the copy baseline is shaded and says: more than "
        f"frequencies and copies. At 0 is written: always certain and right.",
    )
    left, unit, y = 30, 60, 150

    def at(loss):
        return round(left + unit * loss, 1)

    box(
        drawing,
        left,
        y - 20,
        at(losses.copy) - left,
        40,
        TARGET,
        "more than frequencies and copies",
        16,
        radius=0,
        line=1.5,
    )
    box(drawing, at(losses.copy), y - 20, at(9) - at(losses.copy), 40, GREY, radius=0, line=1.5)
    for tick in range(10):
        line(drawing, [(at(tick), y + 20), (at(tick), y + 28)], INK, 1.5)
        text(drawing, at(tick), y + 40, tick, SMALL)
    text(drawing, 300, y + 68, "MLM loss in nats", weight="bold")
    for (loss, name, meaning), height in zip(marks, (92, 46, 0), strict=True):
        line(drawing, [(at(loss), y - 44 - height), (at(loss), y + 20)], INK, 2.5)
        text(drawing, at(loss) - 8, y - 36 - height, f"{name} {loss:.2f}: {meaning}", anchor="end")
    text(drawing, left, y + 100, "0: always certain and right", SMALL, anchor="start")
    return drawing


DRAWINGS = (gather, only_masked_positions_count, baseline_ruler)
