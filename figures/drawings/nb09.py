"""Drawings of notebook 09, ablations: a number per arm, a paired comparison, and an outcome."""

from albert_paper.outcomes import interval
from figures.drawings.palette import GREY, INK, LARGE, PALE, SMALL, STATE, TARGET
from figures.drawings.style import box, canvas, circle, line, text

# Losses of two arms, one pair for each seed: an example.
ARMS = {"arm A": (3.10, 3.31, 3.22, 3.42, 3.15), "arm B": (3.02, 3.20, 3.16, 3.32, 3.10)}
DIFFERENCES = [a - b for a, b in zip(*ARMS.values(), strict=True)]


def one_number_per_arm():
    """With one run of each arm, two groups can report opposite results."""
    reports = (("first report", 0, 3, TARGET), ("second report", 3, 0, INK))
    arm_a, arm_b = ARMS.values()
    told = "; ".join(
        f"{name}, A {arm_a[i]:.2f} and B {arm_b[j]:.2f}, {'A' if arm_a[i] < arm_b[j] else 'B'} is "
        f"better by {abs(arm_a[i] - arm_b[j]):.2f}"
        for name, i, j, _ in reports
    )
    drawing = canvas(
        320,
        "One run of each arm can rank the arms either way",
        f"Two rows of dots over an axis of losses from 3.0 to 3.4; lower is better. Upper row, arm "
        f"A, five runs: {', '.join(f'{loss:.2f}' for loss in sorted(arm_a))}. Lower row, arm B, "
        f"five runs: {', '.join(f'{loss:.2f}' for loss in sorted(arm_b))}. Two lines, which cross, "
        f"each join one dot of A with one dot of B: {told}.",
    )
    rows, axis = (80, 166), 214

    def place(loss):
        return 76 + (loss - 3.0) * 1100

    for _, i, j, colour in reports:
        line(drawing, [(place(arm_a[i]), rows[0]), (place(arm_b[j]), rows[1])], colour, 3)
    for (name, losses), y in zip(ARMS.items(), rows, strict=True):
        text(drawing, 14, y, name, anchor="start", weight="bold")
        for loss in losses:
            circle(drawing, place(loss), y, 7, STATE)
    text(drawing, 300, 26, "five runs of each arm, one dot for each seed", LARGE, weight="bold")
    line(drawing, [(76, axis), (560, axis)], INK, 1.5)
    for tick in (3.0, 3.1, 3.2, 3.3, 3.4):
        line(drawing, [(place(tick), axis), (place(tick), axis + 6)], INK, 1.5)
        text(drawing, place(tick), axis + 18, f"{tick:.1f}", SMALL)
    text(drawing, 560, axis + 18, "loss", SMALL)
    for k, (name, i, j, colour) in enumerate(reports):
        y, better = 266 + 28 * k, "A" if arm_a[i] < arm_b[j] else "B"
        line(drawing, [(76, y), (116, y)], colour, 3)
        text(
            drawing,
            128,
            y,
            f"{name}: A {arm_a[i]:.2f}, B {arm_b[j]:.2f}, so {better} is better "
            f"by {abs(arm_a[i] - arm_b[j]):.2f}",
            anchor="start",
        )
    return drawing


