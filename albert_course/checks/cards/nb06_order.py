"""Card of notebook 06: pairs of segments that only their order tells apart."""

from collections import namedtuple
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from albert_course.checks.engine.asking import by_seed, need
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.tokenizer import CLS, SEP

LENGTH, TRIPLES = 26, 300  # long enough for several sentences, too short for a whole document


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


# Where a token is: the number of its document, its sentence, and its place in that.
_Place = namedtuple("_Place", "document sentence token")


def _documents(draw: Draw) -> list[list[list[int]]]:
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


def _order_pairs_cases(draw: Draw) -> Cases:
    documents = _documents(draw)
    places = {
        token: _Place(d, s, k)
        for d, document in enumerate(documents)
        for s, sentence in enumerate(document)
        for k, token in enumerate(sentence)
    }

    def rows_of(answer, documents, seed=5):
        triples = list(answer(documents, LENGTH, TRIPLES, np.random.default_rng(seed)))
        need(len(triples) == TRIPLES, f"you return {len(triples)} triples, not {TRIPLES}")
        return [([*map(int, a)], [*map(int, b)], int(label)) for a, b, label in triples]

    def pairs_of(answer, documents):
        """The places of the tokens of the two segments, and the label, for each triple."""
        pairs = []
        for ids, _, label in rows_of(answer, documents):
            special = [place for place in ids if place not in places]
            framed = special == [CLS, SEP, SEP] and ids[0] == CLS and ids[-1] == SEP
            need(framed, "[CLS] (2), A, [SEP] (3), B, [SEP] are asked for, without padding")
            cut = ids.index(SEP)
            a, b = ([places[token] for token in part] for part in (ids[1:cut], ids[cut + 1 : -1]))
            need(a and b, "a segment is empty: the cut falls between two sentences")
            pairs.append((a, b, label))
        return pairs

    def laid_out(answer, documents):
        return len(pairs_of(answer, documents))

    def longest(answer, documents):
        most = max(len(ids) for ids, *_ in rows_of(answer, documents))
        return {"it fits": most <= LENGTH, "some are long": most > 0.8 * LENGTH}

    def labels(answer, documents):
        """Whether all labels are right, the share that is right, and the share of ones."""
        pairs = pairs_of(answer, documents)
        right = [(b[0] < a[0]) == label or a[0].document != b[0].document for a, b, label in pairs]
        return [all(right), float(np.mean(right)), float(np.mean([label for *_, label in pairs]))]

    def segments(answer, documents):
        """The segment ids that occur on [CLS], A, [SEP], B and [SEP], for either label."""
        found = [[set() for _ in range(5)] for _ in range(2)]
        for ids, segment_ids, label in rows_of(answer, documents):
            need(len(ids) == len(segment_ids), "give a segment id for each id")
            a = ids.index(SEP)
            edges = 0, 1, a, a + 1, len(ids) - 1, len(ids)
            for part, (start, end) in zip(found[label], pairwise(edges), strict=True):
                part.update(segment_ids[start:end])
        return [[sorted(part) for part in parts] for parts in found]

    def always(answer, documents, facts_of):
        """Which facts hold for all pairs; a pair is the first, second, early and late segment."""
        pairs = [pair[:2] for pair in pairs_of(answer, documents)]
        facts = [facts_of(*pair, *sorted(pair)) for pair in pairs]
        return {name: all(each[name] for each in facts) for name in facts[0]}

    def is_whole(segment):
        start, end = segment[0][:2], segment[-1][:2]
        return segment == [place for place in places.values() if start <= place[:2] <= end]

    def whole(a, b, early, late):
        return {
            "the first segment is whole": is_whole(a),
            "the second segment is whole": is_whole(b),
            "the early segment is whole": is_whole(early),
            "the cut is between sentences": early[-1][:2] != late[0][:2],
        }

    def neighbours(a, b, early, late):
        one = early[0].document == late[0].document
        return {
            "both are of one document": one,
            "nothing is left out": not one or late[0].sentence <= early[-1].sentence + 1,
            "nothing is in both": late[0] > early[-1],
        }

    def lengths(answer, documents):
        """Both segments can have several sentences, and the lengths do not tell the label."""
        pairs = pairs_of(answer, documents)
        counts = [[len({place[:2] for place in part}) for part in pair[:2]] for pair in pairs]
        (a, b), label = np.transpose(counts), np.array([label for *_, label in pairs])
        agree = ((a < b) == label)[a != b]
        return {
            "segments have several sentences": min(max(a), max(b)) > 1,
            "the longer one is at either place": len(agree) < 30 or abs(agree.mean() - 0.5) < 0.2,
        }

    def sources(answer, documents):
        return sorted({a[0].document for a, *_ in pairs_of(answer, documents)})

    def ones(answer, documents):
        return [sum(label for *_, label in rows_of(answer, documents, seed)) for seed in (5, 6, 7)]

    text = (documents,)
    yield Case("lays out [CLS] A [SEP] B [SEP]", text, 1.0, laid_out)
    yield Case("uses the length and stays within it", text, 2.0, longest)
    yield Case("says 0 for pairs in order and 1 for swapped ones", text, 3.0, labels, 0.1)
    yield Case("gives the first place segment 0 and the second 1", text, 2.0, segments)
    yield Case("takes whole sentences", (documents, whole), 2.0, always)
    yield Case("pairs neighbours", (documents, neighbours), 3.0, always)
    yield Case("draws from every document that has a pair", text, 1.0, sources)
    yield Case("cuts anywhere, so that the lengths do not name the label", text, 2.0, lengths)
    yield Case("deals out exactly half of the labels", text, 1.0, ones)
    yield Case("takes its chance from `rng`", text, 1.0, by_seed(rows_of))
    single = [document[:1] for document in documents]
    yield Case("refuses documents of one sentence", (single,), 1.0, rows_of)


check_order_pairs = card("assignment 06.6", order_pairs, _order_pairs_cases)
