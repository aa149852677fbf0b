"""A reader's guess beside the truth: what was meant, and how far it is away.

A guess may be whatever somebody types into a cell, and none of it may stop the notebook. The
truth stands on the second line, because JupyterLab shows the first one of a folded output.
"""

import math
import re
from types import EllipsisType

RIGHT = 0.005  # as a share of the truth: a guess with as many digits as the answer shows
CLOSE = 0.15
POINTS = 3  # percentage points that are close, too
SIZE = {"k": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "billion": 1e9}
SIZES = re.compile(r"\d *((?:k|M)(?![\w-])|(?i:thousand|million|billion)(?=s?\b))")
SIZE_WORDS = re.compile(
    r"hundred|thousand|million|billion|trillion|dozen|mln|mio|bn", re.IGNORECASE
)
RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]")
NUMBER = re.compile(r"[-+−]?\d*[.,]?\d[\d.,_]*(?:e[-+]?\d+)?", re.IGNORECASE)


def answer_to(guess: object, truth: float, unit: str = "") -> str:
    """Return two lines for any object: what was guessed, and what it is.

    >>> print(answer_to("2,000", 1_000, "rows"))
    you said 2,000 rows
    it is 1,000 rows: your guess is 2 times too large
    >>> print(answer_to("8%", 8, "percent"))
    you said 8 percent
    right, it is 8 percent
    >>> print(answer_to([1, 2], 8, "percent"))
    [1, 2] is not one number
    it is 8 percent
    """
    told = f"it is {_truth_in_words(truth)}{_with_blank(unit)}"
    if guess is None or isinstance(guess, EllipsisType):
        return f"no guess yet\n{told}"
    try:
        number = read(guess, unit)
    except Exception:
        return f"{_shown(guess)} is not one number\n{told}"
    said = f"you said {_in_words(number)}{_with_blank(unit)}"
    try:
        right = float(truth)
    except (TypeError, ValueError, RuntimeError):
        return f"{said}\n{told}"
    if math.isnan(right):
        return f"{said}\n{told}"
    if math.isclose(number, right, rel_tol=RIGHT, abs_tol=1e-9):
        return f"{said}\nright, {told}"
    if is_close(number, right, unit):
        return f"{said}\nclose, {told}"
    return f"{said}\n{told}: {distance(number, right, unit)}"


def read(guess: object, unit: str = "") -> float:
    """Return the number that a guess is; an error of any kind if it is none, or several.

    "8%" is 8 where the answer is in percent, and else 0.08.

    >>> read("about 1,500 rows"), read("0,5"), read("8%"), read("8%", "percent"), read([8])
    (1500.0, 0.5, 0.08, 8.0, 8.0)
    >>> read("2 million"), read("10k"), read("0,125")
    (2000000.0, 10000.0, 0.125)
    """
    if isinstance(guess, str):
        return _read_text(guess, unit)
    if hasattr(guess, "reshape"):  # a tensor or an array, of which two numbers are one too many
        return read(guess.reshape(-1)[:2].tolist(), unit)
    if isinstance(guess, list | tuple):
        return read(guess[0], unit) if len(guess) == 1 else _not_one()
    number = float(guess)  # type: ignore[arg-type] # what cannot be a float is an error
    return _not_one() if math.isnan(number) else number


def _not_one() -> float:
    raise ValueError("not one number")


def _read_text(text: str, unit: str) -> float:
    found = NUMBER.findall(text)
    if len(found) != 1:
        return _not_one()
    if RAISED.search(text) or len(SIZE_WORDS.findall(text)) > len(SIZES.findall(text)):
        return _not_one()  # 10⁶ is not 10, and "2 hundred thousand" is not 2
    digits = found[0].replace("−", "-").replace("_", "").rstrip(".,")
    if re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")  # 1,500 is a thousand and a half, and 0,5 is a half
    number = float(digits.replace(",", "."))
    if size := SIZES.search(text):
        number *= SIZE[size[1] if size[1] in SIZE else size[1].lower()]
    return number / 100 if "%" in text and not is_percent(unit) else number


def is_percent(unit: str) -> bool:
    """Return whether a unit says that the answer is in percent.

    >>> is_percent("percent of the rows"), is_percent("rows")
    (True, False)
    """
    return unit.startswith(("percent", "%"))


def is_close(number: float, truth: float, unit: str) -> bool:
    """Return whether a guess deserves a praise, though it is not right."""
    points = is_percent(unit) and abs(number - truth) <= POINTS
    return points or math.isclose(number, truth, rel_tol=CLOSE)


def distance(number: float, truth: float, unit: str) -> str:
    """Return how far a guess is away, in the words that fit: points, times, or a difference.

    >>> distance(0.3, 75, "percent")
    '74.7 points too low; if 0.3 is meant as a share, write 30'
    >>> distance(1, 250, "rows"), distance(12, 10, "rows"), distance(3, 0, "rows")
    ('your guess is 250 times too small', 'your guess is 1.2 times too large', '3 too high')
    """
    high = number > truth
    if is_percent(unit):
        share = 0 < number < 1 < truth
        hint = f"; if {_in_words(number)} is meant as a share, write {_in_words(100 * number)}"
        points = _in_words(abs(number - truth))
        return f"{points} points too {'high' if high else 'low'}{hint if share else ''}"
    if number * truth <= 0 or math.isinf(number) or math.isinf(truth):
        return f"{_in_words(abs(number - truth))} too {'high' if high else 'low'}"
    ratio = max(number / truth, truth / number)
    times = "more than a million" if ratio > 1e6 else _in_words(ratio, 2)
    return f"your guess is {times} times too {'large' if abs(number) > abs(truth) else 'small'}"


def _in_words(number: float, digits: int = 4) -> str:
    """Return a number with a few digits, and never with an exponent that needs decoding.

    >>> _in_words(2000.0), _in_words(0.1 + 0.2), _in_words(253.4, 2), _in_words(1.25e-7)
    ('2,000', '0.3', '253', '0.000000125')
    """
    if math.isinf(number) or abs(number) > 1e15:
        return f"{number:.3g}"
    if number == int(number):
        return f"{int(number):,}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _truth_in_words(truth: object) -> str:
    """Return the truth as it is, with commas where it is a number."""
    try:
        return f"{truth:,}"
    except Exception:
        return _shown(truth)


def _with_blank(unit: str) -> str:
    return f" {unit}" if unit else ""


def _shown(value: object) -> str:
    """Return what an object calls itself, cut short, on one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
