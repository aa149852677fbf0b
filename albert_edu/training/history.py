"""What training measured: a Meter adds up between two records, a History keeps the records.

``pretrain`` adds each step's sums (``evaluate.tally``) to a Meter, reads means and seconds from it
every ``log_every`` steps, and appends them to a History, whose records become the lines of
metrics.jsonl. Records and sums go into each checkpoint, so that a resumed run has the same losses
as an undisturbed one.
"""

import time
from dataclasses import dataclass, field

import torch

from albert_edu.training.evaluate import Baselines, scores, widest_float
from albert_edu.training.workers import Workers


class Meter:
    """What has been measured since the last record: sums over the steps, and seconds."""

    def __init__(self, device: torch.device, workers: Workers, sums: list | None):
        """Start at 0, or at the sums of a checkpoint: the main worker goes on with all of them."""
        sums = sums if sums and workers.rank == 0 else [[0.0] * 3] * 3
        self.sums = torch.tensor(sums, dtype=widest_float(device), device=device)
        self.workers, self.began = workers, time.perf_counter()

    def read(self) -> dict[str, float]:
        """Return time and scores since the last record, over all workers, and begin at 0 again."""
        self.workers.all_reduce(self.sums)
        record = {"seconds": time.perf_counter() - self.began} | scores(self.sums)
        self.sums.zero_()
        self.began = time.perf_counter()
        return record

    def to_main(self) -> list[list[float]]:
        """Move the sums of all workers to the main one, so that nothing counts twice later."""
        self.workers.all_reduce(self.sums)
        self.sums *= self.workers.rank == 0
        return self.sums.tolist()


@dataclass
class History:
    """The records of a run (one per logged step), its baselines, and how to read them."""

    baselines: Baselines
    records: list[dict] = field(default_factory=list)

    def column(self, name: str) -> tuple[list[int], list[float]]:
        """Return the steps and the values of a measure, for example "masked_token_loss"."""
        records = [record for record in self.records if name in record]
        return [record["step"] for record in records], [record[name] for record in records]

    def last(self, name: str) -> float:
        """Return the newest value of a measure. Raises ValueError if there is none."""
        values = self.column(name)[1]
        if not values:
            raise ValueError(f"{name!r} is in none of the {len(self.records)} records of the run.")
        return values[-1]

    def verdict(self) -> str:
        """Return which baselines the newest MLM loss is below; a held-out loss goes first."""
        for name in ("held_out_masked_token_loss", "masked_token_loss"):
            if self.column(name)[1]:
                return self.baselines.verdict(self.last(name))
        return "not trained: the run has no step and therefore no loss"
