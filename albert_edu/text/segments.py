"""Two neighbouring segments of whole sentences, and whether they are in order (notebook 06).

Nothing but the order may give the label away. Segments are whole sentences, because a last
sentence that is cut at the length limit tells which segment came second. A pair needs two
sentences, because the authors' code turns a lone sentence into a negative example of NSP. A
random segment of NSP is drawn so that it could also be the true one.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Int

from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenized import TokenizedCorpus

Objective = Literal["sop", "nsp", "none"]
SPECIALS = 3  # [CLS] A [SEP] B [SEP]
NSP_TRIES = 8  # to find a random segment for a pair, counting draws outside its own document
LONGEST = 512  # tokens of the longest sequence that one would ask for, as in the paper


class Pairs(NamedTuple):
    """Sentence ranges of n pairs: start[i, 0]:end[i, 0] in the first place,
    start[i, 1]:end[i, 1] in the second."""

    start: Int[np.ndarray, "n 2"]
    end: Int[np.ndarray, "n 2"]
    labels: Int[np.ndarray, "n"]  # 0 in order, 1 swapped or a random segment


class PairSampler:
    """Draws pairs of segments that fit ``sequence_length`` tokens, special tokens included.

    With the objective "none", documents of one sentence each count as one document, because their
    order does not matter. Raises CorpusError when no two neighbouring sentences fit or, for NSP,
    when there is no second document (or topic). PretrainingStream checks the settings.
    """

    def __init__(
        self,
        corpus: TokenizedCorpus,
        objective: Objective,
        sequence_length: int,
        negatives: str = "document",
    ):
        self.corpus = corpus
        self.objective = objective
        self.budget = sequence_length - SPECIALS
        self.document_end = corpus.document_offsets[corpus.document_of + 1]  # of each sentence
        # Of each sentence but the last: whether the next one is of the same document.
        goes_on = corpus.document_of[1:] == corpus.document_of[:-1]
        if objective == "none" and not goes_on.any():
            self.document_end = np.full_like(self.document_end, len(corpus.lengths))
            goes_on = np.ones_like(goes_on)
        two_sentences = corpus.sentence_offsets[2:] - corpus.sentence_offsets[:-2]  # tokens of both
        self.starts = np.flatnonzero(goes_on & (two_sentences <= self.budget))
        if not len(self.starts):
            raise CorpusError(_why_no_pair(corpus, two_sentences[goes_on], sequence_length))
        self.followers = np.flatnonzero(goes_on) + 1  # sentences that have one before them
        self.tries = _tries(corpus.document_of[self.followers])
        by_topic = negatives == "topic"
        self.group_of = corpus.topics[corpus.document_of] if by_topic else corpus.document_of
        groups = self.group_of[self.starts]
        if objective == "nsp" and (groups == groups[0]).all():
            raise CorpusError(f"NSP needs another {negatives}; only one has sentences that fit.")

    @property
    def coverage(self) -> float:
        """Share of the corpus's tokens that occur in some pair.

        The other sentences fit with neither neighbour into the sequence.
        """
        used = np.zeros(len(self.corpus.lengths), dtype=bool)
        used[self.starts] = True
        used[self.starts + 1] = True
        return float(self.corpus.lengths[used].sum() / len(self.corpus.tokens))

    def draw(self, rng: np.random.Generator, n: int, short_probability: float = 0.1) -> Pairs:
        """Draw n pairs; with ``short_probability`` a pair aims at a random shorter length.

        A chunk of sentences is taken from a random start and cut at a random sentence boundary
        inside it (section 4.1). Exactly half of the labels are 1, and they are dealt out last, so
        that nothing drawn before can depend on them.
        """
        positive, negative = self._candidates(rng, n, short_probability)
        while len(positive) < n:  # some candidates of NSP found no random segment
            more_positive, more_negative = self._candidates(rng, n, short_probability)
            positive = np.concatenate([positive, more_positive])
            negative = np.concatenate([negative, more_negative])
        if self.objective == "none":
            labels = np.zeros(n, np.int64)
        else:
            labels = rng.permutation(np.arange(n) % 2)
        is_negative = labels[:, None, None] == 1
        ranges = np.where(is_negative, negative[:n], positive[:n])  # n, segment, start and end
        return Pairs(start=ranges[:, :, 0], end=ranges[:, :, 1], labels=labels)

    def _candidates(
        self, rng: np.random.Generator, n: int, short_probability: float
    ) -> tuple[Int[np.ndarray, "m 2 2"], Int[np.ndarray, "m 2 2"]]:
        """Return up to n pairs with label 0, and the same with label 1: segment, start and end."""
        offset = self.corpus.sentence_offsets
        start = self.starts[rng.integers(len(self.starts), size=n)]
        shortest = offset[start + 2] - offset[start]  # a pair has two sentences in any case
        is_short = rng.random(n) < short_probability
        target = np.where(is_short, rng.integers(shortest, self.budget + 1), self.budget)
        end = self._fill(start, target)
        cut = rng.integers(start + 1, end)
        a = np.stack([start, cut], axis=1)
        b = np.stack([cut, end], axis=1)
        in_order = np.stack([a, b], axis=1)
        if self.objective != "nsp":
            return in_order, np.stack([b, a], axis=1)
        other = self._random_run(rng, a, target)
        found = other[:, 0] >= 0
        return in_order[found], np.stack([a, other], axis=1)[found]

    def _fill(self, start: np.ndarray, room: np.ndarray) -> np.ndarray:
        """End of the longest run of sentences from ``start`` within its document and the room."""
        offset = self.corpus.sentence_offsets
        end = np.searchsorted(offset, offset[start] + room, side="right") - 1
        return np.minimum(end, self.document_end[start])

    def _random_run(self, rng: np.random.Generator, a: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Sentences of another document (or topic) for the room that a leaves, -1 for none.

        A true second segment follows a cut that is chosen among k - 1, so a long one is less
        likely. Candidates are accepted in the same proportion, because otherwise the number of
        sentences would tell true from random segments.
        """
        start = a[:, 0]
        cut = a[:, 1]
        chosen = np.full_like(a, -1)
        room = room - (self.corpus.sentence_offsets[cut] - self.corpus.sentence_offsets[start])
        for _ in range(self.tries):
            candidate = self.followers[rng.integers(len(self.followers), size=len(start))]
            end = self._fill(candidate, room)
            possible_cuts = np.maximum(cut - start + end - candidate - 1, 1)
            accepted = rng.random(len(start)) < (cut - start) / possible_cuts
            elsewhere = self.group_of[candidate] != self.group_of[start]
            still_open = chosen[:, 0] < 0
            fits = (end > candidate) & elsewhere & accepted & still_open
            run = np.stack([candidate, end], axis=1)
            chosen = np.where(fits[:, None], run, chosen)
        return chosen


