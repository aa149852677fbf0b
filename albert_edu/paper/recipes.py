"""How the paper fine-tunes: Table 14 as settings. Read in notebook 11, with the traps."""

from albert_edu.paper.published import TABLES
from albert_edu.training.finetune import FinetuneSettings


def recipe(task: str, seed: int = 0) -> FinetuneSettings:
    """The row of Table 14, tuned for v1 checkpoints; classifier dropout and longest
    sequence are in ``TABLES["14"]``.

    >>> recipe("RTE").steps, recipe("RTE").dropout
    (800, 0.1)
    """
    row = TABLES["14"].row(task)
    return FinetuneSettings(
        steps=row["steps"], learning_rate=row["learning rate"], batch_size=row["batch"],
        warmup_steps=row["warmup"], dropout=row["ALBERT dropout"], seed=seed,
    )  # fmt: skip
