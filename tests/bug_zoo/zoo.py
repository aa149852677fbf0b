"""How the zoo keeps its animals: wrong answers with the words a report must say of them, and right ones.

Most are made from the cards: the reference is right, and each wrong implementation must be named.
By hand are right answers in other styles, and wrong ones that no card declares.
"""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from albert_edu import checks
from albert_edu.checks import lessons
from albert_edu.checks.engine import wrong_answer


class Animal(NamedTuple):
    """An answer to an exercise. ``says`` is what the report must name; empty for a mistake that is caught but not named."""

    check: Callable
    name: str
    answer: object
    right: bool
    says: str = ""


ANIMALS: list[Animal] = []


def wrong(check: Callable, says: str = "") -> Callable:
    """Keep the decorated function or class as a wrong answer whose report has ``says`` among its reasons."""

    def keep(answer):
        ANIMALS.append(Animal(check, answer.__name__, answer, False, says))
        return answer

    return keep


def right(check: Callable) -> Callable:
    """Keep the decorated function or class as a right answer."""

    def keep(answer):
        ANIMALS.append(Animal(check, answer.__name__, answer, True))
        return answer

    return keep


def all_checks() -> list[Callable]:
    """The checks of the assignments, and those of the exercises inside the notebooks."""
    found = [getattr(checks, name) for name in checks.__all__ if name.startswith("check_")]
    for module in pkgutil.iter_modules(lessons.__path__):
        room = importlib.import_module(f"{lessons.__name__}.{module.name}")
        found += [check for name, check in vars(room).items() if name.startswith("check_")]
    return found


def from_cards() -> list[Animal]:
    """The reference and the wrong implementations of every card."""
    animals = []
    for check in all_checks():
        if hasattr(check, "reference"):
            animals.append(Animal(check, "reference", check.reference, True))
            animals += [Animal(check, mistake, wrong_answer(check.reference, edit), False, mistake)
                        for mistake, edit in check.wrong.items()]  # fmt: skip
    return animals


def all_animals() -> list[Animal]:
    """Every answer of this folder's files and of the cards."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        if path.stem not in ("zoo", "test_zoo"):
            importlib.import_module(f"tests.bug_zoo.{path.stem}")
    return ANIMALS + from_cards()
