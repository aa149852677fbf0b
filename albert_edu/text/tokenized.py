"""A tokenised corpus in compressed rows: one flat array of tokens, and offsets into it.

Plain NumPy, so that prepared text can be used on a machine that has neither ``datasets`` nor
the corpus.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from jaxtyping import Int, UInt16

from albert_edu.errors import blame, read_file, read_text
from albert_edu.text.documents import CorpusError, map_documents
from albert_edu.text.tokenizer import UNK, AlbertTokenizer

PART_TOKENS = 1 << 21  # how many tokens are counted together

KINDS = (np.uint16, np.int64, np.int64, np.int64)  # of the arrays


@dataclass(frozen=True, eq=False)
class TokenizedCorpus:
    """Sentence s is ``tokens[sentences[s]:sentences[s + 1]]``.

    Document d holds sentences ``documents[d]:documents[d + 1]``. ``topics`` numbers what a
    document is about where the source says so (else -1); NSP can draw its negatives by it.
    Raises CorpusError for a corpus without tokens and for offsets that do not fit the arrays.
    """

    tokens: UInt16[np.ndarray, "tokens"]
    sentences: Int[np.ndarray, "sentences_plus_1"]
    documents: Int[np.ndarray, "documents_plus_1"]
    topics: Int[np.ndarray, "documents"]
    unknown: tuple[tuple[str, int], ...] = ()  # commonest unknown symbols, with their counts

    FILES = ("tokens", "sentences", "documents", "topics")

    def __post_init__(self):
        if not len(self.tokens):
            raise CorpusError("the corpus is empty: it has no tokens.")
        ends = (int(self.sentences[-1]), int(self.documents[-1]), len(self.topics))
        counts = (len(self.tokens), len(self.sentences) - 1, len(self.documents) - 1)
        if ends != counts:
            raise CorpusError(f"the offsets of the corpus end at {ends}, its arrays at {counts}.")

    @classmethod
    def encode(
        cls, corpus: "datasets.Dataset", tokenizer: AlbertTokenizer, folder: Path | None = None
    ) -> "TokenizedCorpus":
        """Tokenise every sentence; sentences that normalise to nothing are dropped.

        With a ``folder`` the arrays are written there and mapped, so that they may be larger than
        memory. Raises CorpusError for a vocabulary of more than 65,536 tokens.
        """
        from datasets import Features, List, Value

        if len(tokenizer) > 1 << 16:
            raise CorpusError(f"{len(tokenizer)} tokens do not fit the two bytes kept for each.")
        columns = {"tokens": "uint16", "lengths": "int32", "unknown": "string"}
        encoded = map_documents(
            corpus,
            _encode_row,
            "tokenising",
            fn_kwargs={"tokenizer": tokenizer},
            remove_columns=corpus.column_names,
            features=Features({name: List(Value(kind)) for name, kind in columns.items()}),
        ).data
        symbols = Counter()
        for chunk in encoded["unknown"].chunks:
            symbols.update(chunk.flatten().to_pylist())
        lists = encoded["lengths"].chunks
        topics = np.full(len(corpus), -1)
        if "topic" in corpus.column_names:
            topics = np.unique(corpus["topic"][:], return_inverse=True)[1]
        parts = {
            "tokens": [chunk.flatten().to_numpy() for chunk in encoded["tokens"].chunks],
            "sentences": [np.zeros(1, np.int64), *(chunk.flatten().to_numpy() for chunk in lists)],
            "documents": [np.zeros(1, np.int64), *(chunk.value_lengths() for chunk in lists)],
            "topics": [topics],
        }
        unknown = tuple(symbols.most_common(20))
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "unknown.json").write_text(json.dumps(unknown))
        arrays = {name: _joined(parts[name], folder and folder / f"{name}.npy") for name in parts}
        for name in ("sentences", "documents"):  # lengths become offsets
            np.cumsum(arrays[name], out=arrays[name])
        return cls(**arrays, unknown=unknown)

    @cached_property
    def document_of(self) -> Int[np.ndarray, "sentences"]:
        """The document each sentence belongs to."""
        return np.repeat(np.arange(len(self.documents) - 1), np.diff(self.documents))

    @cached_property
    def lengths(self) -> Int[np.ndarray, "sentences"]:
        """Tokens in each sentence."""
        return np.diff(self.sentences)

    @cached_property
    def unknown_share(self) -> float:
        """Share of the tokens that are the unknown token."""
        return float(self.counts(UNK + 1)[UNK] / len(self.tokens))

    def counts(self, vocab_size: int) -> Int[np.ndarray, "V"]:
        """Return how often each token of the vocabulary occurs.

        The tokens are counted in parts, because NumPy makes a copy with eight bytes for each.
        """
        parts = np.array_split(self.tokens, len(self.tokens) // PART_TOKENS + 1)
        return sum(np.bincount(part, minlength=1 << 16) for part in parts)[:vocab_size]

    @property
    def offenders(self) -> str:
        """The commonest unknown symbols with their counts, or "none"."""
        return ", ".join(f"{symbol!r} {count:,}" for symbol, count in self.unknown[:8]) or "none"

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change with any token or boundary."""
        digest = hashlib.sha256()
        for name in self.FILES:
            digest.update(np.ascontiguousarray(getattr(self, name)).data)
        return digest.hexdigest()[:16]

    @classmethod
    def load(cls, folder: str | Path) -> "TokenizedCorpus":
        """Map the arrays from disk; nothing is read before it is used.

        Raises CorpusError for files that are cut short or do not belong together.
        """
        files, folder = [f"{name}.npy" for name in cls.FILES], Path(folder)
        mapped = partial(np.load, mmap_mode="r")
        with blame(f"the tokenised text in {folder}", CorpusError):
            arrays = [read_file(folder / file, mapped, CorpusError, None) for file in files]
            if [(array.ndim, array.dtype) for array in arrays] != [(1, kind) for kind in KINDS]:
                raise ValueError("an array has another type")
            text = read_text(folder / "unknown.json", CorpusError)
            corpus = cls(*arrays, tuple((str(word), int(n)) for word, n in json.loads(text)))
            for offsets in (corpus.sentences, corpus.documents):
                if offsets[0] or (offsets[1:] < offsets[:-1]).any():
                    raise ValueError("offsets run backwards")
        return corpus

    def __str__(self) -> str:
        sizes = (len(self.documents) - 1, len(self.sentences) - 1, len(self.tokens))
        return "{:,} documents, {:,} sentences, {:,} tokens".format(*sizes)


def _encode_row(row: Mapping, tokenizer: AlbertTokenizer) -> dict:
    encoded = tokenizer.encode_many(row["sentences"])
    unknown = [
        symbol
        for sentence, ids in zip(row["sentences"], encoded, strict=True)
        if UNK in ids
        for symbol in tokenizer.unknown_in(sentence)
    ]
    tokens = np.concatenate([np.empty(0), *encoded]).astype(np.uint16)
    return {"tokens": tokens, "lengths": [len(i) for i in encoded if i], "unknown": unknown}


def _joined(parts: list, file: Path | None) -> np.ndarray:
    """The parts one after another, in memory or in a mapped file; counts become 64-bit."""
    length, kind = sum(map(len, parts)), np.uint16 if parts[0].dtype == np.uint16 else np.int64
    if file is None or not length:
        array = np.empty(length, kind)
    else:
        array = np.lib.format.open_memmap(file, "w+", kind, (length,))
    return np.concatenate(parts, out=array)
