"""Drawings of notebook 03, the factorised embedding: sizes, lookup, tied table, rank, context."""

import numpy as np
import torch

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import GREY, LARGE, SMALL, STATE, WEIGHT, tint
from figures.drawings.style import arrow, box, brace, canvas, circle, grid, line, polygon, text

BASE = AlbertConfig.named("albert-base-v2")
V, E, H = BASE.vocab_size, BASE.embedding_size, BASE.hidden_size
assert count_parameters(BASE).projection == E * H + H


def factorised_table():
    """Two small matrices replace one wide table and have a sixth of its parameters."""
    wide, narrow, project = V * H, V * E, E * H
    drawing = canvas(
        470,
        "The V by H table and its two factors, areas to scale",
        f"Left, a tall rectangle, the table of BERT-base: V = {V:,} rows and H = {H} columns, "
        f"{wide:,} parameters. Right, ALBERT-base: a rectangle of the same height that is only a "
        f"sixth as wide, V = {V:,} rows and E = {E} columns, {narrow:,} parameters, times a "
        f"rectangle as wide as the first but almost as flat as a line, E = {E} rows and H = {H} "
        f"columns, {project:,} parameters. The sum is {narrow + project:,}. All areas have the "
        f"same scale.",
    )
    down, across, top = 330 / V, 180 / H, 62
    for x, y, columns, rows in ((72, top, H, V), (332, top, E, V), (406, top, H, E)):
        box(
            drawing,
            x,
            y,
            columns * across,
            max(rows * down, 1.5),
            WEIGHT,
            radius=0,
            line=1.5,
            strength=0.35,
        )
    text(drawing, 162, 16, "BERT-base", LARGE, weight="bold")
    text(drawing, 460, 16, "ALBERT-base", LARGE, weight="bold")
    text(drawing, 162, 46, f"H = {H}")
    text(drawing, 347, 46, f"E = {E}")
    text(drawing, 496, 46, f"H = {H}")
    text(drawing, 386, 63, "×", LARGE)
    brace(drawing, (64, top + V * down), (64, top), "", depth=-12)
    text(drawing, 40, top + V * down / 2, f"V = {V:,}", turn=-90)
    text(drawing, 162, top + 165, f"{wide:,}", LARGE, weight="bold")
    text(drawing, 374, top + 165, f"{narrow:,}", 17, anchor="start", weight="bold")
    text(drawing, 496, top + 28, f"{project:,}", 17, weight="bold")
    text(drawing, 496, top + 50, f"E = {E} rows", SMALL)
    text(drawing, 162, 418, f"V × H = {wide:,}", 16, weight="bold")
    text(drawing, 446, 418, f"V × E + E × H = {narrow + project:,}", 16, weight="bold")
    text(drawing, 446, 446, f"{wide / (narrow + project):.1f} times fewer parameters")
    return drawing


def lookup():
    """A lookup multiplies a one-hot vector by the table, and the projection follows the norm."""
    table = torch.tensor([[1, 4], [0, 2], [3, 1], [2, 5], [6, 0]])
    chosen = 3
    one_hot = torch.eye(len(table), dtype=torch.long)[chosen]
    row = (one_hot @ table).tolist()
    drawing = canvas(
        398,
        "A lookup chooses a row, and the projection follows",
        f"Upper part: token {chosen} as a one-hot row of {len(table)} numbers, {one_hot.tolist()}, "
        f"times a table of V = {len(table)} rows and E = 2 columns, {table.tolist()}, in which row "
        f"{chosen} is dark, equals that row, {row}. An arrow leads from the row down to the lower "
        f"part, a chain from right to left: add the segment row and the position row, still E "
        f"wide; LayerNorm at width E; then a box, the projection with an E by H matrix and a bias; "
        f"and the hidden state, H wide, for the first layer.",
    )
    cell, top = (32, 30), 74
    grid(drawing, 30, top + 60, 1, len(table), cell, GREY, [one_hot.tolist()])
    text(drawing, 110, top + 42, f"one-hot, token {chosen}", weight="bold")
    text(drawing, 210, top + 75, "×", 22)
    grid(
        drawing,
        250,
        top,
        len(table),
        2,
        (40, 30),
        WEIGHT,
        table.tolist(),
        strength=lambda i, j: 0.55 if i == chosen else 0.12,
    )
    text(drawing, 290, 22, "table", LARGE, weight="bold")
    text(drawing, 290, 46, f"V = {len(table)}, E = 2")
    for i in range(len(table)):
        text(drawing, 242, top + (i + 0.5) * 30, i, SMALL, anchor="end")
    text(drawing, 374, top + 75, "=", 22)
    grid(drawing, 440, top + 60, 1, 2, (40, 30), STATE, [row])
    text(drawing, 480, top + 42, f"row {chosen} of the table", weight="bold")
    arrow(drawing, [(480, top + 92), (480, 270)])
    text(drawing, 492, 214, "E", SMALL, anchor="start")
    middle = 304
    box(drawing, 404, middle - 34, 152, 68, WEIGHT, "+ segment row\n+ position row", 15)
    box(drawing, 288, middle - 34, 90, 68, WEIGHT, "LayerNorm", SMALL)
    box(drawing, 138, middle - 34, 124, 68, WEIGHT, "projection\nE × H, bias", 15)
    for start, end in ((404, 378), (288, 262), (138, 102)):
        arrow(drawing, [(start, middle), (end, middle)])
    text(drawing, 391, middle - 46, "E", SMALL)
    text(drawing, 275, middle - 46, "E", SMALL)
    text(drawing, 120, middle - 46, "H", SMALL)
    grid(drawing, 18, middle - 15, 1, 4, (20, 30), STATE)
    text(drawing, 20, middle + 62, "hidden state for the first layer, H wide", anchor="start")
    return drawing


