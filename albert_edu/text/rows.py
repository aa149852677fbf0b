"""Rows of a file as they stand there: .jsonl, .json, .csv, .parquet, one row after another.

Each reader yields dicts. Nothing is guessed: a cell of a .csv is text, a value of JSON is what it
is, and what cannot be read rightly is refused with its line.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from albert_edu.errors import InputError, errors_about, parse_json
from albert_edu.text.sentences import CorpusError

LARGEST_CELL = 2**31 - 1  # characters; the csv module stops at 131,072 otherwise
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def file_rows(file: Path, advice: str) -> Iterator[dict]:
    """Yield the rows of a file, which may not fit into memory.

    Raises CorpusError, with the ``advice``, for a file that is not there or cannot be read.
    """
    check_file(file)
    if file.suffix.lower() not in READERS:
        raise CorpusError(f"{file} is none of {', '.join(READERS)}, by the end of its name.")
    with errors_about(file, CorpusError, advice):
        yield from READERS[file.suffix.lower()](file)


def check_file(file: Path) -> None:
    """Raise CorpusError unless it is a regular file with something in it."""
    if not file.exists():
        raise CorpusError(f"{file} does not exist.")
    if not file.is_file():
        raise CorpusError(f"{file} is no regular file.")
    if not file.stat().st_size:
        raise CorpusError(f"{file} is empty.")


def text_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file in UTF-8 with their ends.

    Raises InputError for zero bytes and for the marks of a merge.
    """
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, line in enumerate(lines, 1):
            if "\0" in line:
                raise InputError("it has zero bytes, as UTF-16 and programs have")
            if line.startswith("<<<<<<< "):
                raise InputError(f"line {number} is the mark of a merge: {line.strip()!r:.80}")
            yield line


def _object(pairs: list[tuple[str, object]]) -> dict:
    check_once(name for name, _ in pairs)
    return dict(pairs)


def check_once(names: Iterable[str]) -> None:
    """Raise InputError for a name that is there twice."""
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(f"the column {twice[0]!r} is there twice")


def _json_lines(file: Path) -> Iterator[dict]:
    for number, line in enumerate(text_lines(file), 1):
        if line.strip():
            place = f"line {number}"
            yield _fields(parse_json(line, place, object_pairs_hook=_object), place)


def _json(file: Path) -> Iterator[dict]:
    """Rows of a .json: an object a line, or all rows in one list."""
    first = next((line for line in text_lines(file) if line.strip()), "")
    try:
        is_row = isinstance(json.loads(first), dict)
    except ValueError:
        is_row = False
    if is_row:
        yield from _json_lines(file)
        return
    content = parse_json("".join(text_lines(file)), object_pairs_hook=_object)
    for number, row in enumerate(content if isinstance(content, list) else [content], 1):
        yield _fields(row, f"row {number}")


def _fields(row: object, place: str) -> dict:
    if not isinstance(row, dict):
        raise InputError(f"{place} is {row!r:.50} and not an object of fields")
    return row


def _csv(file: Path) -> Iterator[dict]:
    csv.field_size_limit(LARGEST_CELL)
    lines = csv.reader(text_lines(file), strict=True, skipinitialspace=True)
    rows = _filled(lines)
    header = [name.strip() for name in next(rows, [])]
    check_once(header)
    if len(header) == 1:
        for separator, name in SEPARATORS.items():
            if separator in header[0]:
                columns = ",".join(header[0].split(separator))
                raise InputError(
                    f"its cells are divided by {name}: save it with commas, as {columns}"
                )
    for cells in rows:
        if len(cells) > len(header):
            raise InputError(
                f"line {lines.line_num} has {len(cells)} cells, and the header names "
                f"{len(header)}: a cell with a comma needs quotes"
            )
        missing = [""] * (len(header) - len(cells))
        yield dict(zip(header, cells + missing, strict=True))


def _filled(lines: Any) -> Iterator[list[str]]:
    """Yield what a reader finds but for empty lines; raise InputError where a row begins badly."""
    while True:
        begins = lines.line_num + 1
        try:
            cells = next(lines, None)
        except csv.Error as error:
            raise InputError(f"the row that begins in line {begins}: {error}") from error
        if cells is None:
            return
        if cells:
            yield cells


def _parquet(file: Path) -> Iterator[dict]:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as table:
        check_once(table.schema_arrow.names)
        for batch in table.iter_batches():
            yield from batch.to_pylist()


def declared_classes(file: Path) -> list[str]:
    """Return the names of the classes that a .parquet declares for its ``label``, if it does."""
    if file.suffix.lower() != ".parquet":
        return []
    from datasets import Features
    from pyarrow import parquet

    with parquet.ParquetFile(file) as table:
        features = Features.from_arrow_schema(table.schema_arrow)
    return getattr(features.get("label"), "names", [])


READERS: dict[str, Callable[[Path], Iterator[dict]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
