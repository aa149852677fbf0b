"""Drawings of notebook 12, reading the paper: six steps, and from a claim to its outcome."""

from figures.drawings.palette import GREY, INK, LARGE, SMALL, STATE, TARGET, WEIGHT
from figures.drawings.style import arrow, box, brace, canvas, text

SCOPES = ("exact", "same question", "small-scale\nanalogue", "other setting")
OUTCOMES = ("agrees", "no difference\nlarger than m", "opposes", "undecided", "void")


def six_steps():
    """Write down your answer to each step before you look at the next one."""
    steps = (
        ("title", "Lite in what?"),
        ("abstract", "What is promised?"),
        ("tables, figures", "What questions\ndo they ask?"),
        ("method", "How could one\nanswer them?"),
        ("experiments", "Which difference\nmeans something?"),
        ("answers", "Did the authors\nanswer?"),
    )
    listed = "; ".join(
        f"{i}, {name}: {question}".replace("\n", " ") for i, (name, question) in enumerate(steps, 1)
    )
    drawing = canvas(
        318,
        "Six steps for reading a paper",
        f"Six boxes on a path. The path runs through three boxes from left to right, turns down, "
        f"and runs through three boxes from right to left. Each box has a number, a name and a "
        f"question: {listed}. Arrows lead from each box to the next. The first three boxes are "
        f"about what the paper claims, the last three about what would convince you.",
    )
    width, height = 168, 96
    places = [(16 + 200 * i, 34) for i in range(3)] + [(416 - 200 * i, 184) for i in range(3)]
    for i, ((x, y), (name, question)) in enumerate(zip(places, steps, strict=True)):
        colour = WEIGHT if i < 3 else STATE
        box(drawing, x, y, width, height, colour)
        text(drawing, x + width / 2, y + 22, f"{i + 1}. {name}", 16, weight="bold")
        text(drawing, x + width / 2, y + 60, question)
    for x in (184, 384):
        arrow(drawing, [(x, 82), (x + 32, 82)], INK)
        arrow(drawing, [(x + 32, 232), (x, 232)], INK)
    arrow(drawing, [(500, 130), (500, 184)], INK)
    text(drawing, 16, 16, "what the paper claims", SMALL, anchor="start")
    text(drawing, 16, 300, "what would convince you", SMALL, anchor="start")
    return drawing


def from_claim_to_outcome():
    """If all decisions are written down before the run, nobody can choose the outcome
    afterwards.
    """
    before = (
        ("claim", "a sentence of the paper"),
        ("criterion", "cost (FFN) > half of cost (all)"),
        ("minimal effect m", "smaller ones do not matter"),
        ("control", "if it fails, the run says nothing"),
        ("seeds", "how many, fixed now"),
    )
    after = ("differences,\none per seed", "interval and\ncorrected p", "outcome:\none of five")
    listed = "; ".join(f"{name}: {words}" for name, words in before)
    drawing = canvas(
        430,
        "From a claim of the paper to an outcome",
        f"Three stages. First, before the run, a column of five boxes is written down: {listed}. "
        f"Second, a brace joins them and an arrow leads to one box: the run, all arms with the "
        f"same seeds. Third, after the run, a row of three boxes is computed, joined by arrows "
        f"from right to left: differences, one for each seed; interval and corrected p of their "
        f"mean; outcome, one of five words. The words are agrees, opposes, same, "
        f"undecided, and void if the control fails.",
    )
    text(drawing, 16, 20, "before the run: written down", LARGE, anchor="start", weight="bold")
    for i, (name, words) in enumerate(before):
        y = 40 + 38 * i
        box(drawing, 16, y, 388, 32, WEIGHT)
        text(drawing, 28, y + 16, name, anchor="start", weight="bold")
        text(drawing, 394, y + 16, words, SMALL, anchor="end")
    brace(drawing, (412, 40), (412, 224), depth=-14)
    arrow(drawing, [(430, 132), (458, 132)], INK)
    box(drawing, 458, 84, 126, 96, STATE, "run:\nall arms,\nsame seeds", 16)
    text(drawing, 16, 268, "after the run: computed", LARGE, anchor="start", weight="bold")
    arrow(drawing, [(521, 180), (521, 294)], INK)
    for i, (x, words) in enumerate(zip((434, 225, 16), after, strict=True)):
        box(
            drawing,
            x,
            294,
            150,
            62,
            TARGET if i == 2 else GREY,
            words,
            weight="bold" if i == 2 else "normal",
        )
        if i < 2:
            arrow(drawing, [(x, 325), (x - 59, 325)], INK)
    text(
        drawing,
        16,
        388,
        "agrees, opposes, same or undecided;",
        SMALL,
        anchor="start",
    )
    text(drawing, 16, 410, "void, if the control fails", SMALL, anchor="start")
    return drawing


DRAWINGS = (six_steps, from_claim_to_outcome)
