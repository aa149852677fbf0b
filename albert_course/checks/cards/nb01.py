"""Cards of notebook 01: cuts of a word, WordPiece, rows with a gradient.

Their known mistakes are edits in mistakes/01.txt.
"""

import torch
from torch import Tensor

from albert_course.checks.engine.asking import each
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


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


check_count_cuts = make_check("notebook 01.1", count_cuts, _count_cuts_cases)


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


check_wordpiece = make_check("notebook 01.2", wordpiece, _wordpiece_cases)


def rows_with_gradient(value: Tensor, table: Tensor) -> int:
    """``rows_with_gradient(value, table[V,E]) -> int``: ``value`` is one number that was computed
    from ``table``. The answer is how many rows of its gradient with respect to ``table`` hold a
    number other than 0."""
    (gradient,) = torch.autograd.grad(value, table)
    return int(gradient.any(dim=1).sum())


def _rows_with_gradient_cases(draw: Draw) -> Cases:
    V = 12
    E = 3
    weight = draw.randn(V, E)
    ids = draw.integers(0, V, 8)
    ids[0] = ids[1]  # one row is looked up twice
    one = draw.integer(0, V)

    def of_squares(answer, weight, ids):
        """The answer for the sum of the squared entries of the rows that are looked up."""
        table = weight.clone().requires_grad_()
        return answer(table[ids].square().sum(), table)

    def of_one_row(answer, weight, row, gradient):
        """The answer for a sum in which one row has this gradient."""
        table = weight.clone().requires_grad_()
        return answer((table[row] * torch.tensor(gradient)).sum(), table)

    def of_scores(answer, weight, ids):
        """The answer for a loss in which every row also makes a score."""
        table = weight.clone().requires_grad_()
        scores = table[ids].mean(0) @ table.T
        return answer(scores.logsumexp(0), table)

    yield Case(
        "counts the rows that a lookup reaches",
        inputs=(weight, ids),
        weight=3.0,
        ask=of_squares,
    )
    for gradient in ([1.0, -1.0, 0.0], [-1.0, 0.0, 0.0]):
        yield Case(
            f"counts a row with the gradient {gradient}",
            inputs=(weight, one, gradient),
            ask=of_one_row,
        )
    yield Case(
        "counts every row where each row makes a score",
        inputs=(weight, ids),
        weight=2.0,
        ask=of_scores,
    )


check_rows_with_gradient = make_check(
    "notebook 01.3", rows_with_gradient, _rows_with_gradient_cases
)
