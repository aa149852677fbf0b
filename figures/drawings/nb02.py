"""Drawings of notebook 02, one layer: the whole layer, its padding mask, its feed-forward block."""

from fractions import Fraction

import torch

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import BODY, GREY, LARGE, SMALL, STATE, WEIGHT
from figures.drawings.style import arrow, box, brace, canvas, circle, grid, text


def one_layer():
    """A layer mixes the tokens, then works on each token alone, and adds its input back each time.

    ALBERT normalises after each addition (post-LN).
    """
    config = AlbertConfig.named("albert-base-v2")
    H, F = config.hidden_size, config.ffn_size
    attention, feed_forward, norm = 4 * (H * H + H), 2 * H * F + F + H, 2 * H
    assert attention + feed_forward + 2 * norm == count_parameters(config).encoder
    drawing = canvas(
        566,
        "One layer with its two residual connections",
        f"From top to bottom: the input, then a box, multi-head attention, with {attention:,} "
        f"parameters. A second line, the residual, leads around the box. Both meet in a plus sign, "
        f"and a LayerNorm with {norm:,} parameters follows. Below is a box, feed-forward block, H "
        f"to 4H, GELU, 4H to H, with {feed_forward:,} parameters, again with a residual around it, "
        f"a plus sign and a LayerNorm with {norm:,} parameters. Every arrow carries B S H, with H "
        f"= {H}. A brace beside attention says tokens exchange information; a brace beside the "
        f"feed-forward block says each token on its own.",
    )
    x, side, left, width = 330, 520, 215, 230
    text(drawing, x, 18, "hidden states", weight="bold")
    blocks = (
        ("multi-head attention", f"{attention:,} parameters"),
        ("feed-forward block", f"H → 4H, GELU, 4H → H\n{feed_forward:,} parameters"),
    )
    y = 30
    for i, (name, words) in enumerate(blocks):
        tall = 62 + 19 * i
        arrow(drawing, [(x, y), (x, y + 52)])
        arrow(
            drawing,
            [(x, y + 20), (side, y + 20), (side, y + 52 + tall + 38), (x + 16, y + 52 + tall + 38)],
            curve=16,
        )
        shape = "B S H" if i else f"B S H with H = {H}"
        text(drawing, x - 12, y + 22, shape, SMALL, anchor="end")
        top = y + 52
        box(drawing, left, top, width, tall, WEIGHT)
        text(drawing, x, top + 20, name, LARGE, weight="bold")
        text(drawing, x, top + 43 + 9.5 * i, words, SMALL)
        brace(
            drawing,
            (left - 12, top + tall),
            (left - 12, top),
            ("tokens exchange\ninformation", "each token\non its own")[i],
            depth=-12,
            size=BODY,
        )
        plus = top + tall + 38
        arrow(drawing, [(x, top + tall), (x, plus - 16)])
        text(drawing, x - 12, top + tall + 12, "B S H", SMALL, anchor="end")
        text(drawing, side - 8, plus + 18, "residual", SMALL, anchor="end")
        circle(drawing, x, plus, 16, words="+")
        arrow(drawing, [(x, plus + 16), (x, plus + 40)])
        box(drawing, left, plus + 40, width, 34, WEIGHT, f"LayerNorm, {norm:,} parameters", SMALL)
        y = plus + 74
    arrow(drawing, [(x, y), (x, y + 34)])
    text(drawing, x - 12, y + 14, "B S H", SMALL, anchor="end")
    text(drawing, x, y + 45, "hidden states for the next layer", weight="bold")
    return drawing


TOKENS = ("[CLS]", "it", "is", "[SEP]", "<pad>", "<pad>")
POWERS = torch.tensor(
    [[1, 2, 4, 1], [2, 4, 1, 1], [1, 4, 2, 1], [4, 2, 1, 1], [1, 2, 1, 4], [2, 1, 1, 4]]
)


