"""Rows of labelled tasks, read from a file or from the Hub and checked, for ``finetune --data``.

``KINDS`` has the columns of each kind, with the names that the Hub gives them. Every bad row is
named at once, and rows without text are left out with a warning. What comes out are the examples
of ``tasks``, which are encoded there.
"""

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from albert_edu.errors import errors_about, read_text
from albert_edu.text.files import ROWS, hub_rows, opened_rows
from albert_edu.text.sentences import CorpusError
from albert_edu.text.tasks import Example, SpanExample
from albert_edu.text.tokenizer import check_text


class TaskRows(NamedTuple):
    """Examples of one kind, and the names of their classes in the order of the class numbers.

    There are no names for questions about a context or an article.
    """

    examples: list[Example] | list[SpanExample]
    class_names: list[str]


def read_rows(source: str | Path, like: TaskRows | None = None) -> TaskRows:
    """Read the rows of a task; those of a test are ``like`` the ones that were learnt from.

    ``source`` is a .jsonl, .csv or .parquet file, SQuAD's .json, or NAME:SUBSET:SPLIT of the
    Hub. Classes have any names, and are numbered as a data set declares, else by number or
    alphabet. Raises CorpusError with the columns that were expected, or the first ten bad rows.
    """
    rows, declared = _load(str(source))
    columns, names = {column for row in rows for column in row}, []
    found = [kind for kind in KINDS if columns & KNOWN == {*kind[0], *kind[1]}]
    if not found:
        raise CorpusError(f"{source} has {', '.join(sorted(columns)) or 'no row'}. {COLUMNS}")
    texts, right, make = found[0]
    if make is _labelled:
        labels = {_label(row["label"]) for row in rows} - {""}
        ordered = sorted(labels, key=lambda label: (isinstance(label, str), label))
        names = (like and like.class_names) or declared or list(dict.fromkeys(map(str, ordered)))
        make = partial(_labelled, names)
    examples = _checked(source, rows, texts, right, make)
    known = like.examples[0] if like else examples[0]  # its [1] is None, a text or several
    if (type(known), type(known[1])) != (type(examples[0]), type(examples[0][1])):
        raise CorpusError(f"{source} is another kind of task than the rows to learn from.")
    if names and not like and len({example.label for example in examples}) == 1:
        raise CorpusError(f"{source}: all {len(examples)} rows have the same label: is it cut?")
    return TaskRows(examples, names)


def _checked(source: object, rows: list[dict], columns: tuple, right: tuple, make: Callable):
    """Return what ``make`` gives for each row that has something in each of those columns."""
    examples, bad, empty = [], [], []
    for number, row in enumerate(rows, 1):
        place = f"row {number}" + (f", question {row['id']}" if row.get("id") is not None else "")
        try:
            texts = [check_text(row.get(column) or "") for column in columns]
            example = make(row, *texts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            bad.append(f"{place}: {error} in { ({name: row.get(name) for name in right})!r:.200}")
            continue
        if all(map(str.strip, texts)):
            examples.append(example)
        else:
            empty.append(place)
    what = "cannot be used" if bad else "have no text and are left out"
    first = "; ".join((bad or empty)[:10])
    message = f"{source}: {len(bad or empty):,} of {len(rows):,} rows {what}: {first}"
    if bad or not examples:
        raise CorpusError(f"{message}. {COLUMNS}")
    if empty:
        warnings.warn(message, stacklevel=3)
    return examples


def _label(label: object) -> str | int:
    """Return the name of a class, or its number, 1 for 1.0 and true; "" for what is none."""
    if isinstance(label, str):
        return label.strip()
    return int(label) if isinstance(label, int | float) and label % 1 == 0 else ""


def _labelled(names: list[str], row: dict, first: str, second: str | None = None) -> Example:
    if (label := str(_label(row["label"]))) not in names:
        raise ValueError(f"the label is not one of {', '.join(names):.300}")
    return Example(first, second, names.index(label))


def _question(row: dict, question: str, context: str) -> SpanExample:
    answers = row["answers"]
    if isinstance(answers, list):  # one answer after another, as in SQuAD's own file
        answers = {name: [answer[name] for answer in answers] for name in ("text", "answer_start")}
    texts, starts = answers["text"], answers["answer_start"]
    found = [context[at : at + len(text)] for text, at in zip(texts, starts, strict=False)]
    if len(starts) != len(texts) or found != texts or not all(texts) or min(starts, default=0) < 0:
        raise ValueError("an answer does not stand where it says")
    if row.get("is_impossible") not in (None, not texts):
        raise ValueError(f"is_impossible is {row['is_impossible']!r}, not {not texts}")
    return SpanExample(question, context, tuple(texts), starts[0] if starts else -1)


def _exam(row: dict, article: str, question: str) -> Example:
    """An option takes the place of a blank "_" or follows the question, as in the authors' code."""
    options, pattern = row["options"], question if "_" in question else f"{question} _"
    if not isinstance(options, list) or not all(map(str.strip, options)):
        raise ValueError("the options are no texts")
    choices = tuple(pattern.replace("_", option) for option in options)
    return Example(article, choices, [*ascii_uppercase[: len(options)]].index(row["answer"]))


KINDS = [  # columns of text, columns that say what is right, what makes an example of them
    (("question", "context"), ("answers",), _question),
    (("article", "question"), ("options", "answer"), _exam),
    (("sentence1", "sentence2"), ("label",), _labelled),
    (("premise", "hypothesis"), ("label",), _labelled),
    (("question1", "question2"), ("label",), _labelled),
    (("question", "sentence"), ("label",), _labelled),
    (("sentence",), ("label",), _labelled),
    (("text",), ("label",), _labelled),
]
# A ".1" is how pandas renames the second column of a name.
KNOWN = {name + end for kind in KINDS for name in kind[0] + kind[1] for end in ("", ".1")}
COLUMNS = (
    f"Expected are the columns of one kind, each once: "
    f"{'; or '.join(', '.join(texts + right) for texts, right, _ in KINDS)}. Answers are "
    f"{{text: [words of the context, ...], answer_start: [the character they begin at, ...]}}, an "
    f"answer is the letter of an option. A .json is SQuAD's own; other rows go into a .jsonl."
)


def _load(source: str) -> tuple[list[dict], list[str]]:
    """Return the rows of a source, and the names of the classes if it declares them."""
    path = Path(source)
    if path.suffix.lower() == ".json":
        with errors_about(source, CorpusError, COLUMNS):
            articles = json.loads(read_text(path, CorpusError))["data"]
            parts = [part for article in articles for part in article["paragraphs"]]
            none = {"is_impossible": False}  # SQuAD 1.1 does not say it
            return [none | qa | {"context": p["context"]} for p in parts for qa in p["qas"]], []
    if path.suffix.lower() in ROWS:
        with opened_rows(path, COLUMNS) as table:
            rows = list(table)
    elif source.count(":") == 2:
        name, _, split = source.rpartition(":")
        table = hub_rows(name, split)
        rows = list(table)
    else:
        raise CorpusError(f"{source} is no {', '.join(ROWS)}, no NAME:SUBSET:SPLIT of the Hub.")
    names = getattr((table.features or {}).get("label"), "names", [])
    for row in rows if names else []:  # a split without labels has -1
        row["label"] = dict(enumerate(names)).get(row["label"], row["label"])
    return rows, names
