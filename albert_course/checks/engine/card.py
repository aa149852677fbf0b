"""A card is the one home of an exercise: its reference, its questions, its known mistakes.

``card`` makes the check of them, which asks an answer what it asks the reference, and names the
known mistake that gives the same results.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from albert_course.checks.engine.asking import call
from albert_course.checks.engine.check import Check
from albert_course.checks.engine.edits import FOLDER, read_mistakes


class Case(NamedTuple):
    """One property: ``ask(answer, *inputs)`` must give what it gives for the reference.

    Without ``ask`` the answer is called with copies of the inputs. Numbers may differ by ``atol``.
    """

    name: str
    inputs: tuple
    weight: float = 1.0
    ask: Callable = call
    atol: float = 1e-5


Cases = Iterator[Case]


class Draw:
    """Draws the inputs of cases; another seed draws others."""

    def __init__(self, seed: int):
        self.torch = torch.Generator().manual_seed(seed)
        self.numpy = np.random.default_rng(seed)

    def randn(self, *shape: int) -> torch.Tensor:
        """Normal numbers of this shape."""
        return torch.randn(*shape, generator=self.torch)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers from ``low`` to ``high`` - 1."""
        return torch.randint(low, high, shape, generator=self.torch)

    def integer(self, low: int, high: int) -> int:
        """One whole number from ``low`` to ``high`` - 1."""
        return int(self.integers(low, high))


@dataclass(frozen=True, eq=False)
class Card:
    """What a check asks, and what it knows."""

    title: str
    reference: Callable
    cases: Callable[[Draw], Cases]
    mistakes: Mapping[str, Callable | str]  # by name: a wrong answer, or edits of the reference
    pure: bool  # whether the text forbids to change the inputs


# The card behind each check. It hangs on no attribute of the check, which a student holds.
_CARDS: dict[Check, Card] = {}


def card_of(check: Check) -> Card:
    """Return the card behind a check."""
    return _CARDS[check]


def card(
    number: str,
    reference: Callable,
    cases: Callable[[Draw], Cases],
    mistakes: Mapping[str, Callable | str] | None = None,
    pure: bool = False,
) -> Check:
    """Return the check of an exercise.

    ``number`` says where the exercise stands, such as "assignment 03.1". The docstring of
    ``reference`` is the task, and begins with how an answer is called. ``mistakes`` are edits of
    the reference by name (see engine/edits.py), or wrong answers; without them those of
    mistakes/03.txt are known. ``pure`` says that the text forbids to change the inputs. A whole
    check of one's own:

    >>> from albert_course.checks import Case, Draw, card
    >>> def triple(x):
    ...     '''``triple(x) -> number``: three times x.'''
    ...     return 3 * x
    >>> def questions(draw: Draw):
    ...     yield Case("triples a number", (draw.integer(2, 100),), weight=2.0)
    ...     yield Case("leaves 0 as it is", (0,))
    >>> mistakes = {"squaring": lambda x: x * x, "forgetting one of the three": "3 * x => 2 * x"}
    >>> check_triple = card("assignment 03.9", triple, questions, mistakes)
    >>> print(check_triple(lambda x: x + x))
    triple, exercise 3.9 of assignment 03: 1 of 2 properties holds (score 0.33)
      FAIL  triples a number
            given    x = 62
            expected 186
            got      124
            likely:  forgetting one of the three
      ok    leaves 0 as it is
    """
    place = re.fullmatch(r"(.+) (\d+)\.(\d+)", number)
    if place is None:
        raise ValueError(f'{number!r} is no place of an exercise, such as "assignment 03.1"')
    kind, chapter, rank = place.groups()
    title = re.sub("(?<!^)(?=[A-Z])", "_", reference.__name__).lower()
    if mistakes is None:
        mistakes = read_mistakes(FOLDER / f"{chapter}.txt").get(title, {})
    check = Check(
        title=title,
        place=f"exercise {int(chapter)}.{rank} of {kind} {chapter}",
        task=reference.__doc__ or "",
    )
    _CARDS[check] = Card(title, reference, cases, mistakes, pure)
    return check
