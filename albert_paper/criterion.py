"""A comparison as the plan writes it, ``column: low < high``, taken apart.

A text goes in; its column and its two sides come out, and a side becomes a number for each seed.
Explained in notebooks 09 and 12.
"""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from albert_edu.errors import InputError

SIDE = r"((?:(?! [<=] | \+- ).)+)"  # a row, a number, or a sum of them
LESS = re.compile(rf"(\S+): {SIDE} < {SIDE}")
NEAR = re.compile(rf"(\S+): {SIDE} = {SIDE} \+- (\S+)")


class Comparison(NamedTuple):
    """A comparison taken apart: ``column: low < high``, or ``column: low = high +- within``."""

    column: str
    low: str
    high: str
    within: float | None


def parse(text: str) -> Comparison:
    """Return the parts of a comparison. Raises InputError for a text that is none.

    >>> parse("mean_angle: all < none")
    Comparison(column='mean_angle', low='all', high='none', within=None)
    >>> parse("accuracy: NSP = 0.5 +- 0.05").within
    0.05
    """
    less = LESS.fullmatch(text)
    if less:
        column, low, high = less.groups()
        return Comparison(column, low, high, within=None)
    near = NEAR.fullmatch(text)
    if not near:
        raise InputError(
            f"{text!r} is no comparison: expected COLUMN: ROW < ROW, or "
            f"COLUMN: ROW = ROW +- NUMBER."
        )
    column, low, high, within = near.groups()
    return Comparison(column, low, high, positive_number(within, text))


def positive_number(text: str, place: str) -> float:
    """Return the number that a text says. Raises InputError unless it is one above 0."""
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not 0 < number < np.inf:
        raise InputError(f"{text!r} in {place!r} must be a number above 0.")
    return number


def side(text: str, values: pd.DataFrame) -> pd.Series:
    """Return a row, a number, or a sum of them such as ``a - b + 0.02``, for every seed.

    Raises InputError for what is neither.

    >>> values = pd.DataFrame({"a": [3.0, 4.0], "b": [1.0, 1.0]}, index=[20, 21])
    >>> side("a - b + 0.5", values).to_list()
    [2.5, 3.5]
    """
    total = pd.Series(0.0, values.index)
    parts = re.split(r" ([+-]) ", f"0 + {text}")
    for sign, part in zip(parts[1::2], parts[2::2], strict=True):
        value = values[part] if part in values else finite_number(part, values)
        total = total + value if sign == "+" else total - value
    return total


def finite_number(text: str, values: pd.DataFrame) -> float:
    """Return the number that a text says. Raises InputError for none, with the rows there are."""
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{text!r} is no row and no number; the rows are {', '.join(values)}.")
    return number
