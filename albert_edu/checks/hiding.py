"""Checks of notebook 05: which words are hidden, and what stands in their place."""

from collections.abc import Mapping, Sequence

import numpy as np

from albert_edu.checks.trial import Trial, exercise
from albert_edu.text.masking import IGNORE, ngram_probabilities
from albert_edu.text.tokenizer import MASK

ROOM_FOR_CHANCE = 0.1  # measured shares may be off by that; no right answer came near it in hundreds of seeds
RUNS = {  # shares of runs of 1, 2, 3 and more words
    "drawing n evenly from 1, 2, 3": [1 / 3, 1 / 3, 1 / 3, 0],
    "turning p(n) round, so that long runs are the favourites": [2 / 11, 3 / 11, 6 / 11, 0],
    "making p(n) grow like n": [1 / 6, 2 / 6, 3 / 6, 0],
    "hiding single words only": [1, 0, 0, 0],
    "hiding max_ngram words each time": [0, 0, 1, 0],
    "drawing n one too large: from 2, 3, 4 words": [0, 6 / 11, 3 / 11, 2 / 11],
    "drawing n one too small: 0, 1 or 2 words": [0.6, 0.4, 0, 0],
}
DICE = {  # shares of [MASK], of other pieces, and of pieces left
    "putting [MASK] everywhere": [1, 0, 0],
    "never leaving a piece as it is": [0.8, 0.2, 0],
    "never putting a random piece": [0.8, 0, 0.2],
    "leaving a piece in two cases of ten: the second die is thrown for what the first one left": [0.8, 0.02, 0.18],
    "giving the random piece nine of the ten cases that [MASK] leaves; it gets half of them": [0.8, 0.18, 0.02],
    "exchanging the shares of [MASK] and of random pieces": [0.1, 0.8, 0.1],
    "exchanging the shares of [MASK] and of what is left": [0.1, 0.1, 0.8],
    "hiding 15% a second time; what is marked is already the 15%": [0.12, 0.015, 0.865],
    "throwing an even die for the three": [1 / 3, 1 / 3, 1 / 3],
}


@exercise("05.3")
def check_ngram_masking(answer, trial: Trial) -> None:
    """``choose(rng, maskable[B,S], starts_word[B,S], max_ngram, rate) -> bool[B,S]``: the pieces to hide. ``rng`` is a NumPy
    Generator, the source of all chance. ``maskable`` is False on special pieces and padding, which end a word and a run;
    ``starts_word`` is True on a word's first piece. Hide whole words, in runs of n words, n drawn with p(n) proportional to 1/n,
    n <= max_ngram, from anywhere in the row. A row with m maskable pieces has a budget of round(rate·(m + 3)) pieces, at least
    1; spend all you can, never more. A run that does not fit may be shortened or left out."""
    rows = [_row(trial, 96, int(words)) for words in (90, 90, 60, 40, 20, 4) * 4]
    maskable, starts, pads = (np.stack(part) for part in zip(*rows, strict=True))
    budget = np.maximum(1, np.round(0.15 * (maskable.sum(1) + 3)))

    def ask(rows, starts, n=3, rate=0.15, seed=5, name="takes rng, maskable, starts_word, max_ngram and rate"):
        got = _array(trial.call(answer, np.random.default_rng(seed), rows, starts, n, rate, name=name))
        if got is None or got.shape != rows.shape or not ((got == 0) | (got == 1)).all():
            told = "is the return missing?" if got is None else f"the shape is {got.shape}, not {rows.shape}"
            trial.need("returns a boolean for each piece", False, told)
        return got.astype(bool)

    many = [ask(maskable, starts, seed=seed) for seed in range(8)]
    hidden = np.stack(many)
    places = {"padding": pads, "[CLS] or [SEP]": ~maskable & ~pads}
    named = " and ".join(name for name, place in places.items() if hidden[:, place].any())
    trial.true("never hides a special piece or padding", not named, f"hidden is {named}: ask `maskable`", weight=2)
    torn = any((one != _whole(one, maskable, starts)).any() for one in many)
    trial.true("hides whole words", not torn, "sub-word pieces are hidden without the rest of their word", weight=3)
    spent = hidden.sum(2) / budget
    trial.true("never exceeds the budget", (spent <= 1).all(), _why_too_many(hidden, maskable, starts, budget), weight=2)
    reason = "most of the budget is left: a run shorter than max_ngram takes less of it; go on until nothing fits"
    trial.true("spends the budget", spent[:, budget > 3].mean() > 0.75, reason)
    thirds = hidden[:, budget == budget.max()].mean((0, 1))
    front, back = thirds[1:31].mean(), thirds[62:92].mean()
    side = "front" if front > back else "end"
    trial.true("hides words in all parts of a row", abs(front - back) < 0.75 * (front + back) / 2,
               f"the budget is spent at the {side}: take the runs in random order")  # fmt: skip

    rows = [_row(trial, 4000, 3990, long_words=0.1) for _ in range(8)]
    long, long_starts, _ = (np.stack(part) for part in zip(*rows, strict=True))
    few = ask(long, long_starts, rate=0.04)
    _about(trial, "draws n with p(n) = (1/n) / (1/1 + 1/2 + 1/3)", _run_lengths(few, long_starts, 3),
           [*ngram_probabilities(3), 0], RUNS, weight=3)  # fmt: skip
    singles = _run_lengths(ask(long, long_starts, n=1, rate=0.04), long_starts, 3)[0]
    trial.true("hides single words when max_ngram is 1", singles > 0.85, "max_ngram is ignored: is 3 written out?")
    lone = np.zeros((300, 80), bool)
    lone[:, ::2] = True  # pieces that each stand between two gaps; only the first begins a word by `starts_word`
    two = ask(lone, np.arange(80) < lone[:, :1], n=2, rate=0.04)  # a budget of 2 of 40: 5% are neighbours by chance
    crossed = (two[:, :-2] & two[:, 2:]).any(1).mean()
    trial.true("ends a word and a run at a gap", two.any() and crossed < 0.17,
               f"a {'run' if two.any() else 'word'} reaches across a gap: [SEP] stands between its pieces")  # fmt: skip
    again, other = ask(maskable, starts, seed=5), ask(maskable, starts, seed=6)
    _by_seed_alone(trial, hidden[5], again, other)
    nothing = ask(np.zeros((2, 6), bool), np.ones((2, 6), bool), name="survives rows without a word")
    trial.true("hides nothing where there is no word", not nothing.any(), "ask `maskable`, also when the budget is 1")


