"""Checks of notebook 01: how text is cleaned, cut into pieces, and laid out as one row of ids."""

import math
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise
from albert_edu.text.tokenizer import CLS, PAD, SEP, normalise

GAVE_UP = "given up after 50,000 look-ups"
# What check_normalise asks: the property, its weight, words that the seed shuffles, and what known mistakes make of the text.
CLEANING = [
    ("takes capitals and accents away", 3.0, ["Crème", "BRÛLÉE", "Ångström", "São", "Háček", "Ñandú", "Ōsaka"], {
        "leaving the capitals": lambda text: _without_marks(_apart(text)),
        "keeping the accents (only NFKD or NFD takes a letter apart)": lambda text: text.lower(),
        "taking the accents off and leaving them beside their letters": lambda text: _apart(text).lower(),
        "dropping the letters together with their accents": lambda text: _ascii(text).lower(),
    }),
    ("leaves everything else as it is", 1.0, ["ø", "ß", "łąka", "“war”", "don't", "(9-11)", "50%", "日本"], {
        "dropping all that is not ASCII": lambda text: " ".join(_ascii(_apart(text)).split()),
        "dropping punctuation": lambda text: normalise(re.sub(r"[^\w\s]", "", text)),
        "folding case with casefold, which also writes ss for ß": lambda text: normalise(text.casefold()),
        "writing o and l for ø and ł, which Unicode does not take apart": lambda text: normalise(_transcribed(text)),
    }),
    ("takes ligatures, fractions and full-width letters apart", 1.0, ["ﬁne", "½", "…", "①②", "Ｆｕｌｌ", "2™", "´n´ roll"], {
        "using NFD, which leaves compatibility characters whole": lambda text: _without_marks(_apart(text, "NFD")).lower(),
        "lower-casing before NFKD, which can bring capitals back": lambda text: normalise(text).replace("2tm", "2TM"),
        "joining blanks before NFKD, which makes new ones": lambda text: _without_marks(_apart(" ".join(text.split()))).lower(),
    }),
    ("makes straight double quotes of the typewriter's pairs", 1.0, ["``union''", "``state''", "don't", "it's"], {
        "leaving the pairs as they are": lambda text: text,
        "making single quotes of them": lambda text: text.replace("``", "'").replace("''", "'"),
        "making two double quotes of each pair": lambda text: re.sub("[`']", '"', text),
        "replacing single apostrophes too": lambda text: re.sub("[`']+", '"', text),
    }),
    ("puts one blank between words and none at the ends", 2.0, ["\twe  ", "  are\n", "\r\n at ", "\u00a0\u00a0peace ", " now \t"], {
        "leaving runs of blanks inside": lambda text: _apart(text).strip(),
        "taking only the space for a blank, not tabs and line ends": lambda text: re.sub(" +", " ", _apart(text)).strip(),
        "forgetting the blanks at the ends": lambda text: re.sub(r"\s+", " ", text),
        "removing all blanks": lambda text: re.sub(r"\s+", "", text),
        "replacing two blanks by one, only once": lambda text: _apart(text).replace("  ", " ").strip(),
    }),
]  # fmt: skip


@exercise("01.3")
def check_normalise(answer, trial: Trial) -> None:
    """``normalise(text) -> str``: take the text apart by NFKD and drop the combining marks, lower-case it, make a straight
    double quote of two backticks or two apostrophes, put one blank between words and none at the ends. The rest stays."""
    for name, weight, words, mistakes in CLEANING:
        text = " ".join(trial.numpy.permutation(words).tolist())
        got = trial.call(answer, text, name=name)
        reason = "" if isinstance(got, str) else f"you return {type(got).__name__}, not a string; is the return missing?"
        values = {mistake: make(text) for mistake, make in mistakes.items()}
        trial.equal(name, got, normalise(text), values, weight, reason=reason)


