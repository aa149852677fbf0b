"""Cards of notebook 01: the number of cuts of a word, WordPiece, rows that an optimizer moves."""

from collections.abc import Callable

import torch

from albert_course.checks.engine import Case, Cases, Draw, card


def count_cuts(word: str, vocabulary: set[str]) -> int:
    """``count_cuts(word, vocabulary) -> int``: in how many ways tokens of the set ``vocabulary``
    spell the word. The empty word has one cut, and a word that no tokens spell has 0."""
    cuts = [1]  # cuts[end] is the number of cuts of word[:end]
    for end in range(1, len(word) + 1):
        cuts.append(sum(cuts[start] for start in range(end) if word[start:end] in vocabulary))
    return cuts[-1]


def _words(draw: Draw) -> Cases:
    word = "".join(draw.numpy.permutation([*"abcdefghij"])[:8])
    inner = draw.integer(1, 3)  # this letter is no token, and stands in longer ones only
    tokens = {*word[:inner], *word[inner + 1 :], word, word[:4], word[4:], word[inner : inner + 2]}
    yield Case("counts the cuts of a word", (word, tokens), 3.0)
    yield Case("counts the 3^33 cuts of 99 letters", ("ona" * 33, {*"ona", "on", "na"}), 2.0)
    yield Case("gives 1 for the empty word", ("", tokens))
    yield Case("gives 0 where no tokens spell the word", (word, {*word[:-1], word[:4]}))


check_count_cuts = card(
    "01.1",
    count_cuts,
    _words,
    {
        "giving the empty prefix 0 cuts; it has one, the empty cut": "[1] => [0]",
        "counting the last tokens, not the cuts in front of them": "sum(cuts[start] for => sum(1 for",
        "stopping one letter before the end": "len(word) + 1 => len(word)",
    },
)


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


def _marked(draw: Draw) -> Cases:
    word, k = "".join(draw.numpy.permutation([*"abcdefghij"])), draw.integer(3, 6)
    # Taking the long last token early, or going back for it, would give fewer tokens.
    ends = word[k : k + 2], word[k - 1 : k + 1], word[7:], word[1:], word[1:] + "!"
    tokens = {word[:k], word[:1], word[k:], *("##" + part for part in (*word[:8], *ends))}
    yield Case(
        "takes the longest token that fits",
        ([word, word[0] + word[5:], word[1:]], tokens),
        3.0,
        lambda answer, words, tokens: [answer(word, tokens) for word in words],
    )
    yield Case("gives one [UNK] for a word that cannot be finished", (word + "!", tokens), 2.0)


check_wordpiece = card(
    "01.2",
    wordpiece,
    _marked,
    {
        "taking the shortest token that fits": ("max(ends)]) => min(ends)])", "= max => = min"),
        "looking inside the word for tokens without ##": 'mark = ""',
        "returning the tokens without ##": "append(mark + => append(",
        "keeping the tokens in front of a place where none fits": '["[UNK]"] => [*tokens, "[UNK]"]',
    },
)


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


def _optimizers(draw: Draw) -> Cases:
    for name, options in (("SGD", {}), ("Adam", {}), ("AdamW", {}), ("SGD", {"momentum": 0.9})):
        yield Case(
            f"finds the rows that {name} moves" + " with momentum" * len(options),
            (lambda p, n=name, o=options: getattr(torch.optim, n)(p, lr=0.1, **o),),
        )


check_moved_rows = card(
    "01.6",
    moved_rows,
    _optimizers,
    {
        "keeping the weight without .clone(), so that it moves too": ".detach().clone() => .detach()",
        "a new optimizer for each step": "table(torch => optimizer = make([table.weight]); table(torch",
        "leaving out zero_grad(), or comparing with the weight before both steps": ".zero_grad() => ",
        "returning the rows that have a gradient": "weight != before => weight.grad != 0",
    },
)
