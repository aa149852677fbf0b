"""Checks of notebook 06: pairs of segments that only their order tells apart."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from albert_edu.checks.trial import Trial, exercise
from albert_edu.text.tokenizer import CLS, SEP

ROOM = 26  # pieces of a row; long enough for several sentences, too short for a whole document
CACHE_VERSION = "[CLS] (2), A, [SEP] (3), B, [SEP] are asked for, without padding, and the segment ids beside them"


@exercise("06.3")
def check_order_pairs(answer, trial: Trial) -> None:
    """``make_pairs(documents, length, n, rng) -> n triples (ids, segment_ids, label)``. A document is a list of sentences, each a
    list of ids. Draw with the NumPy Generator ``rng``: a run of neighbouring whole sentences of one document, at least two, that
    with [CLS] (2) and two [SEP] (3) takes at most ``length`` ids, and a cut between any two of them. Ids are [CLS] A [SEP] B
    [SEP], without padding; segment ids are 0 up to the first [SEP] and 1 after it. Label 0: as in the text; 1: the two segments
    exchanged. n is even, and exactly half of the labels are 1. ValueError if no two neighbouring sentences fit."""
    documents = _library_of(trial)
    n = 300

    def ask(seed=5):
        got = trial.call(answer, documents, ROOM, n, np.random.default_rng(seed), name="takes documents, length, n and rng")
        rows = _triples(got)
        if rows is None or len(rows) != n:
            told = "is the return missing?" if got is None else "each is (ids, segment_ids, label), lists of whole numbers"
            told = told if rows is None else f"you return {len(rows)}"
            trial.need(f"returns {n} triples", False, told)
        return rows

    rows = ask()
    where = _places(documents)
    laid = [row for row in rows if _is_laid_out(row[0], where)]
    empty = any(ids[:2] == [CLS, SEP] or ids[-2:] == [SEP, SEP] for ids, *_ in rows)
    told = "a segment is empty: a run has two sentences or more, and the cut falls between two" if empty else CACHE_VERSION
    trial.need("lays out [CLS] A [SEP] B [SEP]", len(laid) == n, told)
    pairs = [_Pair(ids[1 : ids.index(SEP)], ids[ids.index(SEP) + 1 : -1], label) for ids, _, label in rows]
    trial.true("stays within the length", all(len(ids) <= ROOM for ids, *_ in rows), "the three special pieces need room too")
    follows = [where[b[0]] < where[a[0]] if where[a[0]].document == where[b[0]].document else label == 1 for a, b, label in pairs]
    reason = "" if len({*follows}) > 1 else "the label changes, and the text does not: exchange the segments"
    trial.equal("says 0 for pairs in order and 1 for exchanged ones", [label for *_, label in rows], [int(x) for x in follows], {
        "labelling the other way round: 0 is in order": [1 - x for x in follows],
        "labelling all pairs 0": [0] * n,
        "labelling all pairs 1": [1] * n,
    }, weight=3, reason=reason)  # fmt: skip
    a_and_b = [(len(pair.a) + 2, len(pair.b) + 1) for pair in pairs]
    by_place = [[0] * a + [1] * b for a, b in a_and_b]
    trial.equal("gives the first place segment 0 and the second 1", [segments for _, segments, _ in rows], by_place, {
        "letting the segment ids travel with the text: they name the label": [
            [int(x)] * a + [int(not x)] * b for x, (a, b) in zip(follows, a_and_b, strict=True)],
        "laying out the segment ids before the exchange, with the lengths of A and B as they were": [
            [0] * (b + 1) + [1] * (a - 1) if x else [0] * a + [1] * b for x, (a, b) in zip(follows, a_and_b, strict=True)],
        "giving the first [SEP] to B": [[0] * (a - 1) + [1] * (b + 1) for a, b in a_and_b],
        "giving the last [SEP] to A": [[0] * a + [1] * (b - 1) + [0] for a, b in a_and_b],
        "giving both segments 0": [[0] * (a + b) for a, b in a_and_b],
        "counting segments from 1": [[1] * a + [2] * b for a, b in a_and_b],
    }, weight=2)  # fmt: skip
    trial.true("takes whole sentences", not (torn := _why_torn(pairs, where)), torn, weight=2)
    lone = {d for d, document in enumerate(documents) if len(document) == 1}
    reason = "a document of one sentence stands in a pair: it has no order; leave it out"
    met = {where[segment[0]].document for pair in pairs for segment in pair[:2]}
    trial.true("makes no pair of one sentence", not lone & met, reason, weight=2)
    trial.true("pairs neighbours", not (apart := _why_no_neighbours(pairs, where)), apart, weight=2)
    counts = [[len({where[piece].sentence for piece in segment}) for segment in (pair.a, pair.b)] for pair in pairs]
    several = max(a for a, _ in counts) > 1 and max(b for _, b in counts) > 1
    trial.true("makes segments of several sentences", several, "one sentence against the next: a segment is a run of sentences")
    first = [(a < b) == bool(label) for (a, b), (*_, label) in zip(counts, rows, strict=True) if a != b]
    silent = len(first) < 30 or abs(np.mean(first) - 0.5) < 0.2
    trial.true("cuts so that the lengths do not name the label", silent,
               "one segment is always the longer one, so that its place is the answer; cut at any boundary, at random")  # fmt: skip
    ones = sum(label for *_, label in rows)
    trial.equal("deals out exactly half of the labels", ones, n // 2, reason="a coin for each pair gives half on average only")
    moved, stuck = rows != ask(), rows == ask(seed=6)
    reason = "the same seed gives other pairs: chance comes from elsewhere" if moved else "another seed gives the same pairs"
    trial.true("takes its chance from `rng`", not moved and not stuck, reason)
    lonely, rng = [[document[0]] for document in documents], np.random.default_rng(0)
    refused = trial.refuses(answer, lonely, ROOM, 4, rng, name="refuses what has no pair")
    trial.true("refuses documents of one sentence", refused, "there is no order to ask about: a ValueError is due")


class _Place(NamedTuple):
    """Where a piece stands, and whether it begins or ends its sentence."""

    document: int
    position: int
    sentence: int
    begins: bool
    ends: bool


class _Pair(NamedTuple):
    """The pieces in the first and in the second place, and the label."""

    a: list[int]
    b: list[int]
    label: int


def _library_of(trial: Trial) -> list[list[list[int]]]:
    """Documents in which no two pieces are alike, so that a piece tells where it comes from. One has a single sentence, in one
    stands a sentence that fits with none of its neighbours, and three begin with two that miss the length by one."""
    lengths = [trial.numpy.integers(2, 7, int(trial.numpy.integers(5, 9))).tolist() for _ in range(6)]
    lengths[0][2] = ROOM - 3
    for one in lengths[1:4]:
        one[:2] = 12, 12  # with three special pieces, one more than there is room for
    lengths = [lengths[k] for k in trial.numpy.permutation(6)]
    lengths.insert(3, [8])
    names = iter((trial.numpy.permutation(sum(map(sum, lengths))) + 5).tolist())
    return [[[next(names) for _ in range(length)] for length in document] for document in lengths]


def _places(documents: list[list[list[int]]]) -> dict[int, _Place]:
    found = {}
    for d, document in enumerate(documents):
        position = 0
        for s, sentence in enumerate(document):
            for k, piece in enumerate(sentence):
                found[piece] = _Place(d, position, s, k == 0, k == len(sentence) - 1)
                position += 1
    return found


def _triples(answered) -> list[tuple[list[int], list[int], int]] | None:
    try:
        return [([int(i) for i in ids], [int(i) for i in segments], int(label)) for ids, segments, label in answered]
    except (TypeError, ValueError, RuntimeError):
        return None


def _is_laid_out(ids: list[int], where: dict[int, _Place]) -> bool:
    if len(ids) < 5 or ids[0] != CLS or ids[-1] != SEP or ids.count(SEP) != 2:
        return False
    return ids[1] != SEP and ids[-2] != SEP and all(piece in where or piece == SEP for piece in ids[1:])


def _in_text_order(pair: _Pair, where: dict[int, _Place]) -> list[list[_Place]]:
    return sorted([where[piece] for piece in segment] for segment in pair[:2])


def _why_torn(pairs: list[_Pair], where: dict[int, _Place]) -> str:
    """What is wrong with the ends of the segments; nothing if all are whole sentences."""
    torn = []
    for pair in pairs:
        early, late = _in_text_order(pair, where)
        if any(y.position != x.position + 1 for segment in (early, late) for x, y in pairwise(segment)):
            return "pieces inside a segment are missing, twice there or moved"
        if not early[-1].ends and not late[0].begins and late[0].position == early[-1].position + 1:
            return "the cut between the two segments falls inside a sentence"
        if not all(segment[0].begins and segment[-1].ends for segment in (early, late)):
            torn.append((early[0].begins and early[-1].ends and late[0].begins, where[pair.b[-1]].ends))
    if not torn:
        return ""
    if all(late_end_alone for late_end_alone, _ in torn) and any(second_ends for _, second_ends in torn):
        return "the chunk is cut before the exchange: the unfinished sentence is always the later one's and names the order"
    if np.mean([second_ends for _, second_ends in torn]) < 0.2:
        return "the end of the row is cut off: a sentence that does not fit must stay out whole"
    return "pieces are taken off the segments: a sentence that does not fit must stay out whole"


def _why_no_neighbours(pairs: list[_Pair], where: dict[int, _Place]) -> str:
    if any(where[pair.a[0]].document != where[pair.b[0]].document for pair in pairs):
        return "a segment of another document: that is NSP's negative, and topic tells it"
    for pair in pairs:
        early, late = _in_text_order(pair, where)
        if late[0].sentence > early[-1].sentence + 1:
            return "sentences are left out between the two segments"
        if late[0].position <= early[-1].position:
            return "the two segments share pieces: the second begins where the first ends"
    return ""
