"""Card of notebook 00: the loss of a guess."""

import math

from albert_course.checks.engine import Case, Cases, Draw, card


def guessing_loss(num_answers: int) -> float:
    """``guessing_loss(num_answers) -> float``: the loss in nats of a guess that gives each of
    ``num_answers`` answers the same probability."""
    return -math.log(1 / num_answers)


def _questions(draw: Draw) -> Cases:
    yield Case("of two answers, as in the order question", (2,), 2.0)
    yield Case("of any number of answers", (draw.integer(3, 40_000),), 2.0)
    yield Case("of a single answer, which is certain", (1,))


check_guessing_loss = card(
    "00.1",
    guessing_loss,
    _questions,
    {
        "leaving out the minus sign: a loss is not negative": "-math.log => math.log",
        "taking the logarithm to base 2: that is bits, and a nat is 1.44 bits": "math.log( => math.log2(",
        "taking the logarithm to base 10": "math.log( => math.log10(",
        "returning the probability itself: the loss is minus its logarithm": "return 1 / num_answers",
        "dividing by one answer less": "return -math.log(1 / max(1, num_answers - 1))",
    },
)
