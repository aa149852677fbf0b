"""Drawings of notebook 11, fine-tuning: the new head, its input row, and its best span."""

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from figures.drawings.palette import (
    GREY,
    INK,
    LARGE,
    SEGMENT_A,
    SEGMENT_B,
    SMALL,
    STATE,
    TARGET,
    WEIGHT,
)
from figures.drawings.style import arrow, box, brace, canvas, line, text


def strip(drawing, x, y, parts, height=30):
    """Draw a row of boxes (width, colour, words) from x to the right; return their left edges."""
    edges = []
    for width, colour, words in parts:
        edges.append(x)
        box(drawing, x, y, width, height, colour, words, SMALL, radius=3, line=1.5)
        x += width + 3
    return edges


def span_row():
    """The question is the first segment; the head gives each token of the story two scores."""
    drawing = canvas(
        214,
        "A question and its story in one row of tokens",
        "One row of boxes: [CLS], repaired the lens, [SEP], three dots, anna, repaired, the, lens, "
        "three dots, [SEP]. Below it, a brace under repaired the lens says first segment: the "
        "question, and a brace from the first dots to the last says second segment: the story. "
        "An arrow leads from each box of the story upwards to a box that says start score and "
        "end score of each token. No arrow leads from the other boxes.",
    )
    mark, dots = 46, (32, SEGMENT_B, "...")
    cls, sep = (mark, GREY, "[CLS]"), (mark, GREY, "[SEP]")
    widths = {"anna": 52, "repaired": 72, "the": 38, "lens": 48}
    story = [dots, *((width, SEGMENT_B, word) for word, width in widths.items()), dots]
    parts = (cls, (138, SEGMENT_A, "repaired the lens"), sep, *story, sep)
    left = (600 - sum(width + 3 for width, _, _ in parts)) / 2
    edges = strip(drawing, left, 110, parts)
    for x, (width, _, _) in zip(edges[3:-1], story, strict=True):
        arrow(drawing, [(x + width / 2, 110), (x + width / 2, 68)], TARGET)
    end = edges[-1] - 3
    words = "start score and end score\nof each token"
    box(drawing, edges[3], 20, end - edges[3], 48, TARGET, words, SMALL)
    for start, stop, name in (
        (edges[1], edges[2] - 3, "first segment:\nthe question"),
        (edges[3], end, "second segment:\nthe story"),
    ):
        brace(drawing, (start, 145), (stop, 145), depth=14)
        text(drawing, (start + stop) / 2, 186, name, SMALL)
    return drawing


def pretrain_then_finetune():
    """Fine-tuning keeps ALBERT and replaces the heads, so almost no weight is new."""
    config = AlbertConfig.named("albert-base-v2")
    total = count_parameters(config).total
    drawing = canvas(
        398,
        "Pre-train, then fine-tune: the same ALBERT with a new head",
        f"Two columns. Left, pre-training: text enters a large box, ALBERT with "
        f"{total / 1e6:.1f} million parameters; above it are two small boxes, the MLM head and "
        f"the SOP head. Right, fine-tuning: questions with answers enter a box of the same size, "
        f"the same ALBERT; above it is one small box, the new head, and above that a start score "
        f"and an end score for each token. A broad arrow leads from the left ALBERT to the right "
        f"one with the words "
        f"copy the weights. The two old heads are not copied.",
    )
    left, right = 130, 470
    for x, heading, source in (
        (left, "1. pre-training", "text without labels"),
        (right, "2. fine-tuning", "questions with answers"),
    ):
        text(drawing, x, 20, heading, LARGE, weight="bold")
        box(
            drawing,
            x - 110,
            196,
            220,
            110,
            WEIGHT,
            f"ALBERT\n{total / 1e6:.1f} million\nparameters",
            16,
        )
        arrow(drawing, [(x, 340), (x, 306)])
        text(drawing, x, 356, source)
    for x, words in ((left - 57, "MLM head"), (left + 57, "SOP head")):
        arrow(drawing, [(x, 196), (x, 156)])
        box(drawing, x - 53, 112, 106, 44, GREY, words)
    text(drawing, left, 88, "these heads are left out", SMALL)
    arrow(drawing, [(right, 196), (right, 156)])
    box(drawing, right - 90, 106, 180, 50, WEIGHT, "new head", strength=0.5)
    arrow(drawing, [(right, 106), (right, 76)])
    box(drawing, right - 100, 34, 200, 42, TARGET, "start and end score\nof each token", SMALL)
    arrow(drawing, [(left + 110, 251), (right - 110, 251)], WEIGHT, 5)
    text(drawing, 300, 230, "copy the", SMALL)
    text(drawing, 300, 274, "weights", SMALL)
    text(drawing, 300, 384, "New at the start of fine-tuning: the small head alone.", weight="bold")
    return drawing


