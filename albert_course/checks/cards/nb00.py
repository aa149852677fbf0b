"""Card of notebook 00: the loss of a guess. Its known mistakes are edits in mistakes/00.txt."""

import math

from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def guessing_loss(num_answers: int) -> float:
    """``guessing_loss(num_answers) -> float``: the loss in nats of a guess that gives each of
    ``num_answers`` answers the same probability."""
    return -math.log(1 / num_answers)


def _guessing_loss_cases(draw: Draw) -> Cases:
    many = draw.integer(3, 40_000)
    yield Case("of two answers, as in the order question", inputs=(2,), weight=2.0)
    yield Case("of any number of answers", inputs=(many,), weight=2.0)
    yield Case("of a single answer, which is certain", (1,))


check_guessing_loss = make_check("notebook 00.1", guessing_loss, _guessing_loss_cases)
