"""Card of notebook 05: what the model sees in the place of a masked token."""

import numpy as np

from albert_course.checks.asking import by_seed, need
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.text.tokenizer import MASK, SEP  # noqa: F401 - an edit uses SEP


def replace_masked(
    rng: np.random.Generator, token_ids: np.ndarray, masked: np.ndarray, vocab_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """``replace(rng, token_ids[B,S], masked[B,S], vocab_size) -> seen[B,S], labels[B,S]``: what the
    model sees, and what it predicts. Each token where ``masked`` is True is replaced by a die of
    its own, drawn from the NumPy Generator ``rng``: 80% [MASK] (id 4), 10% a random ordinary token
    (ids 5 to vocab_size - 1, all alike), 10% left as it is. Labels are the original tokens there,
    and -100 elsewhere. The caller's arrays are left as they are."""
    labels = np.where(masked, token_ids, -100)
    die = rng.random(token_ids.shape)
    words = rng.integers(MASK + 1, vocab_size, token_ids.shape)
    mask, random = die < 0.8, (die >= 0.8) & (die < 0.9)
    replaced = np.where(mask, MASK, np.where(random, words, token_ids))
    seen = np.where(masked, replaced, token_ids)
    return seen, labels


def _tokens(draw: Draw) -> Cases:
    V, B = draw.integer(36, 44), 2000
    ids = draw.numpy.integers(5, 15, (B, 24))  # so that random ones differ from borrowed ones
    masked = np.zeros((B, 24), bool)
    masked[:, [1, 2, 3, 7, 8, 9, 13, 14, 15, 20, 21, 22]] = True

    def replaced(answer, ids, masked, V, seed=5):
        seen, labels = map(np.asarray, answer(np.random.default_rng(seed), ids, masked, V))
        need(
            seen.shape == labels.shape == ids.shape,
            "two arrays [B,S] are asked for: what is seen, and the labels",
        )
        need(
            not (seen == -100).any(),
            "-100 is no token: what is seen comes first, the labels second",
        )
        return seen, labels

    def labels(answer, given, masked, V):
        ids = given.copy()
        seen, labels = replaced(answer, given, masked, V)
        for mistake, values in {
            "taking the labels after replacing": np.where(masked, seen, -100),
            "labelling only where [MASK] is seen": np.where(seen == MASK, ids, -100),
        }.items():  # they depend on what was drawn, so that no other answer gives the same
            need(not np.array_equal(labels, values) or np.array_equal(seen, ids), mistake)
        return labels

    def kinds(answer, given, masked, V):
        ids = given.copy()
        seen, _ = replaced(answer, given, masked, V)
        return np.where(seen == MASK, 0, np.where(seen == ids, 2, 1))

    def shares(answer, ids, masked, V):
        kind = kinds(answer, ids, masked, V)[masked]
        return np.array([(kind == k).mean() for k in range(3)])

    def alike(answer, ids, masked, V):
        """How often two dice agree: down a column, along a row, inside a run of three."""
        kind = kinds(answer, ids, masked, V)[masked].reshape(B, 4, 3)
        return np.array(
            [
                (kind[1:] == kind[:-1]).mean(),
                (kind[:, 1:] == kind[:, :-1]).mean(),
                (kind[:, :, 1:] == kind[:, :, :-1]).mean(),
            ]
        )

    def drawn(answer, given, masked, V):
        ids = given.copy()
        seen, _ = replaced(answer, given, masked, V)
        found = np.unique(seen[masked & (seen != MASK) & (seen != ids)])
        need(len(found) > 0, "no token was replaced by another one")
        need(found.min() > MASK, "special tokens are drawn too: ids 0 to 4 are no words")
        need(found.max() < V, f"id {found.max()} does not exist: the last of {V} is {V - 1}")
        need(
            found.max() > 14,
            "random tokens are taken from the text, where frequent ones are drawn more often",
        )
        need(len(found) > 1, "only some tokens are ever drawn; is one number drawn for all places?")
        return found

    def seeded(answer, ids, masked, V):
        return by_seed(lambda seed: replaced(answer, ids.copy(), masked, V, seed)[0])

    def unmasked(answer, ids, masked, V):
        return replaced(answer, ids, masked, V)[0][~masked]

    inputs = ids, masked, V
    yield Case("keeps the masked tokens as labels", inputs, 3.0, labels)
    yield Case("leaves the other tokens alone", inputs, 2.0, unmasked)
    yield Case(
        "puts [MASK], another token or the token itself: 80, 10, 10", inputs, 3.0, shares, 0.016
    )
    yield Case("throws a die for each token", inputs, 2.0, alike, 0.1)
    yield Case("draws random tokens from all ordinary ones", inputs, 1.0, drawn, 0)
    few = np.full((1000, 50), 5), np.ones((1000, 50), bool), 7
    yield Case("draws the two ordinary tokens of a vocabulary of 7 alike", few, 1.0, shares, 0.012)
    yield Case("takes its chance from `rng`", inputs, 1.0, seeded)
    yield Case(
        "does nothing when nothing is masked",
        (ids[:2], masked[:2] & False, V),
        1.0,
        lambda *inputs: list(replaced(*inputs)),
    )


check_replace_masked = card(
    "05.4",
    replace_masked,
    _tokens,
    {
        "taking the labels after replacing": "return seen, np.where(masked, seen, -100)",
        "labelling every token, also those that are not masked": "labels = token_ids",
        "labelling only where [MASK] is seen": "return seen, np.where(seen == MASK, token_ids, -100)",
        "writing 0 for 'not masked'; that is a token, <pad>": "labels = np.where(masked, token_ids, 0)",
        "writing -1 for 'not masked'; it must be -100": "labels = np.where(masked, token_ids, -1)",
        "labelling what is not masked": "labels = np.where(masked, -100, token_ids)",
        "replacing tokens that are not masked: look at `masked`": "seen = replaced",
        "replacing what is not masked": "seen = np.where(masked, token_ids, replaced)",
        "putting [MASK] everywhere": "mask, random = die < 2, die > 2",
        "putting another id than 4 for [MASK]": "np.where(mask, MASK, => np.where(mask, SEP,",
        "never leaving a token as it is": "mask, random = die < 0.8, die >= 0.8",
        "never putting a random token": "mask, random = die < 0.8, die > 2",
        "leaving a token in two cases of ten: the second die is thrown for what the first one left": "mask, random = die < 0.8, rng.random(die.shape) < 0.1",
        "swapping the shares of [MASK] and of random tokens": "mask, random = die < 0.1, (die >= 0.1) & (die < 0.9)",
        "masking 15% a second time; what is marked is already the 15%": "mask, random = die < 0.12, (die >= 0.12) & (die < 0.135)",
        "one die is thrown for each column, the same for all sequences": "die = np.broadcast_to(rng.random(token_ids.shape[1]), token_ids.shape)",
        "all tokens have the same fate: is one die thrown for all of them?": "die = np.full(token_ids.shape, rng.random())",
        "special tokens are drawn too: ids 0 to 4 are no words": "words = rng.integers(0, vocab_size, token_ids.shape)",
        "drawing from [MASK] on; the first ordinary token is 5": "words = rng.integers(MASK, vocab_size, token_ids.shape)",
        "drawing up to vocab_size - 2; the upper end of rng.integers is not drawn": "words = rng.integers(MASK + 1, vocab_size - 1, token_ids.shape)",
        "drawing one id that does not exist: the last is vocab_size - 1": "words = rng.integers(MASK + 1, vocab_size + 1, token_ids.shape)",
        "random tokens are taken from the text, where frequent ones are drawn more often": "words = rng.permutation(token_ids.ravel()).reshape(token_ids.shape)",
        "only some tokens are ever drawn; is one number drawn for all places?": "words = np.full(token_ids.shape, vocab_size - 1)",
        "the same seed gives another result: chance comes from np.random or random, not from `rng`": lambda rng, *inputs: (
            replace_masked(np.random.default_rng(), *inputs)
        ),
        "another seed gives the same result: is a generator made inside, with a seed of its own?": lambda rng, *inputs: (
            replace_masked(np.random.default_rng(0), *inputs)
        ),
        "-100 is no token: what is seen comes first, the labels second": "return labels, seen",
        "the caller's data are changed: work on a copy": "seen = token_ids; seen[:] = np.where(masked, "
        "replaced, token_ids)",
    },
    pure=True,
)
