"""Rows of labelled tasks, read from a file or from the Hub and checked (notebook 11).

There are three kinds, with the columns that the Hub gives them (``COLUMNS``). Every bad row is
named at once, and rows without text are left out with a warning. What comes out are the examples
of ``tasks``, which are encoded there and in ``spans``. ``datasets`` reads the Hub and parquet; the
text formats are read line by line, because only then can an error name the line.
"""

import csv
import io
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from albert_edu.errors import blame, read_file
from albert_edu.text.corpora import is_hub_out_of_reach
from albert_edu.text.tasks import ChoiceExample, Example, SpanExample

TEXTS = [("sentence",), ("text",), ("sentence1", "sentence2"), ("premise", "hypothesis")]
TEXTS += [("question1", "question2"), ("question", "sentence"), ("text1", "text2")]
QUESTION = ("question", "context", "answers")
EXAM = ("article", "question", "options", "answer")
COLUMNS = (
    f"Expected are {', '.join(QUESTION)}; or {', '.join(EXAM)}; or label and "
    f"{', or '.join(' and '.join(names) for names in TEXTS)}."
)
ANSWERS = "{text: [a text, ...], answer_start: [a whole number, ...]}"
WRONG = None  # the field that says what is wrong with a line that is no row
Rows = list[tuple[str, dict]]  # each with the words that name it, such as "line 3"


class TaskFileError(ValueError):
    """The rows of a task cannot be used; the message names their source, the rows and why."""


class TaskRows(NamedTuple):
    """Examples of one kind, and the names of their classes in the order of the class numbers.

    There are no names where labels are values, and for questions about a context or an article.
    """

    examples: list[Example] | list[SpanExample] | list[ChoiceExample]
    class_names: list[str]


def read_rows(source: str | Path, like: TaskRows | None = None) -> TaskRows:
    """Read the rows of a task; those of a test are ``like`` the ones that were learnt from.

    ``source`` is a .jsonl, .csv, .tsv or .parquet file, SQuAD's .json, or NAME:SUBSET:SPLIT of the
    Hub. Classes have any names, and are numbered as a data set declares, else by number or
    alphabet. If one label is a fraction, the labels are values, as in STS-B. Raises TaskFileError
    with the columns that were expected, or with all bad rows: how many, and the first ten.
    """
    rows, names = _load(str(source))
    columns = dict.fromkeys(name for _, row in rows for name in row if name is not WRONG)
    texts = next((texts for texts in TEXTS if {"label", *texts} <= columns.keys()), ())
    if columns.keys() >= {*EXAM}:
        kind, make = ChoiceExample, _exam
    elif columns.keys() >= {*QUESTION}:
        kind, make = SpanExample, _question
    elif texts:
        names = like.class_names if like else names or _class_names(rows)
        kind, make = Example, partial(_labelled, texts=texts, names=names)
    else:
        found = ", ".join(columns) or "no row"
        raise TaskFileError(f"{source} has {found:.300}. {COLUMNS}")
    if like and not isinstance(like.examples[0], kind):
        raise TaskFileError(f"{source} is another kind of task than the rows to learn from.")
    examples = _checked(source, rows, make)
    if kind is Example and not like and len({example.label for example in examples}) == 1:
        raise TaskFileError(
            f"{source}: all {len(examples)} rows have the same label, so there is nothing to tell "
            f"apart. Is the file sorted and cut?"
        )
    return TaskRows(examples, names if kind is Example else [])


def _checked(source: object, rows: Rows, make: Callable) -> list:
    """Return what ``make`` gives for each row; it gives None for a row without text."""
    examples, bad, empty = [], [], []
    for place, row in rows:
        try:
            if WRONG in row:
                raise ValueError(row[WRONG])
            example = make(row)
        except ValueError as error:
            bad.append(f"{place}: {error}")
        else:
            (empty if example is None else examples).append(example or place)
    if bad:
        more = f"{len(bad):,} bad rows of {len(rows):,}"
        raise TaskFileError(f"{source} has {more}. {_first(bad, '; ')}.")
    if not examples:
        raise TaskFileError(f"{source}: none of its {len(rows)} rows has any text.")
    if empty:
        message = f"{len(empty):,} of {len(rows):,} rows have no text and are left out"
        warnings.warn(f"{source}: {message} ({_first(empty, ', ')}).", stacklevel=3)
    return examples


def _first(places: list[str], between: str) -> str:
    return between.join(places[:10]) + (f"{between}..." if len(places) > 10 else "")


def _text(row: dict, column: str) -> str:
    """Return a cell as text, "" where it is missing. Raises ValueError for what is no text."""
    value = "" if row.get(column) is None else row[column]
    if not isinstance(value, str) or re.search("[\ud800-\udfff]", value):  # half a character
        raise ValueError(f"{column} is {value!r:.80}, which is no text")
    return value


def _labelled(row: dict, texts: tuple[str, ...], names: list[str]) -> Example | None:
    cells, label = [_text(row, column) for column in texts], _label_text(row)
    if names and label not in names:
        raise ValueError(f"the label is {label!r:.80}, not one of {', '.join(names):.300}")
    number = names.index(label) if names else _number(label)
    if not names and not math.isfinite(number):
        raise ValueError(f"the label is {label!r:.80}, and others are numbers with a fraction")
    return Example(*[*cells, None][:2], number) if all(map(str.strip, cells)) else None


