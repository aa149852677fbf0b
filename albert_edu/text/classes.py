"""The classes of labelled rows: labels of any type as text, in an order that does not depend on it.

The whole column decides what its labels are. In a column of numbers 1.0 is 1, and in a column of
true and false True is true, so that a .csv, where all is text, and a .jsonl say the same.
"""

import math
import re
from collections.abc import Callable, Iterable

from albert_edu.errors import InputError

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")  # 01 is a name, not a number
NEGATION = re.compile(r"^(?:not|non|no|un)[\s_-]*", re.IGNORECASE)


def label_text(label: object) -> str:
    """Return a label as text, and "" for what is none: an empty cell, NaN, a list."""
    if label is None or isinstance(label, list | dict | bytes):
        return ""
    if isinstance(label, float) and math.isnan(label):
        return ""
    return str(label).strip()


def class_of_label(column: Iterable[str]) -> Callable[[str], str]:
    """Return what turns a label of this column, as text, into the name of its class.

    >>> one = class_of_label(["1.0", "0"])
    >>> one("1.0"), one("0.5")
    ('1', '')
    >>> class_of_label(["1.0", "n/a"])("1.0")
    '1.0'
    """
    labels = [label for label in column if label]
    if all(label.lower() in ("true", "false") for label in labels):
        return str.lower
    if all(NUMBER.fullmatch(label) for label in labels):
        return _whole_number
    return str


def _whole_number(label: str) -> str:
    """Return "1" for "1.0", and "" for what is no whole number."""
    if not NUMBER.fullmatch(label):
        return ""
    whole, _, fraction = label.partition(".")
    return "" if fraction.strip("0") else str(int(whole))


def class_names(labels: Iterable[str]) -> list[str]:
    """Return the names of the classes of a column: by number, else by alphabet.

    Of two classes, the one that negates the other stands first, as in the benchmarks: F1 is that of
    the second.

    >>> class_names(["equivalent", "not_equivalent"]), class_names(["10", "9", "-1.0"])
    (['not_equivalent', 'equivalent'], ['-1', '9', '10'])
    """
    labels = list(labels)
    name_of = class_of_label(labels)
    names = sorted({name_of(label) for label in labels} - {""})
    if all(NUMBER.fullmatch(name) for name in names):
        return sorted(names, key=int)
    if len(names) == 2 and NEGATION.sub("", names[1]).lower() == names[0].lower():
        return names[::-1]
    return names


def class_number(label: str, names: list[str]) -> int:
    """Return the number of a label's class; InputError names the classes that there are."""
    name = label if label in names else class_of_label(names)(label)
    if not label or name not in names:
        raise InputError(f"the label is not one of {', '.join(names):.300}")
    return names.index(name)
