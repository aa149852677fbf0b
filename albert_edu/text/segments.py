"""Two neighbouring segments of whole sentences, and the label that says whether they are in order. Built in notebook 06.

Nothing but the order may give the label away. Segments are whole sentences (cutting the last one at the length limit lets
its unfinished end tell which segment came second), a pair needs two sentences (the original turns a lone sentence into an
NSP negative), and a NSP negative is drawn so that it could have stood where the true one stands.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Int

from albert_edu.text.corpora import CorpusError
from albert_edu.text.tokenized import TokenizedCorpus

Objective = Literal["sop", "nsp", "none"]
SPECIALS = 3  # [CLS] A [SEP] B [SEP]
IN_ORDER, SWAPPED = 0, 1  # for NSP: next, from another document
NSP_TRIES = 8


class Pairs(NamedTuple):
    """Sentence ranges of n pairs: segment A is sentences first[i, 0]:last[i, 0], segment B first[i, 1]:last[i, 1]."""

    first: Int[np.ndarray, "n 2"]
    last: Int[np.ndarray, "n 2"]
    labels: Int[np.ndarray, "n"]  # 0 in order, 1 swapped or from elsewhere


class PairSampler:
    """Draws pairs of segments that fit ``sequence_length`` pieces, three special ones included.

    Raises CorpusError when no two neighbouring sentences fit, or, for NSP, when there is no second document (or topic).
    """

    def __init__(self, corpus: TokenizedCorpus, objective: Objective, sequence_length: int, negatives: str = "document"):
        if objective not in Objective.__args__:
            raise ValueError(f"objective must be one of {', '.join(Objective.__args__)}, got {objective!r}.")
        if negatives not in ("document", "topic"):
            raise ValueError(f"NSP negatives come from another 'document' or another 'topic', got {negatives!r}.")
        self.corpus, self.objective = corpus, objective
        self.budget = sequence_length - SPECIALS
        self.document_end = corpus.documents[corpus.document_of + 1]
        two_sentences = corpus.sentences[2:] - corpus.sentences[:-2]
        same_document = corpus.document_of[1:] == corpus.document_of[:-1]
        self.starts = np.flatnonzero(same_document & (two_sentences <= self.budget))
        self.followers = np.flatnonzero(same_document) + 1  # sentences that have one before them
        if not len(self.starts):
            raise CorpusError(_why_no_pair(same_document, two_sentences, sequence_length))
        self.group_of = corpus.topics[corpus.document_of] if negatives == "topic" else corpus.document_of
        if objective == "nsp" and (self.group_of[self.starts] == self.group_of[self.starts[0]]).all():
            raise CorpusError(f"NSP draws its negatives from another {negatives}, and this corpus has only one.")

    @property
    def coverage(self) -> float:
        """Share of the corpus's pieces that stand in some pair; the rest fits with neither neighbour into the sequence."""
        used = np.zeros(len(self.corpus.lengths), dtype=bool)
        used[self.starts] = used[self.starts + 1] = True
        return float(self.corpus.lengths[used].sum() / len(self.corpus.tokens))

    def draw(self, rng: np.random.Generator, n: int, short_probability: float = 0.1) -> Pairs:
        """Draw n pairs; with ``short_probability`` a pair aims at a random shorter length (section 4.1).

        A chunk of sentences is taken from a random start and cut at a random sentence boundary inside it. Half of the
        labels are 1, exactly, and they are dealt out last: nothing drawn before can depend on them.
        """
        true, false = self._candidates(rng, n, short_probability)
        while len(true) < n:  # some NSP candidates found no false second segment
            more = self._candidates(rng, n, short_probability)
            true, false = np.concatenate([true, more[0]]), np.concatenate([false, more[1]])
        labels = rng.permutation(np.arange(n) % 2) if self.objective != "none" else np.full(n, IN_ORDER)
        ranges = np.where((labels == IN_ORDER)[:, None, None], true[:n], false[:n])
        return Pairs(ranges[:, :, 0], ranges[:, :, 1], labels)

    def _candidates(self, rng: np.random.Generator, n: int, short_probability: float):
        """Up to n pairs as they stand in the text and as they would be with label 1: sentence ranges [n, segment, 2]."""
        offset = self.corpus.sentences
        start = self.starts[rng.integers(len(self.starts), size=n)]
        shortest = offset[start + 2] - offset[start]  # a pair has two sentences, whatever the target
        target = np.where(rng.random(n) < short_probability, rng.integers(shortest, self.budget + 1), self.budget)
        end = self._fill(start, target)
        cut = rng.integers(start + 1, end)
        a, b = np.stack([start, cut], 1), np.stack([cut, end], 1)
        true = np.stack([a, b], 1)
        if self.objective != "nsp":
            return true, np.stack([b, a], 1)
        elsewhere = self._elsewhere(rng, start, cut - start, target - (offset[cut] - offset[start]))
        found = elsewhere[:, 0] >= 0
        return true[found], np.stack([a, elsewhere], 1)[found]

    def _fill(self, start: np.ndarray, room: np.ndarray) -> np.ndarray:
        """The end of the longest run of whole sentences from ``start`` that stays in its document and in the room."""
        offset = self.corpus.sentences
        end = np.searchsorted(offset, offset[start] + room, side="right") - 1
        return np.minimum(end, self.document_end[start])

    def _elsewhere(self, rng: np.random.Generator, start: np.ndarray, sentences_in_a: np.ndarray, room: np.ndarray):
        """Sentence runs from another document (or topic) that fill the same room by the same rule; -1 where none was found.

        A true second segment stands after a cut chosen among k - 1, so a long one is less likely to be met. Candidates are
        thinned in the same proportion; without that, the number of sentences would tell true from false.
        """
        chosen = np.full((len(start), 2), -1)
        for _ in range(NSP_TRIES):
            candidate = self.followers[rng.integers(len(self.followers), size=len(start))]
            end = self._fill(candidate, room)
            keep = rng.random(len(start)) < sentences_in_a / np.maximum(sentences_in_a + end - candidate - 1, 1)
            fits = (end > candidate) & (self.group_of[candidate] != self.group_of[start]) & keep & (chosen[:, 0] < 0)
            chosen = np.where(fits[:, None], np.stack([candidate, end], 1), chosen)
        return chosen


def _why_no_pair(same_document: np.ndarray, two_sentences: np.ndarray, sequence_length: int) -> str:
    if not same_document.any():
        return "every document has a single sentence, and a pair needs two. Are the documents one sentence a file or a line?"
    shortest = int(two_sentences[same_document].min()) + SPECIALS
    return (
        f"no two neighbouring sentences fit {sequence_length} pieces; the shortest pair needs {shortest}. Use a "
        f"sequence_length of at least {shortest}."
    )
