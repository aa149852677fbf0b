"""Drawings of notebook 02, attention: one head by hand, and how heads are cut and merged."""

import math
from fractions import Fraction

import torch

from figures.drawings.palette import INK, LARGE, SMALL, STATE, WEIGHT
from figures.drawings.style import arrow, box, brace, canvas, circle, grid, line, text

# Three tokens and one head, with H = D = 2. The scale of W_q makes the exponentials whole numbers.
SCALE = math.sqrt(2) * math.log(2)
X = torch.tensor([[1, 0], [0, 1], [1, 1]])
W_Q, W_K, W_V = torch.tensor([[[1, 0], [0, 1]], [[1, 0], [1, 1]], [[7, 0], [0, 7]]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # Q and W_Q are in units of SCALE
SCORES = SCALE * (Q @ K.T).double() / math.sqrt(2)
WEIGHTS = SCORES.softmax(-1)
OUTPUT = WEIGHTS @ V.double()


def fraction(number: float) -> str:
    """Return a number as a fraction, or with two decimals at most if it is no simple one."""
    return str(Fraction(float(number)).limit_denominator(20))


def decimal(number: float) -> str:
    """Return a number with two decimals at most.

    >>> decimal(5.0), decimal(5.25)
    ('5', '5.25')
    """
    return f"{float(number):.2f}".rstrip("0").rstrip(".")


def in_units(matrix) -> list[list[str]]:
    """Write a matrix whose unit is SCALE with the letter a."""
    return [[{0: "0", 1: "a"}[number] for number in row] for row in matrix.tolist()]


def pair(row) -> str:
    return "(" + ", ".join(decimal(number) for number in row) + ")"


def query_key_value():
    """Three matrices turn the same hidden states into queries, keys and values."""
    rows = (
        ("W_{q}", "queries Q", in_units(W_Q), in_units(Q)),
        ("W_{k}", "keys K", W_K.tolist(), K.tolist()),
        ("W_{v}", "values V", W_V.tolist(), V.tolist()),
    )
    words = " ".join(
        f"W {name[3]} = {matrix} gives the {result}, rows {product}."
        for name, result, matrix, product in rows
    )
    drawing = canvas(
        400,
        "Queries, keys and values of three tokens",
        f"Left, the hidden states X, a matrix with three rows, one for each token, and two "
        f"columns: {X.tolist()}. Three arrows lead from X to three weight matrices, one below the "
        f"other, and from each matrix an arrow leads to the product. {words} The letter a is the "
        f"square root of 2 times the natural logarithm of 2, about {SCALE:.2f}.".replace("'", ""),
    )
    cell, left, top = (44, 30), 100, 167
    text(drawing, left + 44, top - 40, "hidden\nstates X", weight="bold")
    grid(drawing, left, top, 3, 2, cell, values=X.tolist())
    for i in range(3):
        text(drawing, left - 8, top + (i + 0.5) * 30, f"token {i + 1}", SMALL, anchor="end")
    for i, (name, result, matrix, product) in enumerate(rows):
        y = 28 + i * 124
        middle = y + 60
        arrow(
            drawing,
            [(left + 92, top + 45), (left + 122, top + 45), (left + 122, middle), (282, middle)],
            curve=12,
        )
        text(drawing, 330, y + 14, name, LARGE, weight="bold")
        grid(drawing, 286, y + 30, 2, 2, cell, WEIGHT, matrix)
        arrow(drawing, [(378, middle), (460, middle)])
        text(drawing, 419, middle - 14, f"X {name}", SMALL)
        grid(drawing, 464, y + 15, 3, 2, cell, values=product)
        text(drawing, 508, y, result, weight="bold")
    text(drawing, left - 64, 384, f"a = √2 · ln 2 = {SCALE:.2f}", SMALL, anchor="start")
    return drawing


def one_head():
    """A head weighs the values of all tokens by how well the query fits their keys."""
    t, S = 2, 3
    powers = [round(math.exp(score)) for score in SCORES[t]]
    parts = [[float(WEIGHTS[t, j] * v) for v in V[j]] for j in range(S)]
    columns = "; ".join(
        f"token {j + 1}: {pair(K[j])}, {SCORES[t, j]:.2f}, {powers[j]}, "
        f"{powers[j]}/{sum(powers)} = {fraction(WEIGHTS[t, j])}, {pair(V[j])}, {pair(parts[j])}"
        for j in range(S)
    )
    drawing = canvas(
        536,
        "One head by hand: the output for token 3",
        f"At the top is the query of token {t + 1}, (a, a). Arrows lead from it to three columns "
        f"of six boxes: key, score, exponential, softmax weight, value, and weight times value. "
        f"{columns}. Arrows from the three products meet at the bottom in a plus sign, and the "
        f"output is {pair(OUTPUT[t])}.",
    )
    xs, top, step, tall = (232, 372, 512), 108, 58, 34
    box(drawing, 297, 16, 150, 36, STATE, f"q_{{{t + 1}}} = (a, a)", 17)
    text(drawing, 458, 34, f"a = √2 · ln 2 = {SCALE:.2f}", SMALL, anchor="start")
    text(drawing, 150, 34, f"query of token {t + 1}", anchor="end", weight="bold")
    labels = ("key", "score q · k / √D", "exponential", "softmax weight", "value", "weight × value")
    for i, label in enumerate(labels):
        text(drawing, 150, top + i * step + tall / 2, label, anchor="end", weight="bold")
    for j, x in enumerate(xs):
        arrow(drawing, [(x, 76), (x, top)])
        rows = (
            f"k_{{{j + 1}}} = {pair(K[j])}",
            f"{int(K[j] @ Q[t])} ln 2 = {SCORES[t, j]:.2f}",
            str(powers[j]),
            f"{powers[j]}/{sum(powers)} = {fraction(WEIGHTS[t, j])}",
            f"v_{{{j + 1}}} = {pair(V[j])}",
            pair(parts[j]),
        )
        for i, words in enumerate(rows):
            y = top + i * step
            box(drawing, x - 62, y, 124, tall, STATE, words, strength=0.3 if i == 3 else 0.15)
            if i < 5 and i != 3:
                arrow(drawing, [(x, y + tall), (x, y + step)])
        text(drawing, x, top + 3 * step + tall + 12, "×", LARGE, weight="bold")
    line(drawing, [(xs[1], 52), (xs[1], 76)], STATE, 2.5)
    line(drawing, [(xs[0], 78), (xs[0], 66), (xs[2], 66), (xs[2], 78)], STATE, 2.5, curve=10)
    end = top + 5 * step + tall
    for x in (xs[0], xs[2]):
        line(drawing, [(x, end), (x, end + 34), (xs[1], end + 34)], STATE, 2.5, curve=10)
    arrow(drawing, [(xs[1], end), (xs[1], end + 20)])
    circle(drawing, xs[1], end + 34, 14, words="+")
    arrow(drawing, [(xs[1], end + 48), (xs[1], end + 66)])
    text(
        drawing,
        xs[1],
        end + 78,
        f"output for token {t + 1} = {pair(OUTPUT[t])}",
        LARGE,
        weight="bold",
    )
    return drawing


def split_heads():
    """A head is a slice of D columns, cut from every token's row and merged again afterwards."""
    S, A, D = 3, 2, 2
    numbered = torch.tensor([[10 * i + j for j in range(A * D)] for i in range(S)])
    heads = numbered.view(S, A, D).transpose(0, 1)
    drawing = canvas(
        330,
        "Cutting the columns into heads and merging them again",
        f"Left, a matrix of S = {S} tokens and H = {A * D} columns; the number 21 is token 2, "
        f"column 1, both counted from 0: {numbered.tolist()}. Its left {D} columns are light, its "
        f"right {D} columns are dark. An upper arrow, view(B, S, A, D) and then transpose(1, 2), "
        f"leads to the right, to "
        f"{A} matrices of S = {S} rows and D = {D} columns, one below the other: head 0, light, "
        f"{heads[0].tolist()}, and head 1, dark, {heads[1].tolist()}. A lower arrow, transpose(1, "
        f"2) and then flatten(2), leads back to the left.",
    )
    cell, shade = (42, 32), (0.12, 0.4)
    left, top, right = 66, 118, 470
    grid(
        drawing,
        left,
        top,
        S,
        A * D,
        cell,
        values=numbered.tolist(),
        strength=lambda i, j: shade[j // D],
    )
    line(drawing, [(left + D * 42, top - 8), (left + D * 42, top + S * 32 + 8)], INK, 2.5)
    brace(drawing, (left, top - 8), (left + A * D * 42, top - 8), f"H = {A * D}", depth=-12)
    brace(drawing, (left - 8, top + S * 32), (left - 8, top), f"S = {S}", depth=-12)
    text(drawing, left + 84, top + 124, "B S H", LARGE, weight="bold")
    for a in range(A):
        y = 52 + a * 142
        grid(drawing, right, y, S, D, cell, values=heads[a].tolist(), strength=shade[a])
        text(drawing, right + 42, y - 14, f"head {a}", weight="bold")
    text(drawing, right + 42, 310, "B A S D", LARGE, weight="bold")
    middle = top + 48
    arrow(drawing, [(250, middle - 14), (right - 16, middle - 14)])
    text(drawing, 352, middle - 52, "view(B, S, A, D)\ntranspose(1, 2)")
    arrow(drawing, [(right - 16, middle + 14), (250, middle + 14)])
    text(drawing, 352, middle + 52, "transpose(1, 2)\nflatten(2)")
    return drawing


DRAWINGS = (
    query_key_value,
    one_head,
    split_heads,
)