def _label_text(row: dict) -> str:
    """Return a label as text: the name of a class, or a number, 1 for 1.0."""
    label = row.get("label")
    if not isinstance(label, str | int | float) or str(label).strip() in ("", "nan"):
        raise ValueError(f"the label is {label!r:.80}, which is no name and no number")
    return re.sub(r"^(-?\d+)\.0+$", r"\1", str(label).strip())


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _class_names(rows: Rows) -> list[str]:
    """Return the names of all classes, or none where the labels are values."""
    labels = set()
    for _, row in rows:
        with suppress(ValueError):
            labels.add(_label_text(row))
    if not all(math.isfinite(_number(label)) for label in labels):
        return sorted(labels)
    return [] if any(float(label) % 1 for label in labels) else sorted(labels, key=float)


def _question(row: dict) -> SpanExample | None:
    question, context, answers = _text(row, "question"), _text(row, "context"), row.get("answers")
    if isinstance(answers, list) and all(isinstance(answer, dict) for answer in answers):
        answers = {key: [answer.get(key) for answer in answers] for key in ("text", "answer_start")}
    answers = answers if isinstance(answers, dict) else {}
    texts, starts = answers.get("text"), answers.get("answer_start")
    if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
        raise ValueError(f"answers are {row.get('answers')!r:.80}, and must be {ANSWERS}")
    for start, text in zip(starts, texts, strict=True):
        if type(start) is not int or start < 0 or not text or not isinstance(text, str):
            raise ValueError(f"the answer {text!r:.80} at {start!r}: answers must be {ANSWERS}")
        if not context.startswith(text, start):
            raise ValueError(f"the answer {text!r:.80} is not at character {start} of the context")
    impossible = row.get("is_impossible")
    if impossible is not None and impossible is not (not texts):
        raise ValueError(f"is_impossible is {impossible!r}, with {len(texts)} answers")
    whole = question.strip() and context.strip()
    return (
        SpanExample(str(row.get("id")), question, context, tuple(texts), *starts[:1])
        if whole
        else None
    )


def _exam(row: dict) -> ChoiceExample | None:
    """An option takes the place of a blank "_" or follows the question, as in the authors' code."""
    article, question = _text(row, "article"), _text(row, "question")
    options, letters = row.get("options"), "ABCDEFGHIJ"
    if not isinstance(options, list) or not all(isinstance(each, str) for each in options):
        raise ValueError(f"options are {options!r:.80}, and must be a list of texts")
    answer = row.get("answer")
    if answer not in [*letters[: len(options)]] or not all(map(str.strip, options)):
        raise ValueError(f"the answer is {answer!r:.80} to the options {options!r:.80}")
    pattern = question if "_" in question else f"{question} _"
    choices = tuple(pattern.replace("_", option) for option in options)
    whole = article.strip() and question.strip()
    return ChoiceExample(article, choices, letters.index(answer)) if whole else None


def _load(source: str) -> tuple[Rows, list[str]]:
    """Return the rows of a source, and the names of the classes if it declares them."""
    from datasets import ClassLabel, load_dataset

    path = Path(source)
    if reader := READERS.get(path.suffix):
        with blame(path, TaskFileError, COLUMNS):
            return list(read_file(path, reader, TaskFileError, None)), []
    if path.suffix == ".parquet":
        name, options = "parquet", {"data_files": source, "split": "train", "streaming": True}
    elif not path.exists() and source.count(":") in (1, 2):
        name, *subset, split = source.split(":")
        options = {"name": (subset or [None])[0], "split": split}
    else:
        raise TaskFileError(
            f"{source} is no {', '.join(READERS)} or .parquet file, and no NAME:SUBSET:SPLIT of "
            f"the Hub. {COLUMNS}"
        )
    with (
        blame(source, TaskFileError, COLUMNS),
        mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", is_hub_out_of_reach()),
    ):
        table = load_dataset(name, **options)
        rows = [(f"row {number}", row) for number, row in enumerate(table, 1)]
        kind = (table.features or {}).get("label")
    names = kind.names if isinstance(kind, ClassLabel) else []
    for _, row in rows if names else []:  # by name; a split without labels has -1
        label = row["label"]
        row["label"] = names[label] if label is not None and label >= 0 else None
    return rows, names


def _table(path: Path) -> Iterator[tuple[str, dict]]:
    """Yield the rows of a .csv, or of a .tsv, where quotation marks are text, as in GLUE."""
    text = path.read_text(encoding="utf-8-sig")
    tabs = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if path.suffix == ".tsv" else {}
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, **tabs)
    header = next(lines, [])
    if twice := {name for name in header if header.count(name) > 1}:
        raise ValueError(f"the column {min(twice)!r} occurs twice")
    for cells in filter(None, lines):
        wrong = {WRONG: f"{len(cells)} cells under {len(header)} columns"}
        row = dict(zip(header, cells, strict=False)) if len(cells) == len(header) else wrong
        yield f"line {lines.line_num}", row


def _json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """Yield the objects of a .jsonl."""
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_fields)
        except ValueError as error:
            row = {WRONG: f"no JSON ({error})"}
        yield f"line {number}", row if isinstance(row, dict) else {WRONG: f"no object: {line:.80}"}


def _fields(pairs: list[tuple[str, object]]) -> dict:
    """Return the fields of a JSON object. Raises ValueError if one occurs twice."""
    names = [name for name, _ in pairs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the field {min(twice)!r} occurs twice")
    return dict(pairs)


def squad_rows(path: Path) -> Iterator[tuple[str, dict]]:
    """Yield a row for each question of SQuAD's published JSON, 1.1 or 2.0."""
    content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_fields)
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                row = {"is_impossible": False, **question, "context": paragraph["context"]}
                yield f"question {question.get('id')}", row


READERS = {".csv": _table, ".tsv": _table, ".jsonl": _json_lines, ".json": squad_rows}
