"""Documents in files and data sets of others: text in UTF-8, or rows with a field ``text``.

Each is a dict with an ``id`` and a ``text``, or with its ``sentences`` where each has a line.
Nothing is read as text in silence that is something else. ``datasets`` reads the rows.
"""

import difflib
import os
import re
import socket
import sys
import urllib.request
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest import mock

from albert_edu.errors import blame
from albert_edu.text.sentences import PARAGRAPH_BREAK, CorpusError, is_sentence_a_line, looks_like

PART_CHARACTERS = 1 << 20  # a longer file is cut into documents of about this size
NOT_UTF8 = re.compile("[\0\udc80-\udcff]")  # a zero byte, and how Python keeps a wrong byte
ROWS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
WRONG = "something that is no text"
SEEN = 1000  # rows that are looked at for what is no prose


def text_files(path: str | Path) -> list[Path]:
    """Return a file itself, or all .txt files under a folder, sorted; without any, those of rows.

    Raises CorpusError for a folder without any, a folder that cannot be read and for what is no
    regular file, such as a named pipe.
    """

    def refuse(error: OSError):
        raise CorpusError(f"{error.filename} cannot be read: {error.strerror}.") from error

    path = Path(path)
    found = [path]
    if path.is_dir():
        walk = os.walk(path, onerror=refuse)
        found = sorted(Path(root, name) for root, _, names in walk for name in names)
        texts = [file for file in found if file.suffix == ".txt"]
        found = texts or [file for file in found if file.suffix in ROWS]
    if not found:
        raise CorpusError(f"{path} holds no .txt file, and no rows (.jsonl, .csv, .parquet).")
    for file in found:
        if not file.is_file():
            raise CorpusError(f"{file} is no regular file (a pipe, a device or a broken link).")
    return found


def file_documents(path: Path) -> Iterator[dict]:
    """Yield the documents of a file, or of each file of a folder."""
    for file in text_files(path):
        if not file.stat().st_size:
            continue
        name = os.fsencode(file.relative_to(path) if path.is_dir() else file.name)
        if kind := ROWS.get(file.suffix):
            from datasets import load_dataset

            with blame(file, CorpusError, "Its rows need a field named text."):
                rows = load_dataset(kind, data_files=str(file), split="train", streaming=True)
                yield from row_documents(rows, file)
        else:
            for document in text_documents(file):
                yield {"id": name.decode("utf-8", "replace")} | document


def text_documents(file: Path) -> Iterator[dict]:
    """Yield the documents of a file of text: one, or several if it is long.

    With a sentence a line, which is said, a document ends at an empty line. Raises CorpusError for
    a file that is no prose, and for the first line with a byte that is not UTF-8.
    """
    lines, number = None, 1
    with file.open(encoding="utf-8-sig", errors="surrogateescape") as text:
        while part := text.read(PART_CHARACTERS) + text.readline(PART_CHARACTERS):
            if wrong := NOT_UTF8.search(part):
                byte, number = ord(wrong[0]) & 0xFF, number + part.count("\n", 0, wrong.start())
                what = "UTF-16" if byte in (0, 0xFE, 0xFF) else "LATIN1"
                raise CorpusError(
                    f"{file} is not text in UTF-8: line {number} holds the byte 0x{byte:02x}. If "
                    f"it is {what}, convert it with 'iconv -f {what} -t UTF-8'; if it is no text, "
                    f"move it away."
                )
            if lines is None and (kind := looks_like(part)):
                raise CorpusError(
                    f"{file} looks like {kind} and not like text. Take the text out of it, or let "
                    f"the name of a file of rows with a field text end in .jsonl, .csv or .parquet."
                )
            if lines is None and (lines := is_sentence_a_line(part)):
                print(f"{file} is read as BERT's format: a sentence a line.", file=sys.stderr)
            number += part.count("\n")
            if not lines:
                yield {"text": part}
            for block in PARAGRAPH_BREAK.split(part) if lines else ():
                yield {"sentences": [line for line in map(str.strip, block.split("\n")) if line]}


def row_documents(rows: Iterable[dict], where: object) -> Iterator[dict]:
    """Yield a document for each row with a text.

    Rows without one are left out. A warning names them and rows that are no prose, and a
    CorpusError rows whose text is a number or the like: all at once, by their numbers from 1.
    """
    found = defaultdict(list)
    for number, row in enumerate(rows, 1):
        if "text" not in row or "text.1" in row:  # pandas renames the second of a name
            many = "two columns" if "text" in row else "no column"
            raise CorpusError(f"{where} has {many} 'text' but {', '.join(row)}.")
        text = "" if row["text"] is None else row["text"]
        if not isinstance(text, str):
            found[WRONG].append(number)
        elif not text.strip():
            found["nothing"].append(number)
        else:
            if number <= SEEN and (kind := looks_like(text)):
                found[kind].append(number)
            yield {"id": f"row-{number}", "text": text}
    parts = (f"{what} in rows {n[:10]} ({len(n):,} in all)" for what, n in found.items())
    message = f"the field 'text' of {where} holds {'; '.join(parts)}."
    if WRONG in found:
        raise CorpusError(message)
    if found:
        warnings.warn(message, stacklevel=2)


def hub_rows(name: str) -> "datasets.Dataset":
    """Return the rows of a data set of the Hub, its split "train".

    A name such as ``wikitext:wikitext-2-raw-v1`` selects a subset. Needs a network, or the Hub's
    cache. Raises CorpusError when there is no such set.
    """
    from datasets import load_dataset

    if not name:
        raise CorpusError("the name of the corpus is empty.")
    if near := difflib.get_close_matches(name, ("sotu", "imdb", "stories"), n=1):
        raise CorpusError(f"there is no corpus {name!r}; did you mean {near[0]!r}?")
    path, _, subset = name.partition(":")
    try:
        with mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", is_hub_out_of_reach()):
            return load_dataset(path, subset or None, split="train")
    except Exception as error:  # datasets raises a dozen kinds when a set cannot be had
        raise CorpusError(
            f"{name!r} is neither a corpus of ours nor a file or folder, and the Hub does not "
            f"give it: {error}"
        ) from error


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