def paired_comparison():
    """The intervals of the two arms overlap, but the interval of their differences excludes 0."""
    (mean_a, half_a), (mean_b, half_b) = map(interval, ARMS.values())
    mean, half = interval(DIFFERENCES)
    assert mean_b + half_b > mean_a - half_a and mean - half > 0
    seeds = len(DIFFERENCES)
    drawing = canvas(
        424,
        "A paired comparison of two arms with the same seeds",
        f"Left panel: the losses of arm A and arm B, {seeds} dots each; a line joins the two "
        f"dots of each seed, and every line falls from A to B. The 95% interval of arm A is "
        f"{mean_a:.2f} plus or minus {half_a:.2f} and that of arm B is {mean_b:.2f} plus or "
        f"minus {half_b:.2f}, so the two intervals overlap. Right panel: the {seeds} differences "
        f"A minus B, all above 0. Their 95% interval is {mean:.2f} plus or minus {half:.2f} and "
        f"lies above the line at 0.",
    )
    base, scale = 330, 470
    lowest = 2.9

    def bar(x, centre, width, colour, at, words, side):
        top, bottom = at(centre + width), at(centre - width)
        line(drawing, [(x, top), (x, bottom)], colour, 6)
        for end in (top, bottom):
            line(drawing, [(x - 9, end), (x + 9, end)], colour, 2)
        circle(drawing, x, at(centre), 6, colour)
        text(
            drawing, x + 16 * side, at(centre), words, SMALL, anchor="start" if side > 0 else "end"
        )

    def loss(value):
        return round(base - (value - lowest) * scale, 1)

    text(drawing, 162, 22, "each arm on its own", LARGE, weight="bold")
    xs = (120, 206)
    for a, b in zip(*ARMS.values(), strict=True):
        line(drawing, [(xs[0], loss(a)), (xs[1], loss(b))], GREY, 1.5)
    for x, values in zip(xs, ARMS.values(), strict=True):
        for value in values:
            circle(drawing, x, loss(value), 6, STATE)
    bar(84, mean_a, half_a, INK, loss, f"{mean_a:.2f}\n± {half_a:.2f}", -1)
    bar(242, mean_b, half_b, INK, loss, f"{mean_b:.2f}\n± {half_b:.2f}", 1)
    for x, name in zip(xs, ARMS, strict=True):
        text(drawing, x, base + 4, name, weight="bold")
    text(drawing, 162, 48, "loss; one line for each seed", SMALL)
    text(drawing, 162, base + 36, "The intervals overlap.", weight="bold")

    def gain(value):
        return round(base - 110 - value * scale, 1)  # the scale of the left panel

    text(drawing, 468, 22, "difference for each seed", LARGE, weight="bold")
    text(drawing, 468, 48, "A − B; one dot for each seed", SMALL)
    line(drawing, [(372, gain(0)), (572, gain(0))], INK, 1.5)
    text(drawing, 364, gain(0), "0", SMALL, anchor="end")
    for i, difference in enumerate(DIFFERENCES):
        circle(drawing, 396 + 20 * i, gain(difference), 6, STATE)
    bar(510, mean, half, INK, gain, f"{mean:.2f}\n± {half:.2f}", 1)
    text(drawing, 468, base + 36, "The interval excludes 0.", weight="bold")
    line(drawing, [(312, 14), (312, base + 46)], PALE, 2)
    text(
        drawing,
        300,
        base + 74,
        "bars: 95% intervals, Student's t; one scale for both panels",
        SMALL,
    )
    return drawing


def outcome(low: float, high: float, minimal: float) -> str:
    """Return the word for a 95% interval of differences, in the direction of the claim."""
    if -minimal < low and high < minimal:
        return "same"
    return "agrees" if low > 0 else "opposes" if high < 0 else "undecided"


def outcome_of_an_interval(minimal=1.0):
    """An interval across 0 decides nothing if it is wide, and excludes large effects if it is
    narrow.
    """
    examples = ((0.5, 2.2), (-2.2, -0.6), (-0.5, 0.6), (-0.7, 1.9))
    words = [outcome(low, high, minimal) for low, high in examples]
    assert len(set(words)) == len(examples)
    drawing = canvas(
        414,
        "Which outcome an interval of differences has",
        "A number line of differences with 0 in the middle, and a shaded band from minus m to "
        "plus m, where m is the minimal effect. Four intervals below each other. First, agrees: "
        "the whole interval is right of 0, on the claim's side. Second, opposes: the whole "
        "interval is left of 0. Third, same: no difference is larger than m, because the interval "
        "lies inside the band. Fourth, undecided: the interval contains 0 and reaches beyond "
        "the band.",
    )
    zero, unit, top, step, base = 176, 66, 60, 64, 316
    box(
        drawing,
        zero - minimal * unit,
        top - 12,
        2 * minimal * unit,
        base - top + 12,
        GREY,
        radius=0,
        line=1,
    )
    line(drawing, [(zero, top - 12), (zero, base)], INK, 2)
    line(drawing, [(18, base), (336, base)], INK, 2)
    for value, name in ((-minimal, "−m"), (0, "0"), (minimal, "m")):
        text(drawing, zero + value * unit, base + 18, name)
    text(drawing, 18, base + 44, "opposes the claim", SMALL, anchor="start")
    text(drawing, 336, base + 44, "supports the claim", SMALL, anchor="end")
    text(drawing, 176, 24, "interval of the difference", weight="bold")
    reasons = (
        "all of it is above 0",
        "all of it is below 0",
        "it lies inside the band",
        "it contains 0 and leaves the band",
    )
    for i, ((low, high), word, reason) in enumerate(zip(examples, words, reasons, strict=True)):
        y = top + 26 + i * step
        line(drawing, [(zero + low * unit, y), (zero + high * unit, y)], TARGET, 6)
        for end in (low, high):
            line(drawing, [(zero + end * unit, y - 10), (zero + end * unit, y + 10)], TARGET, 3)
        circle(drawing, zero + (low + high) / 2 * unit, y, 6, TARGET)
        text(drawing, 344, y - 10, word, 16, anchor="start", weight="bold")
        text(drawing, 344, y + 11, reason, SMALL, anchor="start")
    text(drawing, 300, 394, "m is the smallest difference that matters, set before the run.", SMALL)
    return drawing


DRAWINGS = (one_number_per_arm, paired_comparison, outcome_of_an_interval)
