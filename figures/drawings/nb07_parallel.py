"""Drawings of notebook 07: one batch in parts, one batch on several workers, and a killed run."""

from figures.drawings.palette import GRADIENT, GREY, INK, SMALL, STATE, TARGET, WEIGHT
from figures.drawings.style import arrow, box, brace, canvas, circle, grid, line, text

ROWS = 8
MASKED = (3, 5, 2, 6)  # masked positions of each micro-batch of two rows
LOSS_SUMS = (9, 10, 8, 13)  # their losses, added up


def gradient_accumulation():
    """Micro-batches add up sums of losses, and one division by the count of the whole batch
    follows.
    """
    parts, total, count = len(MASKED), sum(LOSS_SUMS), sum(MASKED)
    each = ROWS // parts
    means = [loss / masked for loss, masked in zip(LOSS_SUMS, MASKED, strict=True)]
    drawing = canvas(
        470,
        "Gradient accumulation: one batch in four micro-batches",
        f"A batch of {ROWS} rows is cut into {parts} micro-batches of {each} rows, which pass "
        f"through the model one after another. They have {', '.join(map(str, MASKED))} masked "
        f"positions, and their losses add up to {', '.join(map(str, LOSS_SUMS))}. Right way: the "
        f"sum of the losses, {total}, is divided once by the number of masked positions of the "
        f"whole batch, {count}, which gives {total / count:.2f}. Wrong way: the mean of the "
        f"{parts} means gives {sum(means) / parts:.2f}, because a micro-batch with few masked "
        f"positions counts as much as one with many.",
    )
    text(
        drawing,
        16,
        20,
        f"one batch of {ROWS} rows in {parts} micro-batches, one after another",
        anchor="start",
        weight="bold",
    )
    for i in range(parts):
        x = 16 + i * 148
        for row in range(each):
            grid(drawing, x, 38 + row * 24, 1, 5, (24.8, 18), STATE)
        arrow(drawing, [(x + 62, 84), (x + 62, 108)])
        box(drawing, x, 110, 124, 32, WEIGHT, "model")
        arrow(drawing, [(x + 62, 142), (x + 62, 166)])
        box(
            drawing,
            x,
            168,
            124,
            58,
            TARGET,
            f"sum of losses {LOSS_SUMS[i]}\nmasked {MASKED[i]}",
            SMALL,
        )
        arrow(drawing, [(x + 62, 226), (x + 62, 256)], TARGET)
    box(
        drawing,
        16,
        258,
        568,
        36,
        TARGET,
        f"add: {' + '.join(map(str, LOSS_SUMS))} = {total}      "
        f"{' + '.join(map(str, MASKED))} = {count} masked positions",
    )
    arrow(drawing, [(300, 294), (300, 322)], TARGET)
    box(
        drawing,
        120,
        324,
        360,
        44,
        TARGET,
        f"divide once: {total} / {count} = {total / count:.2f}",
        16,
        "bold",
        strength=0.4,
    )
    fractions = " + ".join(f"{a}/{b}" for a, b in zip(LOSS_SUMS, MASKED, strict=True))
    text(drawing, 300, 402, "Gradients add up in the same way: first the sums, then one division.")
    text(
        drawing,
        300,
        440,
        f"Not the mean of the means: ({fractions}) / {parts} = {sum(means) / parts:.2f}",
        SMALL,
    )
    return drawing


