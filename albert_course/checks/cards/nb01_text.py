"""Cards of assignment 01: the best cut, normalising, and the layout of a pair.

Their known mistakes are edits in mistakes/01.txt.
"""

import string
import unicodedata
from collections.abc import Mapping

from albert_course.checks.engine.asking import need, part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.text.tokenizer import CLS, PAD, SEP


def best_cut(word: str, log_p: Mapping[str, float]) -> list[str] | None:
    """``best_cut(word, log_p) -> list[str]``: the cut of ``word`` into keys of the dict ``log_p``
    whose values have the largest sum; [] for the empty word, None for a word that no sequence of
    keys spells."""
    best: list = [(0.0, [])]  # best[end] is the sum and the cut of word[:end]
    for end in range(1, len(word) + 1):
        ways = [
            (best[start][0] + log_p[word[start:end]], [*best[start][1], word[start:end]])
            for start in range(end)
            if best[start] and word[start:end] in log_p
        ]
        best.append(max(ways, default=None))
    return best[-1][1] if best[-1] else None


class _Vocabulary(dict):
    """Ends an answer that lists all cuts: 40 letters have only 820 substrings."""

    lookups = 0

    def __getitem__(self, token: str) -> float:
        self.lookups += 1
        need(self.lookups < 50_000, "given up: keep the best cut of each prefix instead of all")
        return super().__getitem__(token)

    def get(self, token: str, default=None):
        """The value of a key, counted as a look-up."""
        if token not in self:
            return default
        return self[token]


def _parts(word: str) -> set[str]:
    """All parts of a word that have two to four letters."""
    return {word[i : i + n] for n in (2, 3, 4) for i in range(len(word) - n + 1)}


def _best_cut_cases(draw: Draw) -> Cases:
    # No letter occurs twice in a word, so that no two cuts have the same tokens and the same sum.
    letters = [*string.ascii_letters]
    *words, long = ["".join(draw.numpy.permutation(letters)[:n]) for n in [11] * 16 + [40]]
    parts = sorted(set().union(*map(_parts, [*words, long])))
    tokens = [*letters, *(part for part in parts if draw.numpy.random() < 0.5)]
    log_p = {token: -1 - 3 * len(token) + 2 * draw.numpy.standard_normal() for token in tokens}

    def cuts(answer, words, log_p):
        """The cut of each word, as lists of strings."""
        found = [answer(word, log_p) for word in words]

        texts = all(isinstance(token, str) for cut in found for token in cut or [])
        need(texts, "return the tokens alone, as strings, and None only where there is no way")
        return [None if cut is None else list(cut) for cut in found]

    def spelt(answer, words, log_p):
        """Whether each cut spells its word with keys of log_p."""
        for word, cut in zip(words, cuts(answer, words, log_p), strict=True):
            spells = "".join(cut or []) == word and log_p.keys() >= set(cut)
            need(spells, f"{cut} does not spell {word!r} with keys of log_p")
        return True

    yield Case(
        "spells the word with tokens of the vocabulary",
        inputs=(words, log_p),
        ask=spelt,
    )
    yield Case(
        "finds the most probable cut",
        inputs=(words, log_p),
        weight=3.0,
        ask=cuts,
    )
    yield Case(
        "finds it among the millions of cuts of 40 letters",
        inputs=([long], _Vocabulary(log_p)),
        weight=2.0,
        ask=cuts,
    )
    yield Case("gives [] for the empty word", ("", log_p))
    yield Case("gives None where no cut exists", (words[0] + "?", log_p))


check_best_cut = make_check("assignment 01.4", best_cut, _best_cut_cases)


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
        """The words in a drawn order, as the one input of a case."""
        return (" ".join(draw.numpy.permutation(words).tolist()),)

    accents = text("Crème", "BRÛLÉE", "Ångström", "São", "Háček", "Ñandú", "Ōsaka")
    yield Case("takes capitals and accents away", inputs=accents, weight=3.0)
    others = text("ø", "ß", "łąka", "“war”", "don't", "(9-11)", "50%", "日本")
    yield Case("leaves everything else as it is", others)
    joined = text("ﬁne", "½", "…", "①②", "Ｆｕｌｌ", "2™", "´n´ roll")
    yield Case("takes ligatures, fractions and full-width letters apart", joined)
    quotes = text("``union''", "``state''", "don't", "it's")
    yield Case("makes straight double quotes of the typewriter's pairs", quotes)
    blanks = text("\twe  ", "  are\n", "\r\n at ", "\u00a0\u00a0peace ", " now \t")
    yield Case(
        "puts one blank between words and none at the ends",
        inputs=blanks,
        weight=2.0,
    )
    yield Case("gives the empty string for the empty string", ("",))


check_normalise = make_check("assignment 01.3", normalise, _normalise_cases)


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
    a = draw.integers(5, 99, draw.integer(3, 7)).tolist()
    b = draw.integers(5, 99, draw.integer(3, 7)).tolist()
    free = draw.integer(3, 7)
    full = len(a) + len(b) + 3
    inputs = (a, b, full + free)
    rows = (
        "lays out [CLS] A [SEP] B [SEP], then padding",
        "gives A segment 0 and B segment 1",
        "masks padding and nothing else",
    )
    for row, name in enumerate(rows):
        yield Case(name, inputs=inputs, weight=2.0, ask=part_of(row))
    yield Case("needs no padding when the pair fills the row", (a, b, full))
    yield Case("lays out an empty B", (a, [], len(a) + 3 + free))
    yield Case("refuses a pair that does not fit", (a, b, full - 1))


check_sequence_layout = make_check("assignment 01.5", sequence_layout, _sequence_layout_cases)
