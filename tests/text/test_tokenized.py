"""The tokenised corpus: rows in one flat array, the same on disk, and a fingerprint that nothing escapes."""

import dataclasses
import os
import re
from itertools import pairwise

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer

WORDS = ("the", "Barn", "öld", "burning", "x9", "", "  ", "\u0301")


@pytest.fixture(scope="module")
def tokenizer(text):
    return text.tokenizer


@pytest.fixture
def corpus() -> TokenizedCorpus:
    """Two documents: [[5 6] [7]] and [[5 5 5]]."""
    tokens = np.array([5, 6, 7, 5, 5, 5], dtype=np.uint16)
    return TokenizedCorpus(tokens, *map(np.array, ([0, 2, 3, 6], [0, 2, 3], [0, 1])))


def rows(corpus: TokenizedCorpus) -> list[list[list[int]]]:
    """The corpus as nested lists, read slowly by its offsets."""
    sentences = [corpus.tokens[a:b].tolist() for a, b in pairwise(corpus.sentence_offsets)]
    return [sentences[a:b] for a, b in pairwise(corpus.document_offsets)]


SENTENCES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)


@given(documents=st.lists(st.lists(SENTENCES, min_size=1, max_size=5), min_size=1, max_size=6))
def test_the_flat_arrays_hold_every_sentence_in_its_document(tokenizer, documents):
    expected = [[*filter(None, map(tokenizer.encode, document))] for document in documents]
    dataset = [{"sentences": document} for document in documents]
    if not any(expected):
        with pytest.raises(CorpusError, match="empty"):
            TokenizedCorpus.encode(dataset, tokenizer)
        return
    corpus = TokenizedCorpus.encode(dataset, tokenizer)
    assert rows(corpus) == expected
    assert corpus.sentence_offsets[0] == corpus.document_offsets[0] == 0
    home = [d for d, document in enumerate(expected) for _ in document]
    assert corpus.document_of.tolist() == home
    assert corpus.lengths.tolist() == [len(ids) for document in expected for ids in document]
    assert corpus.topics.tolist() == [-1] * len(expected)


def test_documents_share_a_topic_number_exactly_when_they_share_a_topic(tokenizer):
    names = ["sea", "barn", "sea", "air"]
    documents = [{"topic": name, "sentences": ["the barn."]} for name in names]
    corpus = TokenizedCorpus.encode(documents, tokenizer)
    same = [[a == b for a in names] for b in names]
    assert (corpus.topics[:, None] == corpus.topics).tolist() == same and corpus.topics.min() >= 0


def test_what_is_written_comes_back_equal_and_mapped_from_disk(tokenizer, tmp_path):
    dataset = Dataset.from_dict(
        {"topic": ["b", "a"], "sentences": [["The barn.", "It <unk> 7."], ["the barn."]]}
    )
    for _ in range(2):  # the second time over what is there
        corpus = TokenizedCorpus.write(dataset, tokenizer, tmp_path / "new" / "folder")
    loaded = TokenizedCorpus.load(str(tmp_path / "new" / "folder"))
    assert isinstance(loaded.tokens, np.memmap) and not loaded.tokens.flags.writeable
    in_memory = TokenizedCorpus.encode(dataset, tokenizer)
    for other in (corpus, in_memory):
        for name in ("tokens", "sentence_offsets", "document_offsets", "topics"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(other, name), strict=True)
    assert loaded.unknown_share == corpus.unknown_share > 0
    assert loaded.fingerprint == corpus.fingerprint and rows(loaded) == rows(corpus)


def test_a_corpus_says_how_large_it_is_and_counts_its_tokens_in_parts(corpus, monkeypatch):
    monkeypatch.setattr("albert_edu.text.tokenized.PART_TOKENS", 2)
    assert str(corpus) == "2 documents, 3 sentences, 6 tokens, 0.00% unknown"
    assert dict(enumerate(corpus.counts(8))) == dict.fromkeys(range(5), 0) | {5: 4, 6: 1, 7: 1}


def test_the_fingerprint_changes_with_any_token_boundary_or_topic(corpus):
    changes = [
        {"tokens": np.array([5, 6, 7, 5, 5, 6], dtype=np.uint16)},
        {"tokens": np.array([6, 5, 7, 5, 5, 5], dtype=np.uint16)},
        {"sentence_offsets": np.array([0, 1, 3, 6])},
        {"sentence_offsets": np.array([0, 2, 4, 6])},
        {"document_offsets": np.array([0, 1, 3])},
        {"topics": np.array([0, 0])},
        {"document_offsets": np.array([0, 3]), "topics": np.array([0])},
    ]
    changed = [dataclasses.replace(corpus, **change) for change in [{}, *changes]]
    prints = [each.fingerprint for each in changed]
    assert len(set(prints)) == len(prints) and prints[0] == corpus.fingerprint
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in prints)


def test_a_vocabulary_beyond_two_bytes_is_refused(tokenizer, monkeypatch):
    dataset = [{"sentences": ["the barn."]}]
    monkeypatch.setattr(AlbertTokenizer, "__len__", lambda self: 65_536)
    assert TokenizedCorpus.encode(dataset, tokenizer).tokens.dtype == np.uint16
    monkeypatch.setattr(AlbertTokenizer, "__len__", lambda self: 65_537)
    with pytest.raises(CorpusError, match="65537 tokens do not fit the two bytes"):
        TokenizedCorpus.encode(dataset, tokenizer)


def with_documents(documents: list[int]):
    """Write the offsets again, with these ends of documents."""

    def change(folder):
        place = folder / "offsets.npz"
        offsets = dict(np.load(place))
        offsets["documents"] = np.array(documents)
        np.savez(place, **offsets)

    return change


def without_sentences(folder):
    np.savez(folder / "offsets.npz", documents=[0, 3])


DAMAGES = {  # what the error says: what happens to the folder
    "text in .* cannot be used.*FileNotFound": lambda f: (f / "tokens.bin").unlink(),
    "offsets of the corpus end": lambda f: os.truncate(f / "tokens.bin", 8),
    "text in .* cannot be used.*empty file": lambda f: os.truncate(f / "tokens.bin", 0),
    "text in .* cannot be used.*pickle": lambda f: (f / "offsets.npz").write_text("x"),
    "offsets of the corpus end at .*, or go back": with_documents([0, 4, 3]),
    "text in .* cannot be used.*KeyError": without_sentences,
}


@pytest.mark.parametrize("message", DAMAGES)
def test_a_damaged_folder_is_named_and_what_to_do(tokenizer, tmp_path, message):
    documents = [{"sentences": ["The barn.", "The boat."]}, {"sentences": ["the barn."]}]
    TokenizedCorpus.write(documents, tokenizer, tmp_path)
    DAMAGES[message](tmp_path)
    with pytest.raises(CorpusError, match=message):
        TokenizedCorpus.load(tmp_path)


def test_a_text_in_the_place_of_sentences_and_a_vocabulary_that_is_too_small_are_refused(tokenizer):
    with pytest.raises(CorpusError, match=r"the sentences of 'The barn\.' are one text"):
        TokenizedCorpus.encode([{"sentences": "The barn."}], tokenizer)
    corpus = TokenizedCorpus.encode([{"sentences": ["The barn."]}], tokenizer)
    with pytest.raises(CorpusError, match="tokens of the corpus are beyond 5 pieces"):
        corpus.counts(5)
