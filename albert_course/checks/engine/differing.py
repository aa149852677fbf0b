"""How a result differs from the right one, in one sentence."""

import math
from collections.abc import Mapping
from itertools import permutations

import torch

from albert_course.checks.engine.comparing import Raised, as_tensor, plain, same
from albert_course.checks.engine.report import brief

# What a single wrong number may be of the right one. Chance hardly meets these to four digits.
RATIOS = {
    "it is log2 e = 1.4427 times the right number, as bits are for nats": 1 / math.log(2),
    "it is ln 2 = 0.6931 times the right number, as nats are for bits": math.log(2),
    "it is log10 e = 0.4343 times the right number: a logarithm to base 10?": 1 / math.log(10),
    "it is 57.3 times the right number, as degrees are for radians": math.degrees(1),
    "it is 0.01745 times the right number, as radians are for degrees": math.radians(1),
    "it is 100 times the right number, as percent are for a share": 100.0,
    "it is 0.01 times the right number, as a share is for percent": 0.01,
}


def difference(got: object, expected: object, atol: float = 1e-5) -> str:
    """How ``got`` differs from ``expected``, in one sentence that holds exactly, or nothing.

    >>> difference([2, 4, 6], [1, 2, 3])
    'each number is 2 times the right one'
    >>> difference([[1, 2], [4, 4]], [[1, 2], [3, 4]])
    '1 of 4 numbers differs: at [1, 0] 3 is expected, 4 came'
    >>> difference((0.5, ["a", "b"]), (0.5, ["a", "c", "d"]))
    "[1]: there are 2 and not 3; [1]: 'c' is expected, 'b' came"
    >>> difference(-0.7, 0.7)
    'its sign is turned round'
    """
    try:
        return _difference(plain(got), plain(expected), atol)
    except Exception:  # what cannot be compared is only shown
        return ""


def _difference(got, expected, atol: float) -> str:
    if isinstance(got, Raised) or isinstance(expected, Raised | None):
        return ""  # the report shows it
    if isinstance(expected, str):
        return _of_texts(got, expected)
    listed = isinstance(expected, list | tuple)
    other_length = listed and len(got) != len(expected)
    parted = isinstance(expected, tuple) and any(hasattr(part, "__len__") for part in expected)
    if not other_length and not parted:
        a = _tensor(got)
        b = _tensor(expected)
        if a is not None and b is not None:
            return _of_numbers(a, b, atol)
    if isinstance(expected, Mapping) and got.keys() != expected.keys():
        return f"the keys are {', '.join(got)}, not {', '.join(expected)}"
    keys = list(range(len(expected)) if listed else expected)
    return _of_parts(got, expected, keys, atol)


def _of_texts(got: str, expected: str) -> str:
    at = next(k for k in range(len(got) + 1) if got[: k + 1] != expected[: k + 1])
    return f"from place {at} on {expected[at:][:12]!r} is expected, {got[at:][:12]!r} came"


def _of_parts(got, expected, keys: list, atol: float) -> str:
    lengths = f"there are {len(got)} and not {len(keys)}" if len(got) != len(keys) else ""
    wrong = [key for key in keys[: len(got)] if not same(got[key], expected[key], atol)]
    if not wrong:
        return lengths and f"right as far as both go, but {lengths}"
    key = wrong[0]
    right = expected[key]
    inner = "" if isinstance(right, str | int | float) else difference(got[key], right, atol)
    inner = inner or f"{brief(right)} is expected, {brief(got[key])} came"
    return f"{lengths}{'; ' if lengths else ''}[{key!r}]: {inner}"


def _tensor(value: object) -> torch.Tensor | None:
    """The value as a tensor; None if it does not consist of numbers."""
    try:
        return as_tensor(value)
    except Exception:
        return None


