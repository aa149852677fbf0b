"""Rows of labelled tasks, read from a file or from the Hub and checked, for ``finetune --data``.

``KINDS`` has the columns of each kind, with the names that the Hub gives them. Every bad row is
named at once, and rows without text are left out with a warning. What comes out are the examples
of ``tasks``, which are encoded there.
"""

import warnings
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

from albert_edu.errors import InputError, errors_about, parse_json
from albert_edu.text.classes import class_names, class_number, label_text
from albert_edu.text.files import hub_rows
from albert_edu.text.rows import READERS, check_file, declared_classes, file_rows, text_lines
from albert_edu.text.sentences import CorpusError, is_blank
from albert_edu.text.tasks import Example, SpanExample
from albert_edu.text.tokenizer import check_text

Form = Literal["text", "pair", "choice", "span"]


class Kind(NamedTuple):
    """A kind of task: its form, its columns of text, and those that say what is right."""

    form: Form
    texts: tuple[str, ...]
    right: tuple[str, ...] = ("label",)
    note: str = ""  # how the columns that say what is right are written

    @property
    def columns(self) -> list[str]:
        """All columns, as a table would have them."""
        return [*self.texts, *self.right]


CHOICE_NOTE = "An answer is the letter of an option."
SPAN_NOTE = (
    "Answers are {text: [words of the context, ...], answer_start: [the character they begin at, "
    "...]}."
)
KINDS = [
    Kind("text", ("text",)),
    Kind("text", ("sentence",)),
    Kind("pair", ("sentence1", "sentence2")),
    Kind("pair", ("premise", "hypothesis")),
    Kind("pair", ("question1", "question2")),
    Kind("pair", ("question", "sentence")),
    Kind("span", ("question", "context"), ("answers",), SPAN_NOTE),
    Kind("choice", ("article", "question"), ("options", "answer"), CHOICE_NOTE),
]
KNOWN = {column for kind in KINDS for column in kind.columns}
KNOWN |= {f"{column}.1" for column in KNOWN}  # so does pandas rename the second column of a name
ADVICE = "Its rows need columns such as text and label."
SQUAD = "A .json is SQuAD's own; other rows go into a .jsonl."


class TaskRows(NamedTuple):
    """Examples of one form, and the names of their classes in the order of the class numbers.

    There are no names for questions about a context or an article.
    """

    examples: list[Example | SpanExample]
    class_names: list[str]
    form: Form


def read_rows(source: str | Path, like: TaskRows | None = None) -> TaskRows:
    """Read the rows of a task; those of a test are ``like`` the ones that were learnt from.

    ``source`` is a .jsonl, .csv or .parquet file, SQuAD's .json, or NAME:SUBSET:SPLIT of the
    Hub. Classes have any names, and are numbered as a data set declares, else as ``class_names``
    does. Raises CorpusError with the columns that were expected, or the first ten bad rows.
    """
    rows, declared = _load(str(source))
    kind = _kind_of(source, rows)
    if like and kind.form != like.form:
        raise CorpusError(f"{source} is another kind of task than the rows to learn from.")
    names = []
    if kind.right == ("label",):
        labels = [label_text(row.get("label")) for row in rows]
        names = (like and like.class_names) or declared or class_names(labels)
    examples = _examples(source, rows, kind, names)
    used = {example.label for example in examples if isinstance(example, Example)}
    if names and not like and len(used) == 1:
        raise CorpusError(f"{source}: all {len(examples)} rows have the same label: is it cut?")
    return TaskRows(examples, names, kind.form)


def _load(source: str) -> tuple[list[dict], list[str]]:
    """Return the rows of a source, and the names of the classes if it declares them."""
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _squad_rows(path), []
    if suffix in READERS:
        rows = list(file_rows(path, ADVICE))
        with errors_about(path, CorpusError, ADVICE):
            names = declared_classes(path)
    elif source.count(":") == 2:
        name, _, split = source.rpartition(":")
        table = hub_rows(name, split)
        rows = list(table)
        names = getattr((table.features or {}).get("label"), "names", [])
    else:
        kinds = ", ".join(READERS)
        raise CorpusError(f"{source} is no {kinds}, no NAME:SUBSET:SPLIT of the Hub.")
    for row in rows if names else []:
        number = row["label"]
        is_class = isinstance(number, int) and 0 <= number < len(names)
        row["label"] = names[number] if is_class else number  # a split without labels has -1
    return rows, names


