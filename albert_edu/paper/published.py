"""What the paper printed: its tables by number and row, its training recipe, and which model each parameter count is of.

Nothing else in the course types a published number. Parameters are in millions, as printed.

>>> TABLES["3"].value("MNLI", "all", 128)
81.6
>>> TABLES["early-main"].row("BERT-xlarge")["RACE"]
39.7
"""

import difflib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from albert_edu.analysis.counting import ParameterCount, count_parameters
from albert_edu.config import AlbertConfig


class F1EM(NamedTuple):
    """A SQuAD score: word overlap with the reference answer, and the share of answers that are exactly it."""

    f1: float
    em: float


class RaceTest(NamedTuple):
    """A RACE test score: all questions, then those of the middle and the high school exams."""

    all: float
    middle: float
    high: float


@dataclass(frozen=True)
class Table:
    """A printed table. Raises ValueError when a row is short or two rows have the same key."""

    number: str
    title: str
    key: tuple[str, ...]  # the leading columns, which identify a row
    columns: tuple[str, ...]
    rows: tuple[tuple, ...]
    source: str
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        if self.columns[: len(self.key)] != self.key:
            raise ValueError(f"table {self.number}: the key {self.key} must be the first columns, they are {self.columns}.")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.number}: row {row} has {len(row)} cells for {len(self.columns)} columns.")
        for key in self.keys:
            if self.keys.count(key) > 1:
                raise ValueError(f"table {self.number} has two rows {key}.")

    @property
    def name(self) -> str:
        """As one would say it: "Table 3", or "the early main table", which the final paper no longer has."""
        return f"Table {self.number}" if self.number.isdigit() else "the " + self.number.replace("-", " ") + " table"

    @property
    def keys(self) -> tuple[tuple, ...]:
        """What identifies each row, in printed order."""
        return tuple(row[: len(self.key)] for row in self.rows)

    def row(self, *key) -> dict[str, Any]:
        """One row, by the values of its key columns.

        >>> TABLES["3"].row("all", 128)["MNLI"]
        81.6
        """
        if key not in self.keys:
            near = min(self.keys, key=lambda known: _distance(known, key))
            raise ValueError(
                f"Table {self.number} has no row {_call(key)}. Nearest: {_call(near)}. "
                f"Its rows, by {' and '.join(self.key)}: {', '.join(map(_call, self.keys))}."
            )
        return dict(zip(self.columns, self.rows[self.keys.index(key)], strict=True))

    def value(self, column: str, *key) -> Any:
        """One cell. ``TABLES["2"].value("SQuAD2.0", "BERT-base").em``"""
        self._check_column(column)
        return self.row(*key)[column]

    def column(self, name: str) -> tuple:
        """One column, from top to bottom."""
        self._check_column(name)
        return tuple(row[self.columns.index(name)] for row in self.rows)

    def _check_column(self, name: str) -> None:
        if name not in self.columns:
            near = min(self.columns, key=lambda known: _distance((known,), (name,)))
            raise ValueError(f"Table {self.number} has no column {name!r}. Nearest: {near!r}. Columns: {', '.join(self.columns)}.")


def _call(key: tuple) -> str:
    return f"({', '.join(map(repr, key))})"


def _distance(known: tuple, asked: tuple) -> float:
    """How far two keys are apart, part by part: numbers by ratio, words by spelling."""
    total = 0.0
    for one, other in itertools.zip_longest(known, asked):
        if isinstance(one, int | float) and isinstance(other, int | float):
            total += abs(one - other) / max(abs(one), abs(other), 1)
        else:
            total += 1 - difflib.SequenceMatcher(None, str(one).lower(), str(other).lower()).ratio()
    return total


def read_tables(file: Path) -> dict[str, Table]:
    """The tables of a TOML file by their numbers. A dash becomes None, a list of two ``F1EM``, one of three ``RaceTest``."""
    kinds = {2: F1EM, 3: RaceTest}

    def cell(value):
        return kinds[len(value)](*value) if isinstance(value, list) else None if value == "-" else value

    def table(entry: dict) -> Table:
        rows = tuple(tuple(map(cell, row)) for row in entry.pop("rows"))
        return Table(rows=rows, **{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})

    return {entry["number"]: table(entry) for entry in tomllib.loads(file.read_text(encoding="utf-8"))["table"]}


TABLES = read_tables(Path(__file__).parent / "data" / "tables.toml")

TASKS = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE")


def average(row: Mapping[str, Any]) -> float:
    """The Avg of a row, unrounded: the mean over five tasks, F1 and EM of a SQuAD averaged first (caption of Table 2).

    >>> round(average(TABLES["2"].row("ALBERT-xxlarge")), 2)
    88.66
    """
    missing = [task for task in TASKS if row.get(task) is None]
    if missing:
        raise ValueError(f"an average needs the scores of all five tasks; the row has none for {', '.join(missing)}.")
    return sum(sum(row[task]) / 2 if isinstance(row[task], F1EM) else row[task] for task in TASKS) / len(TASKS)


class Fact(NamedTuple):
    """A value of the training recipe and where it stands."""

    value: Any
    source: str


