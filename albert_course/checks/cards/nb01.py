"""Cards of notebook 01: cuts of a word, WordPiece, rows that move; how text becomes ids."""

import functools
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping

import torch

from albert_course.checks.engine.asking import each, need, part_of
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.tokenizer import CLS, PAD, SEP


def count_cuts(word: str, vocabulary: set[str]) -> int:
    """``count_cuts(word, vocabulary) -> int``: in how many ways tokens of the set ``vocabulary``
    spell the word. The empty word has one cut, and a word that no tokens spell has 0."""
    cuts = [1]  # cuts[end] is the number of cuts of word[:end]
    for end in range(1, len(word) + 1):
        cuts.append(sum(cuts[start] for start in range(end) if word[start:end] in vocabulary))
    return cuts[-1]


def _count_cuts_cases(draw: Draw) -> Cases:
    word = "".join(draw.numpy.permutation([*"abcdefghij"])[:8])
    inner = draw.integer(1, 3)  # this letter is no token, and stands in longer ones only
    tokens = {*word[:inner], *word[inner + 1 :], word, word[:4], word[4:], word[inner : inner + 2]}
    yield Case("counts the cuts of a word", (word, tokens), 3.0)
    yield Case("counts the 3^33 cuts of 99 letters", ("ona" * 33, {*"ona", "on", "na"}), 2.0)
    yield Case("gives 1 for the empty word", ("", tokens))
    yield Case("gives 0 where no tokens spell the word", (word, {*word[:-1], word[:4]}))


check_count_cuts = card("notebook 01.1", count_cuts, _count_cuts_cases)


def wordpiece(word: str, vocabulary: set[str]) -> list[str]:
    """``wordpiece(word, vocabulary) -> list[str]``: the tokens of BERT's WordPiece. From the left,
    always the longest token that fits; a token inside the word is in the set with ## in front, and
    is returned so. If no token fits somewhere, the whole word is ["[UNK]"]."""
    tokens, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        ends = [n for n in range(start + 1, len(word) + 1) if mark + word[start:n] in vocabulary]
        if not ends:
            return ["[UNK]"]
        tokens.append(mark + word[start : max(ends)])
        start = max(ends)
    return tokens


def _wordpiece_cases(draw: Draw) -> Cases:
    word, k = "".join(draw.numpy.permutation([*"abcdefghij"])), draw.integer(3, 6)
    # Taking the long last token early, or going back for it, would give fewer tokens.
    ends = word[k : k + 2], word[k - 1 : k + 1], word[7:], word[1:], word[1:] + "!"
    tokens = {word[:k], word[:1], word[k:], *("##" + part for part in (*word[:8], *ends))}
    inputs = tuple((one, tokens) for one in (word, word[0] + word[5:], word[1:]))
    yield Case("takes the longest token that fits", inputs, 3.0, each)
    yield Case("gives one [UNK] for a word that cannot be finished", (word + "!", tokens), 2.0)


check_wordpiece = card("notebook 01.2", wordpiece, _wordpiece_cases)


def moved_rows(make: Callable) -> set[int]:
    """``moved_rows(make) -> set[int]``: ``make(parameters)`` returns an optimizer. It makes a step
    on the squared entries of row 1 of an ``nn.Embedding(6, 2)``, then a step on those of row 4. The
    answer is the set of rows that the second step has changed."""
    table = torch.nn.Embedding(6, 2)
    optimizer = make(table.parameters())
    for row in (1, 4):
        before = table.weight.detach().clone()
        optimizer.zero_grad()
        table(torch.tensor([row])).square().sum().backward()
        optimizer.step()
    return set((table.weight != before).any(1).nonzero().flatten().tolist())


def _moved_rows_cases(draw: Draw) -> Cases:
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        yield Case(f"finds the rows that {kind.__name__} moves", (kind,))
    heavy = functools.partial(torch.optim.SGD, momentum=0.9)
    yield Case("finds the rows that SGD moves with momentum", (heavy,))


check_moved_rows = card("notebook 01.3", moved_rows, _moved_rows_cases)


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


def _best_cut_cases(draw: Draw) -> Cases:
    # No letter occurs twice in a word, so that no two cuts have the same tokens and the same sum.
    letters = [*string.ascii_letters]
    *words, long = ["".join(draw.numpy.permutation(letters)[:n]) for n in [11] * 16 + [40]]
    spans = [(i, i + n) for n in (2, 3, 4) for i in range(41 - n)]
    parts = sorted({word[i:k] for word in (*words, long) for i, k in spans if k <= len(word)})
    tokens = [*letters, *(part for part in parts if draw.numpy.random() < 0.5)]
    log_p = {token: -1 - 3 * len(token) + 2 * draw.numpy.standard_normal() for token in tokens}

    def cuts(answer, words, log_p):
        found = [answer(word, log_p) for word in words]

        texts = all(isinstance(token, str) for cut in found for token in cut or [])
        need(texts, "return the tokens alone, as strings, and None only where there is no way")
        return [None if cut is None else list(cut) for cut in found]

    def spelt(answer, words, log_p):
        for word, cut in zip(words, cuts(answer, words, log_p), strict=True):
            spells = "".join(cut or []) == word and log_p.keys() >= set(cut)
            need(spells, f"{cut} does not spell {word!r} with keys of log_p")
        return True

    yield Case("spells the word with tokens of the vocabulary", (words, log_p), 1.0, spelt)
    yield Case("finds the most probable cut", (words, log_p), 3.0, cuts)
    many = [long], _Vocabulary(log_p)
    yield Case("finds it among the millions of cuts of 40 letters", many, 2.0, cuts)
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
    fitting = [word[:end] for end in range(1, len(word) + 1) if word[:end] in log_p]
    if not fitting:
        return None if word else []
    first = max(fitting, key=merit)
    rest = _greedy(word[len(first) :], log_p, merit)
    return rest if rest is None else [first, *rest]


check_best_cut = card("assignment 01.4", best_cut, _best_cut_cases)


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
