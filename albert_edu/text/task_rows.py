"""Rows of labelled tasks, read from a file or from the Hub and checked (notebook 11).

``KINDS`` has the columns of each kind, with the names that the Hub gives them. Every bad row is
named at once, and rows without text are left out with a warning. What comes out are the examples
of ``tasks``, which are encoded there and in ``spans``.
"""

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from albert_edu.errors import blame, read_text
from albert_edu.text.files import ROWS, hub_rows, opened_rows
from albert_edu.text.tasks import ChoiceExample, Example, SpanExample
from albert_edu.text.tokenizer import check_text

ANSWERS = "{text: [words of the context, ...], answer_start: [the character they begin at, ...]}"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


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
    columns, names = {column for row in rows for column in row}, []
    found = [kind for kind in KINDS if columns.issuperset(kind[0] + kind[1])]
    texts, right, make = found[0] if found else ((), (), None)
    others = [f"{column}.1" for column in texts + right]  # as pandas renames the second of a name
    others += [column for kind in found for column in kind[0] if column not in texts]
    if not found or columns.intersection(others):
        raise TaskFileError(f"{source} has {', '.join(sorted(columns)) or 'no row'}. {COLUMNS}")
    if make is _labelled:
        names = (like and like.class_names) or declared or _class_names(rows)
        make = partial(_labelled, names=names)
    examples = _checked(source, rows, texts, make)
    known = like.examples[0] if like else examples[0]  # its [1] is None where it is of one text
    if (type(known), known[1] is None) != (type(examples[0]), examples[0][1] is None):
        raise TaskFileError(f"{source} is another kind of task than the rows to learn from.")
    if names and not like and len({example.label for example in examples}) == 1:
        raise TaskFileError(f"{source}: all {len(examples)} rows have the same label: is it cut?")
    return TaskRows(examples, names)


def _checked(source: object, rows: list[dict], columns: tuple[str, ...], make: Callable) -> list:
    """Return what ``make`` gives for each row that has something in each of those columns."""
    examples, bad, empty = [], [], []
    for number, row in enumerate(rows, 1):
        place = f"row {number}" + (f", question {row['id']}" if row.get("id") is not None else "")
        try:
            texts = [check_text(row.get(column) or "") for column in columns]
            example = make(row, *texts)
        except ValueError as error:
            bad.append(f"{place}: {error}")
        else:
            whole = all(map(str.strip, texts))
            (examples if whole else empty).append(example if whole else place)
    first = "; ".join((bad or empty)[:10])
    if bad:
        raise TaskFileError(f"{source} has bad rows, {len(bad):,} of {len(rows):,}: {first}")
    if not examples:
        raise TaskFileError(f"{source}: none of its {len(rows)} rows has any text.")
    if empty:
        message = f"{len(empty):,} of {len(rows):,} rows have no text and are left out"
        warnings.warn(f"{source}: {message}: {first}", stacklevel=3)
    return examples


def _label(row: dict) -> str | int:
    """Return the name of a class, or its number, 1 for 1.0 and true; "" for what is none."""
    label = row["label"]
    if isinstance(label, str):
        return label.strip()
    return int(label) if isinstance(label, int | float) and label % 1 == 0 else ""


def _class_names(rows: list[dict]) -> list[str]:
    """Return the names of all classes: numbers by size, then the others by the alphabet."""
    labels = {_label(row) for row in rows} - {""}
    ordered = sorted(labels, key=lambda label: (isinstance(label, str), label))
    return list(dict.fromkeys(map(str, ordered)))


def _labelled(row: dict, first: str, second: str | None = None, *, names: list[str]) -> Example:
    label = str(_label(row))
    if label not in names:
        wanted = f"one of {', '.join(names)}"
        raise ValueError(f"the label is {row['label']!r:.80}, and not {wanted:.300}")
    return Example(first, second, names.index(label))


