"""Rows of labelled tasks, read from a file or from the Hub and checked (notebook 11).

There are three kinds, with the columns that the Hub gives them (``COLUMNS``). Every bad row is
named at once, and rows without text are left out with a warning. What comes out are the examples
of ``tasks``, which are encoded there and in ``spans``.
"""

import csv
import json
import re
import string
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from albert_edu.errors import LARGEST_TEXT, blame
from albert_edu.text.files import hub_rows
from albert_edu.text.tasks import ChoiceExample, Example, SpanExample

QUESTION = {"question", "context", "answers"}
EXAM = {"article", "question", "options", "answer"}
TEXTS = (
    "sentence1 + sentence2, premise + hypothesis, question1 + question2, question + sentence, "
    "text1 + text2, sentence, text"
)
COLUMNS = (
    "Expected are the columns question, context, answers; or article, question, options, answer; "
    f"or label and one of these: {TEXTS}."
)
ANSWERS = "{text: [words of the context, ...], answer_start: [the character they begin at, ...]}"
LETTERS = string.ascii_uppercase
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")


class TaskFileError(ValueError):
    """The rows of a task cannot be used; the message names their source, the rows and why."""


class TaskRows(NamedTuple):
    """Examples of one kind, and the names of their classes in the order of the class numbers.

    There are no names for questions about a context or an article.
    """

    examples: list[Example] | list[SpanExample] | list[ChoiceExample]
    class_names: list[str]


def read_rows(source: str | Path, like: TaskRows | None = None) -> TaskRows:
    """Read the rows of a task; those of a test are ``like`` the ones that were learnt from.

    ``source`` is a .jsonl, .csv, .tsv or .parquet file, SQuAD's .json, or NAME:SUBSET:SPLIT of the
    Hub. Classes have any names, and are numbered as a data set declares, else by number or
    alphabet. Raises TaskFileError with the columns that were expected, or the first ten bad rows.
    """
    rows, declared = _load(str(source))
    columns = {column for row in rows for column in row}
    texts = [names.split(" + ") for names in TEXTS.split(", ")]
    found = [names for names in texts if columns >= {"label", *names}]
    texts = found[0] if found else None
    names = []
    if columns >= EXAM:
        kind, make = ChoiceExample, _exam
    elif columns >= QUESTION:
        kind, make = SpanExample, _question
    elif texts:
        if other := next((names for names in found if not {*names} <= {*texts}), None):
            raise TaskFileError(
                f"{source} has two kinds of texts, {' + '.join(texts)} and {' + '.join(other)}; "
                f"leave out one."
            )
        names = like.class_names if like else declared or _class_names(rows)
        kind, make = Example, partial(_labelled, texts=texts, names=names)
    else:
        raise TaskFileError(f"{source} has {', '.join(map(str, columns)) or 'no row'}. {COLUMNS}")
    if like and (
        not isinstance(like.examples[0], kind)
        or (kind is Example and (like.examples[0].second is None) != (len(texts) == 1))
    ):
        raise TaskFileError(f"{source} is another kind of task than the rows to learn from.")
    examples = _checked(source, rows, make)
    if kind is Example and not like and len({example.label for example in examples}) == 1:
        raise TaskFileError(
            f"{source}: all {len(examples)} rows have the same label, so there is nothing to tell "
            f"apart. Is the file sorted and cut?"
        )
    return TaskRows(examples, names)


def _checked(source: object, rows: list[dict], make: Callable) -> list:
    """Return what ``make`` gives for each row; it gives None for a row without text."""
    examples, bad, empty = [], [], []
    for number, row in enumerate(rows, 1):
        place = f"row {number}" + (f", question {row['id']}" if row.get("id") is not None else "")
        try:
            if None in row:
                raise ValueError("more cells than columns")
            example = make(row)
        except ValueError as error:
            bad.append(f"{place}: {error}")
        else:
            (empty if example is None else examples).append(example or place)
    first = "; ".join((bad or empty)[:10])
    if bad:
        raise TaskFileError(f"{source} has bad rows, {len(bad):,} of {len(rows):,}: {first}")
    if not examples:
        raise TaskFileError(f"{source}: none of its {len(rows)} rows has any text.")
    if empty:
        message = f"{len(empty):,} of {len(rows):,} rows have no text and are left out"
        warnings.warn(f"{source}: {message}: {first}", stacklevel=3)
    return examples


def _text(row: dict, column: str) -> str:
    """Return a cell as text, "" where it is missing. Raises ValueError for what is no text."""
    value = "" if row.get(column) is None else row[column]
    if not isinstance(value, str) or re.search("[\ud800-\udfff]", value):  # half a character
        raise ValueError(f"{column} is {value!r:.80}, which is no text")
    return value


def _label(row: dict) -> str:
    """Return a label as text: the name of a class, or a number, 1 for 1.0; "" for what is none."""
    label = row.get("label")
    text = str(label).strip() if isinstance(label, str | int | float) else ""
    return "" if text == "nan" else re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def _class_names(rows: list[dict]) -> list[str]:
    """Return the names of all classes, numbers by size. Raises TaskFileError for fractions."""
    labels = {_label(row) for row in rows} - {""}
    if not all(map(NUMBER.fullmatch, labels)):
        return sorted(labels)
    if fractions := [label for label in labels if float(label) % 1]:
        raise TaskFileError(
            f"the label {min(fractions)} is a fraction. Here labels are classes; transformers can "
            f"learn values: AutoModelForSequenceClassification with num_labels=1."
        )
    return sorted(sorted(labels), key=float)  # 1 and 01 in the same order in every run


