"""Drawings of notebook 11, fine-tuning: the inputs of the four heads, and the span head."""

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


def input_layouts():
    """In three layouts the head reads only [CLS]; the span head reads all tokens of the text."""
    drawing = canvas(
        596,
        "The inputs of the four heads, and where their logits come from",
        "Four layouts from top to bottom. One sentence: [CLS], sentence, [SEP]; an arrow leads "
        "from [CLS] to the logits, one for each class. Pair: [CLS], first segment, [SEP], "
        "second segment, [SEP]; again an arrow from [CLS] to the logits. Span: [CLS], question, "
        "[SEP], the tokens of the context, [SEP]; an arrow leads from every token of the "
        "context to a start logit and an end logit of this token. Multiple choice: four "
        "sequences [CLS], article, [SEP], question and option, [SEP]; an arrow leads from each "
        "[CLS] to one score, and a softmax compares the four scores.",
    )
    cls, sep = (50, GREY, "[CLS]"), (50, GREY, "[SEP]")
    rows = (
        (
            16,
            "one sentence",
            "SST-2: is the review good?",
            "2 logits",
            (cls, (200, SEGMENT_A, "sentence"), sep),
        ),
        (
            122,
            "pair",
            "MNLI: does the second follow from the first?",
            "3 logits",
            (cls, (180, SEGMENT_A, "first"), sep, (180, SEGMENT_B, "second"), sep),
        ),
    )
    for y, name, task, logits, parts in rows:
        box(drawing, 16, y, 84, 28, TARGET, logits, SMALL)
        text(drawing, 116, y + 14, name, 16, anchor="start", weight="bold")
        text(drawing, 584, y + 14, task, SMALL, anchor="end")
        strip(drawing, 16, y + 52, parts)
        arrow(drawing, [(41, y + 52), (41, y + 28)], TARGET)
    y = 228
    text(drawing, 16, y + 14, "span", 16, anchor="start", weight="bold")
    text(drawing, 16, y + 40, "SQuAD: where is the answer?", SMALL, anchor="start")
    tokens = [(54, SEGMENT_B, word) for word in ("Ida", "sold", "the", "café")]
    edges = strip(drawing, 16, y + 66, (cls, (150, SEGMENT_A, "question"), sep, *tokens, sep))
    for x in edges[3:-1]:
        arrow(drawing, [(x + 27, y + 66), (x + 27, y + 44)], TARGET)
    box(
        drawing,
        edges[3],
        y,
        edges[-1] - edges[3] - 3,
        44,
        TARGET,
        "start and end logit\nof each token",
        SMALL,
    )
    y = 352
    text(drawing, 16, y + 14, "multiple choice", 16, anchor="start", weight="bold")
    text(drawing, 584, y + 14, "RACE: which option is right?", SMALL, anchor="end")
    for i, option in enumerate("ABCD"):
        top = y + 38 + i * 44
        strip(
            drawing,
            140,
            top,
            (cls, (172, SEGMENT_A, "article"), sep, (110, SEGMENT_B, f"question + {option}"), sep),
        )
        box(drawing, 50, top, 64, 30, TARGET, "score", SMALL)
        arrow(drawing, [(140, top + 15), (114, top + 15)], TARGET)
    brace(drawing, (44, y + 38), (44, y + 200), depth=14)
    text(drawing, 18, y + 119, "softmax", SMALL, turn=-90)
    text(drawing, 300, 580, "Each option is a sequence of its own and gets one score.", SMALL)
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
        f"the SOP head. Right, fine-tuning: labelled text enters a box of the same size, the "
        f"same ALBERT; above it is one small box, the new head, and above that the logits for "
        f"2 classes. A broad arrow leads from the left ALBERT to the right one with the words "
        f"copy the weights. The two old heads are not copied.",
    )
    left, right = 130, 470
    for x, heading, source in (
        (left, "1. pre-training", "text without labels"),
        (right, "2. fine-tuning", "text with labels"),
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
    box(drawing, right - 90, 42, 180, 34, TARGET, "logits of 2 classes")
    arrow(drawing, [(left + 110, 251), (right - 110, 251)], WEIGHT, 5)
    text(drawing, 300, 230, "copy the", SMALL)
    text(drawing, 300, 274, "weights", SMALL)
    text(drawing, 300, 384, "New at the start of fine-tuning: the small head alone.", weight="bold")
    return drawing


def overlapping_windows(tokens=28, window=12, stride=8, answer=(10, 14)):
    """A long context is read in overlapping windows, because one window may cut the answer."""
    starts = list(range(0, tokens - window + stride, stride))
    whole = [start <= answer[0] and answer[1] <= start + window for start in starts]
    assert sum(whole) == 1 and starts[-1] + window >= tokens
    said = "; ".join(
        f"window {i + 1}: tokens {start} to {min(start + window, tokens) - 1}"
        for i, start in enumerate(starts)
    )
    drawing = canvas(
        352,
        "Overlapping windows over a long context",
        f"A row of {tokens} context tokens, numbered from 0; the answer is tokens {answer[0]} to "
        f"{answer[1] - 1}. Below are {len(starts)} windows of {window} tokens, each preceded by "
        f"the question; a window begins {stride} tokens after the one before, which is the "
        f"stride. {said}. Window 1 ends inside the answer and cuts it. Window "
        f"{whole.index(True) + 1} contains the whole answer. The last window does not contain it.",
    )
    x0, cell = 104, 17
    text(drawing, 16, 20, f"a context of {tokens} tokens", anchor="start", weight="bold")

    def tokens_from(y, first, last):
        for i in range(first, last):
            inside = answer[0] <= i < answer[1]
            box(
                drawing,
                x0 + i * cell,
                y,
                cell,
                30,
                TARGET if inside else SEGMENT_B,
                radius=0,
                line=1,
                strength=0.8 if inside else 0.3,
            )

    tokens_from(40, 0, tokens)
    brace(drawing, (x0 + answer[1] * cell, 38), (x0 + answer[0] * cell, 38), depth=10)
    text(drawing, x0 + sum(answer) / 2 * cell, 17, "answer", SMALL)
    brace(drawing, (x0, 78), (x0 + stride * cell, 78), f"stride {stride}", depth=10)
    for i, start in enumerate(starts):
        y = 118 + i * 66
        end = min(start + window, tokens)
        box(
            drawing,
            x0 + start * cell - 80,
            y,
            76,
            30,
            SEGMENT_A,
            "question",
            SMALL,
            radius=0,
            line=1,
        )
        tokens_from(y, start, end)
        words = "no answer"
        if start < answer[1] and answer[0] < end:
            words = "the whole answer" if whole[i] else "the answer is cut"
        text(drawing, x0 + start * cell - 80, y + 46, f"window {i + 1}: {words}", anchor="start")
    text(drawing, 300, 334, f"Each input is the question and a window of {window} tokens.", SMALL)
    return drawing


def best_span(start=(0, 1, 5, 2), end=(0, 4, 1, 3)):
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
        f"A table of {n} rows and {n} columns for the tokens 0 to {n - 1}. The rows are start "
        f"positions with scores {', '.join(map(str, start))}; the columns are end positions with "
        f"scores {', '.join(map(str, end))}. Each cell is the sum of both scores. The cells "
        f"below the diagonal are grey, because there the end comes before the start. The highest "
        f"sum of all, {sums[alone[0]][alone[1]]}, is such a cell, start {alone[0]} and end "
        f"{alone[1]}. Among the other cells the best sum is {sums[first][last]}, start {first} "
        f"and end {last}; it is framed.",
    )
    x0, y0, cell = 170, 110, 66
    text(drawing, x0 + n * cell / 2, 20, "end score of each token", weight="bold")
    text(drawing, 30, y0 + n * cell / 2, "start score of each token", weight="bold", turn=-90)
    for i in range(n):
        text(drawing, x0 + (i + 0.5) * cell, 46, f"token {i}", SMALL)
        box(drawing, x0 + i * cell + 8, 60, cell - 16, 36, TARGET, end[i], 16)
        text(drawing, 78, y0 + (i + 0.5) * cell, f"token {i}", SMALL)
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
    text(drawing, x0 + n * cell + 42, y, f"best pair:\nstart {first}, end {last}", anchor="start")
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
        f"Each score's own maximum gives start {alone[0]} and end {alone[1]}, which is no span.",
        SMALL,
    )
    return drawing


DRAWINGS = (input_layouts, pretrain_then_finetune, overlapping_windows, best_span)