def _of_numbers(a: torch.Tensor, b: torch.Tensor, atol: float) -> str:
    if a.shape != b.shape and not a.numel() == b.numel() == 1:
        return _of_shapes(a, b, atol)
    if b.dtype == torch.bool and a.dtype != torch.bool:
        return f"the dtype is {a.dtype}: PyTorch adds such a mask"
    if b.numel() == 1:
        return "" if b.dtype == torch.bool else _of_one_number(a.item(), b.item())
    if a.isnan().any() and not b.isnan().any():
        return f"{int(a.isnan().sum())} of {b.numel()} numbers are NaN"
    close = torch.isclose(a.double(), b.double(), rtol=1e-4, atol=atol, equal_nan=True)
    if b.dtype == torch.bool and not close.any():
        return "True and False are swapped"
    return _by_one_factor(a, b) or _by_another_order(a, b, atol) or _at_places(a, b, close)


def _of_one_number(got: float, right: float) -> str:
    """How a single number differs: by a factor that has a name, else only in which direction."""
    if math.isnan(got):
        return "it is NaN: from 0 / 0, inf - inf, or the logarithm of a number below 0?"
    if math.isinf(got):
        return "it is infinite: from a division by 0, the logarithm of 0, or a large exp?"
    if math.isnan(right) or math.isinf(right):
        return ""
    if right and math.isclose(got, -right, rel_tol=1e-4):
        return "its sign is turned round"
    for words, ratio in RATIOS.items():
        if right and math.isclose(got, ratio * right, rel_tol=1e-4):
            return words
    if abs(right) < 50 and right not in (0, 1) and math.isclose(got, math.exp(right), rel_tol=1e-4):
        return "it is e to the power of the right number"
    if right > 0 and right != 1 and math.isclose(got, math.log(right), rel_tol=1e-4):
        return "it is the logarithm of the right number"
    return "it is too large" if got > right else "it is too small"


def _of_shapes(a: torch.Tensor, b: torch.Tensor, atol: float) -> str:
    orders = permutations(range(a.ndim)) if a.ndim < 5 else ()
    order = next((each for each in orders if same(a.permute(each), b, atol)), None)
    turned = f"; in the order {order} its dimensions would be right" if order else ""
    return f"the shape is {tuple(a.shape)}, not {tuple(b.shape)}{turned}"


def _by_one_factor(a: torch.Tensor, b: torch.Tensor) -> str:
    """Whether all numbers are some times the right ones, or as far away from them."""
    x = a.double().flatten()
    y = b.double().flatten()
    if len(y.unique()) < 2 or (y != 0).sum() < 2:  # one number is always some times another
        return ""
    ratio = (x / y)[y != 0].median()
    if _alike(x, ratio * y) and abs(ratio) > 0.001 and abs(ratio - 1) > 0.001:
        return f"each number is {ratio:.4g} times the right one"
    shift = (x - y).median()
    if _alike(x - y, shift):
        return f"each number is {shift:+.4g} away from the right one"
    return ""


def _alike(numbers: torch.Tensor, expected: torch.Tensor) -> bool:
    """Equality but for rounding; a small shift would be lost in what ``same`` allows."""
    noise = 1e-6 * expected.nan_to_num(0, 0, 0).abs().max().item()
    return torch.allclose(numbers, expected.expand_as(numbers), rtol=1e-4, atol=noise)


def _by_another_order(a: torch.Tensor, b: torch.Tensor, atol: float) -> str:
    if not same(a.double().flatten().sort().values, b.double().flatten().sort().values):
        return ""
    for axis in range(a.ndim):
        if same(a.flip(axis), b, atol):
            return f"dimension {axis} is in reverse order"
    return "these are the right numbers in another order"


def _at_places(a: torch.Tensor, b: torch.Tensor, close: torch.Tensor) -> str:
    """Where the first wrong number is, and whether all wrong ones are at one index."""
    places = (~close).nonzero()
    first = tuple(places[0])
    alone = [
        f", all at index {places[0, axis]} of dimension {axis}"
        for axis in range(a.ndim)
        if len(places) > 1 and a.shape[axis] > 1 and len(places[:, axis].unique()) == 1
    ]
    verb = "differ" if len(places) > 1 else "differs"
    return (
        f"{len(places)} of {b.numel()} numbers {verb}{''.join(alone[:1])}: "
        f"at {places[0].tolist()} {brief(b[first].item())} is expected, "
        f"{brief(a[first].item())} came"
    )
