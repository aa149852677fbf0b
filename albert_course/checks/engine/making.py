"""From the parts of a card to the check of an exercise.

The check asks an answer what it asks the reference, and names the known mistake that gives the same
results.
"""

import re
from collections.abc import Callable, Mapping

from albert_course.checks.engine.card import Card, Cases, Draw, set_card
from albert_course.checks.engine.check import Check
from albert_course.checks.engine.edits import FOLDER, read_mistakes


def make_check(
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

    >>> from albert_course.checks import Case, Draw, make_check
    >>> def triple(x):
    ...     '''``triple(x) -> number``: three times x.'''
    ...     return 3 * x
    >>> def questions(draw: Draw):
    ...     yield Case("triples a number", (draw.integer(2, 100),), weight=2.0)
    ...     yield Case("leaves 0 as it is", (0,))
    >>> mistakes = {"squaring": lambda x: x * x, "forgetting one of the three": "3 * x => 2 * x"}
    >>> check_triple = make_check("assignment 03.9", triple, questions, mistakes)
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
    at = f"exercise {int(chapter)}.{rank} of {kind} {chapter}"
    check = Check(title=title, place=at, task=reference.__doc__ or "")
    set_card(check, Card(reference, cases, mistakes, pure))
    return check
