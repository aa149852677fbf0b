"""Read the files of GLUE as people have them: the published .tsv, or tables of the Hub."""

import math
import re
import warnings
from pathlib import Path

from albert_edu.text.tasks import Example

BINARY = ("0", "1")
ENTAILED = ("entailment", "not_entailment")
# Columns of the first text, the second text and the label, in the published files and on the Hub,
# and the names of the classes in the order of their numbers (None: the label is a number). For
# MNLI that is the Hub's order; the authors' code has contradiction first.
GLUE = {
    "CoLA": (("sentence",), None, ("label",), BINARY),
    "SST-2": (("sentence",), None, ("label",), BINARY),
    "MRPC": (("#1 String", "sentence1"), ("#2 String", "sentence2"), ("Quality", "label"), BINARY),
    "QQP": (("question1",), ("question2",), ("is_duplicate", "label"), BINARY),
    "STS": (("sentence1",), ("sentence2",), ("score", "label"), None),
    "MNLI": (("sentence1", "premise"), ("sentence2", "hypothesis"), ("gold_label", "label"),
             ("entailment", "neutral", "contradiction")),
    "QNLI": (("question",), ("sentence",), ("label",), ENTAILED),
    "RTE": (("sentence1",), ("sentence2",), ("label",), ENTAILED),
    "WNLI": (("sentence1",), ("sentence2",), ("label",), BINARY),
}


class TaskFileError(ValueError):
    """A file of a task is not what its name promises; the message names the file, the line or
    question, and what is wrong."""


def glue_name(task: str) -> str:
    """Return the task as ``GLUE`` spells it: ``sst2`` is SST-2, ``stsb`` STS, ``MNLI-mm`` MNLI."""

    def plain(name: str) -> str:
        return re.sub("[^a-z0-9]", "", name.lower())

    names = {plain(name): name for name in GLUE}
    names |= dict.fromkeys(("mnlim", "mnlimm", "mnlimatched", "mnlimismatched"), "MNLI")
    names |= {"stsb": "STS"}
    if plain(task) not in names:
        raise TaskFileError(f"there is no GLUE task {task!r}; there are {', '.join(GLUE)}.")
    return names[plain(task)]


def read_glue(task: str, path: str | Path) -> list[Example]:
    """Read a GLUE file with labels: the published .tsv, or a .csv, .tsv or .parquet of the Hub.

    Quotes in .tsv are text. Labels are names or numbers. Rows of QQP that are too short are left
    out with a warning, because the published file has some. Raises TaskFileError with the line
    for anything else, and for files without labels.
    """
    task, path = glue_name(task), Path(path)
    firsts, seconds, labels, classes = GLUE[task]
    table, header_lines = _read_table(path, task)
    wanted = [names for names in (firsts, seconds, labels) if names]
    columns = [next((name for name in names if name in table), None) for names in wanted]
    layout = "columns " + ", ".join(" or ".join(map(repr, names)) for names in wanted)
    if None in columns:
        missing = wanted[columns.index(None)][0]
        raise TaskFileError(
            f"{path} line 1 has no column {missing!r} but {list(table)}. {task} has {layout}. Test "
            f"files have no labels."
        )
    examples, short = [], 0
    for index, row in enumerate(table[columns].itertuples(index=False, name=None)):
        where = f"{path} line {index + 1 + header_lines}"
        if str(row[-1]) == "" or not all(isinstance(text, str) for text in row[:-1]):
            short += 1
            if task != "QQP":
                raise TaskFileError(f"{where} is too short: {task} has {layout}.")
            continue
        label = _label(str(row[-1]), classes)
        if label is None:
            expected = "a number" if classes is None else " or ".join(dict.fromkeys(
                [*classes, *map(str, range(len(classes)))]))
            raise TaskFileError(
                f"{where}: the label is {row[-1]!r}, where {task} has {expected}."
            )
        examples.append(Example(row[0], row[1] if seconds else None, label))
    if short:
        warnings.warn(f"{path}: {short} rows are too short and were left out.", stacklevel=2)
    return examples


def _label(text: str, classes: tuple[str, ...] | None) -> int | float | None:
    """The number of a class, given by name or number, or a score; None if it is neither."""
    if classes and text in classes:
        return classes.index(text)
    try:
        number = float(text)
    except ValueError:
        return None
    if classes is None:
        return number if math.isfinite(number) else None
    return int(number) if number in range(len(classes)) else None


def _read_table(path: Path, task: str) -> tuple["pandas.DataFrame", int]:
    """The rows of a file as strings, and how many lines its header has."""
    import pandas as pd

    if not path.is_file():
        raise TaskFileError(f"{path} does not exist or is no regular file.")
    if path.suffix == ".parquet":
        return pd.read_parquet(path), 0
    options = {"dtype": str, "keep_default_na": False, "encoding": "utf-8-sig"}
    if path.suffix != ".csv":
        options |= {"sep": "\t", "quoting": 3}
    try:
        table = pd.read_csv(path, **options)
        if task != "CoLA" or "sentence" in table:
            return table, 1
        table = pd.read_csv(path, header=None, **options)  # the published CoLA has no header
    except ValueError as error:  # pandas' errors for ragged rows, empty files and other encodings
        raise TaskFileError(f"{path} cannot be read as a table: {error}") from error
    names = {1: "label", 3: "sentence"}  # between them the author's mark, before them the source
    if len(table.columns) == 2:
        label_first = table[0].isin(BINARY).all()
        names = dict(enumerate(("label", "sentence") if label_first else ("sentence", "label")))
    return table.rename(columns=names), 0
