"""Cards of notebook 01: how text is cleaned, and laid out as one row of ids."""

import unicodedata
from collections.abc import Iterable

from albert_course.checks.engine.asking import need
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.tokenizer import CLS, PAD, SEP


def normalise(text: str) -> str:
    """``normalise(text) -> str``: take the text apart by NFKD and drop the combining marks,
    lower-case it, make a straight double quote of two backticks or two apostrophes, put one blank
    between words and none at the ends. The rest stays."""
    text = text.replace("``", '"').replace("''", '"')
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c))
    return " ".join(text.lower().split())


def _normalise_cases(draw: Draw) -> Cases:
    def ask(answer, text):
        cleaned = answer(text)
        need(isinstance(cleaned, str), "a string is asked for; is the return missing?")
        return cleaned

    for name, weight, words in (
        (
            "takes capitals and accents away",
            3.0,
            ["Crème", "BRÛLÉE", "Ångström", "São", "Háček", "Ñandú", "Ōsaka"],
        ),
        (
            "leaves everything else as it is",
            1.0,
            ["ø", "ß", "łąka", "“war”", "don't", "(9-11)", "50%", "日本"],
        ),
        (
            "takes ligatures, fractions and full-width letters apart",
            1.0,
            ["ﬁne", "½", "…", "①②", "Ｆｕｌｌ", "2™", "´n´ roll"],
        ),
        (
            "makes straight double quotes of the typewriter's pairs",
            1.0,
            ["``union''", "``state''", "don't", "it's"],
        ),
        (
            "puts one blank between words and none at the ends",
            2.0,
            ["\twe  ", "  are\n", "\r\n at ", "\u00a0\u00a0peace ", " now \t"],
        ),
    ):
        yield Case(name, (" ".join(draw.numpy.permutation(words).tolist()),), weight, ask)
    yield Case("gives the empty string for the empty string", ("",), 1.0, ask)


check_normalise = card("assignment 01.3", normalise, _normalise_cases)


def sequence_layout(a: list[int], b: list[int], length: int) -> tuple[list[int], ...]:
    """``layout(a, b, length) -> ids, segment_ids, attention_mask``: rows of ``length`` numbers for
    [CLS] A [SEP] B [SEP] and padding, from two lists of ids. [CLS] is 2, [SEP] 3, padding 0; the
    segment of padding is 0; the mask is 1 on tokens and 0 on padding. A pair that does not fit is a
    ValueError: nothing is cut."""
    n = len(a) + len(b) + 3
    if n > length:
        raise ValueError(f"{n} tokens do not fit into {length}")
    ids = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    padding = [PAD] * (length - len(ids))
    mask = [1] * len(ids) + padding
    return ids + padding, segments + padding, mask


def _sequence_layout_cases(draw: Draw) -> Cases:
    n, m, free = (draw.integer(3, 7) for _ in range(3))
    a, b = draw.integers(5, 99, n).tolist(), draw.integers(5, 99, m).tolist()

    def row(*which):
        def ask(answer, a, b, length):
            rows = answer(a, b, length)
            need(
                isinstance(rows, Iterable) and len(rows) == 3,
                "three things are asked for: ids, segment ids, attention mask",
            )
            return [list(map(int, rows[i])) for i in which]

        return ask

    inputs = a, b, n + m + 3 + free
    yield Case("lays out [CLS] A [SEP] B [SEP], then padding", inputs, 2.0, row(0))
    yield Case("gives A segment 0 and B segment 1", inputs, 2.0, row(1))
    yield Case("masks padding and nothing else", inputs, 2.0, row(2))
    yield Case("needs no padding when the pair fills the row", (a, b, n + m + 3), 1.0, row(0, 1, 2))
    yield Case("lays out an empty B", (a, [], n + 3 + free), 1.0, row(0, 1, 2))
    yield Case("refuses a pair that does not fit", (a, b, n + m + 2), 1.0)


check_sequence_layout = card("assignment 01.5", sequence_layout, _sequence_layout_cases)
