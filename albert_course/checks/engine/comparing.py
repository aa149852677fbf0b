"""When two results of an exercise are the same."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import NamedTuple

import numpy as np
import torch

ARRAYS = torch.Tensor | np.ndarray
# Asked for first: most results are long lists of these, and looking for an abstract class is slow.
WHOLE = frozenset((int, bool, str, bytes, type(None)))
SEQUENCES = re.compile(r"\b(?:list|tuple)\b")  # an error's words say which of them it was
COMPARED = WHOLE | {float, torch.Tensor, np.ndarray, list, tuple, dict}


class Raised(NamedTuple):
    """The outcome of a case that ended with an error."""

    error: BaseException

    def __repr__(self) -> str:
        name = type(self.error).__name__
        text = str(self.error)
        return f"{name}: {text}" if text else name


def plain(value):
    """A result in the types that are compared: a deque is a list here, and a Fraction a number.

    >>> plain((range(2), {"half": Fraction(1, 2)}))
    ([0, 1], {'half': 0.5})
    """
    value = _outermost(value)
    if type(value) is list:
        return [plain(one) for one in value]
    if type(value) is tuple:
        return tuple(map(plain, value))
    if type(value) is dict:
        return {key: plain(one) for key, one in value.items()}
    return value


def _outermost(value):
    """The value itself in a type that is compared, whatever it holds."""
    if type(value) in COMPARED or isinstance(value, Raised | str | bytes):
        return value
    if isinstance(value, Fraction | Decimal):
        number = float(value)
        return int(value) if number.is_integer() else number
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return tuple(value)
    return list(value) if isinstance(value, Sequence) else value


def same(got: object, expected: object, atol: float = 1e-5) -> bool:
    """Equality for answers: numbers within ``atol`` (relative 1e-4), whole numbers exactly."""
    try:
        return _same(got, expected, atol)
    except Exception:  # what cannot be compared is not the same
        return False


def _same(got, expected, atol: float) -> bool:
    if type(got) in WHOLE and type(expected) in WHOLE:
        return got == expected
    got = _outermost(got)
    expected = _outermost(expected)
    if isinstance(got, Raised) or isinstance(expected, Raised):
        return _same_error(got, expected)
    if isinstance(got, ARRAYS) and isinstance(expected, list | tuple) and got.ndim:
        got = list(got)  # a stacked tensor is as good as a pair
    if isinstance(got, ARRAYS) and isinstance(expected, int | float) and math.prod(got.shape) == 1:
        got = got.item()
    if isinstance(got, ARRAYS) or isinstance(expected, ARRAYS):
        return _same_numbers(plain(got), plain(expected), atol)
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping) or got.keys() != expected.keys():
            return False
        return all(_same(got[key], expected[key], atol) for key in expected)
    if isinstance(expected, list | tuple):
        if not isinstance(got, list | tuple) or len(got) != len(expected):
            return False
        return all(_same(*pair, atol) for pair in zip(got, expected, strict=True))
    if isinstance(expected, float) and isinstance(got, Real):
        return bool(np.isclose(float(got), expected, 1e-4, atol, equal_nan=True))
    return bool(got == expected)


def _same_error(got, expected) -> bool:
    if isinstance(expected, Raised) and type(expected.error) is ValueError:
        return isinstance(got, Raised) and isinstance(got.error, ValueError)
    return SEQUENCES.sub("sequence", repr(got)) == SEQUENCES.sub("sequence", repr(expected))


def _same_numbers(got, expected, atol: float) -> bool:
    a = as_tensor(got)
    b = as_tensor(expected)
    if b.ndim == 0 and a.numel() == 1:
        a = a.reshape(())  # a number, and a tensor of one, are the same answer
    if a.shape != b.shape or a.is_complex():
        return False
    if b.dtype == torch.bool and a.dtype != torch.bool:
        return False  # a mask of numbers is added where one of truth values hides
    if not a.is_floating_point() and not b.is_floating_point():
        return bool((a == b).all())
    return torch.allclose(a.double(), b.double(), rtol=1e-4, atol=atol, equal_nan=True)


def as_tensor(value) -> torch.Tensor:
    """The value as a dense tensor on the CPU, without a graph."""
    return torch.as_tensor(value).detach().cpu().to_dense()
