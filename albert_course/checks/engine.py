"""Runs an answer on the cases of a card, and names the known mistake that gives the same results.

A card is the one home of an exercise: a reference implementation whose docstring is the task, cases
drawn from a seed, and wrong implementations by name. A wrong implementation is a callable or an
edit of the reference's source; several edits are in a tuple. An edit is ``"old => new"``, or a
statement such as ``"mean = 0"`` or ``"return mean"``, which takes the place of the last statement
of the reference that begins like that.
"""

import ast
import copy
import functools
import inspect
import random
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch

from albert_course.checks import limits
from albert_course.checks.comparing import Raised, same
from albert_course.checks.explaining import differs, given, nearest, reason_of
from albert_course.checks.limits import TookTooLong
from albert_course.checks.report import Property, Report, brief


class Case(NamedTuple):
    """One property: ``ask(answer, *inputs)`` must give what it gives for the reference.

    Without ``ask`` the answer is called with copies of the inputs.
    """

    name: str
    inputs: tuple
    weight: float = 1.0
    ask: Callable = lambda answer, *inputs: answer(*inputs)
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
    wrong: Mapping[str, object],
    pure: bool = False,
) -> Callable[..., Report]:
    """Return the check ``check(answer, seed=None) -> Report`` of an exercise such as "03.1".

    ``pure`` says that the text forbids to change the inputs. A notebook and its assignment number
    their exercises together, and the report says of which of them an exercise is.
    """
    chapter, rank = number.split(".")
    kind = "notebook" if ".lessons." in reference.__module__ else "assignment"
    title = re.sub("(?<!^)(?=[A-Z])", "_", reference.__name__).lower()
    signature = " ".join((reference.__doc__ or "").split("``")[1:2])
    asked_for = f"asked for is {' '.join(signature.split())}"

    def outcomes_of(implementation: Callable, seed: int) -> list:
        return [
            _seeded(seed, functools.partial(_outcome, implementation, case))
            for case in questions_of(seed)
        ]

    questions_of = functools.lru_cache(4)(lambda seed: list(cases(Draw(seed))))
    right_of = functools.lru_cache(4)(lambda seed: outcomes_of(reference, seed))
    mistakes_of = functools.lru_cache(4)(
        lambda seed: {
            name: outcomes_of(wrong_answer(reference, edit), seed) for name, edit in wrong.items()
        }
    )

    def check(answer, seed: int | None = None) -> Report:
        seed = 0 if seed is None else seed
        questions, right = questions_of(seed), right_of(seed)
        report, outcomes, changed, over = Report(title, place=check.place), [], False, None
        for case in questions:
            inputs = copy.deepcopy(case.inputs)
            ask = functools.partial(_limited, answer, case, inputs)
            outcomes.append(over or _seeded(seed, ask))
            over = outcomes[-1] if _ends(outcomes[-1]) else over
            changed |= pure and not same(inputs, case.inputs)
        atols = [case.atol for case in questions]
        held = list(map(same, outcomes, right, atols))
        mistakes = {} if all(held) else mistakes_of(seed)
        alike = {
            name: list(map(same, outcomes, values, atols)) for name, values in mistakes.items()
        }
        if all(isinstance(x, Raised | None) for x, ok in zip(right, held, strict=True) if ok):
            held = [False] * len(held)  # who always returns None or raises an error has no point
        for i, case in enumerate(questions):
            texts = ()
            if not held[i]:
                got, named = outcomes[i], nearest(i, alike, held, outcomes)
                own = case.ask is not Case._field_defaults["ask"]
                reason = named or reason_of(got, right[i], asked_for, any(x is None for x in right))
                texts = (
                    brief(right[i]),
                    brief(got),
                    reason,
                    given(case.inputs, case.ask if own else reference, int(own)),
                    "" if named else differs(got, right[i], case.inputs, case.atol),
                )
            report.properties.append(Property(case.name, held[i], case.weight, *texts))
        if pure:
            reason = "the caller's data are changed: work on a copy" if changed else ""
            got = "" if changed or any(held) else "not examined, because nothing else is right"
            report.properties.append(
                Property(
                    "leaves its inputs as they were", not (reason or got), got=got, reason=reason
                )
            )
        return report

    check.__name__, check.__qualname__ = f"check_{title}", f"check_{title}"
    check.__doc__ = reference.__doc__
    check.place = f"exercise {int(chapter)}.{rank} of {kind} {chapter}"
    check.reference, check.wrong = reference, wrong
    return check


def wrong_answer(reference: Callable, edit) -> Callable:
    """The wrong implementation that ``edit`` makes of the reference; a callable is one already."""
    if callable(edit):
        return edit
    source = textwrap.dedent(inspect.getsource(reference))
    for change in (edit,) if isinstance(edit, str) else edit:
        source = _edited(source, change)
    scope = dict(vars(sys.modules[reference.__module__]))
    exec(compile(source, f"<{reference.__name__}>", "exec"), scope)
    return scope[reference.__name__]


def _edited(source: str, change: str) -> str:
    if " => " in change:
        old, new = change.split(" => ")
        # A formatter may break the reference's lines and end a bracket with a comma.
        words = re.findall(r"\w+|[^\w\s]", old)
        loose = (
            rf"(,\s*)?{re.escape(word)}" if word in ")]}" else re.escape(word) for word in words
        )
        edited, places = re.subn(r"\s*".join(loose), lambda _: new, source)
        if not places:
            raise ValueError(f"{old!r} is not in the reference")
        return edited
    head = re.match(r"return|[\w.]+\(|.*?=", change)[0]
    statements = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and ast.get_source_segment(source, node).startswith(head)
    ]
    if not statements:
        raise ValueError(f"no statement of the reference begins with {head!r}")
    last, lines = max(statements, key=lambda node: node.lineno), source.splitlines()
    lines[last.lineno - 1 : last.end_lineno] = [" " * last.col_offset + change]
    return "\n".join(lines)


def _outcome(answer: Callable, case: Case, inputs: tuple | None = None):
    try:
        return case.ask(answer, *(copy.deepcopy(case.inputs) if inputs is None else inputs))
    except (Exception, SystemExit) as error:
        lacks_memory = isinstance(error, RuntimeError) and "t allocate memory" in str(error)
        return Raised(MemoryError(str(error)) if lacks_memory else error)


def _limited(answer: Callable, case: Case, inputs: tuple):
    try:
        with limits.limits():
            return _outcome(answer, case, inputs)
    except TookTooLong:
        return Raised(TookTooLong(f"no answer within {limits.SECONDS} seconds"))


def _seeded(seed: int, run: Callable):
    """Run with global generators of a known state, and put that of the caller back."""
    state = torch.random.get_rng_state(), np.random.get_state(), random.getstate()
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
    try:
        with torch.enable_grad():
            return run()
    finally:
        torch.random.set_rng_state(state[0])
        np.random.set_state(state[1])
        random.setstate(state[2])


def _ends(outcome) -> bool:
    ends = (TookTooLong, MemoryError, NotImplementedError)
    return isinstance(outcome, Raised) and isinstance(outcome.error, ends)
