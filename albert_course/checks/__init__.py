"""Checks of the exercises: ``check_NAME(your_answer)`` says which property fails, and why.

Your function, class or module may have any name; each check's docstring says how it is called and
what it must return. ``card``, ``Case`` and ``Draw`` make a check of your own in twenty lines:
``help(card)`` shows one.
"""

import importlib
import pkgutil

from albert_course.checks import cards
from albert_course.checks.engine.card import Case, Draw, card
from albert_course.checks.engine.report import CheckFailed, Property, Report

CHECKS = {
    name: value
    for found in pkgutil.iter_modules(cards.__path__)
    for name, value in vars(importlib.import_module(f"{cards.__name__}.{found.name}")).items()
    if name.startswith("check_")
}
globals().update(CHECKS)  # each check is written once, where its card is
__all__ = ["Case", "CheckFailed", "Draw", "Property", "Report", "card", *CHECKS]