@exercise("05.4")
def check_replace_masked(answer, trial: Trial) -> None:
    """``replace(rng, token_ids[B,S], masked[B,S], vocab_size) -> seen[B,S], labels[B,S]``: what the model sees and is asked.
    Each piece where ``masked`` is True is replaced by a die of its own, drawn from the NumPy Generator ``rng``: 80% [MASK] (id
    4), 10% a random ordinary piece (ids 5 to vocab_size - 1, all alike), 10% left as it is. Labels are the pieces that stood
    there, and -100 where nothing is asked."""
    V, B = int(trial.randint(36, 44, 1)), 300
    ids = trial.numpy.integers(5, 15, (B, 24))  # the text uses ten pieces, so that random ones can be told from borrowed ones
    masked = np.zeros((B, 24), bool)
    masked[:, [1, 2, 3, 7, 8, 9, 13, 14, 15, 20, 21, 22]] = True

    def ask(ids, masked, seed=5, name="takes rng, token_ids, masked and vocab_size"):
        got = trial.call(answer, np.random.default_rng(seed), ids, masked, V, name=name)
        pair = [_array(one) for one in got] if isinstance(got, tuple | list) and len(got) == 2 else [None]
        if not all(one is not None and one.shape == ids.shape for one in pair):
            trial.need("returns ids and labels", False, "two arrays [B,S] are asked for: what is seen, and the labels")
        if (pair[0] == IGNORE).any():
            trial.need("returns ids and labels", False, "-100 is no piece: what is seen comes first, the labels second")
        return pair

    seen, labels = ask(ids, masked)
    trial.equal("keeps the hidden pieces as labels", labels, np.where(masked, ids, IGNORE), {
        "taking the labels after replacing": np.where(masked, seen, IGNORE),
        "labelling every piece, also those that nobody asks about": ids,
        "labelling every piece, and after replacing": seen,
        "asking only where [MASK] stands": np.where(seen == MASK, ids, IGNORE),
        "asking only where a piece was changed": np.where(seen != ids, ids, IGNORE),
        "writing 0 for 'not asked'; that is a piece, <pad>, and -100 is none": np.where(masked, ids, 0),
        "labelling what is not hidden": np.where(masked, IGNORE, ids),
        "returning the mask as labels": masked.astype(int),
    }, weight=3)  # fmt: skip
    reason = "replaced is what was not chosen: look at `masked`"
    trial.true("leaves the other pieces alone", (seen == ids)[~masked].all(), reason, weight=2)
    blank, left = (seen == MASK)[masked].reshape(B, 4, 3), (seen == ids)[masked].reshape(B, 4, 3)
    shares = [blank.mean(), (~blank & ~left).mean(), left.mean()]
    _about(trial, "puts [MASK], another piece or the piece itself: 80, 10, 10", shares, [0.8, 0.1, 0.1], DICE, 3, 0.04)
    kinds = np.where(blank, 0, np.where(left, 1, 2))
    alike = {  # P(two dice agree) is 0.66 where they are two, and about 1 where they are one
        "one die is thrown for each column, the same for all sequences": (kinds[1:] == kinds[:-1]).mean(),
        "one die is thrown for each sequence": (kinds[:, 1:] == kinds[:, :-1]).mean(),
        "one die is thrown for each run, as in SpanBERT": (kinds[:, :, 1:] == kinds[:, :, :-1]).mean(),
    }
    shared = [reason for reason, agree in alike.items() if agree > 0.85 and min(shares) > 0.01]
    shared += ["all pieces fare alike: is one die thrown for all of them?"] if max(shares) > 0.95 else []
    trial.true("throws a die for each piece", min(shares) > 0.01 and not shared, "".join(shared[:1]), weight=2)
    drawn = seen[masked & (seen != MASK) & (seen != ids)]
    trial.true("draws random pieces from all ordinary ones", len(np.unique(drawn)) > V - 10 and drawn.min() > MASK and
               drawn.max() < V, _why_not_ordinary(drawn, ids, V))  # fmt: skip
    _by_seed_alone(trial, seen, ask(ids, masked)[0], ask(ids, masked, seed=6)[0])
    quiet = ask(ids[:2], masked[:2] & False, name="survives a batch with nothing hidden")
    trial.equal("does nothing when nothing is hidden", quiet, [ids[:2], np.full((2, 24), IGNORE)], reason="`masked` is not asked")


