"""What training measured: the records of a run, whose lines become metrics.jsonl, read by name."""

import time
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from albert_edu.errors import InputError
from albert_edu.training.evaluate import Baselines, scores
from albert_edu.training.workers import Workers


@dataclass
class History:
    """The records of a run, its baselines, and how to read them.

    A record is made at each step where ``log_every`` or ``evaluate_every`` is due. It has ``step``,
    counted from 1. A logged one has ``learning_rate``, ``gradient_norm`` (before clipping), the
    ``seconds`` on the clock since the last logged one, and the means of ``scores`` since then; an
    evaluated one has ``held_out_*`` of ``evaluate``, and what ``observe`` returned.
    """

    baselines: Baselines
    records: list[dict]

    def column(self, name: str) -> tuple[list[int], list[float]]:
        """Return the steps and the values of a measure, for example "masked_token_loss"."""
        measured = [record for record in self.records if name in record]
        steps = [record["step"] for record in measured]
        values = [record[name] for record in measured]
        return steps, values

    def last(self, name: str) -> float:
        """Return the newest value of a measure. Raises InputError if there is none."""
        _, values = self.column(name)
        if not values:
            raise InputError(f"{name!r} is in none of the {len(self.records)} records of the run.")
        return values[-1]

    def verdict(self) -> str:
        """Return which baselines the newest MLM loss is below; a held-out loss goes first."""
        for name in ("held_out_masked_token_loss", "masked_token_loss"):
            _, losses = self.column(name)
            if losses:
                return self.baselines.verdict(losses[-1])
        return "not trained: there is no loss"


def log_record(
    done: int,
    rate: float,
    norm: Tensor,
    began: float,
    sums: Float[Tensor, "2 3"],
    workers: Workers,
) -> dict:
    """Return what was measured since the last record, on all workers; ``sums`` begin anew.

    The seconds since ``began`` are read after the norm, for which a GPU has to finish its work.
    """
    workers.all_reduce(sums)
    record: dict = {"step": done, "learning_rate": rate, "gradient_norm": norm.item()}
    record["seconds"] = time.perf_counter() - began
    record |= scores(sums)
    sums.zero_()
    return record
