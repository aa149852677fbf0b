"""A tokenised corpus in compressed rows: one flat array of tokens, and offsets into it.

Plain NumPy, so that prepared text can be used on a machine that has neither ``datasets`` nor
the corpus.
"""

import hashlib
import io
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import Int, UInt16

from albert_edu.errors import errors_about
from albert_edu.progress import progress_bar
from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenizer import UNK, AlbertTokenizer

PART_TOKENS = 1 << 21  # how many tokens are counted together
TOKENS = "tokens.bin"
OFFSETS = "offsets.npz"


@dataclass(frozen=True, eq=False)
class TokenizedCorpus:
    """Sentence s is ``tokens[sentence_offsets[s]:sentence_offsets[s + 1]]``.

    Document d holds the sentences ``document_offsets[d]:document_offsets[d + 1]``. ``topics``
    numbers what a document is about where the source says so (else -1); NSP can draw its negatives
    by it.
    Raises CorpusError for a corpus without tokens and for offsets that do not fit the arrays.
    """

    tokens: UInt16[np.ndarray, "tokens"]
    sentence_offsets: Int[np.ndarray, "sentences_plus_1"]
    document_offsets: Int[np.ndarray, "documents_plus_1"]
    topics: Int[np.ndarray, "documents"]

    def __post_init__(self):
        if not len(self.tokens):
            raise CorpusError("the corpus is empty: it has no tokens.")
        ends = (int(self.sentence_offsets[-1]), int(self.document_offsets[-1]), len(self.topics))
        counts = (len(self.tokens), len(self.sentence_offsets) - 1, len(self.document_offsets) - 1)
        both = (self.sentence_offsets, self.document_offsets)
        rise_from_0 = all(offsets[0] == 0 and np.diff(offsets).min() >= 0 for offsets in both)
        if ends != counts or not rise_from_0:
            raise CorpusError(f"the offsets of the corpus end at {ends} of {counts}, or go back.")

    @classmethod
    def encode(cls, documents: Iterable[Mapping], tokenizer: AlbertTokenizer) -> "TokenizedCorpus":
        """Tokenise the ``sentences`` of each document; those that normalise to nothing are dropped.

        Raises CorpusError for a vocabulary of more than 65,536 tokens, and for a text in the place
        of a list of sentences.
        """
        content = io.BytesIO()
        sentence_offsets, document_offsets, topics = _encode_into(content, documents, tokenizer)
        tokens = np.frombuffer(content.getvalue(), np.uint16)
        return cls(tokens, sentence_offsets, document_offsets, topics)

    @classmethod
    def write(
        cls, documents: Iterable[Mapping], tokenizer: AlbertTokenizer, folder: Path
    ) -> "TokenizedCorpus":
        """Do what ``encode`` does, in files of a folder, and map them.

        The tokens are written one document after another, so that they may be larger than memory.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / TOKENS).open("wb") as file:
            sentence_offsets, document_offsets, topics = _encode_into(file, documents, tokenizer)
        np.savez(
            folder / OFFSETS,
            sentences=sentence_offsets,
            documents=document_offsets,
            topics=topics,
        )
        return cls.load(folder)

    @classmethod
    def load(cls, folder: str | Path) -> "TokenizedCorpus":
        """Map the tokens from disk; nothing is read before it is used.

        Raises CorpusError for files that are missing, cut short or do not belong together.
        """
        folder = Path(folder)
        with errors_about(f"the tokenised text in {folder}", CorpusError, "Delete that folder."):
            tokens = np.memmap(folder / TOKENS, np.uint16, "r")
            with np.load(folder / OFFSETS) as offsets:
                return cls(tokens, offsets["sentences"], offsets["documents"], offsets["topics"])

    @cached_property
    def document_of(self) -> Int[np.ndarray, "sentences"]:
        """The document each sentence belongs to."""
        return np.repeat(np.arange(len(self.document_offsets) - 1), np.diff(self.document_offsets))

    @cached_property
    def lengths(self) -> Int[np.ndarray, "sentences"]:
        """Tokens in each sentence."""
        return np.diff(self.sentence_offsets)

    @cached_property
    def unknown_share(self) -> float:
        """Share of the tokens that are the unknown token."""
        return float(self.counts(1 << 16)[UNK] / len(self.tokens))

    def counts(self, vocab_size: int) -> Int[np.ndarray, "V"]:
        """Return how often each token of the vocabulary occurs.

        The tokens are counted in parts, because NumPy makes a copy with eight bytes for each.
        Raises CorpusError where there are tokens beyond the vocabulary.
        """
        parts = np.array_split(self.tokens, len(self.tokens) // PART_TOKENS + 1)
        total = np.zeros(1 << 16, np.int64)
        for part in parts:
            total += np.bincount(part, minlength=1 << 16)
        beyond = total[vocab_size:].sum()
        if beyond:
            raise CorpusError(f"{beyond:,} tokens of the corpus are beyond {vocab_size} pieces.")
        return total[:vocab_size]

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change with any token or boundary."""
        digest = hashlib.sha256()
        for part in (self.tokens, self.sentence_offsets, self.document_offsets, self.topics):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:16]

    def __str__(self) -> str:
        documents = f"{len(self.document_offsets) - 1:,} documents"
        sentences = f"{len(self.sentence_offsets) - 1:,} sentences"
        return (
            f"{documents}, {sentences}, {len(self.tokens):,} tokens, "
            f"{self.unknown_share:.2%} unknown"
        )


def _encode_into(
    file: io.BufferedIOBase, documents: Iterable[Mapping], tokenizer: AlbertTokenizer
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write the tokens of all documents into a file; return the offsets, and the topics."""
    if len(tokenizer) > 1 << 16:
        raise CorpusError(f"{len(tokenizer)} tokens do not fit the two bytes kept for each.")
    lengths = array("q", [0])  # tokens of each sentence, behind a zero
    counts = array("q", [0])  # sentences of each document
    topics = []
    for document in progress_bar("tokenising", documents):
        if isinstance(document["sentences"], str):
            raise CorpusError(f"the sentences of {document['sentences']!r:.50} are one text.")
        encoded = list(filter(None, map(tokenizer.encode, document["sentences"])))
        file.write(np.array([*chain.from_iterable(encoded)], np.uint16).tobytes())
        lengths.extend(map(len, encoded))
        counts.append(len(encoded))
        topics.append(document.get("topic"))
    sentence_offsets = np.cumsum(lengths, dtype=np.int64)
    document_offsets = np.cumsum(counts, dtype=np.int64)
    return sentence_offsets, document_offsets, _numbered(topics)


def _numbered(topics: list) -> np.ndarray:
    """Return a number for each topic, or -1 everywhere if a document has none."""
    if None in topics:
        return np.full(len(topics), -1)
    _, numbers = np.unique(topics, return_inverse=True)
    return numbers
