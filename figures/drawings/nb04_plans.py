"""Drawings of notebook 04: which layers share what, and what sharing saves, to scale."""

from itertools import groupby

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters, flops_per_token, training_memory
from albert_edu.model.sharing import layer_plan
from figures.drawings.palette import BODY, GREY, SMALL, STATE, WEIGHT
from figures.drawings.style import box, canvas, text

BASE = AlbertConfig.named("albert-base-v2")
L = BASE.num_layers


def millions(number: int) -> str:
    return f"{number / 1e6:.1f} million"


def spans(indices) -> list[tuple[int, int]]:
    """Return (first application, number of applications) of each stored block.

    >>> spans([0, 0, 1, 1, 1])
    [(0, 2), (2, 3)]
    """
    runs, first = [], 0
    for _, run in groupby(indices):
        length = len(list(run))
        runs.append((first, length))
        first += length
    return runs


def draw_plan(drawing, left, y, step, plan):
    """Draw the stored blocks of a plan: attention above, feed-forward below, one bar per block."""
    for row, name, height in ((0, "attention", 26), (1, "FFN", 36)):
        for first, length in spans([slot[row] for slot in plan]):
            box(
                drawing,
                left + first * step + 2,
                y + 30 * row,
                length * step - 4,
                height,
                WEIGHT,
                name if length > 2 else "",
                SMALL,
                radius=4,
                line=1.5,
                strength=0.35 if row else 0.15,
            )


def share_strategies():
    """A shared block is stored once for all applications. Two thirds of a layer are its FFN."""
    rows = (
        ("all", "share all"),
        ("attention", "share attention"),
        ("ffn", "share FFN"),
        ("none", "share none"),
    )
    left, step = 138, 28
    counts = {share: count_parameters(BASE.replace(share=share)).encoder for share, _ in rows}
    stored = {
        share: [len({slot[i] for slot in layer_plan(L, share)}) for i in (0, 1)]
        for share, _ in rows
    }
    words = " ".join(
        f"{name}: {stored[share][0]} attention block{'s' * (stored[share][0] > 1)} and "
        f"{stored[share][1]} FFN block{'s' * (stored[share][1] > 1)}, together "
        f"{counts[share] / 1e6:.1f} million parameters."
        for share, name in rows
    )
    drawing = canvas(
        440,
        "What twelve layer applications share, for four strategies",
        f"Four rows, one for each strategy; the {L} columns are the layer applications 1 to {L}. "
        f"Each row has a band of attention blocks above a taller, darker band of feed-forward "
        f"(FFN) blocks. A block that is shared is one long bar across all columns; blocks that are "
        f"not shared are {L} short bars. {words}",
    )
    for i in range(L):
        text(drawing, left + (i + 0.5) * step, 38, i + 1, SMALL)
    text(drawing, left + L * step / 2, 16, "layer application", weight="bold")
    text(drawing, 542, 26, "encoder\nparameters", SMALL, weight="bold")
    for i, (share, name) in enumerate(rows):
        y = 62 + i * 96
        draw_plan(drawing, left, y, step, layer_plan(L, share))
        text(drawing, left - 12, y + 34, name.replace(" ", "\n"), BODY, anchor="end", weight="bold")
        text(drawing, 542, y + 34, millions(counts[share]), weight="bold")
    return drawing


def groups():
    """With G groups, each group of consecutive applications has a layer of its own."""
    choices = (1, 3, 12)
    left, step = 138, 28
    counts = {G: count_parameters(BASE.replace(num_groups=G)).encoder for G in choices}
    words = " ".join(
        f"G = {G}: {G} layer{'s' * (G > 1)},{' each' * (G > 1)} for {L // G} "
        f"application{'s' * (G < L)}, "
        f"{counts[G] / 1e6:.1f} million parameters."
        for G in choices
    )
    drawing = canvas(
        306,
        "Twelve layer applications in 1, 3 and 12 groups",
        f"Three rows; the {L} columns are the layer applications 1 to {L}. A bar is a stored "
        f"layer, and it is as long as the group of applications that use it. {words} With one "
        f"group everything is shared, and with {L} groups nothing is.",
    )
    for i in range(L):
        text(drawing, left + (i + 0.5) * step, 38, i + 1, SMALL)
    text(drawing, left + L * step / 2, 16, "layer application", weight="bold")
    text(drawing, 542, 26, "encoder\nparameters", SMALL, weight="bold")
    for i, G in enumerate(choices):
        y = 66 + i * 80
        for n, (first, length) in enumerate(spans([s[0] for s in layer_plan(L, "all", G)])):
            words = f"layer {n + 1}" if length > 2 else n + 1
            box(
                drawing,
                left + first * step + 2,
                y,
                length * step - 4,
                54,
                WEIGHT,
                words,
                SMALL,
                radius=4,
                line=1.5,
            )
        text(drawing, left - 12, y + 27, f"G = {G}", 17, anchor="end", weight="bold")
        text(drawing, 542, y + 27, millions(counts[G]), weight="bold")
    return drawing


def not_saved():
    """Sharing saves parameters, but the same computation runs and the same activations are kept."""
    S = BASE.max_positions
    both = (BASE.replace(share="none"), BASE)
    rows = (
        (
            "parameters of the encoder",
            WEIGHT,
            [count_parameters(c).encoder for c in both],
            lambda n: f"{n / 1e6:.1f} million",
        ),
        (
            f"FLOPs per token, forward, S = {S}",
            GREY,
            [flops_per_token(c, S) for c in both],
            lambda n: f"{n / 1e6:.0f} million",
        ),
        (
            f"activations kept for the backward pass, one sequence of {S} tokens",
            STATE,
            [training_memory(c, 1, S, 77).activations for c in both],
            lambda n: f"{n / 1e6:.0f} MB",
        ),
    )
    words = " ".join(
        f"{name[0].upper() + name[1:]}: {show(values[0])} and {show(values[1])}."
        for name, _, values, show in rows
    )
    drawing = canvas(
        388,
        "What sharing saves and what it does not save",
        f"Three pairs of horizontal bars, each pair to scale; in each pair the upper bar is {L} "
        f"separate layers and the lower bar is 1 shared layer. {words} For the parameters the "
        f"lower bar is a twelfth as long as the upper bar, and for the other two it is exactly as "
        f"long.",
    )
    left, long = 150, 320
    for i, (name, colour, values, show) in enumerate(rows):
        y = 22 + i * 124
        text(drawing, 16, y, name, anchor="start", weight="bold")
        for j, label in enumerate((f"{L} separate layers", "1 shared layer")):
            width = long * values[j] / max(values)
            middle = y + 32 + 36 * j
            text(drawing, left - 10, middle, label, SMALL, anchor="end")
            box(drawing, left, middle - 14, width, 28, colour, radius=2)
            text(drawing, left + width + 8, middle, show(values[j]), anchor="start")
    return drawing


DRAWINGS = (share_strategies, groups, not_saved)