@exercise("01.4")
def check_best_cut(answer, trial: Trial) -> None:
    """``best_cut(word, log_p) -> list[str]``: the cut of ``word`` into keys of the dict ``log_p`` whose values have the largest
    sum; [] for the empty word, None for a word that cannot be cut."""
    # No letter stands twice in a word, so that no two cuts have the same pieces, and with them the same sum.
    *words, long = ["".join(trial.numpy.permutation([*string.ascii_letters])[:n]) for n in [11] * 16 + [40]]
    parts = sorted({word[i : i + n] for word in (*words, long) for n in (2, 3, 4) for i in range(len(word) - n + 1)})
    pieces = [*string.ascii_letters, *(part for part in parts if trial.numpy.random() < 0.5)]
    log_p = {piece: -1 - 3 * len(piece) + 2 * trial.numpy.standard_normal() for piece in pieces}
    got = [trial.call(answer, word, dict(log_p), name="takes a word and a dict") for word in words]
    listed = all(isinstance(cut, list | tuple) and all(isinstance(piece, str) for piece in cut) for cut in got)
    trial.need("returns a list of pieces", listed, "return the pieces alone, as strings, and None only where there is no way",
               got=brief(got[0]))  # fmt: skip
    spelt = all(word == "".join(cut) and log_p.keys() >= set(cut) for word, cut in zip(words, got, strict=True))
    trial.true("spells the word with pieces of the vocabulary", spelt,
               "letters are lost or moved: do your ranges reach the last letter, do the pieces come in reading order?")  # fmt: skip
    fewest = [len(cut) for cut in got] == [min(map(len, _cuts(word, log_p))) for word in words]
    trial.equal("finds the most probable cut", [list(cut) for cut in got], [_viterbi(word, log_p) for word in words],
                _wrong_cuts(words, log_p), weight=3, reason="these are cuts with the fewest pieces" if fewest else "")  # fmt: skip

    found = trial.call(lambda: _patiently(answer, long, log_p), name="survives 40 letters")
    trial.equal("finds it among the millions of cuts of 40 letters", found, _viterbi(long, log_p),
                {"listing all cuts instead of keeping the best one of each prefix": GAVE_UP}, weight=2)  # fmt: skip
    nothing = trial.call(answer, "", dict(log_p), name="survives the empty word")
    trial.equal("gives [] for the empty word", nothing, [], reason="it has one cut, and that has no pieces")
    stuck = trial.call(answer, words[0] + "?", dict(log_p), name="survives a letter without a piece")
    trial.equal("gives None where no cut exists", stuck, None, reason="? is no piece: do not invent one and do not leave it out")


@exercise("01.5")
def check_sequence_layout(answer, trial: Trial) -> None:
    """``layout(a, b, length) -> ids, segment_ids, attention_mask``: rows of ``length`` numbers for [CLS] A [SEP] B [SEP] and
    padding, from two lists of ids. [CLS] is 2, [SEP] 3, padding 0; the segment of padding is 0; the mask is 1 on pieces and 0
    on padding. A pair that does not fit is a ValueError: nothing is cut."""
    n, m, empty = (int(number) for number in trial.randint(3, 7, 3))
    a, b, filling = trial.randint(5, 99, n).tolist(), trial.randint(5, 99, m).tolist(), [PAD] * empty
    got = _three_rows(trial.call(answer, a, b, n + m + 3 + empty, name="takes two lists and a length"))
    trial.need("returns three rows of numbers", got is not None, "three things are asked for: ids, segment ids, attention mask")
    ids, segments, mask = [CLS, *a, SEP, *b, SEP], [0] * (n + 2) + [1] * (m + 1), [1] * (n + m + 3)
    good = trial.equal("lays out [CLS] A [SEP] B [SEP], then padding", got[0], ids + filling, {
        "padding in front of the row, not behind it": filling + ids,
        "leaving out the [SEP] between A and B": [CLS, *a, *b, SEP, PAD, *filling],
        "leaving out the [SEP] at the end": [CLS, *a, SEP, *b, PAD, *filling],
        "putting a [CLS] before B too": [CLS, *a, SEP, CLS, *b, SEP, *filling][: len(got[0])],
        "exchanging [CLS] and [SEP]": [SEP, *a, CLS, *b, CLS, *filling],
        "taking BERT's ids, 101 and 102, for [CLS] and [SEP]": [101, *a, 102, *b, 102, *filling],
        "forgetting the padding": ids,
    }, weight=2)  # fmt: skip
    good &= trial.equal("gives A segment 0 and B segment 1", got[1], segments + filling, {
        "giving the first [SEP] to B": [0] * (n + 1) + [1] * (m + 2) + filling,
        "giving the last [SEP] to A": [0] * (n + 2) + [1] * m + [0] + filling,
        "giving padding segment 1": segments + [1] * empty,
        "counting segments from 1": [segment + 1 for segment in segments] + filling,
        "returning the mask before the segments": mask + filling,
        "padding in front of the row, not behind it": filling + segments,
    }, weight=2)  # fmt: skip
    good &= trial.equal("masks padding and nothing else", got[2], mask + filling, {
        "marking the padding with 1, as a 'mask' that hides; here 1 says: look": [0] * len(mask) + [1] * empty,
        "hiding [CLS] and [SEP] too": [int(i not in (CLS, SEP)) for i in ids] + filling,
        "counting only A and B, so that the three special pieces come off at the end": [1] * (n + m) + [0] * 3 + filling,
        "hiding nothing": [1] * (len(mask) + empty),
        "padding in front of the row, not behind it": filling + mask,
    }, weight=2)  # fmt: skip

    full = _three_rows(trial.call(answer, a, b, len(ids), name="survives a pair that fills the row"))
    reason = "there is nothing to fill: row[-0:] is the whole row" if good else ""
    trial.equal("needs no padding when the pair fills the row", full, [ids, segments, mask], reason=reason)
    refused = trial.refuses(answer, a, b, len(ids) - 1, name="refuses a pair that does not fit with a ValueError")
    reason = "cut silently, a row loses its last [SEP] and B its end, or the row is too long for its batch"
    trial.true("refuses a pair that does not fit", refused, reason)


