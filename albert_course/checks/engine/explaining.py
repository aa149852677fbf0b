"""What a check says of a wrong result: the mistake that gives it, else how it differs."""

import inspect
import math
import sysconfig
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from albert_course.checks.engine.asking import Unusable, call, tensor
from albert_course.checks.engine.card import Case
from albert_course.checks.engine.comparing import Raised, same
from albert_course.checks.engine.differing import difference
from albert_course.checks.engine.limits import TookTooLong
from albert_course.checks.engine.properties import NOT_BEGUN, Property
from albert_course.checks.engine.report import brief

TOUCHED = "the caller's data are changed, which may be why: work on a copy"


def is_nothing(value) -> bool:
    """Whether an answer gives this that always returns None or raises an error."""
    several = value if isinstance(value, list) and value else [value]
    return all(one is None or isinstance(one, Raised) for one in several)


class Result(NamedTuple):
    """A question, what is right, and what an answer gives."""

    case: Case
    right: object
    value: object
    touched: bool = False  # whether the answer has changed the inputs
    held: bool = False  # whether it earns its point; an answer that does nothing earns none

    @property
    def is_wrong(self) -> bool:
        """Whether the value itself is wrong."""
        return not self.held and not self.is_like(self.right)

    def is_like(self, value: object) -> bool:
        """Whether the answer gives this."""
        return same(self.value, value, self.case.atol)


def name_mistakes(
    names: Iterable[str], gives: Callable[[str, int], object], results: list[Result]
) -> list[str]:
    """For each result of an answer the mistake that gives the same, or nothing.

    ``gives(name, k)`` is what a mistake gives for question k; it is asked for no more than what
    rules the mistake out, because some questions take seconds. A mistake is named only if the
    answer gives what it gives wherever it changes a result. Where it changes none, another mistake
    may be at work. Many mistakes give the same truth value, whole number, text or NaN, so there a
    mistake must explain every result that is wrong; and nothing is named before the first wrong
    result is.

    >>> known = {"halving": [0.5, 1.0], "adding": [2.0, 3.0]}
    >>> case = Case("halves", ())
    >>> def named(first, second):
    ...     results = [Result(case, 1.0, first), Result(case, 2.0, second)]
    ...     return name_mistakes(known, lambda name, k: known[name][k], results)
    >>> named(2.0, 3.0), named(2.0, 4.0)
    (['adding', 'adding'], ['', ''])
    """
    wrong = [k for k, result in enumerate(results) if result.is_wrong]
    if not wrong:
        return [""] * len(results)
    as_expected = [k for k in range(len(results)) if k not in wrong]
    order = wrong + as_expected  # a wrong result rules most mistakes out
    explained = {}  # for each mistake that is not ruled out, the wrong results that it gives
    for name in names:
        same_at = _where_equal(partial(gives, name), results, order)
        if same_at is not None:
            explained[name] = same_at.intersection(wrong)
    likely = {k: _likeliest(k, results, wrong, explained) for k in wrong}
    if not likely[wrong[0]]:
        return [""] * len(results)
    return [likely.get(k, "") for k in range(len(results))]


def _where_equal(
    gives: Callable[[int], object], results: list[Result], order: list[int]
) -> set[int] | None:
    """The questions for which a mistake gives what the answer gives.

    None where it is ruled out: it changes a result, and the answer gives something else there.
    """
    equal = set()
    for k in order:
        result = results[k]
        value = gives(k)
        if result.is_like(value):
            equal.add(k)
        elif not same(value, result.right, result.case.atol):
            return None
    return equal


def _likeliest(
    k: int, results: list[Result], wrong: list[int], explained: dict[str, set[int]]
) -> str:
    """The mistake that explains outcome ``k`` and the most others, or nothing."""
    to_explain = set(wrong) if _says_little(results[k].value) else {k}
    fits = [name for name, found in explained.items() if to_explain <= found]
    return max(fits, key=lambda name: len(explained[name]), default="")


def _says_little(value) -> bool:
    """Whether many mistakes give this: a truth value, a whole number, a text, an error or NaN."""
    try:
        numbers = torch.as_tensor(value)
        return isinstance(value, int) or numbers.dtype == torch.bool or bool(numbers.isnan().any())
    except Exception:  # not numbers, or a tensor without numbers
        return isinstance(value, str | Raised | None)