def _tries(document_of_followers: Int[np.ndarray, "n"]) -> int:
    """How often to draw a random segment for a pair of NSP before the pair is given up.

    Most draws for a large document fall into that document itself. So there are more of them, up
    to a hundred times as many; otherwise few of its pairs would find a random segment.
    """
    largest = np.bincount(document_of_followers).max() / len(document_of_followers)
    return int(NSP_TRIES / max(1 - largest, 0.01))


def _why_no_pair(corpus: TokenizedCorpus, two_sentences: np.ndarray, sequence_length: int) -> str:
    """Say why no pair fits; ``two_sentences`` are the tokens of each two of one document."""
    if not len(two_sentences) and corpus.lengths.mean() <= LONGEST:
        return (
            "every document has a single sentence, and a pair needs two. Put sentences that follow "
            "each other into one document, or train with the objective none: masked tokens alone."
        )
    shortest = int(two_sentences.min(initial=LONGEST)) + SPECIALS
    if shortest > LONGEST:
        return (
            f"no two neighbouring sentences fit {sequence_length} tokens: there is one sentence in "
            f"{corpus.lengths.mean():,.0f} tokens, so its sentence ends were not found. Put an "
            f"empty line after each sentence."
        )
    return (
        f"no two neighbouring sentences fit {sequence_length} tokens; the shortest pair needs "
        f"{shortest}."
    )
