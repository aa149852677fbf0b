"""The paper's tables as experiments: which runs, what is measured, what is claimed, and what would count as reproduced."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from albert_edu.paper.provenance import provenance, write_json
from albert_edu.paper.sweep import Measure, Run, order_cross, sweep


@dataclass(frozen=True)
class Experiment:
    """A claim of the paper, the criterion set before the run, and the runs of each profile that can decide it."""

    claim: str
    source: str  # table or section
    criterion: str
    measure: Measure
    profiles: dict[str, tuple[Run, ...]]


def _table5(steps: int, seeds: int) -> tuple[Run, ...]:
    rows = {
        "none": ("none", "document"), "NSP": ("nsp", "document"), "NSP, other topics": ("nsp", "topic"), "SOP": ("sop", "document")
    }  # fmt: skip
    return tuple(
        Run(row, steps, objective=objective, negatives=negatives, seed=seed)
        for seed in range(seeds)
        for row, (objective, negatives) in rows.items()
    )


EXPERIMENTS = {
    "table5": Experiment(
        claim="A model trained on NSP does not solve SOP; one trained on SOP solves NSP to some degree.",
        source="Table 5",
        criterion=(
            "With the trained heads as they are, on held-out stories, in the mean over seeds and its 95% interval: the model "
            "trained on NSP against other topics stays within 0.10 of 0.50 on SOP and above 0.85 on its own task; the model "
            "trained on SOP is above 0.85 on its own task, and on NSP above 0.75, which a SOP head reaches that knows no topic."
        ),
        measure=order_cross,
        profiles={"quick": _table5(steps=1200, seeds=5)},
    ),
}


def run_experiment(name: str, profile: str, figures: Path, runs: Path, device: str | None = None) -> Path:
    """Do the runs that are not done, and write them with their provenance to ``figures/results/NAME_PROFILE.json``."""
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.")
    experiment = EXPERIMENTS[name]
    if profile not in experiment.profiles:
        raise ValueError(f"{name} has no profile {profile!r}; it has {', '.join(experiment.profiles)}.")
    wanted = experiment.profiles[profile]
    results = sweep(wanted, experiment.measure, runs / "sweeps", device)
    told = {field: getattr(experiment, field) for field in ("claim", "source", "criterion")}
    record = {
        "experiment": name, "profile": profile, **told, "settings": _common(wanted), "runs": results,
        "provenance": provenance(sum(run["seconds"] for run in results), sorted({run.seed for run in wanted}), device or "cpu"),
    }  # fmt: skip
    path = figures / "results" / f"{name}_{profile}.json"
    write_json(path, record)
    return path


def _common(runs: tuple[Run, ...]) -> dict:
    """The settings that all runs have in common."""
    every = [dataclasses.asdict(run) for run in runs]
    return {name: value for name, value in every[0].items() if all(other[name] == value for other in every)}
