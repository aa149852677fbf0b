"""Card of notebook 06: pairs of segments that only their order tells apart.

Its known mistakes are edits in mistakes/06.txt.
"""

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from albert_course.checks.cards.nb06_pairs import (
    LENGTH,
    Pair,
    Place,
    draw_documents,
    pairs_of,
    places_of,
    rows_of,
)
from albert_course.checks.engine.asking import by_seed, need
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.text.tokenizer import CLS, SEP


def order_pairs(documents: Sequence, length: int, n: int, rng: np.random.Generator) -> list[tuple]:
    """``make_pairs(documents, length, n, rng) -> n triples (ids, segment_ids, label)``. A document
    is a list of sentences, each a list of ids. Draw with the NumPy Generator ``rng``: a run of
    neighbouring whole sentences, at least two, that with [CLS] (2) and two [SEP] (3) takes at most
    ``length`` ids, and a cut between any two of them. Every document that has such a run gives
    pairs, and runs may be as long as fits. Ids are [CLS] first [SEP] second [SEP], without padding;
    segment ids are 0 up to the first [SEP] and 1 after it. Label 0 keeps the order of the text,
    label 1 swaps the two segments. n is even, and exactly half of the labels are 1. ValueError if
    no two neighbouring sentences fit."""
    runs = [
        document[start:end]
        for document in documents
        for start in range(len(document))
        for end in range(start + 2, len(document) + 1)
        if sum(map(len, document[start:end])) + 3 <= length
    ]
    if not runs:
        raise ValueError("no two neighbouring sentences fit")
    triples = []
    for label in rng.permutation(np.arange(n) % 2).tolist():
        run = runs[rng.integers(len(runs))]
        cut = rng.integers(1, len(run))
        early = [*chain(*run[:cut])]
        late = [*chain(*run[cut:])]
        a, b = (late, early) if label else (early, late)
        ids = [CLS, *a, SEP, *b, SEP]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        triples.append((ids, segments, label))
    return triples


def _laid_out(answer: Callable, documents: Sequence) -> int:
    return len(pairs_of(answer, documents))


def _longest(answer: Callable, documents: Sequence) -> dict[str, bool]:
    most = max(len(ids) for ids, *_ in rows_of(answer, documents))
    return {"it fits": most <= LENGTH, "some are long": most > 0.8 * LENGTH}


def _labels(answer: Callable, documents: Sequence) -> list:
    """Whether all labels are right, the share that is right, and the share of ones."""
    right = []
    labels = []
    for first, second, label in pairs_of(answer, documents):
        swapped = second[0] < first[0]
        right.append(swapped == label or first[0].document != second[0].document)
        labels.append(label)
    return [all(right), float(np.mean(right)), float(np.mean(labels))]


def _segments(answer: Callable, documents: Sequence) -> list[list[list[int]]]:
    """The segment ids that occur on [CLS], A, [SEP], B and [SEP], for either label."""
    found: list[list[set]] = [[set() for _ in range(5)] for _ in range(2)]
    for ids, segment_ids, label in rows_of(answer, documents):
        need(len(ids) == len(segment_ids), "give a segment id for each id")
        cut = ids.index(SEP)
        edges = 0, 1, cut, cut + 1, len(ids) - 1, len(ids)
        for part, (start, end) in zip(found[label], pairwise(edges), strict=True):
            part.update(segment_ids[start:end])
    return [[sorted(part) for part in parts] for parts in found]


def _always(facts_of: Callable) -> Callable:
    """The question which facts about a pair hold for all pairs."""

    def question(answer: Callable, documents: Sequence) -> dict[str, bool]:
        """Each fact, and whether it holds for all pairs."""
        texts = [*places_of(documents).values()]
        facts = [facts_of(pair, texts) for pair in pairs_of(answer, documents)]
        return {name: all(each[name] for each in facts) for name in facts[0]}

    return question


def _is_whole(segment: list[Place], text: list[Place]) -> bool:
    """Whether a segment has all tokens from its first sentence to its last one, in order."""
    start = segment[0][:2]
    end = segment[-1][:2]
    return segment == [place for place in text if start <= place[:2] <= end]


def _forwards(segment: list[Place]) -> bool:
    """Whether the sentences of a segment stand in the order of the text."""
    return all(before[:2] <= after[:2] for before, after in pairwise(segment))


def _tokens_forwards(segment: list[Place]) -> bool:
    """Whether the tokens of each sentence of a segment stand in the order of the text."""
    return all(
        before.token < after.token
        for before, after in pairwise(segment)
        if before[:2] == after[:2]  # of one sentence
    )


