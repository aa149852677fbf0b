"""When two results of an exercise are the same."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch


class Raised(NamedTuple):
    """The outcome of a case that ended with an error."""

    error: BaseException

    def __repr__(self) -> str:
        text = str(self.error)
        return type(self.error).__name__ + (f": {text}" if text else "")


def gap(got, expected) -> str:
    """How far tensors are apart, and where lists part, which a short form does not show."""
    try:
        if isinstance(expected, torch.Tensor) and expected.numel() > 8:
            got = torch.as_tensor(got)
            return f", off by up to {(got.double() - expected.double()).abs().max():.3g}"
        if isinstance(got, list) and len(repr(expected)) > 120:
            pairs = enumerate(zip(got, expected, strict=False))
            first = next((i for i, (a, b) in pairs if not same(a, b)), None)
            return ", of another length" if first is None else f", first different at [{first}]"
    except Exception:
        pass
    return ""


def pattern(got: object, expected: object) -> str:
    """In one sentence how all numbers differ, where they differ alike; else nothing."""
    try:
        a, b = (torch.as_tensor(value).detach().double().flatten() for value in (got, expected))
        if a.shape != b.shape or len(b.unique()) < 2:
            return ""
        if same(a.sort().values, b.sort().values):
            return "these are the right numbers in another order"
        part, shift = a[b != 0] / b[b != 0], a - b
        if len(part) > 1 and same(a, part[0] * b) and (part[0] - 1).abs() > 0.01 < part[0].abs():
            return f"each number is {part[0]:.4g} times the right one"
        if same(shift, shift[:1].expand_as(shift)):
            return f"each number is {shift[0]:+.4g} away from the right one"
    except Exception:
        pass
    return ""


def same(got: object, expected: object, atol: float = 1e-5) -> bool:
    """Equality for answers: numbers within ``atol`` (relative 1e-4), whole numbers exactly."""
    try:
        return _same(got, expected, atol)
    except Exception:  # what cannot be compared is not the same
        return False


def _same(got, expected, atol: float) -> bool:
    if isinstance(got, Raised) or isinstance(expected, Raised):
        if not isinstance(got, Raised) or not isinstance(expected, Raised):
            return False
        if type(expected.error) is ValueError:
            return isinstance(got.error, ValueError)
        return type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
    arrays = torch.Tensor | np.ndarray
    if isinstance(got, arrays) and isinstance(expected, int | float) and math.prod(got.shape) == 1:
        got = got.item()
    if isinstance(got, arrays) or isinstance(expected, arrays):
        return got is not None and _same_numbers(got, expected, atol)
    if isinstance(expected, Mapping):
        return got.keys() == expected.keys() and all(_same(got[k], expected[k], atol) for k in got)
    if isinstance(expected, list | tuple):
        return isinstance(got, list | tuple) and len(got) == len(expected) and all(
            _same(a, b, atol) for a, b in zip(got, expected, strict=True))
    if isinstance(expected, float) and isinstance(got, int | float | np.number):
        if not math.isfinite(expected):
            return bool(got == expected or (got != got and expected != expected))
        return bool(abs(got - expected) <= atol + 1e-4 * abs(expected))
    return bool(got == expected)


def _same_numbers(got, expected, atol: float) -> bool:
    a, b = (torch.as_tensor(value).detach().cpu() for value in (got, expected))
    if b.ndim == 0 and a.numel() == 1:
        a = a.reshape(())  # a number, and a tensor of one, are the same answer
    if a.shape != b.shape or a.is_complex():
        return False
    if not a.is_floating_point() and not b.is_floating_point():
        return bool((a == b).all())
    return torch.allclose(a.double(), b.double(), rtol=1e-4, atol=atol, equal_nan=True)
