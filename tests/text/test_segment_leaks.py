"""Nothing but the order gives a pair's label away: a classifier that sees no words is at chance."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from albert_edu.text.segments import SPECIALS, Pairs
from albert_edu.text.tokenized import TokenizedCorpus
from tests.text.test_segments import draw, tokens_in


def shuffled(corpus: TokenizedCorpus) -> TokenizedCorpus:
    """The same documents with their sentences in random order, so that order says nothing."""
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(corpus.lengths)), corpus.document_of))
    sentences = np.split(corpus.tokens, corpus.sentence_offsets[1:-1])
    tokens = np.concatenate([sentences[s] for s in order])
    offsets = np.concatenate([[0], np.cumsum(corpus.lengths[order])])
    return TokenizedCorpus(tokens, offsets, corpus.document_offsets, corpus.topics)


LENGTH = 128
CHANCE = 0.5 + 3 * 0.5 / 4000**0.5  # three standard errors of an accuracy over 4,000 balanced pairs


def whole(corpus: TokenizedCorpus, pairs: Pairs) -> np.ndarray:
    """Where segments end: with their last sentence."""
    return corpus.sentence_offsets[pairs.end]


def cut_at_the_limit(corpus: TokenizedCorpus, pairs: Pairs) -> np.ndarray:
    """The segment that is second in the text runs on, in mid-sentence, until the row is full."""
    end, row, second = whole(corpus, pairs), np.arange(len(pairs.end)), pairs.start.argmax(1)
    room = LENGTH - SPECIALS - tokens_in(corpus, pairs).sum(1)
    next_document = corpus.document_of[pairs.start[:, 0]] + 1
    stop = corpus.sentence_offsets[corpus.document_offsets[next_document]]
    end[row, second] = np.minimum(end[row, second] + room, stop)
    return end


def accuracy(parts, tokenizer, ends=whole) -> float:
    """Fit on 8,000 pairs of one text, score on 4,000 of the other.

    Known of a pair is what shows without reading: lengths, sentence counts, and the token at the
    end of each segment.
    """
    pieces = tokenizer.pieces(range(len(tokenizer)))
    punctuation, known = np.array([piece[-1] in '.!?;:"' for piece in pieces]), []
    for corpus, n in zip(parts, (8000, 4000), strict=True):
        pairs = draw(corpus, "sop", LENGTH, n, seed=n)
        end, sentences = ends(corpus, pairs), pairs.end - pairs.start
        length = end - corpus.sentence_offsets[pairs.start]
        last = corpus.tokens[end - 1].astype(np.int64)
        features = [length, sentences, length / sentences, np.diff(length), np.diff(sentences)]
        features = np.concatenate([*features, last, punctuation[last]], axis=1)
        known.append((features, pairs.labels))
    forest = RandomForestClassifier(40, min_samples_leaf=20, random_state=0)
    return forest.fit(*known[0]).score(*known[1])


@pytest.mark.parametrize("order", [lambda corpus: corpus, shuffled], ids=["as spoken", "shuffled"])
def test_neither_length_nor_the_token_at_the_cut_tells_the_order(text, order):
    """Shuffled text separates what we do (must be chance) from what speakers do: headings first."""
    assert accuracy(map(order, text[1:]), text.tokenizer) < CHANCE


def test_the_same_classifier_finds_the_leak_when_the_last_sentence_is_cut_at_the_limit(text):
    assert accuracy(text[1:], text.tokenizer, ends=cut_at_the_limit) > 0.8
