"""Card of notebook 01: the most probable way to cut a word into tokens."""

import math  # noqa: F401 - edits use it
import string
from collections.abc import Iterator, Mapping

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card


def best_cut(word: str, log_p: Mapping[str, float]) -> list[str] | None:
    """``best_cut(word, log_p) -> list[str]``: the cut of ``word`` into keys of the dict ``log_p``
    whose values have the largest sum; [] for the empty word, None for a word that no sequence of
    keys spells."""
    best = [(0.0, [])]  # best[end] is the sum and the cut of word[:end]
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
        return self[token] if token in self else default


def _words(draw: Draw) -> Cases:
    # No letter occurs twice in a word, so that no two cuts have the same tokens and the same sum.
    letters = [*string.ascii_letters]
    *words, long = ["".join(draw.numpy.permutation(letters)[:n]) for n in [11] * 16 + [40]]
    parts = sorted(
        {
            word[i : i + n]
            for word in (*words, long)
            for n in (2, 3, 4)
            for i in range(len(word) - n + 1)
        }
    )
    tokens = [*letters, *(part for part in parts if draw.numpy.random() < 0.5)]
    log_p = {token: -1 - 3 * len(token) + 2 * draw.numpy.standard_normal() for token in tokens}

    def cuts(answer, words, log_p):
        found = [answer(word, log_p) for word in words]
        need(found != [None] * 16, "you return None; is the return missing?")
        need(
            all(isinstance(token, str) for cut in found if cut is not None for token in cut),
            "return the tokens alone, as strings, and None only where there is no way",
        )
        return [None if cut is None else list(cut) for cut in found]

    def spelt(answer, words, log_p):
        for word, cut in zip(words, cuts(answer, words, log_p), strict=True):
            spells = "".join(cut or []) == word and log_p.keys() >= set(cut)
            need(spells, f"{cut} does not spell {word!r} with keys of log_p")
        return True

    yield Case("spells the word with tokens of the vocabulary", (words, log_p), 1.0, spelt)
    yield Case("finds the most probable cut", (words, log_p), 3.0, cuts)
    yield Case(
        "finds it among the millions of cuts of 40 letters", ([long], _Vocabulary(log_p)), 2.0, cuts
    )
    yield Case("gives [] for the empty word", ("", log_p))
    yield Case("gives None where no cut exists", (words[0] + "?", log_p))


def _cuts(word: str, log_p: Mapping[str, float]) -> Iterator[list[str]]:
    """All cuts of a short word."""
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in log_p:
            yield from ([word[:end], *rest] for rest in _cuts(word[end:], log_p))


def _greedy(word: str, log_p: Mapping[str, float], merit) -> list[str] | None:
    cut = []
    while word:
        fitting = [word[:end] for end in range(1, len(word) + 1) if word[:end] in log_p]
        if not fitting:
            return None
        cut.append(max(fitting, key=merit))
        word = word[len(cut[-1]) :]
    return cut


check_best_cut = card(
    "01.4",
    best_cut,
    _words,
    {
        "taking the longest token that fits, then going on": "return _greedy(word, log_p, len)",
        "taking the most probable token that fits, then going on": "return _greedy(word, log_p, log_p.get)",
        "looking for the cut with the fewest tokens": "best[start][0] + log_p[word[start:end]] => best[start][0] - 1",
        "looking for the smallest sum, as if these were costs": "max(ways => min(ways",
        "adding probabilities, which must be multiplied": "+ log_p[word[start:end]] => + math.exp(log_p[word[start:end]])",
        "multiplying logarithms, which must be added": (
            "(0.0, => (1.0,",
            "best[start][0] + log_p => best[start][0] * log_p",
        ),
        "comparing means over the tokens instead of sums": "return max(_cuts(word, log_p), "
        "key=lambda cut: sum(map(log_p.get, cut)) / max(1, len(cut)), default=None)",
        "collecting the tokens from the end and not turning them round": "[*best[start][1], word[start:end]] => [word[start:end], *best[start][1]]",
        "listing all cuts instead of keeping the best one of each prefix": "return max(_cuts(word, "
        "log_p), key=lambda cut: sum(log_p[token] for token in cut), default=None)",
        "giving None for the empty word, though it has one cut, of no tokens": "return best[-1][1] if word and best[-1] else None",
        "giving [] where no cut exists": "return best[-1][1] if best[-1] else []",
    },
)
