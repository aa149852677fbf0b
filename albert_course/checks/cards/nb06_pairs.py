"""Helpers of nb06_order: documents to ask with, and an answer's rows turned into places."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from albert_course.checks.engine.asking import need
from albert_course.checks.engine.card import Draw
from albert_edu.text.tokenizer import CLS, SEP

LENGTH = 26  # long enough for several sentences, too short for a whole document
TRIPLES = 300


class Place(NamedTuple):
    """Where a token stands: the number of its document, of its sentence, and its place there."""

    document: int
    sentence: int
    token: int


class Pair(NamedTuple):
    """The places of the tokens of a pair's two segments, and its label."""

    first: list[Place]
    second: list[Place]
    label: int

    @property
    def in_text(self) -> tuple[list[Place], list[Place]]:
        """The two segments in the order of the text, by how they begin."""
        early, late = sorted((self.first, self.second))
        return early, late


def draw_documents(draw: Draw) -> list[list[list[int]]]:
    """Documents in which no token occurs twice. One has a single sentence, one has a sentence that
    fits with none of its neighbours, three begin with two that miss the length by one, and one has
    two that fit exactly."""
    rng = draw.numpy
    lengths = [rng.integers(2, 7, rng.integers(5, 9)).tolist() for _ in range(6)]
    lengths[0][2] = LENGTH - 3
    for document in lengths[1:4]:
        document[:2] = 12, 12
    lengths = [lengths[k] for k in rng.permutation(6)]
    lengths[3:3] = [8], [11, LENGTH - 14]
    names = iter((rng.permutation(sum(map(sum, lengths))) + 5).tolist())
    return [[[next(names) for _ in range(length)] for length in document] for document in lengths]


def places_of(documents: Sequence) -> dict[int, Place]:
    """Where each token stands, in the order of the text."""
    return {
        token: Place(d, s, k)
        for d, document in enumerate(documents)
        for s, sentence in enumerate(document)
        for k, token in enumerate(sentence)
    }


def rows_of(answer: Callable, documents: Sequence, seed: int = 5) -> list[tuple]:
    """The triples (token ids, segment ids, label) that an answer gives, as numbers of Python."""
    triples = list(answer(documents, LENGTH, TRIPLES, np.random.default_rng(seed)))
    need(len(triples) == TRIPLES, f"you return {len(triples)} triples, not {TRIPLES}")
    return [([*map(int, a)], [*map(int, b)], int(label)) for a, b, label in triples]


def pairs_of(answer: Callable, documents: Sequence, seed: int = 5) -> list[Pair]:
    """The pairs that an answer gives."""
    places = places_of(documents)
    pairs = []
    for ids, _, label in rows_of(answer, documents, seed):
        special = [token for token in ids if token not in places]
        framed = special == [CLS, SEP, SEP] and ids[0] == CLS and ids[-1] == SEP
        need(framed, "[CLS] (2), A, [SEP] (3), B, [SEP] are asked for, without padding")
        cut = ids.index(SEP)
        first = [places[token] for token in ids[1:cut]]
        second = [places[token] for token in ids[cut + 1 : -1]]
        need(bool(first and second), "a segment is empty: the cut falls between two sentences")
        pairs.append(Pair(first, second, label))
    return pairs