_SET_UP, _CODE = "section 4.1", "the authors' code, "
TRAINING: Mapping[str, Fact] = MappingProxyType({
    "corpora": Fact(("BookCorpus", "English Wikipedia"), _SET_UP),
    "raw_text_gigabytes": Fact(16, _SET_UP),
    "vocab_size": Fact(30_000, _SET_UP),
    "special_ids": Fact(MappingProxyType({"<pad>": 0, "<unk>": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}), "the authors' README"),
    "character_coverage": Fact(0.99995, "the authors' README"),
    "sequence_length": Fact(512, _SET_UP),
    "short_sequence_probability": Fact(0.1, _SET_UP),
    "ngram_probabilities": Fact((6 / 11, 3 / 11, 2 / 11), _SET_UP + ": p(n) = (1/n) / (1 + 1/2 + 1/3)"),
    "mean_ngram": Fact(18 / 11, "derived from ngram_probabilities"),
    "masked_per_sequence": Fact(20, _CODE + "create_pretraining_data.py; so 20 of 512 tokens, not 15%"),
    "batch_size": Fact(4096, _SET_UP),
    "steps": Fact(125_000, _SET_UP),
    "token_positions": Fact(4096 * 125_000 * 512, "derived: batch x steps x length"),
    "optimizer": Fact("lamb", _SET_UP),
    "learning_rate": Fact(0.00176, _SET_UP),
    "warmup_steps": Fact(3125, "the authors' README"),
    "betas": Fact((0.9, 0.999), _CODE + "optimization.py"),
    "eps": Fact(1e-6, _CODE + "optimization.py"),
    "weight_decay": Fact(0.01, _CODE + "optimization.py; not on norms and biases"),
    "clip_norm": Fact(1.0, _CODE + "optimization.py"),
    "bias_correction": Fact(False, _CODE + "lamb_optimizer.py"),
    "initializer_std": Fact(0.02, _CODE + "modeling.py; truncated normal"),
    "dropout_v1": Fact(0.1, "the authors' README and issue 23; 0 in xxlarge"),
    "dropout_v2": Fact(0.0, "the authors' README"),
    "classifier_dropout": Fact(0.1, "Table 14"),
    "tpu_v3": Fact((64, 512), _SET_UP + ": from and to, by model size"),
})  # fmt: skip

# Which model a printed parameter count is of: (table, *key of the row). The heads' number never changes a count.
_NAMES = {name: AlbertConfig.named(name.lower() + ("-v1" if name.startswith("ALBERT") else ""))
          for name in TABLES["early-main"].column("model")}  # fmt: skip
CONFIGS: dict[tuple, AlbertConfig] = {
    **{("1", name): _NAMES[name] for name in TABLES["1"].column("model")},
    **{("3", share, E): AlbertConfig(embedding_size=E, share=share) for share, E in TABLES["3"].keys},
    **{("4", E, share): AlbertConfig(embedding_size=E, share=share) for E, share in TABLES["4"].keys},
    **{("12", H): AlbertConfig(hidden_size=H, num_layers=3, num_heads=H // 64) for (H,) in TABLES["12"].keys},
    **{("early-main", name): config for name, config in _NAMES.items()},
}

# Printed counts that no rule gives, and the number we think was meant: one digit off in each.
_SLIPS = {235: 225, 233: 223}


class CountedRow(NamedTuple):
    """A printed parameter count beside ours."""

    table: str
    row: str
    printed: int  # millions
    without_pooler: int
    total: int  # with the pooler, without the pre-training heads
    convention: str  # "with pooler", "without pooler", "either", or "none (why)"


def printed_and_counted() -> list[CountedRow]:
    """Every parameter count of Tables 1, 3, 4, 12 and of the early version, and the convention that rounds to the print.

    Rows with any sharing turn out to include the pooler, rows without to leave it out.
    """
    counts = {config: count_parameters(config) for config in set(CONFIGS.values())}
    counted = []
    for (number, *key), config in CONFIGS.items():
        table, count = TABLES[number], counts[config]
        printed = table.value("params", *key)
        name = ", ".join(part if column == "model" else f"{column}={part}" for column, part in zip(table.key, key, strict=True))
        convention = _convention(printed, config, count)
        counted.append(CountedRow(number, name, printed, count.without_pooler, count.total, convention))
    return counted


def _convention(printed: int, config: AlbertConfig, count: ParameterCount) -> str:
    without, total = _rounds_to(count.without_pooler, printed), _rounds_to(count.total, printed)
    if without or total:
        return "either" if without and total else "without pooler" if without else "with pooler"
    wide = count.total + (config.max_positions + config.num_segments + 2) * (config.hidden_size - config.embedding_size)
    if _rounds_to(wide, printed):
        return f"none (position and segment tables and their norm H wide would give {wide / 1e6:.1f}M: our guess, stated nowhere)"
    slip = f"; perhaps a slip of one digit for {_SLIPS[printed]}M" if printed in _SLIPS else ""
    return f"none (no rule we tried gives it{slip})"


def _rounds_to(count: int, millions: int) -> bool:
    """To the nearest million, or to the nearest ten where the paper prints four digits (1270M)."""
    step = 10 if millions >= 1000 else 1
    return round(count / 1e6 / step) * step == millions