def tied_table():
    """One table is used twice: it turns ids into vectors, and it scores every token at the end."""
    drawing = canvas(
        424,
        "The tied embedding table",
        f"Left, one tall box, the table with V = {V:,} rows and E = {E} columns. Above, a token id "
        f"goes into the upper part of the box, labelled use 1, choose one row, and leaves it E "
        f"wide. The path leads right through a box, norm and projection, E to H, then down through "
        f"a box, 12 layer applications, H wide, then left through a box, linear map and norm, H "
        f"to E, and back into the lower part of the same table, labelled use 2, score every row. "
        f"Out of the bottom come V = {V:,} scores, one for each token.",
    )
    box(drawing, 40, 70, 200, 270, WEIGHT)
    text(drawing, 140, 192, "embedding table", LARGE, weight="bold")
    text(drawing, 140, 217, f"V = {V:,}, E = {E}")
    text(drawing, 140, 112, "use 1: choose one row")
    text(drawing, 140, 300, "use 2: score every row")
    text(drawing, 140, 18, "token id", weight="bold")
    arrow(drawing, [(140, 30), (140, 70)], GREY)
    box(drawing, 320, 82, 160, 56, WEIGHT, "norm, projection\nE → H")
    box(drawing, 400, 176, 170, 60, WEIGHT, "12 layer\napplications")
    box(drawing, 320, 272, 160, 56, WEIGHT, "linear map, norm\nH → E")
    arrow(drawing, [(240, 110), (320, 110)])
    arrow(drawing, [(480, 110), (510, 110), (510, 176)], curve=14)
    arrow(drawing, [(510, 236), (510, 300), (480, 300)], curve=14)
    arrow(drawing, [(320, 300), (240, 300)])
    arrow(drawing, [(140, 340), (140, 384)])
    text(drawing, 280, 94, "E")
    text(drawing, 522, 128, "H", anchor="start")
    text(drawing, 522, 280, "H", anchor="start")
    text(drawing, 280, 284, "E")
    text(drawing, 140, 398, f"V = {V:,} scores", weight="bold")
    text(drawing, 394, 378, "The table is stored once\nand trained by both uses.")
    return drawing


