"""Drawings of notebook 05: which tokens are masked, and what the model sees in their place."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

from albert_edu.text.masking import choose_masked, ngram_probabilities, replace_masked
from albert_edu.text.tokenizer import CLS, MASK, SEP
from figures.drawings.example_text import course_tokenizer, words
from figures.drawings.palette import GREY, INK, LARGE, SMALL, TARGET
from figures.drawings.style import arrow, box, brace, canvas, line, text
from figures.drawings.tokens import token_row, token_width

FIRST = "Our policy toward the nations of the old world was adopted at an early stage of war."
SECOND = "It is the true policy of the present day."
SEED, DICE = 41, [41, 3]  # a row with a run of three, and with all three outcomes


def masked_row():
    """Return the tokens of a row, the tokens that the model sees, and the masked positions."""
    tokenizer = course_tokenizer()
    ids = np.array([[CLS, *tokenizer.encode(FIRST), SEP, *tokenizer.encode(SECOND), SEP]])
    masked = choose_masked(np.random.default_rng(SEED), ids > MASK, tokenizer.starts_word[ids])
    seen = replace_masked(np.random.default_rng(DICE), ids, masked, len(tokenizer))
    shown = [words(tokenizer.pieces(row)) for row in (ids[0].tolist(), seen[0].tolist())]
    return shown[0], shown[1], np.flatnonzero(masked[0]).tolist()


def one_masked_row():
    """Masking hides runs of whole words, and about 15% of the tokens are prediction targets."""
    tokens, seen, positions = masked_row()
    breaks = [i for i, j in pairwise(positions) if j > i + 1]
    runs, run = [], []
    for position in positions:
        run.append(position)
        if position in breaks or position == positions[-1]:
            runs.append(run)
            run = []
    changes = "; ".join(
        f"{tokens[i]} becomes {seen[i]}"
        if tokens[i] != seen[i]
        else f"{tokens[i]} is left unchanged"
        for i in positions
    )
    lengths = ", ".join(f"{' '.join(tokens[i] for i in run)} (n = {len(run)})" for run in runs)
    drawing = canvas(
        400,
        "One row of tokens before and after masking",
        f"Three lines of tokens as boxes; together they are one row of {len(tokens)} tokens: "
        f"{' '.join(tokens)}. {len(positions)} tokens are masked positions and coloured, in "
        f"{len(runs)} runs with a brace each: {lengths}. An arrow leads from each masked position "
        f"down to a box with what the model sees there instead: {changes}. The token above an "
        f"arrow is the label that the model has to predict. All other tokens stay as they are and "
        f"have no label.",
    )
    ends = [0, 10, 20, len(tokens)]
    for row, (first, last) in enumerate(pairwise(ends)):
        y = 46 + row * 124
        widths = [max(token_width(tokens[i]), token_width(seen[i])) for i in range(first, last)]
        chosen = [i in positions for i in range(first, last)]
        frames = token_row(
            drawing, 14, y, tokens[first:last], [TARGET if c else GREY for c in chosen], widths
        )
        for run in runs:
            if first <= run[0] < last:
                start, end = frames[run[0] - first], frames[run[-1] - first]
                brace(
                    drawing,
                    (start[0], y - 4),
                    (sum(end), y - 4),
                    f"n = {len(run)}",
                    depth=-9,
                    gap=3,
                )
        for i, (x, width), is_target in zip(range(first, last), frames, chosen, strict=True):
            if is_target:
                centre = x + width / 2
                arrow(drawing, [(centre, y + 30), (centre, y + 56)], INK, 1.5)
                box(drawing, x, y + 56, width, 30, TARGET, seen[i], SMALL, radius=4, strength=0.45)
    text(drawing, 14, 354, "upper line: the tokens", SMALL, anchor="start")
    text(drawing, 14, 378, "lower line: what the model sees", SMALL, anchor="start")
    text(
        drawing,
        586,
        366,
        f"{len(positions)} of {len(tokens)} tokens are masked positions",
        anchor="end",
        weight="bold",
    )
    return drawing


def ngram_lengths():
    """A run of one word is three times as likely as a run of three words."""
    shares = [Fraction(1, n) / sum(Fraction(1, k) for k in (1, 2, 3)) for n in (1, 2, 3)]
    assert np.allclose([float(share) for share in shares], ngram_probabilities(3))
    mean = sum(n * share for n, share in zip((1, 2, 3), shares, strict=True))
    drawing = canvas(
        250,
        "The lengths of masked runs",
        f"A bar of 11 equal units is divided into three parts: {shares[0].numerator} units for "
        f"runs of n = 1 word, {shares[1].numerator} units for n = 2 and {shares[2].numerator} "
        f"units for n = 3. Below each part its probability is written, p(1) = {shares[0]}, p(2) = "
        f"{shares[1]}, p(3) = {shares[2]}, and above it are one, two or three boxes for the words "
        f"of the run. The mean length is {mean} = {float(mean):.2f} words.",
    )
    left, unit, y = 25, 50, 96
    for n, share in zip((1, 2, 3), shares, strict=True):
        width = float(share) * 11 * unit
        middle = left + width / 2
        box(
            drawing,
            left,
            y,
            width,
            46,
            TARGET,
            f"n = {n}",
            LARGE,
            weight="bold",
            radius=0,
            strength=0.15 + 0.15 * (n - 1),
        )
        for i in range(n):
            box(
                drawing,
                middle - 15 * n + 30 * i + 2,
                y - 44,
                26,
                26,
                TARGET,
                radius=3,
                line=1.5,
                strength=0.45,
            )
        text(drawing, middle, y + 66, f"p({n}) = {share}", 17, weight="bold")
        for i in range(1, round(width / unit)):
            line(drawing, [(left + i * unit, y + 40), (left + i * unit, y + 46)], TARGET, 1.5)
        left += width
    text(drawing, 300, 24, "words in a masked run", weight="bold")
    text(drawing, 300, y + 112, "p(n) = (1/n) / (1/1 + 1/2 + 1/3)", 16)
    text(drawing, 300, y + 138, f"mean length: {mean} = {float(mean):.2f} words", 16)
    return drawing


def outcomes():
    """The label is the original token in all three cases, and only what the model sees differs."""
    before, label, after = "of the old", "world", "was adopted"
    rows = (
        ("80%", "[MASK]", "replaced by [MASK]"),
        ("10%", "tariff", "random token"),
        ("10%", label, "left unchanged"),
    )
    words = " ".join(
        f"{share}: {name}, the model sees {before} {token} {after}." for share, token, name in rows
    )
    drawing = canvas(
        300,
        "What the model sees at a masked position",
        f"Left, a box with the masked token, {label}. Three arrows lead from it to three lines, "
        f"one below the other; the arrow to the first line is much thicker. {words} At the right "
        f"of each line is the label, and it is {label} in all three lines.",
    )
    box(drawing, 16, 130, 84, 40, TARGET, label, 17, weight="bold")
    text(drawing, 58, 108, "masked\ntoken", SMALL)
    text(drawing, 555, 26, "label", weight="bold")
    text(drawing, 370, 26, "what the model sees", weight="bold")
    for i, (share, token, name) in enumerate(rows):
        y = 78 + 72 * i
        bend = [(100, 150), (136, 150), (136, y), (180, y)] if i != 1 else [(100, 150), (180, y)]
        arrow(drawing, bend, INK, 5 if i == 0 else 1.5, curve=12)
        text(drawing, 206, y, share, LARGE, weight="bold")
        frames = token_row(
            drawing,
            236,
            y - 15,
            [*before.split(), token, *after.split()],
            [GREY, GREY, GREY, TARGET, GREY, GREY],
        )
        text(drawing, frames[3][0] + frames[3][1] / 2, y + 29, name, SMALL)
        text(drawing, 555, y, label, 16)
    return drawing


def whole_words():
    """Whole words are masked, because a word's other tokens would give a masked token away."""
    tokenizer = course_tokenizer()
    tokens = tokenizer.pieces(tokenizer.encode("date at Shanghai on the"))
    inside = [i for i, token in enumerate(tokens) if token in ("▁sh", "ang", "ha", "i")]
    rows = (
        ("one token masked", inside[1:2], "the spelling is enough: sh\u2026hai"),
        ("whole word masked", inside, "only the context can help"),
    )
    drawing = canvas(
        254,
        "Masking one token of a word, and masking the whole word",
        f"Two lines of token boxes, {' '.join(tokens)}, where the low line begins a word, and a "
        f"brace over the {len(inside)} tokens of the word Shanghai. In the upper line only the "
        f"token {tokens[inside[1]]} is replaced by [MASK]; beside the line is written that the "
        f"spelling is enough. In the lower line all {len(inside)} tokens of the word are replaced "
        f"by [MASK]; beside it is written that only the context can help.",
    )
    for i, (name, masked, verdict) in enumerate(rows):
        y = 54 + 128 * i
        row = ["[MASK]" if k in masked else token for k, token in enumerate(tokens)]
        colours = [TARGET if k in masked else GREY for k in range(len(tokens))]
        text(drawing, 16, y - 26, name, 16, anchor="start", weight="bold")
        frames = token_row(drawing, 16, y, row, colours)
        text(drawing, 210, y - 26, verdict, anchor="start")
        start, end = frames[inside[0]], frames[inside[-1]]
        brace(drawing, (start[0], y + 34), (sum(end), y + 34), "one word", depth=9, gap=3)
    return drawing


DRAWINGS = (whole_words, one_masked_row, ngram_lengths, outcomes)