def data_parallel(workers=4):
    """Every worker computes the gradient of its own rows, and all of them take the same step."""
    rows = [list(range(ROWS))[rank::workers] for rank in range(workers)]
    listed = "; ".join(
        f"worker {rank} has rows {' and '.join(map(str, own))}" for rank, own in enumerate(rows)
    )
    drawing = canvas(
        452,
        "One step of data-parallel training on four workers",
        f"Four columns, one for each worker. All workers start with equal weights w. The rows 0 "
        f"to {ROWS - 1} of one batch are dealt out in turn: {listed}. Each worker computes a "
        f"gradient from its rows; the {workers} gradients differ. Dashed arrows lead into one "
        f"wide box, the all-reduce, which adds the gradients and gives every worker the same sum "
        f"g. Each worker takes the same step, so all of them end with equal weights w prime.",
    )
    for rank, own in enumerate(rows):
        x = 16 + rank * 148
        middle = x + 62
        text(drawing, middle, 20, f"worker {rank}", weight="bold")
        box(drawing, x, 38, 124, 34, WEIGHT, "weights w")
        arrow(drawing, [(middle, 72), (middle, 98)], WEIGHT)
        box(
            drawing,
            x,
            100,
            124,
            56,
            STATE,
            f"rows {' and '.join(map(str, own))}\nof the batch",
            SMALL,
        )
        arrow(drawing, [(middle, 156), (middle, 182)])
        box(drawing, x, 184, 124, 34, GRADIENT, f"gradient g_{{{rank}}}", dashed=True)
        arrow(drawing, [(middle, 218), (middle, 252)], GRADIENT, dashed=True)
        arrow(drawing, [(middle, 306), (middle, 340)], GRADIENT, dashed=True)
        text(drawing, middle + 10, 322, "g", anchor="start")
        box(drawing, x, 342, 124, 34, WEIGHT, "weights w′")
    total = " + ".join(f"g_{{{rank}}}" for rank in range(workers))
    box(
        drawing,
        16,
        254,
        568,
        52,
        GRADIENT,
        f"all-reduce:  g = {total}",
        16,
        "bold",
        dashed=True,
        strength=0.25,
    )
    brace(drawing, (16, 384), (584, 384))
    text(
        drawing,
        300,
        414,
        "equal on all workers, as after one step on the whole batch",
        weight="bold",
    )
    text(
        drawing,
        300,
        438,
        "Each gradient is already divided by the count of the whole batch.",
        SMALL,
    )
    return drawing


def checkpoint_and_resume(steps=60, every=10, killed=34):
    """A killed run starts again at its last checkpoint and ends with exactly the same weights."""
    last = killed // every * every
    drawing = canvas(
        420,
        "A run is killed and resumes from its last checkpoint",
        f"Two horizontal lines over the steps 0 to {steps}. Upper line: a run that nobody "
        f"disturbs goes from step 0 to step {steps}. Lower line: the same run writes a "
        f"checkpoint after every {every} steps and is killed at step {killed}. A second process "
        f"reads the checkpoint of step {last} and goes on to step {steps}; it repeats steps "
        f"{last} to {killed}. Both lines end with identical weights. A "
        f"checkpoint holds the weights, the optimizer averages m and v, and the step number. "
        f"Batch and dropout follow from the seed and the step number.",
    )
    left, width = 40, 480

    def at(step):
        return left + step / steps * width

    for step in range(0, steps + 1, every):
        text(drawing, at(step), 20, step, SMALL)
        line(drawing, [(at(step), 32), (at(step), 40)], INK, 1.5)
    text(drawing, 594, 20, "step", SMALL, anchor="end")
    text(drawing, left + 8, 56, "undisturbed", weight="bold", anchor="start")
    arrow(drawing, [(at(0), 78), (at(steps), 78)], WEIGHT, 4)
    text(drawing, left + 8, 124, "killed", weight="bold", anchor="start")
    line(drawing, [(at(0), 146), (at(killed), 146)], WEIGHT, 4)
    x = at(killed)
    for sign in (1, -1):
        line(drawing, [(x - 9, 146 - 9 * sign), (x + 9, 146 + 9 * sign)], INK, 3)
    text(drawing, x + 16, 138, f"killed at step {killed}", SMALL, anchor="start")
    for step in range(every, last + 1, every):
        circle(drawing, at(step), 146, 8, WEIGHT)
    arrow(drawing, [(at(last), 154), (at(last), 206)], GREY)
    text(drawing, at(last) - 10, 184, f"a second process reads step {last}", SMALL, anchor="end")
    arrow(drawing, [(at(last), 208), (at(steps), 208)], WEIGHT, 4)
    line(
        drawing,
        [(at(steps) + 8, 78), (at(steps) + 22, 78), (at(steps) + 22, 208), (at(steps) + 8, 208)],
        INK,
        1.5,
    )
    text(drawing, at(steps) + 46, 143, "equal\nweights", SMALL, turn=-90)
    box(drawing, 40, 262, 330, 132, GREY, line=1.5, strength=0.05)
    circle(drawing, 62, 284, 8, WEIGHT)
    text(drawing, 80, 284, "A checkpoint holds", anchor="start", weight="bold")
    for i, words in enumerate(("the weights", "the optimizer averages m and v", "the step number")):
        text(drawing, 80, 312 + 26 * i, f"• {words}", anchor="start")
    box(drawing, 390, 262, 194, 132, GREY, line=1.5, strength=0.05)
    text(drawing, 487, 284, "Nothing to store", weight="bold")
    text(drawing, 487, 342, "Batch and dropout\nfollow from the seed\nand the step number.", SMALL)
    return drawing


DRAWINGS = (gradient_accumulation, data_parallel, checkpoint_and_resume)