def _labelled(row: dict, texts: list[str], names: list[str]) -> Example | None:
    cells, label = [_text(row, column) for column in texts], _label(row)
    if label not in names:
        wanted = f"one of {', '.join(names)}"
        raise ValueError(f"the label is {row.get('label')!r:.80}, and not {wanted:.300}")
    example = Example(*[*cells, None][:2], names.index(label))
    return example if all(map(str.strip, cells)) else None


def _question(row: dict) -> SpanExample | None:
    question, context, answers = _text(row, "question"), _text(row, "context"), row.get("answers")
    try:
        pairs = list(zip(answers["text"], answers["answer_start"], strict=True))
        right = isinstance(answers["text"], list) and all(
            text and type(at) is int and at >= 0 and context.startswith(text, at)
            for text, at in pairs
        )
    except (TypeError, KeyError, ValueError):
        right = False
    if not right:
        raise ValueError(f"the answers are {answers!r:.200}, and not {ANSWERS}")
    impossible = row.get("is_impossible")
    if impossible is not None and impossible is not (not pairs):
        raise ValueError(f"is_impossible is {impossible!r}, not {not pairs} as answers say")
    texts, start = tuple(text for text, _ in pairs), pairs[0][1] if pairs else -1
    example = SpanExample(str(row.get("id", "")), question, context, texts, start)
    return example if question.strip() and context.strip() else None


def _exam(row: dict) -> ChoiceExample | None:
    """An option takes the place of a blank "_" or follows the question, as in the authors' code."""
    article, question = _text(row, "article"), _text(row, "question")
    options, answer = row.get("options"), row.get("answer")
    if not isinstance(options, list) or not all(isinstance(o, str) and o.strip() for o in options):
        raise ValueError(f"the options are {options!r:.80}, and not a list of texts")
    if answer not in [*LETTERS[: len(options)]]:
        raise ValueError(
            f"the answer is {answer!r:.80}, and not a letter of {len(options)} options"
        )
    pattern = question if "_" in question else f"{question} _"
    choices = tuple(pattern.replace("_", option) for option in options)
    example = ChoiceExample(article, choices, LETTERS.index(answer))
    return example if article.strip() and question.strip() else None


def _load(source: str) -> tuple[list[dict], list[str]]:
    """Return the rows of a source, and the names of the classes if it declares them."""
    from datasets import ClassLabel, load_dataset

    path, kind = Path(source), Path(source).suffix.removeprefix(".")
    if kind in ("json", "csv", "tsv", "jsonl", "parquet"):
        if not path.is_file() or not path.stat().st_size:
            raise TaskFileError(f"{source} does not exist, is empty, or is no regular file.")
        with blame(source, TaskFileError, COLUMNS):
            if kind in ("json", "csv", "tsv"):
                return (squad_rows if kind == "json" else _table)(path), []
            builder, options = kind.removesuffix("l"), {"data_files": source, "streaming": True}
            table = load_dataset(builder, split="train", **options)
            rows = list(table)
    elif source.count(":") == 2:
        name, subset, split = source.split(":")
        rows = list(table := hub_rows(f"{name}:{subset}", split, TaskFileError))
    else:
        raise TaskFileError(
            f"{source} is no .jsonl, .csv, .tsv or .parquet file, no .json of SQuAD, and no "
            f"NAME:SUBSET:SPLIT of the Hub, such as nyu-mll/glue:sst2:train."
        )
    label = (table.features or {}).get("label")
    names = label.names if isinstance(label, ClassLabel) else []
    for row in rows if names else []:  # a split without labels has -1
        number = row["label"]
        row["label"] = names[number] if number in range(len(names)) else number
    return rows, names


def _table(path: Path) -> list[dict]:
    """Return the rows of a .csv, or of a .tsv, where quotation marks are text, as in GLUE."""
    options = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if path.suffix == ".tsv" else {}
    csv.field_size_limit(LARGEST_TEXT)
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, strict=True, **options)
        columns = table.fieldnames or []
        if twice := [column for column in columns if columns.count(column) > 1]:
            raise ValueError(f"the column {twice[0]!r} occurs twice")
        return list(table)


def squad_rows(path: Path) -> list[dict]:
    """Return a row for each question of SQuAD's published JSON, 1.1 or 2.0."""
    rows = []
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(content, dict):
        raise ValueError("it has no field 'data', as SQuAD has; rows go into .jsonl, one a line")
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = question.get("answers")
                if isinstance(answers, list) and all(isinstance(a, dict) for a in answers):
                    fields = ("text", "answer_start")
                    answers = {field: [a.get(field) for a in answers] for field in fields}
                row = {"is_impossible": False, **question, "context": paragraph["context"]}
                rows.append(row | {"answers": answers})
    return rows
