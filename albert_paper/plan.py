"""The plan as data, every experiment of ``data/experiments.toml``, and how one is carried out.

A section is written down before its runs: rows, seeds, settings, learning rates, and for each claim
the criterion, the control and the smallest difference that matters. Notebook 09 explains why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pandas as pd

from albert_edu.errors import FileError, read_json
from albert_edu.training.workers import pick_device
from albert_paper import measures
from albert_paper.provenance import git, provenance, write_json
from albert_paper.published import DATA, read_toml
from albert_paper.sweep import Run, recorded_run, result_file, results, sweep

MODEL = ("H", "L", "E", "share", "dropout")  # what of a row belongs to the model


@dataclass(frozen=True)
class Experiment:
    """Rows that are compared seed by seed, and the claims that they decide.

    A row says in which settings of ``Run`` it departs from ``settings``. A row without a learning
    rate takes the best of its pilots, or that of the row it names as ``rate_of``.
    """

    measure: str  # a function of measures.py
    seeds: Sequence[int]
    rows: dict[str, dict]
    settings: dict
    source: str  # where in the paper
    setting: str  # how our runs differ from the paper's, in words
    pilot: dict = field(default_factory=dict)  # rates, seeds, rows, perhaps settings
    claims: dict[str, dict] = field(default_factory=dict)
    card: bool = False  # takes a GPU

    def runs(self, rates: dict[str, float]) -> list[Run]:
        """Return every row with every seed; ``rates`` are those of the pilots.

        They come seed by seed, so that an unfinished set has whole comparisons. Raises ValueError
        for a row without a learning rate.
        """
        runs = []
        for seed, (row, changes) in product(self.seeds, self.rows.items()):
            settings = self.settings | changes
            rate = settings.get("learning_rate") or rates.get(changes.get("rate_of", row))
            if not rate:
                raise ValueError(f"the row {row!r} has no learning rate: write one, or a pilot.")
            runs.append(run_of_row(row, settings | {"learning_rate": rate}, seed))
        return runs

    def pilots(self) -> list[Run]:
        """Return every row that is tuned, with every rate and every pilot seed."""
        own = self.pilot.get("settings", {})
        return [
            run_of_row(row, self.settings | self.rows[row] | {"learning_rate": rate} | own, seed)
            for row in self.pilot.get("rows", ())
            for rate in self.pilot["rates"]
            for seed in self.pilot["seeds"]
        ]


def best_rates(pilots: Sequence[dict]) -> dict[str, float]:
    """Return the rate of each row: the lowest mean held-out loss of its pilots, in a tie the lower.

    >>> runs = [("a", 1e-3, 2.0), ("a", 2e-3, 1.5), ("a", 4e-3, 1.5)]
    >>> names = ("row", "learning_rate", "held_out_masked_token_loss")
    >>> best_rates([dict(zip(names, run)) for run in runs])
    {'a': 0.002}
    """
    if not pilots:
        return {}
    tried = pd.DataFrame(pilots)
    losses = tried.pivot_table("held_out_masked_token_loss", "learning_rate", "row")
    return losses.idxmin().to_dict()


def run_of_row(row: str, changes: dict, seed: int) -> Run:
    """Return the run of a row with a seed; each depth of a ``chain`` is trained before, as long.

    Narrow layers start from wider distributions.
    """
    changes = {name: value for name, value in changes.items() if name != "rate_of"}
    H, L, E, share, dropout = (changes.pop(name, None) for name in MODEL)
    config = {"embedding_size": E} if E else {}
    if H:
        config = {
            "hidden_size": H,
            "ffn_size": 4 * H,
            "num_heads": max(1, H // (64 if H >= 256 else 32)),
            "embedding_size": E,
            "num_layers": L,
            "init_std": round(0.02 * (768 / H) ** 0.5, 3),
        }
    config |= {"share": share} if share else {}
    config |= {"hidden_dropout": dropout, "attention_dropout": dropout} if dropout else {}
    grown = tuple((depth, changes["steps"]) for depth in changes.pop("chain", ()))
    then = tuple(sorted(changes.pop("then", {}).items()))
    return Run(row, **changes, config=tuple(config.items()), grown=grown, then=then, seed=seed)


PLAN = {name: Experiment(**section) for name, section in read_toml("experiments.toml").items()}


def run_experiment(name: str, figures: Path, runs: Path, device: str = "auto") -> Path:
    """Do the runs that are not done, first the pilots, then every row with every seed.

    The record ``figures/results/NAME.json`` is written when this is interrupted, too. It holds
    every finished run, so a later sitting goes on from it, perhaps on another machine. Raises
    ValueError when there is no such experiment, and when it takes a card that is not there.
    """
    if name not in PLAN:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(PLAN)}.")
    plan, folder, path = PLAN[name], runs / "sweeps", figures / "results" / f"{name}.json"
    # A card is taken where the plan asks for one, unless a device is named.
    device = pick_device("cuda" if plan.card and device == "auto" else device)
    measure = getattr(measures, plan.measure)
    known = read_json(path, FileError) if path.exists() else {}
    for result in known.get("pilots", []) + known.get("runs", []):
        write_json(result_file(folder, recorded_run(result), measure), result)
    pilots, wanted, rates = plan.pilots(), [], {}
    try:
        rates = best_rates(sweep(pilots, measure, folder, device))
        wanted = plan.runs(rates)
        sweep(wanted, measure, folder, device)
    finally:
        tried, done = (results(part, measure, folder) for part in (pilots, wanted))
        record = {
            "experiment": name,
            "measure": plan.measure,
            "plan_commit": git("log", "-1", "--format=%h", "--", str(DATA / "experiments.toml")),
            "rates": rates,
            "planned_runs": len(plan.rows) * len(plan.seeds),
            "pilots": tried,
            "runs": done,
            "provenance": provenance(f"run {name}", tried + done),
        }
        write_json(path, record)
    return path
