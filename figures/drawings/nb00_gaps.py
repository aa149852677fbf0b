"""Drawing of notebook 00 and of the front page: three gaps, before and after training."""

import torch

from albert_edu.analysis.inspect import fill
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained
from figures.drawings.palette import GREY, LARGE, SMALL, TARGET
from figures.drawings.style import box, canvas, text

SENTENCES = (
    "the united [MASK] of america",
    "i thank the [MASK] of the united states",
    "we must protect our [MASK] and our children",
)
GAP, GAP_WIDTH = 232, 84  # where the gap of each sentence stands
COLUMNS = {"before training": (26, GREY), "after training": (316, TARGET)}
LONGEST = 120  # of a bar, in pixels: certainty


def guess_the_word():
    """Which words would you put into the gaps? The model has no idea before training."""
    model, tokenizer = load_pretrained("laptop")
    torch.manual_seed(0)
    untrained = AlbertForPretraining(model.config).eval()
    guesses = {
        "before training": [guesses_of(untrained, tokenizer, line) for line in SENTENCES],
        "after training": [guesses_of(model, tokenizer, line) for line in SENTENCES],
    }
    told = ". ".join(
        f"In {line.replace('[MASK]', '____')}: {when}, {words_of(guesses[when][row])}"
        for row, line in enumerate(SENTENCES)
        for when in COLUMNS
    )
    drawing = canvas(
        484,
        "Three sentences with a gap, and what a model puts into it",
        "Three sentences one below the other, each with a coloured box instead of one word. Below "
        "each sentence stand two lists of three words with a bar for the probability: left, what "
        f"the model guesses before training; right, after training. {told}.",
    )
    text(drawing, 300, 26, "Which word is hidden?", LARGE, weight="bold")
    for row, line in enumerate(SENTENCES):
        top = 52 + 144 * row
        before, after = line.split("[MASK]")
        text(drawing, GAP - 10, top + 18, before.strip(), 17, anchor="end")
        box(drawing, GAP, top, GAP_WIDTH, 36, TARGET)
        text(drawing, GAP + GAP_WIDTH / 2, top + 18, "?", LARGE, weight="bold")
        text(drawing, GAP + GAP_WIDTH + 10, top + 18, after.strip(), 17, anchor="start")
        for when, (left, colour) in COLUMNS.items():
            text(drawing, left, top + 54, when, SMALL, anchor="start", weight="bold")
            for place, (word, probability) in enumerate(guesses[when][row]):
                bar(drawing, left, top + 75 + 21 * place, word, probability, colour)
    return drawing


def guesses_of(model, tokenizer, line: str) -> list[tuple[str, float]]:
    """The three likeliest words of the gap, without the mark that begins a word."""
    (found,) = fill(model, tokenizer, line, top=3)
    return [(piece.strip("▁"), probability) for piece, probability in found]


def words_of(guesses: list[tuple[str, float]]) -> str:
    """Words with their probabilities, for the description."""
    return ", ".join(f"{word} {percent(probability)}" for word, probability in guesses)


def percent(probability: float) -> str:
    """A probability in whole percent."""
    return "under 1%" if probability < 0.01 else f"{probability:.0%}"


def bar(drawing, left, middle, word, probability, colour) -> None:
    """A word, a bar as long as it is likely, and the number."""
    text(drawing, left, middle, word, SMALL, anchor="start")
    start = left + 92
    length = max(round(LONGEST * probability), 2)
    box(drawing, start, middle - 7, length, 14, colour, radius=1, line=1, strength=0.5)
    text(drawing, start + length + 6, middle, percent(probability), SMALL, anchor="start")


DRAWINGS = (guess_the_word,)
