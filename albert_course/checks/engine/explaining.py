"""What a check says of a wrong result: the mistake that gives it, else how it differs."""

import inspect
import math
import os
import traceback
from collections.abc import Callable, Mapping

import torch

from albert_course.checks.engine.asking import Unusable, call, tensor
from albert_course.checks.engine.comparing import Raised, difference, same
from albert_course.checks.engine.limits import TookTooLong
from albert_course.checks.engine.report import NOT_BEGUN, brief

TOUCHED = "the caller's data are changed, which may be why: work on a copy"


def is_nothing(value) -> bool:
    """Whether an answer gives this that always returns None or raises an error."""
    several = value if isinstance(value, list) and value else [value]
    return all(isinstance(one, Raised | None) for one in several)


def name_mistakes(
    mistakes: Mapping[str, list], outcomes: list, right: list, held: list[bool], atols: list
) -> list[str]:
    """For each outcome the mistake that gives the same, or nothing.

    A mistake is named only if the answer gives what it gives wherever it changes a result. Where it
    changes none, another mistake may be at work. Many mistakes give the same truth value, whole
    number, text or NaN, so there a mistake must explain every outcome that is wrong; and nothing
    is named before the first wrong outcome is.

    >>> halved, added = [0.5, 1.0, 1.5], [2.0, 3.0, 1.5]
    >>> known, right = {"halving": halved, "adding": added}, [1.0, 2.0, 1.5]
    >>> name_mistakes(known, [2.0, 3.0, 1.5], right, [False, False, True], [0, 0, 0])
    ['adding', 'adding', '']
    >>> name_mistakes(known, [2.0, 4.0, 1.5], right, [False, False, True], [0, 0, 0])
    ['', '', '']
    """
    wrong = [k for k, ok in enumerate(held) if not ok and not same(outcomes[k], right[k], atols[k])]
    gives = {}
    for name, values in mistakes.items():
        alike = [*map(same, outcomes, values, atols)]
        hidden = [*map(same, values, right, atols)]
        if all(a or b for a, b in zip(alike, hidden, strict=False)):
            gives[name] = {k for k in wrong if alike[k]}
    names = [""] * len(outcomes)
    for k in wrong:
        must = set(wrong) if _says_little(outcomes[k]) else {k}
        fits = [name for name, found in gives.items() if must <= found]
        names[k] = max(fits, key=lambda name: len(gives[name]), default="")
        if not names[wrong[0]]:
            break
    return names


def _says_little(value) -> bool:
    try:
        numbers = torch.as_tensor(value)
        return isinstance(value, int) or numbers.dtype == torch.bool or bool(numbers.isnan().any())
    except Exception:  # not numbers, or a tensor without numbers
        return isinstance(value, str | Raised | None)


def explain(
    case, reference: Callable, got, right, mistake: str, touched: bool, none_is_right: bool
) -> dict[str, str]:
    """The texts of a property that fails, by the names of their fields in Property."""
    own = case.ask is not call
    reason = "" if mistake else reason_of(got, right, reference, none_is_right)
    unusable = isinstance(got, Raised) and isinstance(got.error, Unusable)
    if touched and not mistake and (unusable or not reason):
        reason = TOUCHED
    plain = mistake or reason or same(got, right, case.atol)
    expected, came = brief(right), "" if unusable else brief(got)
    if expected == came or (unusable and isinstance(right, bool)):
        expected = came = ""  # two tensors of one shape, which look alike, tell nothing
    return {
        "mistake": mistake,
        "reason": reason,
        "expected": expected,
        "got": came,
        "given": given(case.inputs, case.ask if own else reference, int(own)),
        "differs": "" if plain else differs(got, right, case.inputs, case.atol),
    }


def given(inputs: tuple, called: Callable, first: int) -> str:
    """The inputs, where they are short, named as ``called``'s parameters from ``first`` on."""
    parameters = list(inspect.signature(called).parameters.values())[first:]
    starred = any(part.kind is part.VAR_POSITIONAL for part in parameters)
    names = [""] * len(inputs) if starred else [f"{part.name} = " for part in parameters]
    text = ", ".join(name + brief(value) for name, value in zip(names, inputs, strict=False))
    large = any(math.prod(getattr(value, "shape", ())) > 8 for value in inputs)
    unclear = large or len(text) > 250 or " at 0x" in text or "\n" in text
    return "" if unclear else text


def differs(got, expected, inputs: tuple, atol: float) -> str:
    """How a result differs: it is an input, or differs for one of many things asked for, or as
    ``difference`` says."""
    for value in inputs:
        if isinstance(value, torch.Tensor | list | str) and same(got, value):
            return f"this is the input {brief(value)} unchanged"
    text = difference(got, expected, atol)
    several = isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected) > 1
    if several and not text.startswith(("each", "these")):
        k = next(k for k, value in enumerate(got) if not same(value, expected[k], atol))
        inner = difference(got[k], expected[k], atol) or f"{brief(got[k])} came"
        kinds = {*map(type, inputs)}
        if len(kinds) == 1 and torch.Tensor not in kinds and len(inputs) == len(got):
            return f"for {brief(inputs[k])}: {inner}"
    return text


def reason_of(got, expected, reference: Callable, none_is_right: bool) -> str:
    """Why a result cannot be compared at all: an error, a missing one, None, no tensor."""
    if same(got, expected):
        return "right, but nothing else is"
    if isinstance(got, Raised):
        return _why(got.error, reference)
    if isinstance(expected, Raised):
        return f"a {type(expected.error).__name__} is due here"
    if is_nothing(got):
        return "you return None" + ("" if none_is_right else "; is the return missing?")
    if isinstance(expected, torch.Tensor):
        try:
            tensor(got)
        except Unusable as error:
            return str(error)
    return ""


def _why(error: BaseException, reference: Callable) -> str:
    known = {
        TookTooLong: getattr(error, "reason", ""),
        NotImplementedError: NOT_BEGUN,
        MemoryError: "a tensor far larger than it need be?",
        Unusable: str(error),
    }
    missing = "; is the return missing?" if "NoneType" in str(error) else ""
    called = " ".join(" ".join((reference.__doc__ or "").split("``")[1:2]).split())
    return known.get(type(error)) or _where(error) or f"asked for is {called}{missing}"


def _where(error: BaseException) -> str:
    """The last line of the answer's own code on the way to the error, never ours."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    ours = tuple(os.path.join(root, package) for package in ("albert_edu", "albert_course"))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        installed = "site-packages" in frame.filename or frame.filename.endswith(".pyx")
        if not frame.filename.startswith((*ours, "<frozen")) and not installed:
            return f"in {frame.name}, line {frame.lineno}: {(frame.line or '')[:120]}"
    if isinstance(error, TypeError) and "positional argument" in str(error):
        return "it cannot be called like this; look at the arguments in the exercise"
    return ""
