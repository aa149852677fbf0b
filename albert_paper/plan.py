"""The plan as data, every experiment of ``data/experiments.toml``, and how one is carried out.

A section is written down before its runs: rows, seeds, settings, learning rates, and for each claim
the criterion, the control and the smallest difference that matters. Notebook 09 explains why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

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

    A row says in which settings of ``Run`` it departs from ``settings``.
    """

    measure: str  # a function of measures.py
    seeds: Sequence[int]
    rows: dict[str, dict]
    settings: dict
    source: str  # where in the paper
    setting: str  # how our runs differ from the paper's, in words
    pilot: dict = field(default_factory=dict)  # how learning rates were chosen: rates, seeds, rows
    claims: dict[str, dict] = field(default_factory=dict)
    card: bool = False  # takes a GPU

    def runs(self) -> list[Run]:
        """Return every row with every seed, seed by seed: an unfinished set has whole pairs."""
        return [
            run_of_row(row, self.settings | changes, seed)
            for seed, (row, changes) in product(self.seeds, self.rows.items())
        ]


def run_of_row(row: str, changes: dict, seed: int) -> Run:
    """Return the run of a row with a seed; each depth of a ``chain`` is trained before, as long.

    Narrow layers start from wider distributions.
    """
    changes = dict(changes)
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
    """Do the runs that are not done: every row with every seed.

    The record ``figures/results/NAME.json`` is written when this is interrupted, too. It holds
    every finished run, so a later sitting goes on from it, perhaps on another machine. Raises
    ValueError when there is no such experiment, and when it takes a card that is not there.
    """
    if name not in PLAN:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(PLAN)}.")
    plan, folder, path = PLAN[name], runs / "sweeps", figures / "results" / f"{name}.json"
    # A card is taken where the plan asks for one, unless a device is named.
    device = pick_device("cuda" if plan.card and device == "auto" else device)
    measure, wanted = getattr(measures, plan.measure), plan.runs()
    record = read_json(path, FileError) if path.exists() else {}
    for result in record.get("runs", []):
        write_json(result_file(folder, recorded_run(result), measure), result)
    try:
        sweep(wanted, measure, folder, device)
    finally:
        done = results(wanted, measure, folder)
        record |= {
            "experiment": name,
            "measure": plan.measure,
            "plan_commit": git("log", "-1", "--format=%h", "--", str(DATA / "experiments.toml")),
            "planned_runs": len(wanted),
            "runs": done,
            "provenance": provenance(f"run {name}", done + record.get("pilots", [])),
        }
        write_json(path, record)
    return path