def _squad_rows(file: Path) -> list[dict]:
    """Return a row for each question of SQuAD's published file."""
    check_file(file)
    rows = []
    with errors_about(file, CorpusError, SQUAD):
        content: Any = parse_json("".join(text_lines(file)))
        for article in content["data"]:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    row = {"is_impossible": False, **question}  # SQuAD 1.1 does not say it
                    rows.append(row | {"context": paragraph["context"]})
    return rows


def _kind_of(source: object, rows: list[dict]) -> Kind:
    """Return the kind of task that has the columns of these rows."""
    columns = {column for row in rows for column in row}
    for kind in KINDS:
        if columns & KNOWN == set(kind.columns):
            return kind
    nearest = max(KINDS, key=lambda kind: _nearness(kind, columns))
    names = ", ".join(sorted(columns)) or "no row"
    words = [f"{source} has {names:.300}."]
    other = sorted(columns & KNOWN - set(nearest.columns))
    if columns and not columns & KNOWN:
        words.append("The first line has to name the columns, and as follows.")
    words.append(f"Expected are the columns {', '.join(nearest.columns)}, each once")
    words[-1] += f", without {', '.join(other)}." if other else "."
    raise CorpusError(" ".join([*words, nearest.note]).strip())


def _nearness(kind: Kind, columns: set[str]) -> tuple[int, int, int]:
    """How many columns a kind has in common with a table, and how few are missing or too many."""
    common = {column.lower().strip() for column in columns} & set(kind.columns)
    missing = len(kind.columns) - len(common) if common else 0
    return len(common), -missing, -abs(len(kind.columns) - len(columns))


def _examples(
    source: object, rows: list[dict], kind: Kind, names: list[str]
) -> list[Example | SpanExample]:
    """Return the example of each row that has something in each of its columns of text."""
    examples = []
    bad = []
    empty = []
    for number, row in enumerate(rows, 1):
        asked = f", question {row['id']}" if row.get("id") is not None else ""
        place = f"row {number}{asked}"
        try:
            texts = [check_text(row.get(column) or "") for column in kind.texts]
            example = _example(kind, row, texts, names)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            right = {column: row.get(column) for column in kind.right}
            bad.append(f"{place}: {str(error).rstrip('.')} in {right!r:.200}")
            continue
        if any(map(is_blank, texts)):
            empty.append(place)
        else:
            examples.append(example)
    if bad:
        raise CorpusError(f"{_told(source, rows, bad, 'cannot be used')}. {kind.note}".strip())
    left_out = _told(source, rows, empty, "have no text and are left out")
    if not examples:
        raise CorpusError(f"{left_out}.")
    if empty:
        warnings.warn(left_out, stacklevel=3)
    return examples


def _told(source: object, rows: list[dict], places: list[str], what: str) -> str:
    return f"{source}: {len(places):,} of {len(rows):,} rows {what}: {'; '.join(places[:10])}"


def _example(kind: Kind, row: dict, texts: list[str], names: list[str]) -> Example | SpanExample:
    """Return the example of a row; ValueError and the like say what is wrong with it."""
    if kind.form == "span":
        question, context = texts
        return _question(row, question, context)
    if kind.form == "choice":
        article, question = texts
        return _exam(row, article, question)
    second = texts[1] if kind.form == "pair" else None
    return Example(texts[0], second, class_number(label_text(row.get("label")), names))


def _question(row: dict, question: str, context: str) -> SpanExample:
    answers = row["answers"]
    if isinstance(answers, list):  # one answer after another, as in SQuAD's own file
        texts = [answer["text"] for answer in answers]
        starts = [answer["answer_start"] for answer in answers]
    else:
        texts = answers["text"]
        starts = answers["answer_start"]
    if not isinstance(texts, list) or not all(texts) or len(starts) != len(texts):
        raise InputError("an answer does not stand where it says")
    for text, start in zip(texts, starts, strict=True):
        if start < 0 or context[start : start + len(text)] != text:
            raise InputError("an answer does not stand where it says")
    if row.get("is_impossible") not in (None, not texts):
        raise InputError(f"is_impossible is {row['is_impossible']!r}, not {not texts}")
    return SpanExample(question, context, tuple(texts), starts[0] if starts else -1)


def _exam(row: dict, article: str, question: str) -> Example:
    """An option takes the place of a blank "_" or follows the question, as in the authors' code."""
    options = row["options"]
    if not isinstance(options, list) or not all(map(str.strip, options)):
        raise InputError("the options are no texts")
    pattern = question if "_" in question else f"{question} _"
    choices = tuple(pattern.replace("_", option) for option in options)
    letters = list(ascii_uppercase[: len(options)])
    return Example(article, choices, letters.index(row["answer"]))
