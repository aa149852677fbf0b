"""Answers to the exercise of notebook 06 on pairs of segments, right and wrong."""

from itertools import accumulate

import numpy as np

from albert_edu.checks import check_order_pairs
from albert_edu.text.segments import PairSampler
from albert_edu.text.tokenized import TokenizedCorpus
from tests.bug_zoo.zoo import right, wrong


@right(check_order_pairs)
def with_the_sampler(documents, length, n, rng):
    sentences = [sentence for document in documents for sentence in document]
    flat = np.array([piece for sentence in sentences for piece in sentence], np.uint16)
    edges, parts = (np.array([0, *accumulate(map(len, each))]) for each in (sentences, documents))
    corpus = TokenizedCorpus(flat, edges, parts, np.full(len(documents), -1))
    drawn, rows = PairSampler(corpus, "sop", length).draw(rng, n), []
    for first, last, label in zip(drawn.start, drawn.end, drawn.labels, strict=True):
        a, b = (flat[edges[begin] : edges[end]].tolist() for begin, end in zip(first, last, strict=True))
        rows.append(row(a, b, label))
    return rows


@right(check_order_pairs)
def from_all_possible_pairs(documents, length, n, rng):
    possible = [(document[start:cut], document[cut:end]) for document in documents for start in range(len(document))
                for end in range(start + 2, len(document) + 1) for cut in range(start + 1, end)
                if sum(map(len, document[start:end])) <= length - 3]  # fmt: skip
    if not possible:
        raise ValueError("no two sentences fit")
    found = []
    for i in range(n):
        a, b = (np.concatenate(part) for part in possible[rng.integers(len(possible))])
        a, b = (b, a) if i % 2 else (a, b)
        found.append((np.array([2, *a, 3, *b, 3]), np.arange(len(a) + len(b) + 3) > len(a) + 1, i % 2))
    return found


def row(a, b, label):
    return [2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), int(label)


def joined_up(sentences):
    return [piece for sentence in sentences for piece in sentence]


def chunks(documents, length, rng, whole=True, least=2):
    """Draw a run of sentences without end; ``whole`` leaves out what would not fit, otherwise it sticks out."""
    room, refused = length - 3, 0
    while True:
        document = documents[rng.integers(len(documents))]
        start = int(rng.integers(len(document)))
        end = start
        while end < len(document) and sum(map(len, document[start : end + whole])) + (not whole) <= room:
            end += 1
        refused += 1
        if end - start >= least:
            refused = 0
            yield document[start:end]
        if refused > 500:
            raise ValueError("no two sentences fit")


def make(documents, length, n, rng, place=None, exchange=True, label=None, lay=row, **named):
    """What most wrong answers below have in common: ``place`` says where the cut falls, ``lay`` lays a pair out."""
    labels = rng.permutation(np.arange(n) % 2).tolist() if label is None else [label(i) for i in range(n)]
    found = []
    for one, chunk in zip(labels, chunks(documents, length, rng, **named), strict=False):
        cut = int(rng.integers(1, len(chunk))) if place is None else place(chunk)
        a, b = joined_up(chunk[:cut]), joined_up(chunk[cut:])
        found.append(lay(b, a, one) if one and exchange else lay(a, b, one))
    return found


@wrong(check_order_pairs, "labelling the other way round")
def labels_turned_round(*arguments):
    return make(*arguments, lay=lambda a, b, label: row(a, b, 1 - label))


@wrong(check_order_pairs, "the text does not")
def never_exchanged(*arguments):
    return make(*arguments, exchange=False)


@wrong(check_order_pairs, "labelling all pairs 0")
def label_forgotten(*arguments):
    return make(*arguments, lay=lambda a, b, label: row(a, b, 0))


@wrong(check_order_pairs, "travel with the text")
def travelling_ids(*arguments):
    def lay(a, b, label):
        return row(a, b, label)[0], [label] * (len(a) + 2) + [1 - label] * (len(b) + 1), label

    return make(*arguments, lay=lay)


@wrong(check_order_pairs, "before the exchange, with the lengths")
def ids_of_the_other_lengths(*arguments):
    return make(*arguments, lay=lambda a, b, label: (row(a, b, 0)[0], row(*((b, a) if label else (a, b)), 0)[1], label))


@wrong(check_order_pairs, "the first [SEP] to B")
def separator_in_b(*arguments):
    return make(*arguments, lay=lambda a, b, label: (row(a, b, 0)[0], [0] * (len(a) + 1) + [1] * (len(b) + 2), label))


@wrong(check_order_pairs, "both segments 0")
def one_segment(*arguments):
    return make(*arguments, lay=lambda a, b, label: (row(a, b, 0)[0], [0] * (len(a) + len(b) + 3), label))


@wrong(check_order_pairs, "the unfinished sentence is always the later one's")
def cut_before_the_exchange(documents, length, n, rng):
    def lay(a, b, label):
        first, second = (list(b), list(a)) if label else (list(a), list(b))
        while len(first) + len(second) > length - 3:
            (second if len(second) > 1 else first).pop()
        return row(*((second, first) if label else (first, second)), label)

    return make(documents, length, n, rng, lay=lay, whole=False)


