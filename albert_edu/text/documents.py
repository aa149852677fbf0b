"""Documents as rows of a ``datasets.Dataset``: split into sentences, cut in two, in parallel.

Where a scratch folder is given, the rows lie in memory-mapped files there, so that a text may be
larger than memory. Without one they are kept in memory.
"""

import multiprocessing
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from albert_edu.config import check_numbers
from albert_edu.text.tokenizer import check_text

PARAGRAPH_BREAK = re.compile(r"\n\s*\n|\u2029")
LARGE_TEXT = 4 << 20  # bytes from which it pays to start processes and to show progress
BATCH_BYTES = 16 << 20  # text that a process holds before it writes


class CorpusError(ValueError):
    """The text cannot be used; the message names the file or the document and what is wrong."""


def split_sentences(text: str) -> list[str]:
    """Split running text into sentences; an empty line, which may hold blanks, ends one too.

    >>> split_sentences("Mr. Smith spoke of the U.S. Senate. It was late.")
    ['Mr. Smith spoke of the U.S. Senate.', 'It was late.']
    >>> split_sentences("They don't know. We can't help.")
    ["They don't know.", "We can't help."]
    """
    from syntok import segmenter

    text = check_text(text).replace("\r\n", "\n").replace("\r", "\n")
    return [
        "".join(token.spacing + token.value for token in sentence).strip()
        for paragraph in PARAGRAPH_BREAK.split(text)
        for part in segmenter.analyze(" ".join(paragraph.split()))  # process() writes donot
        for sentence in part
    ]


def map_documents(
    corpus: "datasets.Dataset", function: Callable, purpose: str, **options
) -> "datasets.Dataset":
    """Return ``corpus.map(function)``; on all cores and with a sign of life if it is large.

    A process holds ``BATCH_BYTES`` of text, or one document, before it writes.
    """
    size = corpus.data.nbytes * len(corpus) // max(1, corpus.data.num_rows)  # bytes
    rows = min(1000, BATCH_BYTES * len(corpus) // (size + 1) + 1)
    processes = None
    if size > LARGE_TEXT:
        if not os.environ.get("TQDM_DISABLE"):
            print(f"{purpose}: {len(corpus):,} documents, {size / 1e6:,.0f} MB", file=sys.stderr)
        if not multiprocessing.current_process().daemon:  # such a process may start no others
            processes = min(os.cpu_count() or 1, len(corpus))
    _no_progress_bars_in_logs()
    return corpus.map(function, desc=purpose, num_proc=processes, writer_batch_size=rows, **options)


def _no_progress_bars_in_logs() -> None:
    """Let ``datasets`` draw its bars in a terminal only; they would fill a log or a notebook."""
    import datasets

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()


def to_dataset(
    documents: Iterable[dict], scratch: Path | None = None, batch_rows: int = 1000
) -> "datasets.Dataset":
    """Make rows of documents, which have an ``id`` and either ``sentences`` or a ``text`` to split.

    ``batch_rows`` documents are held in memory at once if there is a scratch folder. Documents
    without a sentence are dropped. Raises CorpusError if none is left.
    """
    from datasets import Dataset
    from datasets.exceptions import DatasetGenerationError

    if scratch is None:
        return with_sentences(Dataset.from_list(list(documents)))
    _no_progress_bars_in_logs()
    name = uuid.uuid4().hex  # else datasets would pickle the generator to name it
    try:
        options = {"cache_dir": str(scratch), "writer_batch_size": batch_rows}
        rows = Dataset.from_generator(lambda: iter(documents), fingerprint=name, **options)
    except DatasetGenerationError as error:
        raise error.__cause__ or error from None
    return with_sentences(rows)


def with_sentences(corpus: "datasets.Dataset") -> "datasets.Dataset":
    """Replace the column ``text``, if there is one, by ``sentences``; drop rows without any."""
    import pyarrow.compute

    if "text" in corpus.column_names:
        options = {"with_indices": True, "remove_columns": "text"}
        corpus = map_documents(corpus, _split_row, "splitting text into sentences", **options)
    counts = pyarrow.compute.list_value_length(corpus.data["sentences"]) if len(corpus) else []
    if not np.any(counts):
        raise CorpusError("the corpus is empty: no document has a sentence.")
    return corpus if np.all(counts) else corpus.select(np.flatnonzero(counts))


def _split_row(row: Mapping, index: int) -> dict:
    return {"id": row.get("id", f"row-{index}"), "sentences": split_sentences(row["text"] or "")}


def hold_out(
    corpus: "datasets.Dataset", fraction: float = 0.1, seed: int = 0, by: str | None = None
) -> tuple["datasets.Dataset", "datasets.Dataset"]:
    """Split into (train, held out) by whole documents, or by whole values of a column ``by``.

    Sentences of one document are never on both sides, because repeated phrases would make the
    held-out loss too good. Only where ``fraction`` is less than one document, as with two long
    files, the last part of each document is held out instead. Raises CorpusError for a corpus
    that cannot be split.
    """
    check_numbers(locals(), 0.0, 1.0, "fraction")
    names = range(len(corpus)) if by is None else corpus[by][:]
    values = np.unique(names, return_inverse=True)[1]
    count = int(values.max()) + 1
    if by is None and 0 < fraction * count < 1:
        return _hold_out_ends(corpus, fraction)
    if count < 2:
        raise CorpusError(f"one {by or 'document'} cannot be split in two; bring at least two.")
    held_count = min(count - 1, max(1, round(fraction * count)))
    chosen = np.random.default_rng(seed).permutation(count)[:held_count]
    held = np.isin(values, chosen)
    return corpus.select(np.flatnonzero(~held)), corpus.select(np.flatnonzero(held))


def _hold_out_ends(corpus: "datasets.Dataset", fraction: float) -> tuple:
    """Documents without their last ``fraction`` of sentences (at least one), and these ends."""
    from datasets import Dataset

    starts, ends = [], []
    for row in corpus:
        sentences = row["sentences"]
        cut = len(sentences) - max(1, round(fraction * len(sentences)))
        starts += [row | {"sentences": sentences[:cut]}] if cut else []
        ends.append(row | {"sentences": sentences[cut:]})
    if not starts:
        raise CorpusError(f"{len(corpus)} documents of one sentence cannot be split; bring more.")
    return Dataset.from_list(starts), Dataset.from_list(ends)
