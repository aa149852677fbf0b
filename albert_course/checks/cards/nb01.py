"""Cards of notebook 01: cuts of a word, WordPiece, rows that move.

Their known mistakes are edits in mistakes/01.txt.
"""

import functools
from collections.abc import Callable

import torch

from albert_course.checks.engine.asking import each
from albert_course.checks.engine.card import Case, Cases, Draw, card


def count_cuts(word: str, vocabulary: set[str]) -> int:
    """``count_cuts(word, vocabulary) -> int``: in how many ways tokens of the set ``vocabulary``
    spell the word. The empty word has one cut, and a word that no tokens spell has 0."""
    cuts = [1]  # cuts[end] is the number of cuts of word[:end]
    for end in range(1, len(word) + 1):
        cuts.append(sum(cuts[start] for start in range(end) if word[start:end] in vocabulary))
    return cuts[-1]


def _some_letters(draw: Draw, count: int) -> str:
    """A word of ten letters at most, in which none occurs twice."""
    return "".join(draw.numpy.permutation([*"abcdefghij"])[:count])


def _count_cuts_cases(draw: Draw) -> Cases:
    word = _some_letters(draw, 8)
    inner = draw.integer(1, 3)  # this letter is no token, and stands in longer ones only
    letters = {*word[:inner], *word[inner + 1 :]}
    tokens = letters | {word, word[:4], word[4:], word[inner : inner + 2]}
    yield Case("counts the cuts of a word", inputs=(word, tokens), weight=3.0)
    long = "ona" * 33
    yield Case(
        "counts the 3^33 cuts of 99 letters",
        inputs=(long, {*"ona", "on", "na"}),
        weight=2.0,
    )
    yield Case("gives 1 for the empty word", ("", tokens))
    without_last = {*word[:-1], word[:4]}
    yield Case("gives 0 where no tokens spell the word", (word, without_last))


check_count_cuts = card("notebook 01.1", count_cuts, _count_cuts_cases)


def wordpiece(word: str, vocabulary: set[str]) -> list[str]:
    """``wordpiece(word, vocabulary) -> list[str]``: the tokens of BERT's WordPiece. From the left,
    always the longest token that fits; a token inside the word is in the set with ## in front, and
    is returned so. If no token fits somewhere, the whole word is ["[UNK]"]."""
    tokens = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        ends = [n for n in range(start + 1, len(word) + 1) if mark + word[start:n] in vocabulary]
        if not ends:
            return ["[UNK]"]
        tokens.append(mark + word[start : max(ends)])
        start = max(ends)
    return tokens


def _wordpiece_cases(draw: Draw) -> Cases:
    word = _some_letters(draw, 10)
    k = draw.integer(3, 6)
    # Taking the long last token early, or going back for it, would give fewer tokens.
    inside = [
        *word[:8],
        word[k : k + 2],
        word[k - 1 : k + 1],
        word[7:],
        word[1:],
        word[1:] + "!",
    ]
    tokens = {word[:k], word[:1], word[k:], *("##" + part for part in inside)}
    words = (word, word[0] + word[5:], word[1:])
    yield Case(
        "takes the longest token that fits",
        inputs=tuple((one, tokens) for one in words),
        weight=3.0,
        ask=each,
    )
    unknown = (word + "!", tokens)
    yield Case(
        "gives one [UNK] for a word that cannot be finished",
        inputs=unknown,
        weight=2.0,
    )


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
    changed = (table.weight != before).any(1)
    return set(changed.nonzero().flatten().tolist())


def _moved_rows_cases(draw: Draw) -> Cases:
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        yield Case(f"finds the rows that {kind.__name__} moves", (kind,))
    heavy = functools.partial(torch.optim.SGD, momentum=0.9)
    yield Case("finds the rows that SGD moves with momentum", (heavy,))


check_moved_rows = card("notebook 01.3", moved_rows, _moved_rows_cases)
