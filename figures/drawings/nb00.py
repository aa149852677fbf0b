"""Drawings of notebook 00: the way from text to a figure, the three ideas, and the parameters."""

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import (
    GRADIENT,
    GREY,
    INK,
    LARGE,
    SEGMENT_A,
    SEGMENT_B,
    SMALL,
    TARGET,
    WEIGHT,
)
from figures.drawings.style import arrow, box, canvas, line, text

ALBERT, BERT = AlbertConfig.named("albert-base-v2"), AlbertConfig.named("bert-base")


def pipeline():
    """The course builds the way from raw text to a figure, one stage at a time."""
    drawing = canvas(
        334,
        "From raw text to a figure, and which notebook builds each stage",
        "Seven boxes joined by arrows, with the notebook that builds each stage. Upper line, from "
        "left to right: raw text, notebook 01; tokens, notebook 01; batch, notebooks 05 and 06; "
        "model, a box with a loop, notebooks 02 to 04. From model an arrow leads down to the lower "
        "line, to the losses MLM and SOP, notebooks 05 and 06. A dashed arrow, gradients, leads "
        "from the losses back up to the model. From the losses the lower line goes to the left: "
        "trained model, notebook 07, and a wide box, figure, notebooks 08 to 12.",
    )
    xs, tops, width, tall = (14, 162, 310, 458), (14, 196), 128, 124
    frames = (
        ("raw text", "notebook 01", xs[0], 0, GREY, width),
        ("tokens", "notebook 01", xs[1], 0, GREY, width),
        ("batch", "notebooks 05, 06", xs[2], 0, GREY, width),
        ("model", "notebooks 02–04", xs[3], 0, WEIGHT, width),
        ("losses", "notebooks 05, 06", xs[3], 1, TARGET, width),
        ("trained model", "notebook 07", xs[2], 1, WEIGHT, width),
        ("figure", "notebooks 08–12", xs[0], 1, GREY, width + 148),
    )
    for name, notebook, x, row, colour, wide in frames:
        box(drawing, x, tops[row], wide, tall, colour, strength=0.08)
        text(drawing, x + wide / 2, tops[row] + 20, name, 15, weight="bold")
        text(drawing, x + wide / 2, tops[row] + tall - 17, notebook, SMALL)
    for i in range(3):
        arrow(drawing, [(xs[i] + width, 76), (xs[i + 1], 76)], INK)
        for j in range(3):
            box(
                drawing,
                xs[1] + 16 + 34 * i,
                46 + 17 * j,
                (28, 22, 30)[(i + j) % 3],
                12,
                GREY,
                radius=2,
                line=1.5,
                strength=0.3,
            )
        line(drawing, [(xs[0] + 20, 54 + 16 * i), (xs[0] + (108, 96, 70)[i], 54 + 16 * i)], GREY, 3)
    for i in range(4):
        for j in range(6):
            box(
                drawing,
                xs[2] + 22 + 14 * j,
                44 + 13 * i,
                12,
                11,
                GREY,
                radius=1,
                line=1,
                strength=0.05 if j > 5 - (0, 2, 1, 3)[i] else 0.4,
            )
    draw_loop(drawing, xs[3] + 54, 72)
    arrow(drawing, [(xs[3] + 22, tops[0] + tall), (xs[3] + 22, tops[1])], INK)
    arrow(drawing, [(xs[3] + 54, tops[1]), (xs[3] + 54, tops[0] + tall)], GRADIENT, dashed=True)
    text(drawing, xs[3] + 64, 167, "gradients", SMALL, anchor="start")
    text(drawing, xs[3] + width / 2, tops[1] + 62, "MLM + SOP", 17)
    arrow(drawing, [(xs[3], 258), (xs[2] + width, 258)], INK)
    draw_loop(drawing, xs[2] + 54, 254)
    arrow(drawing, [(xs[2], 258), (xs[0] + width + 148, 258)], INK)
    line(drawing, [(60, 236), (60, 286), (240, 286)], INK, 1.5)
    line(drawing, [(64, 242), (90, 270), (140, 276), (236, 278)], WEIGHT, 2.5, curve=20)
    line(drawing, [(64, 252), (110, 256), (160, 250), (236, 258)], GREY, 2.5, dashed=True, curve=20)
    return drawing


def draw_loop(drawing, x, y):
    """Draw a small layer with a loop, centred on (x, y)."""
    box(drawing, x - 26, y - 15, 52, 30, WEIGHT, "layer", SMALL, radius=4)
    arrow(
        drawing,
        [(x + 26, y + 6), (x + 46, y + 6), (x + 46, y - 24), (x, y - 24), (x, y - 15)],
        INK,
        1.5,
        curve=6,
    )


