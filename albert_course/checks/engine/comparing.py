"""When two results of an exercise are the same."""

import math
from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch

from albert_course.checks.engine.report import brief


class Raised(NamedTuple):
    """The outcome of a case that ended with an error."""

    error: BaseException

    def __repr__(self) -> str:
        text = str(self.error)
        return type(self.error).__name__ + (f": {text}" if text else "")


def difference(got: object, expected: object, atol: float = 1e-5) -> str:
    """How ``got`` differs from ``expected``, in one sentence that holds exactly, or nothing.

    >>> difference([2, 4, 6], [1, 2, 3])
    'each number is 2 times the right one'
    >>> difference([[1, 2], [4, 4]], [[1, 2], [3, 4]])
    '1 of 4 numbers differs: at [1, 0] 3 is expected, 4 came'
    >>> difference((0.5, ["a", "b"]), (0.5, ["a", "c", "d"]))
    "[1]: there are 2 and not 3; [1]: 'c' is expected, 'b' came"
    """
    try:
        return _difference(got, expected, atol)
    except Exception:  # what cannot be compared is only shown
        return ""


def _difference(got, expected, atol: float) -> str:
    if isinstance(got, Raised) or isinstance(expected, Raised | None):
        return ""  # the report shows it
    if isinstance(expected, str):
        at = next(k for k in range(len(got) + 1) if got[: k + 1] != expected[: k + 1])
        return f"from place {at} on {expected[at:][:12]!r} is expected, {got[at:][:12]!r} came"
    listed = isinstance(expected, list | tuple)
    other_length = listed and len(got) != len(expected)
    parted = isinstance(expected, tuple) and any(hasattr(part, "__len__") for part in expected)
    if not other_length and not parted and (numbers := _tensors(got, expected)):
        return _of_numbers(*numbers, atol)
    if isinstance(expected, Mapping) and got.keys() != expected.keys():
        return f"the keys are {', '.join(got)}, not {', '.join(expected)}"
    keys = range(len(expected)) if listed else list(expected)
    lengths = f"there are {len(got)} and not {len(keys)}" if other_length else ""
    wrong = [key for key in keys[: len(got)] if not same(got[key], expected[key], atol)]
    if not wrong:
        return lengths and f"right as far as both go, but {lengths}"
    x, y = expected[wrong[0]], got[wrong[0]]
    inner = difference(y, x, atol) if not isinstance(x, str | int | float) else ""
    inner = inner or f"{brief(x)} is expected, {brief(y)} came"
    return f"{lengths}{'; ' if lengths else ''}[{wrong[0]!r}]: {inner}"


def _tensors(*values: object) -> list[torch.Tensor]:
    """The values as tensors; none if one of them does not consist of numbers."""
    try:
        return [torch.as_tensor(value).detach().cpu() for value in values]
    except Exception:
        return []


def _of_numbers(a: torch.Tensor, b: torch.Tensor, atol: float) -> str:
    if a.shape != b.shape:
        orders = permutations(range(a.ndim)) if a.ndim < 5 else ()
        order = next((each for each in orders if same(a.permute(each), b, atol)), None)
        turned = f"; in the order {order} its dimensions would be right" if order else ""
        return f"the shape is {tuple(a.shape)}, not {tuple(b.shape)}{turned}"
    close = torch.isclose(a.double(), b.double(), rtol=1e-4, atol=atol, equal_nan=True)
    if b.dtype == torch.bool and a.dtype != torch.bool:
        return f"the dtype is {a.dtype}: PyTorch adds such a mask"
    places, count = (~close).nonzero(), b.numel()
    if count == 1:
        return ""  # the report shows both
    if a.isnan().any() and not b.isnan().any():
        return f"{int(a.isnan().sum())} of {count} numbers are NaN"
    if b.dtype == torch.bool and not close.any():
        return "True and False are swapped"
    x, y = a.double().flatten(), b.double().flatten()
    if len(y.unique()) > 1 and (y != 0).sum() > 1:  # one number is always some times another
        ratio, shift = (x / y)[y != 0].median(), (x - y).median()
        if _alike(x, ratio * y) and abs(ratio) > 0.001 and abs(ratio - 1) > 0.001:
            return f"each number is {ratio:.4g} times the right one"
        if _alike(x - y, shift):
            return f"each number is {shift:+.4g} away from the right one"
    if same(x.sort().values, y.sort().values):
        for axis in range(a.ndim):
            if same(a.flip(axis), b, atol):
                return f"dimension {axis} is in reverse order"
        return "these are the right numbers in another order"
    alone = [
        f", all at index {places[0, axis]} of dimension {axis}"
        for axis in range(a.ndim)
        if len(places) > 1 and a.shape[axis] > 1 and len(places[:, axis].unique()) == 1
    ]
    verb, at = "differ" if len(places) > 1 else "differs", tuple(places[0])
    return (
        f"{len(places)} of {count} numbers {verb}{''.join(alone[:1])}: at {places[0].tolist()} "
        f"{brief(b[at].item())} is expected, {brief(a[at].item())} came"
    )


def _alike(numbers: torch.Tensor, expected: torch.Tensor) -> bool:
    """Equality but for rounding; a small shift would be lost in what ``same`` allows."""
    noise = 1e-6 * expected.nan_to_num(0, 0, 0).abs().max().item()
    return torch.allclose(numbers, expected.expand_as(numbers), rtol=1e-4, atol=noise)


def same(got: object, expected: object, atol: float = 1e-5) -> bool:
    """Equality for answers: numbers within ``atol`` (relative 1e-4), whole numbers exactly."""
    try:
        return _same(got, expected, atol)
    except Exception:  # what cannot be compared is not the same
        return False


def _same(got, expected, atol: float) -> bool:
    if isinstance(expected, Raised) and type(expected.error) is ValueError:
        return isinstance(got, Raised) and isinstance(got.error, ValueError)
    if isinstance(got, Raised) or isinstance(expected, Raised):
        return repr(got) == repr(expected)
    arrays = torch.Tensor | np.ndarray
    if isinstance(got, arrays) and isinstance(expected, list | tuple) and got.ndim:
        got = list(got)  # a stacked tensor is as good as a pair
    if isinstance(got, arrays) and isinstance(expected, int | float) and math.prod(got.shape) == 1:
        got = got.item()
    if isinstance(got, arrays) or isinstance(expected, arrays):
        return _same_numbers(got, expected, atol)
    if isinstance(expected, Mapping):
        return got.keys() == expected.keys() and all(_same(got[k], expected[k], atol) for k in got)
    if isinstance(expected, list | tuple):
        pairs = zip(got, expected, strict=True)  # other lengths are an error, so not the same
        return isinstance(got, list | tuple) and all(_same(*pair, atol) for pair in pairs)
    if isinstance(expected, float) and isinstance(got, int | float | np.number):
        return bool(np.isclose(got, expected, 1e-4, atol, equal_nan=True))
    return bool(got == expected)


def _same_numbers(got, expected, atol: float) -> bool:
    a, b = (torch.as_tensor(value).detach().cpu().to_dense() for value in (got, expected))
    if b.ndim == 0 and a.numel() == 1:
        a = a.reshape(())  # a number, and a tensor of one, are the same answer
    if a.shape != b.shape or a.is_complex() or (b.dtype == torch.bool and a.dtype != b.dtype):
        return False  # a mask of numbers is added where one of truth values hides
    if not a.is_floating_point() and not b.is_floating_point():
        return bool((a == b).all())
    return torch.allclose(a.double(), b.double(), rtol=1e-4, atol=atol, equal_nan=True)
