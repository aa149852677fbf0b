"""What a check says of a wrong result: the mistake that gives it, else how it differs."""

import inspect
import os
import traceback
from collections.abc import Callable, Mapping

import torch

from albert_course.checks.asking import Unusable, tensor
from albert_course.checks.comparing import Raised, difference, same
from albert_course.checks.limits import TookTooLong
from albert_course.checks.report import NOT_BEGUN, brief


def nearest(i: int, alike: Mapping[str, list[bool]], held: list[bool], outcomes: list) -> str:
    """The mistake that gives what was got in case i, and in as many other cases as possible.

    It is claimed only if it shows in no case where the answer is right, and if the first failed
    case is explained by a mistake, too. Many mistakes give the same truth values, whole number,
    text or NaN, so there all failed cases must be alike.

    >>> alike = {"halving": [True, True, False], "adding": [True, False, True]}
    >>> nearest(0, alike, [False, False, True], [2.5, 1.5, 4.0])
    'adding'
    >>> nearest(1, alike, [False, False, True], [2.5, 1.5, 4.0])
    ''
    """
    failed = [k for k, ok in enumerate(held) if not ok]
    must = failed if _says_little(outcomes[i]) else [i]
    fits = {
        name: sum(row)
        for name, row in alike.items()
        if all(row[k] for k in must) and all(row[k] for k, ok in enumerate(held) if ok)
    }
    if i > failed[0] and not nearest(failed[0], alike, held, outcomes):
        return ""
    return max(fits, key=fits.get, default="")


def _says_little(value) -> bool:
    try:
        numbers = torch.as_tensor(value)
        return isinstance(value, int) or numbers.dtype == torch.bool or bool(numbers.isnan().any())
    except Exception:  # not numbers, or a tensor without numbers
        return isinstance(value, str | Raised | None)


def given(inputs: tuple, called: Callable, first: int) -> str:
    """The inputs, where they are short, named as ``called``'s parameters from ``first`` on."""
    parameters = list(inspect.signature(called).parameters.values())[first:]
    starred = any(part.kind is part.VAR_POSITIONAL for part in parameters)
    names = [""] * len(inputs) if starred else [f"{part.name} = " for part in parameters]
    text = ", ".join(name + brief(value) for name, value in zip(names, inputs, strict=False))
    large = any(isinstance(value, torch.Tensor) and value.numel() > 8 for value in inputs)
    return "" if large or len(text) > 250 or " at 0x" in text else text


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
        lists = [value for value in inputs if isinstance(value, list)]
        for asked in (inputs, *lists[: len(lists) == 1]):
            kinds = {*map(type, asked)}
            if len(kinds) == 1 and torch.Tensor not in kinds and len(asked) == len(got):
                return f"for {brief(asked[k])}: {inner}"
    return text


def reason_of(got, expected, asked_for: str, none_may_be_right: bool) -> str:
    """Why a result cannot be compared at all: an error, a missing one, None, no tensor."""
    if same(got, expected):
        return "right, but nothing else is"
    if isinstance(got, Raised):
        return _why(got.error, asked_for)
    if isinstance(expected, Raised):
        return f"a {type(expected.error).__name__} is due here"
    if got is None:
        return "you return None" + ("" if none_may_be_right else "; is the return missing?")
    if isinstance(expected, torch.Tensor):
        try:
            tensor(got)
        except Unusable as error:
            return str(error)
    return ""


def _why(error: BaseException, asked_for: str) -> str:
    known = {
        TookTooLong: "a loop without end, or too many steps?",
        NotImplementedError: NOT_BEGUN,
        MemoryError: "a tensor far larger than it need be?",
        Unusable: str(error),
    }
    missing = "; is the return missing?" if "NoneType" in str(error) else ""
    return known.get(type(error)) or _where(error) or asked_for + missing


def _where(error: BaseException) -> str:
    """The last line of the answer's own code on the way to the error, never ours."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    ours = tuple(os.path.join(root, package) for package in ("albert_edu", "albert_course"))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        installed = "site-packages" in frame.filename or frame.filename.endswith(".pyx")
        if not frame.filename.startswith((*ours, "<frozen")) and not installed:
            return f"in {frame.name}, line {frame.lineno}: {frame.line}"
    if isinstance(error, TypeError) and "positional argument" in str(error):
        return "it cannot be called like this; look at the arguments in the exercise"
    return ""
