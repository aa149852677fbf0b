"""Cards of notebook 01: how text is cleaned, and laid out as one row of ids."""

import unicodedata

from albert_course.checks.engine.asking import part_of
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
    def text(*words: str) -> tuple[str]:
        return (" ".join(draw.numpy.permutation(words).tolist()),)

    accents = text("Crème", "BRÛLÉE", "Ångström", "São", "Háček", "Ñandú", "Ōsaka")
    yield Case("takes capitals and accents away", accents, 3.0)
    others = text("ø", "ß", "łąka", "“war”", "don't", "(9-11)", "50%", "日本")
    yield Case("leaves everything else as it is", others)
    joined = text("ﬁne", "½", "…", "①②", "Ｆｕｌｌ", "2™", "´n´ roll")
    yield Case("takes ligatures, fractions and full-width letters apart", joined)
    quotes = text("``union''", "``state''", "don't", "it's")
    yield Case("makes straight double quotes of the typewriter's pairs", quotes)
    blanks = text("\twe  ", "  are\n", "\r\n at ", "\u00a0\u00a0peace ", " now \t")
    yield Case("puts one blank between words and none at the ends", blanks, 2.0)
    yield Case("gives the empty string for the empty string", ("",))


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

    inputs = a, b, n + m + 3 + free
    yield Case("lays out [CLS] A [SEP] B [SEP], then padding", inputs, 2.0, part_of(0))
    yield Case("gives A segment 0 and B segment 1", inputs, 2.0, part_of(1))
    yield Case("masks padding and nothing else", inputs, 2.0, part_of(2))
    yield Case("needs no padding when the pair fills the row", (a, b, n + m + 3))
    yield Case("lays out an empty B", (a, [], n + 3 + free))
    yield Case("refuses a pair that does not fit", (a, b, n + m + 2), 1.0)


check_sequence_layout = card("assignment 01.5", sequence_layout, _sequence_layout_cases)
