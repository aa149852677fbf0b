"""A tokenised corpus in compressed rows: one flat array of pieces, with sentence and document offsets.

Plain NumPy, so that prepared text can be used on a machine that has neither ``datasets`` nor the corpus.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from datasets import Dataset
from jaxtyping import Int, UInt16

from albert_edu.text.corpora import CorpusError
from albert_edu.text.tokenizer import AlbertTokenizer


@dataclass(frozen=True, eq=False)
class TokenizedCorpus:
    """Sentence s is ``tokens[sentences[s]:sentences[s + 1]]``; document d holds sentences ``documents[d]:documents[d + 1]``.

    ``topics`` numbers what a document is about where the source says so (else -1); NSP can draw its negatives by it.
    """

    tokens: UInt16[np.ndarray, "tokens"]
    sentences: Int[np.ndarray, "sentences_plus_1"]
    documents: Int[np.ndarray, "documents_plus_1"]
    topics: Int[np.ndarray, "documents"]

    FILES = ("tokens", "sentences", "documents", "topics")

    def __post_init__(self):
        if not len(self.tokens):
            raise CorpusError("the corpus is empty: it has no pieces.")

    @classmethod
    def encode(cls, corpus: Dataset, tokenizer: AlbertTokenizer) -> "TokenizedCorpus":
        """Tokenise every sentence; sentences that normalise to nothing are dropped."""
        if len(tokenizer) > np.iinfo(np.uint16).max + 1:
            raise CorpusError(f"a vocabulary of {len(tokenizer)} pieces does not fit the two bytes we keep a piece in.")
        encoded = [[ids for ids in tokenizer.encode_many(sentences) if ids] for sentences in corpus["sentences"]]
        lengths = [len(ids) for document in encoded for ids in document]
        names = corpus["topic"] if "topic" in corpus.column_names else None
        return cls(
            tokens=np.array([i for document in encoded for ids in document for i in ids], dtype=np.uint16),
            sentences=_offsets(lengths),
            documents=_offsets([len(document) for document in encoded]),
            topics=np.full(len(encoded), -1) if names is None else np.unique(names, return_inverse=True)[1],
        )

    @cached_property
    def document_of(self) -> Int[np.ndarray, "sentences"]:
        """The document each sentence belongs to."""
        return np.repeat(np.arange(len(self.documents) - 1), np.diff(self.documents))

    @cached_property
    def lengths(self) -> Int[np.ndarray, "sentences"]:
        """Pieces in each sentence."""
        return np.diff(self.sentences)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change with any piece or boundary."""
        digest = hashlib.sha256()
        for name in self.FILES:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()[:16]

    def save(self, folder: str | Path) -> None:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name in self.FILES:
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: str | Path) -> "TokenizedCorpus":
        """Map the arrays from disk; nothing is read before it is used."""
        return cls(*(np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in cls.FILES))

    def __str__(self) -> str:
        return f"{len(self.documents) - 1:,} documents, {len(self.lengths):,} sentences, {len(self.tokens):,} pieces"


def _offsets(lengths: list[int]) -> Int[np.ndarray, "n_plus_1"]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)
