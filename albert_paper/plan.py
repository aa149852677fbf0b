"""The plan as data, every experiment of ``data/experiments.toml``, and how one is carried out.

A section is written down before its runs: rows, seeds, settings, learning rates, and for each claim
the criterion, the control and the smallest difference that matters. Notebook 09 explains why.
"""

from itertools import product
from pathlib import Path

from albert_edu.errors import FileError, InputError, read_json
from albert_edu.training.workers import pick_device
from albert_paper import measures
from albert_paper.provenance import git, provenance, write_json
from albert_paper.published import DATA, read_toml
from albert_paper.sweep import Run, recorded_run, result_file, results, sweep

PLAN = read_toml("experiments.toml")


def runs_of(experiment: dict) -> list[Run]:
    """Return every row with every seed, seed by seed: an unfinished set has whole pairs."""
    return [
        run_of_row(row, seed, **(experiment["settings"] | changes))
        for seed, (row, changes) in product(experiment["seeds"], experiment["rows"].items())
    ]


def run_of_row(
    row: str, seed: int, H=0, L=0, E=0, share="", dropout=0.0, chain=(), then=(), **changes
) -> Run:
    """Return the run of a row with a seed; each depth of a ``chain`` is trained before, as long.

    Model fields left out are those of the preset. Narrow layers start from wider distributions.
    """
    config = {
        "hidden_size": H,
        "ffn_size": 4 * H,
        "num_heads": H and max(1, H // (64 if H >= 256 else 32)),
        "embedding_size": E,
        "num_layers": L,
        "init_std": H and round(0.02 * (768 / H) ** 0.5, 3),
        "share": share,
        "hidden_dropout": dropout,
        "attention_dropout": dropout,
    }
    config = tuple((name, value) for name, value in config.items() if value)
    grown = tuple((depth, changes["steps"]) for depth in chain)
    then = tuple(sorted(dict(then).items()))
    return Run(row, **changes, config=config, grown=grown, then=then, seed=seed)


def run_experiment(name: str, figures: Path, runs: Path, device: str = "auto") -> Path:
    """Do the runs that are not done: every row with every seed.

    The record ``figures/results/NAME.json`` is written when this is interrupted, too. It holds
    every finished run, so a later sitting goes on from it, perhaps on another machine. Raises
    ValueError when there is no such experiment, and when it takes a card that is not there.
    """
    if name not in PLAN:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(PLAN)}.")
    plan, folder, path = PLAN[name], runs / "sweeps", figures / "results" / f"{name}.json"
    # A card is taken where the plan asks for one, unless a device is named.
    device = pick_device("cuda" if plan.get("card") and device == "auto" else device)
    measure, wanted = getattr(measures, plan["measure"]), runs_of(plan)
    record = read_json(path, FileError) if path.exists() else {}
    for result in record.get("runs", []):
        write_json(result_file(folder, recorded_run(result), measure), result)
    try:
        sweep(wanted, measure, folder, device)
    finally:
        done = results(wanted, measure, folder)
        record |= {
            "plan_commit": git("log", "-1", "--format=%h", "--", str(DATA / "experiments.toml")),
            "runs": done,
            "provenance": provenance(f"run {name}", done + record.get("pilots", [])),
        }
        write_json(path, record)
    return path