def explain(result: Result, reference: Callable, mistake: str, none_is_right: bool) -> Property:
    """The property that holds, or that fails with the texts that say why."""
    case, right, got, touched, held = result
    if held:
        return Property(case.name, True, case.weight)
    reason = "" if mistake else reason_of(got, right, reference, none_is_right)
    unusable = isinstance(got, Raised) and isinstance(got.error, Unusable)
    if touched and not mistake and (unusable or not reason):
        reason = TOUCHED
    told = mistake or reason or result.is_like(right)
    expected = brief(right)
    came = "" if unusable else brief(got)
    if expected == came or (unusable and isinstance(right, bool)):
        expected = came = ""  # two tensors of one shape, which look alike, tell nothing
    how = "" if told else differs(got, right, case.inputs, case.atol)
    return Property(
        name=case.name,
        passed=False,
        weight=case.weight,
        mistake=mistake,
        reason=reason,
        expected=expected,
        got=came,
        given=given(case, reference),
        differs=how,
    )


def given(case: Case, reference: Callable) -> str:
    """The inputs of a question, where they are short, with the names of the parameters."""
    plainly = case.ask is call
    called = reference if plainly else case.ask
    parameters = list(inspect.signature(called).parameters.values())
    if not plainly:
        parameters = parameters[1:]  # the first is the answer
    starred = any(part.kind is part.VAR_POSITIONAL for part in parameters)
    names = [""] * len(case.inputs) if starred else [f"{part.name} = " for part in parameters]
    pairs = zip(names, case.inputs, strict=False)
    text = ", ".join(name + brief(value) for name, value in pairs)
    large = any(math.prod(getattr(value, "shape", ())) > 8 for value in case.inputs)
    unclear = large or len(text) > 250 or " at 0x" in text or "\n" in text
    return "" if unclear else text


def differs(got, expected, inputs: tuple, atol: float) -> str:
    """How a result differs: it is an input, or differs for one of many things asked for, or as
    ``difference`` says."""
    for value in inputs:
        if isinstance(value, torch.Tensor | list | str) and same(got, value):
            return f"this is the input {brief(value)} unchanged"
    text = difference(got, expected, atol)
    listed = isinstance(got, list) and isinstance(expected, list)
    if not listed or not len(got) == len(expected) == len(inputs) > 1:
        return text
    kinds = set(map(type, inputs))
    if len(kinds) > 1 or torch.Tensor in kinds or text.startswith(("each", "these")):
        return text
    k = next(k for k, value in enumerate(got) if not same(value, expected[k], atol))
    inner = difference(got[k], expected[k], atol) or f"{brief(got[k])} came"
    return f"for {brief(inputs[k])}: {inner}"


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
    """What an error says of the answer that raised it."""
    if isinstance(error, TookTooLong):
        return error.reason
    if isinstance(error, Unusable):
        return str(error)
    if type(error) is NotImplementedError:
        return NOT_BEGUN
    if type(error) is MemoryError:
        return "a tensor far larger than it need be?"
    return _where(error) or _not_callable(error) or _asked_for(reference, error)


def _not_callable(error: BaseException) -> str:
    """That an answer is no function, where it is none."""
    kind, _, rest = str(error).lstrip("'").partition("' object is not ")
    if rest != "callable":
        return ""
    if kind == "NoneType":
        return "this is None, and not a function: give the check its name, without calling it"
    return f"this is of type {kind}, and not a function: give the check its name, not a result"


def _asked_for(reference: Callable, error: BaseException) -> str:
    """How an answer is called, which is how the task begins."""
    task = reference.__doc__ or "````"
    called = " ".join(task.split("``")[1].split())
    missing = "; is the return missing?" if "NoneType" in str(error) else ""
    return f"asked for is {called}{missing}"


def _where(error: BaseException) -> str:
    """The last line of the answer's own code on the way to the error, never ours or Python's."""
    root = Path(__file__).resolve().parents[3]
    python = sysconfig.get_paths()["stdlib"]
    ours = (str(root / "albert_edu"), str(root / "albert_course"), python, "<frozen")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        installed = "site-packages" in frame.filename or frame.filename.endswith(".pyx")
        if not installed and not frame.filename.startswith(ours):
            return f"in {frame.name}, line {frame.lineno}: {(frame.line or '')[:120]}"
    if isinstance(error, TypeError) and "positional argument" in str(error):
        return "it cannot be called like this; look at the arguments in the exercise"
    return ""
