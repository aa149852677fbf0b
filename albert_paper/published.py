"""What the paper printed: its tables by number and row, its training recipe, its parameter counts.

Nothing else in the course types a published number. Parameters are in millions, as printed.

>>> TABLES["3"].value("MNLI", "all", 128)
81.6
>>> TABLES["early-main"].row("BERT-xlarge")["RACE"]
39.7
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from albert_edu.analysis.counting import count_parameters
from albert_edu.config import AlbertConfig

DATA = Path(__file__).parent / "data"
TASKS = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE")


class F1EM(NamedTuple):
    """A SQuAD score: word overlap with the reference answer, and the share of exact answers."""

    f1: float
    em: float


class Table(NamedTuple):
    """A printed table; its first columns, ``key``, identify a row."""

    number: str
    title: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple, ...]
    source: str
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[tuple, ...]:
        """What identifies each row, in printed order."""
        return tuple(row[: len(self.key)] for row in self.rows)

    def row(self, *key) -> dict[str, Any]:
        """Return one row by the values of its key columns. Raises ValueError for an unknown key.

        >>> TABLES["3"].row("all", 128)["MNLI"]
        81.6
        """
        return dict(zip(self.columns, self.rows[self._index(key)], strict=True))

    def value(self, column: str, *key) -> Any:
        """Return one cell. Raises ValueError for an unknown column or key.

        >>> TABLES["2"].value("SQuAD2.0", "BERT-base").em
        77.6
        """
        return self.column(column)[self._index(key)]

    def column(self, name: str) -> tuple:
        """Return one column, from top to bottom. Raises ValueError for an unknown column."""
        if name not in self.columns:
            columns = ", ".join(self.columns)
            raise ValueError(f"Table {self.number} has no column {name!r}. Its columns: {columns}.")
        return tuple(row[self.columns.index(name)] for row in self.rows)

    def _index(self, key: tuple) -> int:
        if key not in self.keys:
            keys = ", ".join(map(str, self.keys))
            raise ValueError(
                f"Table {self.number} has no row {key}. Its rows, by "
                f"{' and '.join(self.key)}: {keys}."
            )
        return self.keys.index(key)


def read_toml(name: str) -> dict[str, Any]:
    """Return a file of ``data``: the tables, the recipe, the plan, or the pairs."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def read_tables(name: str) -> dict[str, Table]:
    """Return the tables of a TOML file by their numbers.

    A dash becomes None, a list of two numbers ``F1EM``, one of three (RACE) a tuple.
    """

    def cell(value):
        if isinstance(value, list):
            return F1EM(*value) if len(value) == 2 else tuple(value)
        return None if value == "-" else value

    tables = {}
    for entry in read_toml(name)["table"]:
        entry["rows"] = [tuple(map(cell, row)) for row in entry["rows"]]
        tables[entry["number"]] = Table(**{name: frozen(value) for name, value in entry.items()})
    return tables


def frozen(value: Any) -> Any:
    """Return a value of TOML or JSON with tuples in the place of lists, so that it can be a key."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


TABLES = read_tables("tables.toml")


def average(row: Mapping[str, Any]) -> float:
    """Return the Avg of a row, unrounded: the mean over five tasks (caption of Table 2).

    F1 and EM of a SQuAD are averaged first. Raises ValueError when a task has no score.

    >>> round(average(TABLES["2"].row("ALBERT-xxlarge")), 2)
    88.66
    """
    if missing := [task for task in TASKS if row.get(task) is None]:
        raise ValueError(
            "an average needs the scores of all five tasks; the row has none for "
            f"{', '.join(missing)}."
        )
    scores = (row[task] for task in TASKS)
    return sum(sum(s) / 2 if isinstance(s, F1EM) else s for s in scores) / len(TASKS)


# The training recipe; data/training.toml says where each value stands.
TRAINING = {name: frozen(fact["value"]) for name, fact in read_toml("training.toml").items()}


def config_of_row(number: str, model: str = "", E: int = 128, share: str = "all", H: int = 768):
    """Return the configuration that a row of a table describes, by the columns of its key."""
    if model:
        return AlbertConfig.named(model.lower() + ("-v1" if model.startswith("ALBERT") else ""))
    if number == "12":
        return AlbertConfig(hidden_size=H, num_layers=3, num_heads=H // 64)
    return AlbertConfig(embedding_size=E, share=share)


# Which model a printed parameter count is of: (table, *key of the row).
CONFIGS: dict[tuple, AlbertConfig] = {
    (number, *key): config_of_row(number, **dict(zip(TABLES[number].key, key, strict=True)))
    for number in ("1", "3", "4", "12", "early-main")
    for key in TABLES[number].keys
}


class CountedRow(NamedTuple):
    """A printed parameter count beside ours."""

    table: str
    row: str
    printed: int  # millions
    without_pooler: int
    total: int  # with the pooler, without the pre-training heads
    convention: str  # "with pooler", "without pooler", "either", or "none"


def printed_and_counted() -> list[CountedRow]:
    """Return every printed parameter count with ours and the convention that rounds to the print.

    Tables 1, 3, 4, 12 and the early version's. Rows with any sharing turn out to include the
    pooler, rows without to leave it out.
    """
    counted = []
    for (number, *key), config in CONFIGS.items():
        table, count = TABLES[number], count_parameters(config)
        printed = table.value("params", *key)
        row = ", ".join(
            part if column == "model" else f"{column}={part}"
            for column, part in zip(table.key, key, strict=True)
        )
        ours = {"with pooler": count.total, "without pooler": count.without_pooler}
        step = 10 if printed >= 1000 else 1  # 1270M is printed to tens of millions
        fits = [name for name, size in ours.items() if round(size / 1e6 / step) * step == printed]
        convention = "either" if len(fits) == 2 else fits[0] if fits else "none"
        sizes = (count.without_pooler, count.total)
        counted.append(CountedRow(number, row, printed, *sizes, convention))
    return counted
