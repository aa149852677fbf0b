"""What training measured, in memory and as one JSON line a logged step."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from albert_edu.training.evaluate import Baselines


@dataclass
class History:
    """What training measured: one record a logged step, the baselines, and how to read them."""

    baselines: Baselines
    records: list[dict] = field(default_factory=list)

    def column(self, name: str) -> tuple[list[int], list[float]]:
        """(steps, values) of one measure, where it was measured: ``history.column("held_out_masked_token_loss")``."""
        rows = [record for record in self.records if name in record]
        return [row["step"] for row in rows], [row[name] for row in rows]

    def last(self, name: str) -> float:
        values = self.column(name)[1]
        if not values:
            raise ValueError(f"nothing measured {name!r}; the run logged {len(self.records)} records.")
        return values[-1]

    def verdict(self) -> str:
        """Whether the run is still on the unigram plateau, by the held-out loss if there is one."""
        held_out = "held_out_masked_token_loss"
        return self.baselines.verdict(self.last(held_out if self.column(held_out)[1] else "masked_token_loss"))

    def add(self, record: dict, file: Path | None = None) -> None:
        """Append a record, to the file too if one is given."""
        self.records.append(record)
        if file:
            with file.open("a") as lines:
                lines.write(json.dumps(record) + "\n")

    def rewrite(self, file: Path) -> None:
        """Write what is known so far, dropping lines of steps that a killed run took after its last checkpoint."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(record) + "\n" for record in self.records))


def training_seconds(records: list[dict], tokens_a_step: int) -> float:
    """Spent on training, over all sittings: tokens over speed, record by record."""
    timed = [record for record in records if "tokens_per_second" in record]
    return sum((record["step"] - before) * tokens_a_step / record["tokens_per_second"]
               for before, record in zip([0, *(record["step"] for record in timed)], timed, strict=False))  # fmt: skip