@wrong(check_order_pairs, "the end of the row is cut off")
def cut_after_the_exchange(documents, length, n, rng):
    def lay(a, b, label):
        a = a[: length - 4]
        return row(a, b[: length - 3 - len(a)], label)

    return make(documents, length, n, rng, lay=lay, whole=False)


@wrong(check_order_pairs, "taken off the segments")
def trimmed_as_in_the_original(documents, length, n, rng):
    def lay(a, b, label):
        a, b = list(a), list(b)
        while len(a) + len(b) > length - 3:
            (a if len(a) > len(b) else b).pop(0 if rng.random() < 0.5 else -1)
        return row(a, b, label)

    return make(documents, length, n, rng, lay=lay, whole=False)


@wrong(check_order_pairs, "falls inside a sentence")
def cut_between_pieces(*arguments):
    def lay(a, b, label):
        early, late = (b, a) if label else (a, b)
        early, late = [*early, late[0]], late[1:]
        return row(late, early, 1) if label else row(early, late, 0)

    return make(*arguments, lay=lay)


@wrong(check_order_pairs, "three special pieces need room too")
def one_separator_forgotten(documents, length, n, rng):
    return make(documents, length + 1, n, rng)


@wrong(check_order_pairs, "three special pieces need room too")
def no_room_for_special_pieces(documents, length, n, rng):
    return make(documents, length + 3, n, rng)


@wrong(check_order_pairs, "a document of one sentence stands in a pair")
def stranger_for_a_lone_sentence(documents, length, n, rng):
    """As in the original: a chunk of one line gets a stranger and the label 1."""
    found = make(documents, length, n, rng)
    (lone,) = next(document for document in documents if len(document) == 1)
    other = next(document for document in documents if len(document) > 1)
    changed = [i for i, (*_, label) in enumerate(found) if label][: n // 20]
    for i in changed:
        found[i] = row(lone, other[0], 1)
    return found


@wrong(check_order_pairs, "a document of one sentence stands in a pair")
def halves_of_a_lone_sentence(documents, length, n, rng):
    def halves(sentence):
        return [sentence[: len(sentence) // 2], sentence[len(sentence) // 2 :]]

    return make([halves(each[0]) if len(each) == 1 else each for each in documents], length, n, rng)


@wrong(check_order_pairs, "NSP's negative")
def strangers(documents, length, n, rng):
    found, again = make(documents, length, n, rng), make(documents, length, n, rng)
    for i, ((ids, _, label), (other, *_)) in enumerate(zip(found, again, strict=True)):
        if label:
            a, b = ids[1 : ids.index(3)], other[other.index(3) + 1 : -1]
            found[i] = row(a, b, 1) if len(a) + len(b) <= length - 3 else found[i]
    return found


@wrong(check_order_pairs, "sentences are left out")
def a_sentence_left_out(*arguments):
    def lay(chunk):
        return int(rng.integers(1, len(chunk) - 1))

    documents, length, n, rng = arguments
    found = []
    for i, chunk in zip(range(n), chunks(documents, length, rng, least=3), strict=False):
        a, b = joined_up(chunk[: lay(chunk)]), chunk[-1]
        found.append(row(b, a, 1) if i % 2 else row(a, b, 0))
    return found


@wrong(check_order_pairs, "one sentence against the next")
def sentence_against_sentence(documents, length, n, rng):
    found = []
    for i, chunk in zip(range(n), chunks(documents, length, rng), strict=False):
        found.append(row(chunk[1], chunk[0], 1) if i % 2 else row(chunk[0], chunk[1], 0))
    return found


@wrong(check_order_pairs, "one segment is always the longer one")
def cut_after_the_first(*arguments):
    return make(*arguments, place=lambda chunk: 1)


@wrong(check_order_pairs, "one segment is always the longer one")
def cut_in_the_middle(*arguments):
    return make(*arguments, place=lambda chunk: len(chunk) // 2)


@wrong(check_order_pairs, "half on average only")
def a_coin_for_each_pair(documents, length, n, rng):
    return make(documents, length, n, rng, label=lambda i: int(rng.random() < 0.45))


@wrong(check_order_pairs, "a segment is empty")
def cut_at_the_start(*arguments):
    return make(*arguments, place=lambda chunk: 0)


@wrong(check_order_pairs, "without padding")
def second_separator_missing(*arguments):
    return make(*arguments, lay=lambda a, b, label: (row(a, b, 0)[0][:-1], row(a, b, 0)[1][:-1], label))


@wrong(check_order_pairs, "another seed gives the same pairs")
def pairs_with_a_seed_of_their_own(documents, length, n, rng):
    return make(documents, length, n, np.random.default_rng(1))


@wrong(check_order_pairs, "a ValueError is due")
def nothing_for_nothing(documents, length, n, rng):
    documents = [document for document in documents if len(document) > 1]
    return make(documents, length, n, rng) if documents else []
