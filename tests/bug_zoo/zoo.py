"""How the zoo keeps its animals: wrong answers with what a report must say of them, and right ones.

Nearly all are made from what is there. Of each card the reference is right, and each wrong
implementation must be named. Of each assignment our solution is right, and so is an answer in
another style. By hand are the library's own functions as answers.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import NamedTuple

import nbformat

from albert_course import checks
from albert_course.assignments.build import find_sources
from albert_course.checks import Check
from albert_course.checks.engine.card import card_of
from albert_course.checks.engine.edits import wrong_answer
from tests.bug_zoo.library import RIGHT

# Of the assignments, and of the exercises inside notebooks.
CHECKS = [value for value in vars(checks).values() if isinstance(value, Check)]
GRADED = [check for check in CHECKS if "assignment" in check.place]


class Animal(NamedTuple):
    """An answer to an exercise; a wrong one is called what the report must say."""

    check: Check
    name: str
    answer: object
    right: bool


def from_cards() -> Iterator[Animal]:
    """The reference and the wrong implementations of every card."""
    for check in CHECKS:
        card = card_of(check)
        yield Animal(check, "reference", card.reference, True)
        for mistake, edits in card.mistakes.items():
            yield Animal(check, mistake, wrong_answer(card.reference, edits), False)


def from_assignments() -> list[Animal]:
    """What the visible tests of each assignment ask, of our solution and of the other style."""
    animals = []
    for path in find_sources():
        cells = nbformat.read(path, as_version=4).cells
        other = importlib.import_module(f"tests.assignments.answers.a{path.name[:2]}").OTHER_STYLE
        for style, answers in (("our solution", {}), ("another style", other)):
            names = {"__name__": "__main__"}
            for cell in cells:
                mark = cell.metadata.get("nbgrader", {})
                if cell.cell_type != "code" or mark.get("points"):
                    continue
                names |= {
                    f"check_{check.title}": _keeper(animals, check, style)
                    for check in GRADED
                    if f"check_{check.title}" in names
                }
                with contextlib.redirect_stdout(None):
                    exec(answers.get(mark.get("grade_id"), cell.source), names)
    return animals


def _keeper(animals: list[Animal], check: Check, style: str) -> Callable:
    """A function that a visible test calls in the place of the check."""

    def keep(answer, name=""):
        animals.append(Animal(check, style, answer, True))
        return SimpleNamespace(raise_if_failed=lambda: None)

    return keep


def all_animals() -> list[Animal]:
    """Every answer of the library, the cards and the assignments."""
    ours = [Animal(check, "library's", answer, True) for check, answer in RIGHT.items()]
    return [*ours, *from_cards(), *from_assignments()]
