"""Documents in files and data sets of others: text in UTF-8, or rows with a field ``text``.

Each is a dict with an ``id`` and a ``text``, or with its ``sentences`` where each has a line.
Nothing is read as text in silence that is something else. ``datasets`` reads the rows.
"""

import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from albert_edu.errors import InputError, errors_about
from albert_edu.text.sentences import HEAD, CorpusError, is_sentence_a_line, looks_like

PART_CHARACTERS = 1 << 13  # a longer file is cut into documents of about three pages
ROWS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
CELLS = {"keep_default_na": False, "index_col": False}  # NA is a word, a column is a column
SEEN = 1000  # rows that are looked at for what is no prose


def text_files(path: str | Path) -> list[Path]:
    """Return a file itself, or all .txt files under a folder, sorted.

    Raises CorpusError for a folder without any, a folder that cannot be read and for what is no
    regular file, such as a named pipe.
    """

    def refuse(error: OSError):
        raise CorpusError(f"{error.filename} cannot be read: {error.strerror}.") from error

    path = Path(path)
    found = [path]
    if path.is_dir():
        walk = os.walk(path, onerror=refuse)
        files = sorted(Path(root, name) for root, _, names in walk for name in names)
        found = [file for file in files if file.suffix.lower() == ".txt"]
    if odd := [file for file in found or [path] if not file.is_file()]:
        raise CorpusError(
            f"{odd[0]} is no regular file, and no folder that holds .txt files. Rows are read from "
            f"one file (.jsonl, .csv)."
        )
    return found


def file_documents(path: Path) -> Iterator[dict]:
    """Yield the documents of a file, or of each file of a folder."""
    for file in text_files(path):
        name = os.fsencode(file.relative_to(path) if path.is_dir() else file.name)
        if file.suffix.lower() in ROWS:
            with opened_rows(file, "Its rows need a field named text.") as rows:
                yield from row_documents(rows, file)
        else:
            yield from text_documents(file, name.decode("utf-8", "replace"))


@contextmanager
def opened_rows(file: Path, advice: str) -> Iterator:
    """Give the rows of a file, which may not fit into memory.

    What goes wrong with it is a CorpusError. That a row has more cells than the header names is an
    error, which pandas would cut.
    """
    from datasets import load_dataset

    if not file.is_file() or not file.stat().st_size:
        raise CorpusError(f"{file} does not exist, is empty, or is no regular file.")
    kind = ROWS[file.suffix.lower()]
    options = {"split": "train", "streaming": True} | (CELLS if kind == "csv" else {})
    with errors_about(file, CorpusError, advice), warnings.catch_warnings():
        warnings.filterwarnings("error", "Length of header")
        yield load_dataset(kind, data_files=str(file), **options)


def text_documents(file: Path, name: str) -> Iterator[dict]:
    """Yield the documents of a file of text: one, or several if it is long.

    With a sentence a line, which is said, a document ends at an empty line. Raises CorpusError for
    a file that is no prose or not in UTF-8.
    """
    with errors_about(file, CorpusError), file.open(encoding="utf-8-sig") as text:
        head = text.read(HEAD)
        text.seek(0)
        if kind := looks_like(head):
            raise CorpusError(
                f"{file} looks like {kind} and not like text. Take the text out of it, or let the "
                f"name of a file of rows with a field text end in .jsonl, .csv or .parquet."
            )
        if is_sentence_a_line(head):
            print(f"{file} is read as BERT's format: a sentence a line.", file=sys.stderr)
            documents = (lines for blank, lines in groupby(text, str.isspace) if not blank)
            for lines in documents:
                yield {"id": name, "sentences": [line.strip() for line in lines]}
            return
        while part := text.read(PART_CHARACTERS) + text.readline(PART_CHARACTERS):
            if "\0" in part:
                raise InputError("it has zero bytes, as UTF-16 and programs have")
            yield {"id": name, "text": part}


def row_documents(rows: Iterable[dict], where: object) -> Iterator[dict]:
    """Yield a document for each row with a text.

    Rows without one are left out. A warning names them and rows that are no prose, all at once, by
    their numbers from 1. Raises CorpusError for a text that is a number or the like.
    """
    found = defaultdict(list)
    for number, row in enumerate(rows, 1):
        if "text" not in row or "text.1" in row:  # pandas renames the second of a name
            raise CorpusError(f"{where} needs one column 'text' and has {', '.join(row)}.")
        text = "" if row["text"] is None else row["text"]
        if not isinstance(text, str):
            raise CorpusError(f"the text of row {number} of {where} is {text!r:.80}.")
        if not text.strip():
            found["nothing"].append(number)
            continue
        if number <= SEEN and (kind := looks_like(text)):
            found[kind].append(number)
        yield {"id": f"row-{number}", "text": text}
    parts = (f"{what} in rows {n[:10]} ({len(n):,} in all)" for what, n in found.items())
    if found:
        warnings.warn(f"the field 'text' of {where} holds {'; '.join(parts)}.", stacklevel=2)


def hub_rows(name: str, split: str = "train") -> "datasets.Dataset":
    """Return the rows of a data set of the Hub, from the network or from the Hub's cache.

    A name such as ``wikitext:wikitext-2-raw-v1`` selects a subset. Raises CorpusError when there is
    no such set.
    """
    from datasets import load_dataset

    path, _, subset = name.partition(":")
    print(f"asking the Hub for {name!r}: a minute without a network ...", file=sys.stderr)
    try:
        return load_dataset(path, subset or None, split=split)
    except Exception as error:  # datasets raises a dozen kinds when a set cannot be had
        raise CorpusError(
            f"{name!r} is no corpus of ours (sotu, imdb, stories), no file and no folder, and the "
            f"Hub does not give it: {error}"
        ) from error