def _question(row: dict, question: str, context: str) -> SpanExample:
    answers = row.get("answers")
    try:
        if isinstance(answers, list):  # one answer after another, as in SQuAD's own file
            fields = ("text", "answer_start")
            answers = {field: [answer[field] for answer in answers] for field in fields}
        pairs = list(zip(answers["text"], answers["answer_start"], strict=True))
        right = isinstance(answers["text"], list) and all(
            text and at >= 0 and context.startswith(text, at) for text, at in pairs
        )
    except (TypeError, KeyError, ValueError):
        right = False
    if not right:
        raise ValueError(f"the answers are {row.get('answers')!r:.200}, and not {ANSWERS}")
    if row.get("is_impossible") not in (None, not pairs):
        said = f"is_impossible is {row['is_impossible']!r}"
        raise ValueError(f"{said}, not {not pairs} as answers say")
    texts, start = tuple(text for text, _ in pairs), pairs[0][1] if pairs else -1
    return SpanExample(str(row.get("id", "")), question, context, texts, start)


def _exam(row: dict, article: str, question: str) -> ChoiceExample:
    """An option takes the place of a blank "_" or follows the question, as in the authors' code."""
    options, answer = row["options"], row["answer"]
    right = isinstance(options, list) and all(isinstance(o, str) and o.strip() for o in options)
    if not right or answer not in [*LETTERS[: len(options)]]:
        raise ValueError(f"the answer {answer!r:.20} is no letter of the texts {options!r:.80}")
    pattern = question if "_" in question else f"{question} _"
    choices = tuple(pattern.replace("_", option) for option in options)
    return ChoiceExample(article, choices, LETTERS.index(answer))


KINDS = [  # columns of text, columns that say what is right, what makes an example of them
    (("question", "context"), ("answers",), _question),
    (("article", "question"), ("options", "answer"), _exam),
    (("sentence1", "sentence2"), ("label",), _labelled),
    (("premise", "hypothesis"), ("label",), _labelled),
    (("question1", "question2"), ("label",), _labelled),
    (("question", "sentence"), ("label",), _labelled),
    (("text1", "text2"), ("label",), _labelled),
    (("sentence",), ("label",), _labelled),
    (("text",), ("label",), _labelled),
]
COLUMNS = (
    f"Expected are the columns of one kind, each once: "
    f"{'; or '.join(', '.join(texts + right) for texts, right, _ in KINDS)}. "
    f"A .json is SQuAD's own; other rows go into a .jsonl, one a line."
)


def _load(source: str) -> tuple[list[dict], list[str]]:
    """Return the rows of a source, and the names of the classes if it declares them."""
    path = Path(source)
    if path.suffix.lower() in ROWS:
        if not path.is_file() or not path.stat().st_size:
            raise TaskFileError(f"{source} does not exist, is empty, or is no regular file.")
        if path.suffix.lower() == ".json":
            with blame(source, TaskFileError, COLUMNS):
                return squad_rows(path), []
        with opened_rows(path, TaskFileError, COLUMNS) as table:
            rows = list(table)
    elif source.count(":") == 2:
        name, subset, split = source.split(":")
        rows = list(table := hub_rows(f"{name}:{subset}", split, TaskFileError))
    else:
        raise TaskFileError(
            f"{source} is no .jsonl, .csv, .tsv or .parquet file, no .json of SQuAD, and no "
            f"NAME:SUBSET:SPLIT of the Hub, such as nyu-mll/glue:sst2:train."
        )
    names = getattr((table.features or {}).get("label"), "names", [])
    for row in rows if names else []:  # a split without labels has -1
        row["label"] = dict(enumerate(names)).get(row["label"], row["label"])
    return rows, names


def squad_rows(path: Path) -> list[dict]:
    """Return a row for each question of SQuAD's published JSON, 1.1 or 2.0."""
    return [
        {"is_impossible": False, **question, "context": paragraph["context"]}
        for article in json.loads(read_text(path, TaskFileError))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
