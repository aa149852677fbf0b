"""Card of notebook 05: what the model sees in the place of a masked token.

Its known mistakes are edits in mistakes/05.txt.
"""

from collections.abc import Callable

import numpy as np

from albert_course.checks.engine.asking import by_seed, need
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.batch import IGNORE
from albert_edu.text.tokenizer import MASK


def replace_masked(rng, token_ids, masked, vocab_size) -> tuple[np.ndarray, np.ndarray]:
    """``replace(rng, token_ids[B,S], masked[B,S], vocab_size) -> seen[B,S], labels[B,S]``: what the
    model sees, and what it predicts. Each token where ``masked`` is True is replaced by a die of
    its own, drawn from the NumPy Generator ``rng``: 80% [MASK] (id 4), 10% a random ordinary token
    (ids 5 to vocab_size - 1, all alike), 10% left as it is. Labels are the original tokens there,
    and -100 elsewhere. The caller's arrays are left as they are."""
    labels = np.where(masked, token_ids, IGNORE)
    die = rng.random(token_ids.shape)
    words = rng.integers(MASK + 1, vocab_size, token_ids.shape)
    mask, random = die < 0.8, (die >= 0.8) & (die < 0.9)
    replaced = np.where(mask, MASK, np.where(random, words, token_ids))
    seen = np.where(masked, replaced, token_ids)
    return seen, labels


Rows = tuple[np.ndarray, np.ndarray, int]  # token ids, what is masked, and the vocabulary's size


def _replaced(answer: Callable, ids, masked, V: int, seed: int = 5) -> tuple[np.ndarray, ...]:
    """What is seen, the labels, and the tokens as they were."""
    before = ids.copy()
    seen, labels = map(np.asarray, answer(np.random.default_rng(seed), ids, masked, V))
    whole = seen.shape == labels.shape == before.shape
    need(whole, "two arrays [B,S] are asked for: what is seen, and the labels")
    need(IGNORE not in seen, "-100 is no token: what is seen comes first, the labels second")
    return seen, labels, before


def _labels(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """The labels; two mistakes depend on what was drawn, so that no other answer gives the same."""
    seen, labels, before = _replaced(answer, ids, masked, V)
    mistakes = {
        "taking the labels after replacing": np.where(masked, seen, IGNORE),
        "labelling only where [MASK] is seen": np.where(seen == MASK, before, IGNORE),
    }
    for mistake, values in mistakes.items():
        need(not np.array_equal(labels, values) or np.array_equal(seen, before), mistake)
    return labels


def _unmasked(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """What is seen at the other tokens."""
    seen, _, _ = _replaced(answer, ids, masked, V)
    return seen[~masked]


def _fates(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """For each masked token 0 where [MASK] is seen, 1 for another token, 2 for the token itself."""
    seen, _, before = _replaced(answer, ids, masked, V)
    fates = np.where(seen == before, 2, 1)
    return np.where(seen == MASK, 0, fates)[masked]


def _rate(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """The shares of the three fates."""
    return np.bincount(_fates(answer, ids, masked, V), minlength=3) / masked.sum()


def _alike(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """How often two dice agree: down a column, along a row, inside a run of three."""
    fates = _fates(answer, ids, masked, V).reshape(len(ids), 4, 3)
    turned = (fates.swapaxes(0, axis) for axis in range(3))
    return np.array([(each[1:] == each[:-1]).mean() for each in turned])


def _drawn(answer: Callable, ids, masked, V: int) -> np.ndarray:
    """Which tokens are put in the place of another."""
    seen, _, before = _replaced(answer, ids, masked, V)
    return np.unique(seen[masked & (seen != MASK) & (seen != before)])


def _by_rng(answer: Callable, ids, masked, V: int) -> bool:
    """True if another seed gives other dice, and other tokens where both put a random one."""
    seen, _, before = _replaced(answer, ids.copy(), masked, V, seed=5)
    other, _, _ = _replaced(answer, ids.copy(), masked, V, seed=6)
    same_fate = ((seen == MASK) == (other == MASK))[masked].mean()
    need(same_fate < 0.9, "another seed throws the same dice: throw them with `rng`")
    both = masked & (seen != before) & (other != before) & (seen != MASK) & (other != MASK)
    same_token = (seen == other)[both].mean() if both.any() else 0.0
    need(same_token < 0.5, "another seed draws the same random tokens: draw them with `rng`")
    return True


def _replace_masked_cases(draw: Draw) -> Cases:
    V = draw.integer(36, 44)
    B = 2000
    ids = draw.numpy.integers(5, 15, (B, 24))  # so that random ones differ from borrowed ones
    masked = np.zeros((B, 24), bool)
    masked[:, [1, 2, 3, 7, 8, 9, 13, 14, 15, 20, 21, 22]] = True  # in runs of three
    rows: Rows = (ids, masked, V)
    few: Rows = (np.full((1000, 50), 5), np.ones((1000, 50), bool), 7)
    nothing: Rows = (ids[:2], masked[:2] & False, V)

    yield Case("keeps the masked tokens as labels", inputs=rows, weight=3.0, ask=_labels)
    yield Case("leaves the other tokens alone", inputs=rows, weight=2.0, ask=_unmasked)
    yield Case(
        "puts [MASK], another token or the token itself: 80, 10, 10",
        inputs=rows,
        weight=3.0,
        ask=_rate,
        atol=0.016,
    )
    yield Case("throws a die for each token", inputs=rows, weight=2.0, ask=_alike, atol=0.1)
    yield Case("draws random tokens from all ordinary ones", inputs=rows, ask=_drawn, atol=0)
    yield Case(
        "draws the two ordinary tokens of a vocabulary of 7 alike",
        inputs=few,
        ask=_rate,
        atol=0.012,
    )
    yield Case("throws the dice and draws the tokens with `rng`", inputs=rows, ask=_by_rng)
    yield Case("takes its chance from `rng`", inputs=rows, ask=by_seed(_replaced))
    yield Case("does nothing when nothing is masked", inputs=nothing, ask=_replaced)


check_replace_masked = make_check(
    "assignment 05.4", replace_masked, _replace_masked_cases, pure=True
)
