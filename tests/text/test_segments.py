"""Pairs of segments: whole neighbouring sentences, balanced labels, and no other sign of order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from albert_edu.text.segments import SPECIALS, Pairs, PairSampler
from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenized import TokenizedCorpus

DOCUMENTS = st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=7), min_size=1, max_size=6)
LENGTHS, SHORT = st.integers(5, 32), st.sampled_from([0.0, 0.1, 1.0])


def corpus_of(lengths: list[list[int]], topics: list[int] | None = None) -> TokenizedCorpus:
    """A corpus whose sentences have these lengths; tokens are numbered through."""
    sentences = np.cumsum([0, *(length for document in lengths for length in document)])
    documents = np.cumsum([0, *map(len, lengths)])
    tokens = np.arange(sentences[-1], dtype=np.uint16)
    return TokenizedCorpus(tokens, sentences, documents, np.array(topics or [-1] * len(lengths)))


def draw(corpus, objective, length, n=40, short=0.1, negatives="document", seed=0) -> Pairs:
    sampler = PairSampler(corpus, objective, length, negatives)
    return sampler.draw(np.random.default_rng(seed), n, short)


def fitting_pairs(lengths: list[list[int]], room: int) -> set[int]:
    """Documents in which two neighbouring sentences fit."""
    return {d for d, ls in enumerate(lengths) for a, b in pairwise(ls) if a + b + SPECIALS <= room}


def tokens_in(corpus: TokenizedCorpus, pairs: Pairs) -> np.ndarray:
    """Pieces in both segments, n x 2."""
    return corpus.sentence_offsets[pairs.end] - corpus.sentence_offsets[pairs.start]


def documents_of(corpus: TokenizedCorpus, pairs: Pairs) -> np.ndarray:
    """The document of each segment, n x 2, after making sure that it begins and ends there."""
    begin, end = corpus.document_of[pairs.start], corpus.document_of[pairs.end - 1]
    np.testing.assert_array_equal(begin, end)
    return begin


@given(DOCUMENTS, LENGTHS, SHORT, st.integers(2, 31))
def test_sop_pairs_are_neighbouring_whole_sentences_of_one_document_that_fit(
    lengths, sequence_length, short, n
):
    assume(fitting_pairs(lengths, sequence_length))
    corpus = corpus_of(lengths)
    pairs = draw(corpus, "sop", sequence_length, n, short)
    assert (pairs.end > pairs.start).all()
    home = documents_of(corpus, pairs)
    assert (home[:, 0] == home[:, 1]).all()
    swapped = pairs.labels == 1
    assert (pairs.end[~swapped, 0] == pairs.start[~swapped, 1]).all()
    assert (pairs.end[swapped, 1] == pairs.start[swapped, 0]).all()
    assert tokens_in(corpus, pairs).sum(1).max() + SPECIALS <= sequence_length
    assert len(pairs.labels) == n and pairs.labels.sum() == n // 2


@given(DOCUMENTS, LENGTHS, SHORT, st.booleans())
def test_nsp_pairs_continue_or_come_from_another_document_or_topic(
    lengths, sequence_length, short, by_topic
):
    topics = [index // 2 for index in range(len(lengths))]
    unit = np.array(topics) if by_topic else np.arange(len(lengths))
    assume(len({unit[d] for d in fitting_pairs(lengths, sequence_length)}) > 1)
    corpus = corpus_of(lengths, topics)
    pairs = draw(corpus, "nsp", sequence_length, 20, short, "topic" if by_topic else "document")
    home = documents_of(corpus, pairs)
    false = pairs.labels == 1
    assert false.sum() == 10 and (pairs.end > pairs.start).all()
    assert (pairs.end[~false, 0] == pairs.start[~false, 1]).all()
    assert (home[~false, 0] == home[~false, 1]).all()
    assert (unit[home[false, 0]] != unit[home[false, 1]]).all()
    begins_document = np.isin(pairs.start[false, 1], corpus.document_offsets)
    assert not begins_document.any()
    assert tokens_in(corpus, pairs).sum(1).max() + SPECIALS <= sequence_length


@given(DOCUMENTS, LENGTHS)
@example([[9, 8], [7, 20]], 19)
def test_a_sampler_exists_exactly_when_two_neighbouring_sentences_fit_or_names_the_length_needed(
    lengths, sequence_length
):
    neighbours = [a + b for document in lengths for a, b in pairwise(document)]
    if fitting_pairs(lengths, sequence_length):
        draw(corpus_of(lengths), "sop", sequence_length, 2)
        return
    needed = rf"shortest pair needs {min(neighbours, default=0) + SPECIALS}\.$"
    with pytest.raises(CorpusError, match=needed if neighbours else "has a single sentence"):
        PairSampler(corpus_of(lengths), "sop", sequence_length)


def test_sentences_whose_ends_were_not_found_get_no_advice_that_nobody_can_follow():
    for documents in ([[2831, 2831], [2831]], [[2831], [2831]]):
        with pytest.raises(CorpusError, match=r"in 2,831 tokens.*an empty line") as error:
            PairSampler(corpus_of(documents), "sop", 128)
        assert "shortest pair" not in str(error.value)


def test_documents_of_one_sentence_serve_masked_tokens_alone_and_no_order():
    corpus = corpus_of([[3], [4], [5]])
    pairs = draw(corpus, "none", 32, 200, short=0.0)
    assert set(pairs.start[:, 0]) == {0, 1} and (pairs.end[:, 1] == 3).all()
    for objective in ("sop", "nsp"):
        with pytest.raises(CorpusError, match=r"has a single sentence.*objective none"):
            PairSampler(corpus, objective, 32)


def test_swapping_exchanges_the_two_segments_and_nothing_else(text):
    in_order, sop = (draw(text.train, objective, 128, 200) for objective in ("none", "sop"))
    assert (in_order.labels == 0).all() and (in_order.end[:, 0] == in_order.start[:, 1]).all()
    swapped = sop.labels == 1
    for name in ("start", "end"):
        true, ours = getattr(in_order, name), getattr(sop, name)
        np.testing.assert_array_equal(ours[~swapped], true[~swapped])
        np.testing.assert_array_equal(ours[swapped], true[swapped][:, ::-1])


def test_labels_are_half_of_each_batch_and_not_in_a_fixed_order(text):
    sampler = PairSampler(text.train, "sop", 64)
    labels = np.array([sampler.draw(np.random.default_rng(seed), 6).labels for seed in range(400)])
    assert (labels.sum(1) == 3).all()
    assert (abs(labels.mean(0) - 0.5) < 4.5 * 0.5 / 400**0.5).all()  # every row gets both


@pytest.mark.parametrize("objective", ["sop", "none"])
def test_every_start_and_every_cut_is_equally_likely(objective):
    corpus = corpus_of([[1, 1, 1, 1, 1], [2, 2]])
    pairs = draw(corpus, objective, 32, 12_000, short=0.0)
    low, high = pairs.start.min(1), pairs.end.max(1)
    cut = np.where(pairs.labels == 0, pairs.end[:, 0], pairs.start[:, 0])
    starts, counts = np.unique(low, return_counts=True)
    assert starts.tolist() == [0, 1, 2, 3, 5]
    assert (abs(counts - 2400) < 4.5 * (12_000 * 0.2 * 0.8) ** 0.5).all()
    assert (high == np.where(low < 5, 5, 7)).all()
    _, counts = np.unique(cut[low == 0], return_counts=True)
    assert len(counts) == 4
    assert (abs(counts - counts.mean()) < 4.5 * (counts.sum() * 0.25 * 0.75) ** 0.5).all()


def test_a_pair_takes_all_that_fits_unless_it_is_drawn_short(text):
    budget, corpus = 128 - SPECIALS, text.train

    def could_be_longer(short: float, n: int = 4000) -> float:
        """Share of the pairs to which the next sentence of the document could have been added."""
        pairs = draw(corpus, "sop", 128, n, short)
        end, total = pairs.end.max(1), tokens_in(corpus, pairs).sum(1)
        inside = end < corpus.document_offsets[corpus.document_of[end - 1] + 1]
        following = corpus.lengths[np.minimum(end, len(corpus.lengths) - 1)]
        return (inside & (total + following <= budget)).mean()

    assert could_be_longer(0.0) == 0
    always = could_be_longer(1.0)
    assert 0.4 < always < 1
    assert abs(could_be_longer(0.1) - 0.1 * always) < 4.5 * (0.1 / 4000) ** 0.5
    usual = PairSampler(corpus, "sop", 128).draw(np.random.default_rng(0), 4000)
    np.testing.assert_array_equal(usual.end, draw(corpus, "sop", 128, 4000, 0.1).end)


def test_short_pairs_still_have_two_sentences_and_reach_the_whole_range():
    corpus = corpus_of([[1] * 60])
    totals = tokens_in(corpus, draw(corpus, "sop", 23, 4000, short=1.0)).sum(1)
    assert set(totals.tolist()) == set(range(2, 21))


@given(DOCUMENTS, LENGTHS)
@example([[5], [3, 4], [8]], 32)  # a lone sentence is left out
@example([[2, 2, 40, 3, 3, 40]], 16)  # and one that is too long
def test_coverage_counts_the_sentences_that_are_drawn_sooner_or_later(lengths, sequence_length):
    assume(fitting_pairs(lengths, sequence_length))
    corpus = corpus_of(lengths)
    sampler = PairSampler(corpus, "sop", sequence_length)
    pairs = sampler.draw(np.random.default_rng(0), 1000, 0.5)
    ranges = zip(pairs.start.flat, pairs.end.flat, strict=True)
    drawn = sorted({sentence for first, last in ranges for sentence in range(first, last)})
    assert sampler.coverage == pytest.approx(corpus.lengths[drawn].sum() / len(corpus.tokens))


@pytest.mark.parametrize(
    ("lengths", "topics", "negatives"),
    [
        ([[3, 3, 3]], [0], "document"),
        ([[3, 3], [3]], [0, 1], "document"),
        ([[3, 3], [3, 3]], [4, 4], "topic"),
        ([[3, 3], [3, 3]], None, "topic"),
    ],
    ids=["one document", "only one of two has a pair", "one topic", "no topics"],
)
def test_nsp_needs_a_second_document_or_topic(lengths, topics, negatives):
    corpus = corpus_of(lengths, topics)
    with pytest.raises(CorpusError, match=f"needs another {negatives}; only one has sentences"):
        PairSampler(corpus, "nsp", 32, negatives)
    PairSampler(corpus, "sop", 32, negatives)


def test_beside_a_single_sentence_true_and_false_segments_have_1_2_or_3_sentences_as_6_to_3_to_2():
    # Documents of 4: a pair starts at each of 3 places and is cut at each of k - 1, so one sentence
    # goes before b with 1/b.
    corpus = corpus_of([[1] * 4] * 50)
    pairs, p = draw(corpus, "nsp", 32, 12_000, short=0.0), np.array([6, 3, 2]) / 11
    in_a, in_b = (pairs.end - pairs.start).T
    for label in (0, 1):
        counts = np.bincount(in_b[(in_a == 1) & (pairs.labels == label)], minlength=4)[1:]
        assert (abs(counts - counts.sum() * p) < 4.5 * (counts.sum() * p * (1 - p)) ** 0.5).all()


@pytest.mark.parametrize("long", [200, 5000])
def test_a_large_document_begins_its_share_of_the_pairs_of_nsp(long):
    corpus = corpus_of([[4] * long, [4] * 12])
    pairs = draw(corpus, "nsp", 24, n=4000)
    home = documents_of(corpus, pairs)
    in_short = (home[:, 0] == 1).mean()
    assert abs(in_short - 11 / (long + 10)) < 0.02, "as many as it has starts"
    other = home[pairs.labels == 1]
    assert (other[:, 0] != other[:, 1]).all()