def three_ideas():
    """ALBERT factorises BERT's table, shares one layer, and replaces the sentence-pair task."""
    V, E, H, L = ALBERT.vocab_size, ALBERT.embedding_size, ALBERT.hidden_size, ALBERT.num_layers
    tables = f"{V * H / 1e6:.1f} million", f"{(V * E + E * H) / 1e6:.1f} million"
    layers = [
        f"{count_parameters(c).encoder / 1e6:.1f} million"
        for c in (ALBERT.replace(share="none"), ALBERT)
    ]
    drawing = canvas(
        412,
        "The three ideas of ALBERT at a glance",
        f"Three panels side by side, each with BERT above and ALBERT below. First panel, "
        f"factorised embedding: above, one tall wide rectangle, V by H, {tables[0]} parameters; "
        f"below, a tall narrow rectangle, V by E, times a flat one, E by H, together {tables[1]}. "
        f"Second panel, shared layer: above, {L} boxes in a column, {layers[0]} parameters; below, "
        f"one box with a loop, used {L} times, {layers[1]}. Third panel, sentence order: above, "
        f"segment A followed by segment B, and segment A followed by a grey segment with a "
        f"question mark, with the question next or random; below, A before B, and B before A, with "
        f"the question in order or swapped.",
    )
    xs = (104, 300, 496)
    names = ("factorised\nembedding", "shared\nlayer", "sentence\norder")
    for x, name in zip(xs, names, strict=True):
        text(drawing, x, 28, name, LARGE, weight="bold")
    for x in (202, 398):
        line(drawing, [(x, 14), (x, 398)], GREY, 1)
    line(drawing, [(14, 232), (586, 232)], GREY, 1)
    text(drawing, 12, 66, "BERT", SMALL, anchor="start", weight="bold")
    text(drawing, 12, 250, "ALBERT", SMALL, anchor="start", weight="bold")
    box(drawing, xs[0] - 22, 72, 72, 118, WEIGHT, "V × H", SMALL, radius=0, strength=0.35)
    text(drawing, xs[0], 212, f"{tables[0]} parameters", SMALL)
    box(drawing, xs[0] - 22, 254, 12, 118, WEIGHT, radius=0, strength=0.35)
    text(drawing, xs[0] + 2, 262, "×")
    box(drawing, xs[0] + 14, 254, 72, 12, WEIGHT, radius=0, strength=0.35)
    text(drawing, xs[0] - 4, 320, "V × E", SMALL, anchor="start")
    text(drawing, xs[0] + 50, 284, "E × H", SMALL)
    text(drawing, xs[0], 388, f"{tables[1]} parameters", SMALL)
    for i in range(L):
        box(drawing, xs[1] - 40, 64 + 11 * i, 80, 8, WEIGHT, radius=2, line=1.5, strength=0.35)
    text(drawing, xs[1], 212, f"{layers[0]} parameters", SMALL)
    box(drawing, xs[1] - 40, 298, 80, 26, WEIGHT, strength=0.35, radius=4)
    arrow(
        drawing,
        [
            (xs[1], 324),
            (xs[1], 346),
            (xs[1] + 64, 346),
            (xs[1] + 64, 278),
            (xs[1], 278),
            (xs[1], 298),
        ],
        INK,
        2,
        curve=10,
    )
    text(drawing, xs[1] - 84, 338, f"{L} times", SMALL, anchor="start")
    text(drawing, xs[1], 388, f"{layers[1]} parameters", SMALL)
    pairs = (
        (84, ("A", SEGMENT_A), ("B", SEGMENT_B)),
        (138, ("A", SEGMENT_A), ("?", GREY)),
        (268, ("A", SEGMENT_A), ("B", SEGMENT_B)),
        (322, ("B", SEGMENT_B), ("A", SEGMENT_A)),
    )
    for y, *segments in pairs:
        for i, (name, colour) in enumerate(segments):
            box(
                drawing,
                xs[2] - 82 + 84 * i,
                y,
                80,
                36,
                colour,
                name,
                17,
                weight="bold",
                strength=0.3,
            )
    text(drawing, xs[2], 212, "next or random?")
    text(drawing, xs[2], 388, "in order or swapped?")
    return drawing


def where_parameters_go():
    """In BERT-base most parameters are in twelve layers and one table, and ALBERT shrinks both."""
    counts = {
        name: count_parameters(config)
        for name, config in (("BERT-base", BERT), ("ALBERT-base", ALBERT))
    }
    parts = {
        name: (
            ("embeddings", count.embeddings + count.projection),
            ("layers", count.encoder),
            ("pooler", count.pooler),
        )
        for name, count in counts.items()
    }
    words = " ".join(
        f"{name}, {counts[name].total:,} in total: "
        + ", ".join(f"{part} {number / 1e6:.1f} million" for part, number in parts[name])
        + "."
        for name in parts
    )
    ratio = counts["BERT-base"].total / counts["ALBERT-base"].total
    drawing = canvas(
        292,
        "Where the parameters of BERT-base and ALBERT-base are",
        f"Two horizontal bars, to scale, divided into embeddings, layers and pooler. {words} The "
        f"bar of BERT-base is {ratio:.1f} times as long as the bar of ALBERT-base.",
    )
    scale = 564 / counts["BERT-base"].total
    for i, (name, rows) in enumerate(parts.items()):
        y, x = 22 + 126 * i, 18
        text(
            drawing,
            x,
            y,
            f"{name}: {counts[name].total:,} parameters",
            17,
            anchor="start",
            weight="bold",
        )
        for (part, number), strength in zip(rows, (0.6, 0.2, 0.9), strict=True):
            width = number * scale
            box(drawing, x, y + 20, width, 54, WEIGHT, radius=0, line=1, strength=strength)
            if width > 60:
                text(drawing, x + width / 2, y + 47, f"{part}\n{number / 1e6:.1f} million", SMALL)
            x += width
        if name == "ALBERT-base":
            text(
                drawing,
                x + 12,
                y + 47,
                "; ".join(f"{part} {number / 1e6:.1f} million" for part, number in rows),
                SMALL,
                anchor="start",
            )
    text(
        drawing,
        18,
        264,
        f"BERT-base has {ratio:.1f} times as many parameters as ALBERT-base.",
        anchor="start",
    )
    return drawing


DRAWINGS = (pipeline, three_ideas, where_parameters_go)