def _apart(text: str, form: str = "NFKD") -> str:
    return unicodedata.normalize(form, text)


def _without_marks(text: str) -> str:
    return "".join(character for character in text if not unicodedata.combining(character))


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def _transcribed(text: str) -> str:
    return text.replace("ø", "o").replace("ł", "l")


def _cuts(word: str, log_p: Mapping[str, float]) -> Iterator[list[str]]:
    """All cuts of a short word."""
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in log_p:
            yield from ([word[:end], *rest] for rest in _cuts(word[end:], log_p))


def _viterbi(word: str, log_p: Mapping[str, float]) -> list[str]:
    """The best cut of a word whose every letter is a piece; best[end] is that of word[:end]."""
    best = [(0.0, [])]
    for end in range(1, len(word) + 1):
        starts = [start for start in range(end) if word[start:end] in log_p]
        best.append(max((best[s][0] + log_p[word[s:end]], [*best[s][1], word[s:end]]) for s in starts))
    return best[-1][1]


def _greedy(word: str, log_p: Mapping[str, float], merit: Callable[[str], float]) -> list[str]:
    cut = []
    while word:
        cut.append(max((word[:end] for end in range(1, len(word) + 1) if word[:end] in log_p), key=merit))
        word = word[len(cut[-1]) :]
    return cut


def _wrong_cuts(words: list[str], log_p: dict[str, float]) -> dict[str, list[list[str]]]:
    """What known mistakes make of short words, of which all cuts can be listed."""
    p = {piece: math.exp(score) for piece, score in log_p.items()}
    choices = {
        "looking for the smallest sum, as if these were costs": lambda cut: -sum(log_p[piece] for piece in cut),
        "comparing means over the pieces instead of sums": lambda cut: sum(log_p[piece] for piece in cut) / len(cut),
        "adding probabilities, which must be multiplied": lambda cut: sum(p[piece] for piece in cut),
    }
    wrong = {mistake: [max(_cuts(word, log_p), key=key) for word in words] for mistake, key in choices.items()}
    return wrong | {
        "taking the longest piece that fits, then going on behind it": [_greedy(word, log_p, len) for word in words],
        "taking the most probable piece that fits, then going on behind it": [_greedy(word, log_p, log_p.get) for word in words],
        "collecting the pieces from the end and not turning them round": [_viterbi(word, log_p)[::-1] for word in words],
    }


class _GaveUp(Exception):
    """Too many look-ups."""


class _Vocabulary(dict):
    """Gives up on an answer that lists all cuts, long before its time is over: 40 letters have only 820 substrings."""

    asked = 0

    def _count(self) -> None:
        self.asked += 1
        if self.asked > 50_000:
            raise _GaveUp

    def __contains__(self, piece) -> bool:
        self._count()
        return super().__contains__(piece)

    def __getitem__(self, piece) -> float:
        self._count()
        return super().__getitem__(piece)

    def get(self, piece, default=None):
        self._count()
        return super().get(piece, default)


def _patiently(answer, word: str, log_p: dict[str, float]):
    try:
        return answer(word, _Vocabulary(log_p))
    except _GaveUp:
        return GAVE_UP


def _three_rows(answered) -> list[list[int]] | None:
    """Three lists of numbers out of lists, arrays or tensors; None if it is something else."""
    try:
        rows = [[int(number) for number in row] for row in answered]
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return rows if len(rows) == 3 else None