def best_span(words=("the", "lens", "at", "home"), start=(0, 1, 5, 2), end=(0, 4, 1, 3)):
    """The answer is the best pair of start and end whose end is not before its start."""
    n = len(start)
    sums = [[a + b for b in end] for a in start]
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    first, last = max(pairs, key=lambda pair: sums[pair[0]][pair[1]])
    alone = start.index(max(start)), end.index(max(end))
    assert alone[1] < alone[0] and sums[alone[0]][alone[1]] > sums[first][last]
    drawing = canvas(
        420,
        "How the span head picks the best pair of start and end",
        f"A table of {n} rows and {n} columns for the tokens {' '.join(words)}. The rows are start "
        f"positions with scores {', '.join(map(str, start))}; the columns are end positions with "
        f"scores {', '.join(map(str, end))}. Each cell is the sum of both scores. The cells "
        f"below the diagonal are grey, because there the end comes before the start. The highest "
        f"sum of all, {sums[alone[0]][alone[1]]}, is such a cell, start {words[alone[0]]} and "
        f"end {words[alone[1]]}. Among the other cells the best sum is {sums[first][last]}, "
        f"start {words[first]} and end {words[last]}; it is framed.",
    )
    x0, y0, cell = 170, 110, 66
    text(drawing, x0 + n * cell / 2, 20, "end score of each token", weight="bold")
    text(drawing, 30, y0 + n * cell / 2, "start score of each token", weight="bold", turn=-90)
    for i in range(n):
        text(drawing, x0 + (i + 0.5) * cell, 46, f"{i} {words[i]}", SMALL)
        box(drawing, x0 + i * cell + 8, 60, cell - 16, 36, TARGET, end[i], 16)
        text(drawing, 78, y0 + (i + 0.5) * cell, f"{i} {words[i]}", SMALL)
        box(drawing, 112, y0 + i * cell + 15, 46, 36, TARGET, start[i], 16)
        for j in range(n):
            allowed, best = i <= j, (i, j) == (first, last)
            box(
                drawing,
                x0 + j * cell,
                y0 + i * cell,
                cell,
                cell,
                STATE if allowed else GREY,
                sums[i][j],
                LARGE if best else 16,
                "bold" if best else "normal",
                radius=0,
                line=1.5,
                strength=0.5 if best else 0.12 if allowed else 0.25,
            )
    box_x, box_y = x0 + last * cell, y0 + first * cell
    line(
        drawing,
        [
            (box_x, box_y),
            (box_x + cell, box_y),
            (box_x + cell, box_y + cell),
            (box_x, box_y + cell),
            (box_x, box_y - 2),
        ],
        INK,
        4,
    )
    y = box_y + cell / 2
    arrow(drawing, [(x0 + n * cell + 34, y), (box_x + cell + 3, y)], INK, 2)
    text(
        drawing, x0 + n * cell + 42, y, f"best pair:\n{words[first]} {words[last]}", anchor="start"
    )
    text(
        drawing,
        x0 + n * cell + 14,
        y0 + 3.5 * cell,
        "grey: the end is\nbefore the start",
        SMALL,
        anchor="start",
    )
    text(
        drawing,
        300,
        400,
        f"The two largest scores are start {words[alone[0]]} and end {words[alone[1]]}: no span.",
        SMALL,
    )
    return drawing


DRAWINGS = (pretrain_then_finetune, span_row, best_span)
