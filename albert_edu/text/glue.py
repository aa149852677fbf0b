"""Read the files of GLUE as people have them: the published .tsv, or tables of the Hub (nb 11)."""

import csv
import re
import tomllib
import warnings
from pathlib import Path

from albert_edu.errors import blame
from albert_edu.text.tasks import Example
from albert_edu.text.tokenizer import check_text

GLUE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# CoLA as published has four columns and no header.
HEADLESS = {2: ("label", "sentence"), 4: ("source", "label", "mark", "sentence")}


class TaskFileError(ValueError):
    """A file of a task is not what its name promises.

    The message names the file, the line or question, and the layout that was expected.
    """


def nonempty(examples: list, path: str | Path) -> list:
    """Return the examples of a file; TaskFileError if there are none."""
    if not examples:
        raise TaskFileError(f"{path} has no examples.")
    return examples


def task_name(task: str) -> str:
    """Return the name of a benchmark as the course writes it, any other name as it is.

    >>> [task_name(name) for name in ("sst2", "STS-B", "mnli_matched", "squad_v2", "story-gap")]
    ['SST-2', 'STS', 'MNLI', 'SQuAD', 'story-gap']
    """
    plain = re.sub("[^a-z0-9]|^glue", "", check_text(task).lower())
    names = (*GLUE, "SQuAD", "RACE")
    return next((n for n in names if plain.startswith(n.lower().replace("-", ""))), task)


def read_glue(task: str, path: str | Path, labelled: bool = True) -> list[Example]:
    """Read a file of GLUE: the published .tsv, or a .tsv, .csv, .jsonl or .parquet of the Hub.

    Quotation marks in .tsv are text. Labels are names, or numbers in the Hub's order. Rows of QQP
    with an empty cell are left out with a warning, because the published file has some. Without
    ``labelled`` all labels are 0. Raises TaskFileError with the line and the expected columns.
    """
    if task_name(task) not in GLUE:
        raise TaskFileError(f"there is no task {task!r}; there are {', '.join(GLUE)}, SQuAD, RACE.")
    task, path, examples, incomplete = task_name(task), Path(path), [], 0
    columns = GLUE[task]["columns"][: None if labelled else -1]
    layout = f"{task} has the columns {', '.join(columns)}.".replace("|", " or ")
    with blame(path, TaskFileError, layout):
        table = _read_table(path, task)
        names = [next((n for n in column.split("|") if n in table), column) for column in columns]
        if missing := [name for name in names if name not in table]:
            raise ValueError(f"line 1 has no column {missing[0]!r} but {str([*table])[:200]}")
        for line, *cells in table[names].itertuples(name=None):
            if all(cell.strip() for cell in cells):
                label = _label(task, cells.pop(), line) if labelled else 0
                examples.append(Example(*[*cells, None][:2], label))
            elif task == "QQP":
                incomplete += 1
            else:
                raise ValueError(f"line {line} has an empty cell")
    if incomplete:
        warnings.warn(f"{path}: {incomplete} rows are too short and were left out.", stacklevel=2)
    return nonempty(examples, path)


def _label(task: str, text: str, line: int) -> int | float:
    """Return the number of a class, which is given by its name or the Hub's number, or a score."""
    classes = GLUE[task]["classes"]
    hub_names = dict(zip("012", GLUE[task].get("hub_classes", classes), strict=False))
    if (name := hub_names.get(text.removesuffix(".0"), text)) in classes:
        return classes.index(name)
    if not classes and re.fullmatch(r"\d*\.?\d+", text):
        return float(text)
    wanted = " or ".join(classes) or "a number"
    raise ValueError(f"line {line}: the label is {text[:80]!r}, where {task} has {wanted}")


def _read_table(path: Path, task: str) -> "pandas.DataFrame":
    """Return the cells of a file as text, "" where there is none, numbered by their lines."""
    import pandas as pd

    if not path.is_file():
        raise ValueError("it does not exist or is no regular file")
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    elif path.suffix == ".jsonl":
        table = pd.read_json(path, lines=True, dtype=False)
    else:
        options = {"header": None, "keep_default_na": False, "skip_blank_lines": False}
        if path.suffix != ".csv":
            options |= {"sep": "\t", "quoting": csv.QUOTE_NONE}
        table = pd.read_csv(path, dtype=str, encoding="utf-8-sig", **options)
        header = tuple(table.iloc[0])
        if task == "CoLA" and "sentence" not in header:
            table.columns = HEADLESS.get(len(header), header)
        else:
            table = table.iloc[1:].set_axis(header, axis=1)
    table.index += 1
    table = table.astype(object).where(table.notna(), "").astype(str)
    return table[table.ne("").any(axis=1)]
