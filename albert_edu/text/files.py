"""Documents in files and data sets of others: text in UTF-8, or rows with a field ``text``.

Each is a dict with an ``id`` and a ``text``, or with its ``sentences`` where each has a line.
Nothing is read as text in silence that is something else.
"""

import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from albert_edu.errors import errors_about
from albert_edu.names import did_you_mean, is_meant_for_here
from albert_edu.text.rows import READERS, file_rows
from albert_edu.text.sentences import HEAD, CorpusError, is_blank, is_sentence_a_line, looks_like
from albert_edu.text.tokenizer import check_text

if TYPE_CHECKING:
    import datasets

PART_CHARACTERS = 1 << 13  # a longer file is cut into documents of about three pages
CORPORA = ("sotu", "imdb", "stories")  # those of the course, see ``corpora``
SEEN = 1000  # rows that are looked at for what is no prose


def text_files(path: str | Path) -> list[Path]:
    """Return a file itself, or all .txt files under a folder, sorted.

    Hidden files and folders, such as the copies of JupyterLab and of git, are no text. Raises
    CorpusError for a folder without any, a folder that cannot be read and for what is no regular
    file, such as a named pipe.
    """
    path = Path(path)
    files = _txt_under(path) if path.is_dir() else [path]
    odd = [file for file in files or [path] if not file.is_file()]
    if odd:
        raise CorpusError(
            f"{odd[0]} is no regular file, and no folder that holds .txt files. Rows are read from "
            f"one file (.jsonl, .csv)."
        )
    return files


def _txt_under(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> NoReturn:
        """Say which folder cannot be read; os.walk itself would skip it."""
        raise CorpusError(f"{error.filename} cannot be read: {error.strerror}.") from error

    files = []
    for root, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]  # os.walk enters these
        shown = [Path(root, name) for name in names if not name.startswith(".")]
        files += [file for file in shown if file.suffix.lower() == ".txt"]
    return sorted(files)


def file_documents(path: Path) -> Iterator[dict]:
    """Yield the documents of a file, or of each file of a folder."""
    for file in text_files(path):
        if file.suffix.lower() in READERS:
            yield from row_documents(file_rows(file, "Its rows need a field named text."), file)
        else:
            name = os.fsencode(file.relative_to(path) if path.is_dir() else file.name)
            yield from text_documents(file, name.decode("utf-8", "replace"))


def text_documents(file: Path, name: str) -> Iterator[dict]:
    """Yield the documents of a file of text: one, or several if it is long.

    With a sentence a line, which is said, a document ends at an empty line. Raises CorpusError for
    a file that is no prose or not in UTF-8.
    """
    with errors_about(file, CorpusError), file.open(encoding="utf-8-sig") as text:
        head = text.read(HEAD)
        text.seek(0)
        kind = looks_like(head)
        if kind:
            raise CorpusError(
                f"{file} looks like {kind} and not like text. Take the text out of it, or let the "
                f"name of a file of rows with a field text end in .jsonl, .csv or .parquet, which "
                f"may look so with a warning."
            )
        if is_sentence_a_line(head):
            print(f"{file} is read as BERT's format: a sentence a line.", file=sys.stderr)
            for is_gap, lines in groupby(text, str.isspace):
                if not is_gap:
                    yield {"id": name, "sentences": [check_text(line.strip()) for line in lines]}
            return
        while part := text.read(PART_CHARACTERS) + text.readline(PART_CHARACTERS):
            yield {"id": name, "text": check_text(part)}


def row_documents(rows: Iterable[dict], where: object) -> Iterator[dict]:
    """Yield a document for each row with a text.

    Rows without one are left out. A warning names them and rows that are no prose, all at once, by
    their numbers from 1. Raises CorpusError for a text that is a number or the like.
    """
    odd = defaultdict(list)  # what rows hold that is no prose: their numbers
    for number, row in enumerate(rows, 1):
        if "text" not in row or "text.1" in row:  # pandas renames the second of a name
            raise CorpusError(f"{where} needs one column 'text' and has {', '.join(row)}.")
        text = "" if row["text"] is None else row["text"]
        try:
            check_text(text)
        except ValueError as error:
            raise CorpusError(f"row {number} of {where}: {error}") from error
        if is_blank(text):
            odd["nothing"].append(number)
            continue
        kind = looks_like(text) if number <= SEEN else None
        if kind:
            odd[kind].append(number)
        yield {"id": f"row-{number}", "text": text}
    if odd:
        parts = (f"{kind} in rows {all_[:10]} ({len(all_):,} in all)" for kind, all_ in odd.items())
        warnings.warn(f"the field 'text' of {where} holds {'; '.join(parts)}.", stacklevel=2)


def hub_rows(name: str, split: str = "train") -> "datasets.Dataset":
    """Return the rows of a data set of the Hub, from the network or from the Hub's cache.

    A name such as ``wikitext:wikitext-2-raw-v1`` selects a subset. Raises CorpusError when there is
    no such set, and before the Hub is asked for a name that was meant for a file.
    """
    path, _, subset = name.partition(":")
    unknown = f"{name!r} is no corpus of ours ({', '.join(CORPORA)}), no file and no folder"
    if is_meant_for_here(name, CORPORA):
        raise CorpusError(f"{unknown}.{did_you_mean(name, CORPORA)}")
    from datasets import load_dataset

    print(f"asking the Hub for {name!r}: a minute without a network ...", file=sys.stderr)
    try:
        return load_dataset(path, subset or None, split=split)
    except Exception as error:  # datasets raises a dozen kinds when a set cannot be had
        raise CorpusError(f"{unknown}, and the Hub does not give it: {error}") from error