def _whole(pair: Pair, text: list[Place]) -> dict[str, bool]:
    """What is so where both segments are whole, and cut between sentences."""
    early, late = pair.in_text
    both = (pair.first, pair.second)
    segments = {"first": pair.first, "second": pair.second, "early": early}
    facts = {
        f"the {name} segment is whole": _is_whole(segment, text)
        for name, segment in segments.items()
    }
    return facts | {
        "the cut is between sentences": early[-1][:2] != late[0][:2],
        "sentences run forwards": all(map(_forwards, both)),
        "tokens of a sentence run forwards": all(map(_tokens_forwards, both)),
    }


def _neighbours(pair: Pair, text: list[Place]) -> dict[str, bool]:
    early, late = pair.in_text
    one = early[0].document == late[0].document
    return {
        "both are of one document": one,
        "nothing is left out": not one or late[0].sentence <= early[-1].sentence + 1,
        "nothing is in both": late[0] > early[-1],
    }


def _sizes(answer: Callable, documents: Sequence) -> dict[str, bool]:
    """Both segments can have several sentences, and the sizes do not tell the label."""
    agree = []
    most = [0, 0]
    for first, second, label in pairs_of(answer, documents):
        a = len({place[:2] for place in first})
        b = len({place[:2] for place in second})
        most = [max(most[0], a), max(most[1], b)]
        if a != b:
            agree.append((a < b) == label)
    either = len(agree) < 30 or abs(float(np.mean(agree)) - 0.5) < 0.2
    return {
        "segments have several sentences": min(most) > 1,
        "the longer one is at either place": either,
    }


def _sources(answer: Callable, documents: Sequence) -> list[int]:
    return sorted({pair.first[0].document for pair in pairs_of(answer, documents)})


def _ones(answer: Callable, documents: Sequence) -> list[int]:
    seeds = (5, 6, 7)
    return [sum(label for *_, label in rows_of(answer, documents, seed)) for seed in seeds]


class _Run(NamedTuple):
    """The sentences of a pair, from the first to the last, and how many are before the cut."""

    document: int
    first: int
    last: int
    cut: int


def _runs_of(answer: Callable, documents: Sequence, seed: int) -> list[_Run]:
    runs = []
    for pair in pairs_of(answer, documents, seed):
        early, late = pair.in_text
        start = early[0]
        cut = late[0].sentence - start.sentence
        runs.append(_Run(start.document, start.sentence, late[-1].sentence, cut))
    return runs


def _by_rng(answer: Callable, documents: Sequence) -> bool:
    """True if another seed gives other runs, and other cuts of runs that are as long."""
    runs = _runs_of(answer, documents, seed=5)
    others = _runs_of(answer, documents, seed=6)
    pairs = [*zip(runs, others, strict=True)]
    same_runs = all(run[:3] == other[:3] for run, other in pairs)
    need(not same_runs, "another seed gives the same runs: draw them with `rng`")
    long = [
        run.cut == other.cut
        for run, other in pairs
        if run.last - run.first == other.last - other.first > 1
    ]
    same_cuts = len(long) > 7 and all(long)
    need(not same_cuts, "another seed gives the same cuts: draw them with `rng`")
    return True


def _order_pairs_cases(draw: Draw) -> Cases:
    documents = draw_documents(draw)
    text = (documents,)
    single = [document[:1] for document in documents]

    yield Case("lays out [CLS] A [SEP] B [SEP]", inputs=text, ask=_laid_out)
    yield Case("uses the length and stays within it", inputs=text, weight=2.0, ask=_longest)
    yield Case(
        "says 0 for pairs in order and 1 for swapped ones",
        inputs=text,
        weight=3.0,
        ask=_labels,
        atol=0.1,
    )
    yield Case(
        "gives the first place segment 0 and the second 1",
        inputs=text,
        weight=2.0,
        ask=_segments,
    )
    yield Case("takes whole sentences", inputs=text, weight=2.0, ask=_always(_whole))
    yield Case("pairs neighbours", inputs=text, weight=3.0, ask=_always(_neighbours))
    yield Case("draws from every document that has a pair", inputs=text, ask=_sources)
    yield Case(
        "cuts anywhere, so that the lengths do not name the label",
        inputs=text,
        weight=2.0,
        ask=_sizes,
    )
    yield Case("deals out exactly half of the labels", inputs=text, ask=_ones)
    yield Case("takes its chance from `rng`", inputs=text, ask=by_seed(rows_of))
    yield Case("draws the runs and the cuts with `rng`", inputs=text, weight=2.0, ask=_by_rng)
    yield Case("refuses documents of one sentence", inputs=(single,), ask=rows_of)


check_order_pairs = make_check("assignment 06.6", order_pairs, _order_pairs_cases)
