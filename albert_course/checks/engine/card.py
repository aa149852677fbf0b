"""A card is the one home of an exercise: its reference, its questions, its known mistakes.

``card`` makes the check of them, which asks an answer what it asks the reference, and names the
known mistake that gives the same results.
"""

import copy
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch

from albert_course.checks.engine.asking import call
from albert_course.checks.engine.comparing import same
from albert_course.checks.engine.edits import FOLDER, read_mistakes, wrong_answer
from albert_course.checks.engine.explaining import explain, is_nothing, name_mistakes
from albert_course.checks.engine.report import Property, Report
from albert_course.checks.engine.running import ask, changed, stops

CHANGED = "the caller's data are changed: work on a copy"


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
        self.torch, self.numpy = torch.Generator().manual_seed(seed), np.random.default_rng(seed)

    def randn(self, *shape: int) -> torch.Tensor:
        """Normal numbers of this shape."""
        return torch.randn(*shape, generator=self.torch)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers from ``low`` to ``high`` - 1."""
        return torch.randint(low, high, shape, generator=self.torch)

    def integer(self, low: int, high: int) -> int:
        """One whole number from ``low`` to ``high`` - 1."""
        return int(self.integers(low, high))


def card(
    number: str,
    reference: Callable,
    cases: Callable[[Draw], Cases],
    mistakes: Mapping | None = None,
    pure: bool = False,
) -> Callable[..., Report]:
    """Return the check ``check(answer, seed=None, name="") -> Report`` of an exercise.

    ``name`` is what the report calls a student's function that ``answer`` only wraps. ``number``
    says where the exercise stands, such as "assignment 03.1". The docstring of ``reference`` is
    the task, and begins with how an answer is called. ``mistakes`` are edits of the reference by
    name (see engine/edits.py), or wrong answers; without them those of mistakes/03.txt are known.
    ``pure`` says that the text forbids to change the inputs. A whole check of one's own:

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
    kind, chapter, rank = re.match(r"(.+) (\d+)\.(\d+)", number).groups()
    title = re.sub("(?<!^)(?=[A-Z])", "_", reference.__name__).lower()
    place = f"exercise {int(chapter)}.{rank} of {kind} {chapter}"
    if mistakes is None:
        mistakes = read_mistakes(FOLDER / f"{chapter}.txt").get(title, {})

    def ask_all(questions: list[Case], answer: Callable, seed: int, limited: bool = False):
        """The outcomes, and whether the inputs were changed, up to one that stops."""
        outcomes, touched = [], []
        for case in questions:
            inputs = copy.deepcopy(case.inputs)
            outcomes.append(ask(case.ask, answer, inputs, seed, limited))
            touched.append(changed(case.inputs, inputs))
            if limited and stops(outcomes[-1]):
                break
        return outcomes, touched

    @functools.lru_cache(4)
    def drawn(seed: int) -> tuple[list[Case], list]:
        """The questions, and what is right."""
        with torch.random.fork_rng(devices=()):  # for the first numbers of modules
            torch.manual_seed(seed)
            questions = list(cases(Draw(seed)))
        return questions, ask_all(questions, reference, seed)[0]

    @functools.lru_cache(4)
    def mistakes_of(seed: int) -> dict[str, tuple[list, list[bool]]]:
        wrong = {name: wrong_answer(reference, edits) for name, edits in mistakes.items()}
        return {name: ask_all(drawn(seed)[0], answer, seed) for name, answer in wrong.items()}

    def check(answer, seed: int | None = None, name: str = "") -> Report:
        seed = 0 if seed is None else seed
        questions, right = drawn(seed)
        outcomes, touched = ask_all(questions, answer, seed, limited=True)
        atols = [case.atol for case in questions]
        held = [*map(same, outcomes, right, atols)]
        if all(is_nothing(x) for x, ok in zip(right, held, strict=False) if ok):
            held = [False] * len(held)  # an answer that does nothing gets no point
        known = {} if all(held) else mistakes_of(seed)
        results = {name: values for name, (values, _) in known.items()}
        names = name_mistakes(results, outcomes, right, held, atols)
        properties = []
        for k, case in enumerate(questions):
            asked, texts = k < len(outcomes), {}
            holds = asked and held[k]
            if asked and not holds:
                # An answer may only look like a mistake because it has spoilt its own inputs.
                spoilt = names[k] and touched[k] and not known[names[k]][1][k]
                named, none = "" if spoilt else names[k], any(value is None for value in right)
                texts = explain(case, reference, outcomes[k], right[k], named, touched[k], none)
            properties.append(Property(case.name, holds, case.weight, asked, **texts))
        if pure:
            what = "leaves its inputs as they were"
            spoilt = CHANGED if any(touched) else ""
            asked = bool(spoilt) or any(held)  # who does nothing earns nothing by it
            properties.append(Property(what, asked and not spoilt, 1.0, asked, reason=spoilt))
        return Report(title, properties, place, name or getattr(answer, "__name__", title))

    check.__name__ = check.__qualname__ = f"check_{title}"
    check.__doc__, check.place = reference.__doc__, place
    check.reference, check.mistakes = reference, mistakes
    return check
