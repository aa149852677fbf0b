"""The paper's numbers, for the drawings that quote them."""

from albert_paper.published import TABLES, TRAINING


def training_setting(name: str):
    """Return a published setting of the authors' training, for example ``"learning_rate"``."""
    return TRAINING[name]


def average_score(table: str, *key) -> float:
    """Return the published average over five tasks of a row, such as ``"4", 128, "all"``."""
    return TABLES[table].value("Avg", *key)
