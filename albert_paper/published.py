"""What the paper printed: its tables by number and row, its training recipe, its parameter counts.

Nothing else in the course types a published number. Parameters are in millions, as printed. Read in
notebook 12.

>>> TABLES["3"]["all", 128]["MNLI"]
81.6
>>> TABLES["early-main"]["BERT-xlarge"]["RACE"]
39.7
"""

import tomllib
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from albert_edu.analysis.counting import ParameterCount, count_parameters
from albert_edu.config import AlbertConfig

DATA = Path(__file__).parent / "data"
TASKS = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE")


def read_toml(name: str) -> dict[str, Any]:
    """Return a file of ``data``: the tables, the recipe, the plan, or the pairs."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def read_tables() -> dict[str, dict[Any, dict[str, Any]]]:
    """Return the tables by number: a row by its key, and in it each cell by its column.

    A key of several columns is a tuple, and so are two scores of SQuAD, F1 and exact match, and
    three of RACE. A dash becomes None.
    """
    tables = {}
    for table in read_toml("tables.toml")["table"]:
        key_of = itemgetter(*table["key"])
        rows = {}
        for printed in table["rows"]:
            cells = [None if cell == "-" else frozen(cell) for cell in printed]
            row = dict(zip(table["columns"], cells, strict=True))
            rows[key_of(row)] = row
        tables[table["number"]] = rows
    return tables


def frozen(value: Any) -> Any:
    """Return a value of TOML or JSON with tuples in the place of lists, so that it can be a key."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


TABLES = read_tables()


def average(row: Mapping[str, Any]) -> float:
    """Return the Avg of a row, unrounded: the mean over five tasks (caption of Table 2).

    F1 and EM of a SQuAD are averaged first.

    >>> round(average(TABLES["2"]["ALBERT-xxlarge"]), 2)
    88.66
    """
    total = 0.0
    for task in TASKS:
        score = row[task]
        total += sum(score) / 2 if isinstance(score, tuple) else score
    return total / len(TASKS)


# The training recipe; data/training.toml says where each value stands.
TRAINING = {name: frozen(fact["value"]) for name, fact in read_toml("training.toml").items()}


def config_of_row(number: str, row: Mapping[str, Any]) -> AlbertConfig:
    """Return the configuration that a row of a table describes."""
    if model := row.get("model", ""):
        return AlbertConfig.named(model.lower() + ("-v1" if model.startswith("ALBERT") else ""))
    if number == "12":
        return AlbertConfig(hidden_size=row["H"], num_layers=3, num_heads=row["H"] // 64)
    return AlbertConfig(embedding_size=row["E"], share=row["share"])


# Which model a printed parameter count is of.
CONFIGS: dict[str, dict[Any, AlbertConfig]] = {
    number: {key: config_of_row(number, row) for key, row in TABLES[number].items()}
    for number in ("1", "3", "4", "12", "early-main")
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
    for number, configs in CONFIGS.items():
        for key, config in configs.items():
            printed = TABLES[number][key]["params"]
            count = count_parameters(config)
            counted.append(
                CountedRow(
                    table=number,
                    row=title_of_row(number, key),
                    printed=printed,
                    without_pooler=count.without_pooler,
                    total=count.total,
                    convention=convention_of(printed, count),
                )
            )
    return counted


def title_of_row(number: str, key: Any) -> str:
    """Return the key of a row with the names of its columns, which are the table's first ones.

    >>> title_of_row("3", ("all", 128))
    'share=all, E=128'
    """
    parts = key if isinstance(key, tuple) else (key,)
    names = list(TABLES[number][key])[: len(parts)]
    title = ", ".join(f"{name}={part}" for name, part in zip(names, parts, strict=True))
    return title.removeprefix("model=")


def convention_of(printed: int, count: ParameterCount) -> str:
    """Return which way of counting rounds to the print: see ``CountedRow.convention``."""
    step = 10 if printed >= 1000 else 1  # 1270M is printed to tens of millions

    def rounds_to_print(parameters: int) -> bool:
        """Return whether so many parameters are printed like this."""
        return round(parameters / 1e6 / step) * step == printed

    without_pooler = rounds_to_print(count.without_pooler)
    with_pooler = rounds_to_print(count.total)
    if without_pooler and with_pooler:
        return "either"
    if without_pooler:
        return "without pooler"
    return "with pooler" if with_pooler else "none"