def _row(trial: Trial, S: int, pieces: int, long_words: float = 0.35) -> tuple[np.ndarray, ...]:
    """[CLS] A [SEP] B [SEP] and padding: which places may be hidden, begin a word, are padding. Special pieces begin none."""
    maskable, starts, place = np.zeros(S, bool), np.zeros(S, bool), 1
    for segment in (pieces // 2, pieces - pieces // 2):
        maskable[place : place + segment] = True
        starts[place : place + segment] = trial.numpy.random(segment) > long_words
        starts[place] = True
        place += segment + 1
    starts[place:] = True  # as "<pad>" does in the library
    return maskable, starts, np.arange(S) >= place


def _array(answered) -> np.ndarray | None:
    try:
        found = np.asarray(answered)
    except (TypeError, ValueError, RuntimeError):
        return None
    return found if found.dtype.kind in "biuf" else None


def _whole(hidden: np.ndarray, maskable: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The hidden pieces, and the rest of their words."""
    word = np.cumsum(starts | ~maskable).reshape(hidden.shape)
    touched = np.bincount(word.ravel(), (hidden & maskable).ravel())[word] > 0
    return touched & maskable | hidden


def _run_lengths(hidden: np.ndarray, starts: np.ndarray, most: int) -> list[float]:
    """Shares of the runs of 1, 2, .. words, and of longer ones. At a low rate hardly any two runs touch."""
    first = hidden & ~np.pad(hidden, ((0, 0), (1, 0)))[:, :-1]
    words = np.bincount((np.cumsum(first) - 1)[(hidden & (starts | first)).ravel()])
    return [float(np.mean(np.minimum(words, most + 1) == n)) if len(words) else 0.0 for n in range(1, most + 2)]


def _why_too_many(hidden: np.ndarray, maskable: np.ndarray, starts: np.ndarray, budget: np.ndarray) -> str:
    spent, short = hidden.sum(2), (budget > 1) & (budget < 10)
    words = (hidden & (starts | ~maskable)).sum(2)
    if (words <= budget).all():
        return "words are counted, but the budget is one of pieces"
    if spent[:, short].mean() > 0.12 * hidden.shape[2]:
        return "padding is counted as if it were text: a short row has a small budget"
    if (spent >= budget).all():
        return "the budget is looked at after hiding: ask before whether the run still fits"
    if (spent <= budget)[:, budget > 1].all():
        return "a word longer than the whole budget is hidden; it must be passed over"
    return "a coin for each word or run keeps the budget on average only"


def _about(trial: Trial, name: str, got: Sequence, right: Sequence, mistakes: Mapping[str, Sequence], weight: float,
           room: float = ROOM_FOR_CHANCE) -> bool:  # fmt: skip
    """The property that measured shares are the right ones up to chance; the mistake with the nearest shares is named."""

    def off(shares: Sequence) -> float:
        return max(abs(a - b) for a, b in zip(got, shares, strict=True))

    nearest = min(mistakes, key=lambda mistake: off(mistakes[mistake]))
    reason = f"about the shares you get when {nearest}" if off(mistakes[nearest]) < room else ""
    told = (" ".join(f"{share:.0%}" for share in shares) for shares in (right, got))
    return trial.true(name, off(right) < room, reason, weight, *told)


def _by_seed_alone(trial: Trial, one: np.ndarray, again: np.ndarray, other: np.ndarray) -> None:
    moved, stuck = not np.array_equal(one, again), np.array_equal(one, other)
    reason = "another seed gives the same result: is a generator made inside, with a seed of its own?"
    if moved:
        reason = "the same seed gives another result: chance comes from np.random or random, not from `rng`"
    trial.true("takes its chance from `rng`", not moved and not stuck, reason)


def _why_not_ordinary(drawn: np.ndarray, ids: np.ndarray, V: int) -> str:
    if not len(drawn):
        return "no piece was replaced by another one"
    if drawn.min() <= MASK:
        return "special pieces are drawn too: ids 0 to 4 are no words"
    if drawn.max() >= V:
        return f"id {drawn.max()} does not exist: the last of {V} is {V - 1}"
    if set(drawn.tolist()) <= set(ids.ravel().tolist()):
        return "random pieces are taken from the text, where frequent ones are drawn more often, not from the vocabulary"
    return "only some pieces are ever drawn; is one number drawn for all places?"