def rank():
    """The product of a V x E and an E x H matrix has rank E at most: its rows span E directions."""
    rng = np.random.default_rng(3)
    project = torch.tensor([[1.0, 0.1, 0.15], [-0.3, 0.9, 0.8]], dtype=torch.float64)
    free = torch.tensor(rng.permuted(np.linspace(-0.9, 0.9, 14)[:, None].repeat(3, 1), axis=0))
    bound = torch.tensor(rng.permuted(np.linspace(-0.9, 0.9, 14)[:, None].repeat(2, 1), axis=0))
    bound = bound @ project
    ranks = [int(torch.linalg.matrix_rank(points)) for points in (free, bound)]
    drawing = canvas(
        390,
        "Rows of a free table and of a factorised table",
        f"Two drawings of a cube, a space with three dimensions, because H = 3 here. Left, a free "
        f"V by H table: its {len(free)} rows are points scattered through the whole cube, and its "
        f"rank is {ranks[0]}. Right, a V by E table with E = 2 times an E by H matrix: all "
        f"{len(bound)} points lie in one tilted plane through the centre, drawn as a "
        f"parallelogram, and the rank is {ranks[1]}.",
    )

    def flat(point, centre):
        x, y, z = (float(number) for number in point)
        return (round(centre + 80 * x + 38 * y, 1), round(190 + 30 * y - 88 * z, 1))

    signs = (-1, 1)
    edges = [((x, y, -1), (x, y, 1)) for x in signs for y in signs]
    edges += [((x, -1, z), (x, 1, z)) for x in signs for z in signs]
    edges += [((-1, y, z), (1, y, z)) for y in signs for z in signs]
    plane = [
        torch.tensor(c, dtype=torch.float64) @ project for c in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    for centre, points, name in ((150, free, "free: V × H"), (450, bound, "V × E times E × H")):
        for start, end in edges:
            line(drawing, [flat(start, centre), flat(end, centre)], tint(GREY, 0.45), 1.5)
        if points is bound:
            polygon(drawing, [flat(corner, centre) for corner in plane], WEIGHT)
        for point in points:
            foot = flat((*point[:2], -1), centre)
            if points is free:
                line(drawing, [flat(point, centre), foot], tint(GREY, 0.3), 1.5)
            circle(drawing, *flat(point, centre), 5, WEIGHT)
        text(drawing, centre, 22, name, LARGE, weight="bold")
    text(drawing, 150, 356, f"H = 3, rank {ranks[0]}:\nrows lie anywhere")
    text(drawing, 450, 356, f"H = 3, E = 2, rank {ranks[1]}:\nall rows lie in one plane")
    return drawing


def context():
    """A row of the table knows no context, but a hidden state does, so H can be wider than E."""
    drawing = canvas(
        410,
        "The same token in two contexts",
        f"Two rows at the left: the sentence the river bank above, the sentence the central bank "
        f"below, one box per token. From the token bank of both sentences arrows lead to one and "
        f"the same short bar, a row of the table, E = {E} numbers, the same in both contexts. From "
        f"this bar an arrow leads into a tall box, layers. Grey arrows, context, lead from river "
        f"and central to the layers. Two arrows leave the box, to two hidden states of bank, H = "
        f"{H} numbers each; they are bars {H // E} times as long as the table row, with different "
        f"shades.",
    )
    rows = ((110, 44, ("the", "river", "bank")), (300, 366, ("the", "central", "bank")))
    for y, around, words in rows:
        x = 14
        for word, width in zip(words, (42, 70, 56), strict=True):
            box(drawing, x, y - 17, width, 34, GREY, word)
            x += width + 6
        edge = y - 17 if around < y else y + 17
        arrow(drawing, [(97, edge), (97, around), (356, around)], GREY, 2, curve=14)
        line(drawing, [(166, 2 * y - edge), (166, 205), (200, 205)], STATE, 2.5, curve=14)
        text(drawing, 226, around + (16 if around < y else -16), "context", SMALL)
    arrow(drawing, [(190, 205), (250, 205)])
    grid(drawing, 252, 193, 1, 1, (24, 24), WEIGHT, strength=0.5)
    text(drawing, 264, 160, f"one row,\nE = {E}", SMALL)
    arrow(drawing, [(278, 205), (356, 205)])
    box(drawing, 358, 24, 90, 362, WEIGHT)
    text(drawing, 403, 205, "layers", LARGE, weight="bold")
    shades = ((0.6, 0.2, 0.45, 0.1, 0.3, 0.5), (0.15, 0.5, 0.25, 0.6, 0.1, 0.2))
    for (y, *_), shade in zip(rows, shades, strict=True):
        top = y - 12 * H // E
        arrow(drawing, [(448, y), (500, y)])
        grid(drawing, 502, top, H // E, 1, (24, 24), STATE, strength=lambda i, j, s=shade: s[i])
        text(drawing, 534, y, f"bank,\nH = {H}", SMALL, anchor="start")
    return drawing


DRAWINGS = (factorised_table, lookup, tied_table, rank, context)