def padding_mask():
    """A score of minus infinity becomes a weight of 0, so no token receives from padding."""
    S, real = len(TOKENS), POWERS.shape[1]
    scores = torch.full((S, S), float("-inf"))
    scores[:, :real] = POWERS.double().log()
    weights = scores.softmax(-1)
    shown = [
        ["0" if not w else str(Fraction(w).limit_denominator(99)) for w in row]
        for row in weights.tolist()
    ]
    raw = [["−∞" if j >= real else f"{scores[i, j]:.1f}" for j in range(S)] for i in range(S)]
    drawing = canvas(
        372,
        "The padding mask on the S by S matrix of scores",
        f"Two matrices of {S} rows and {S} columns. Rows are queries and columns are keys, both "
        f"named {', '.join(TOKENS[:real])} and twice <pad>. Left, the scores, in the first row "
        f"{', '.join(raw[0][:real])}: all entries in the two <pad> columns are minus infinity. An "
        f"arrow, softmax of each row, leads to the right matrix, the attention weights: the "
        f"two <pad> columns are 0, and the other four entries of each row sum to 1, for "
        f"example {', '.join(shown[0][:real])} in the first row. The two <pad> rows have weights, "
        "too.",
    )
    cell, top = 38, 118
    for left, name, values in ((66, "scores, masked", raw), (360, "attention weights", shown)):
        text(drawing, left + S * cell / 2, 22, name, LARGE, weight="bold")
        text(drawing, left + S * cell / 2, 47, "key", SMALL)
        for j, token in enumerate(TOKENS):
            text(drawing, left + (j + 0.62) * cell, top - 8, token, SMALL, anchor="start", turn=-70)
        grid(
            drawing,
            left,
            top,
            S,
            real,
            (cell, cell),
            values=[row[:real] for row in values],
            size=SMALL,
        )
        grid(
            drawing,
            left + real * cell,
            top,
            S,
            S - real,
            (cell, cell),
            GREY,
            [row[real:] for row in values],
            SMALL,
        )
    for i, token in enumerate(TOKENS):
        text(drawing, 58, top + (i + 0.5) * cell, token, SMALL, anchor="end")
    arrow(drawing, [(300, top + 2 * cell), (356, top + 2 * cell)])
    text(drawing, 327, top + 2 * cell - 15, "softmax", SMALL)
    end = top + S * cell
    text(drawing, 360 + 2 * cell, end + 16, "each row sums to 1", SMALL)
    text(drawing, 360 + 5 * cell, end + 16, "always 0", SMALL)
    text(drawing, 58, top - 14, "query", SMALL, anchor="end")
    return drawing


def feed_forward():
    """The feed-forward block sends each token alone through the same two matrices, by way of 4H."""
    config = AlbertConfig.named("albert-base-v2")
    H, F = config.hidden_size, config.ffn_size
    drawing = canvas(
        318,
        "The feed-forward block works on each token alone",
        f"Three rows, one for each token, with no line from one row to another. In each row a "
        f"short bar, H = {H} numbers, leads by an arrow into a tall box that spans all three rows, "
        f"the matrix W 1 with {H} x {F} weights. An arrow leads on to a bar four times as long, 4H "
        f"= {F} numbers after GELU, then to a second tall box, the matrix W 2 with {F} x {H} "
        f"weights, and then to a short bar with H = {H} numbers.",
    )
    unit, top, step, tall = 38, 76, 62, 34
    xs = (70, 126, 232, 406, 516)  # bar, W1, long bar, W2, bar
    text(drawing, xs[0] + unit / 2, 28, f"H\n= {H}", weight="bold")
    text(drawing, xs[2] + 2 * unit, 28, f"4H = {F:,}\nafter GELU", weight="bold")
    text(drawing, xs[4] + unit / 2, 28, f"H\n= {H}", weight="bold")
    for x, name, shape in ((xs[1], "W_{1}", f"{H}\n× {F:,}"), (xs[3], "W_{2}", f"{F:,}\n× {H}")):
        box(drawing, x, top - 16, 80, 2 * step + tall + 32, WEIGHT)
        text(drawing, x + 40, top + step - 8, name, LARGE, weight="bold")
        text(drawing, x + 40, top + step + 32, shape, SMALL)
    for i in range(3):
        y = top + i * step
        middle = y + tall / 2
        text(drawing, 6, middle, f"token {i + 1}", SMALL, anchor="start")
        for x, width in ((xs[0], unit), (xs[2], 4 * unit), (xs[4], unit)):
            box(drawing, x, y, width, tall, STATE, radius=2)
        for start, end in (
            (xs[0] + unit, xs[1]),
            (xs[1] + 80, xs[2]),
            (xs[2] + 4 * unit, xs[3]),
            (xs[3] + 80, xs[4]),
        ):
            arrow(drawing, [(start, middle), (end, middle)])
    text(drawing, 300, 282, "The same two matrices serve every token, and no token sees another.")
    return drawing


DRAWINGS = (one_layer, padding_mask, feed_forward)
