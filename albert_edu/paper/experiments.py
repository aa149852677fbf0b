"""An experiment: which runs, what is measured, which claims of the paper it tests, and the record it leaves.

The experiments themselves stand in ``plan.py`` and ``plan_text.py``. A criterion is written down before its runs and not
changed after them.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from albert_edu.paper.claims import Claim
from albert_edu.paper.provenance import provenance, write_json
from albert_edu.paper.sweep import DEFAULTS, Measure, Run, sweep
from albert_edu.training.pretrain import pick_device

PROFILES = ("quick", "laptop", "gpu")  # minutes a table on two cores; 2.5 times as long; one card, pieces of ten minutes


@dataclass(frozen=True)
class Budget:
    """What a profile spends: the hidden size that rows are relative to, seeds, and the settings that every row starts from."""

    width: int
    seeds: int
    settings: dict


ITS_OWN = Budget(0, 0, {})
Rows = dict[str, dict]  # name of a row -> the settings in which it departs from the budget's


@dataclass(frozen=True)
class Experiment:
    """Rows that are compared, seed by seed, and the claims they decide.

    ``rows(H)`` names each row and says in which settings of ``Run`` it departs from the budget's; ``config`` holds changes of
    the model, ``scaled`` factors of the budget's numbers, ``depths`` the shallower depths it is grown through at equal steps each.
    ``published`` says which printed number stands beside a row: (table, column, *key). ``instead`` replaces training runs by
    another way to results, such as counting; its budgets are its own affair, ``ITS_OWN`` here.
    """

    question: str
    claims: tuple[Claim, ...]
    column: str  # what is drawn
    rows: Callable[[int], Rows] | None = None
    measure: Measure | None = None
    budgets: dict[str, Budget] = field(default_factory=dict)
    published: dict[str, tuple] = field(default_factory=dict)
    instead: Callable[[str, str | None], list[dict]] | None = None
    note: str = ""  # where the setting departs from the paper's, and how it was chosen
    axis: str = "held-out loss (nats)"  # the column in words, with its unit
    lower_is_better: bool = True
    drawn: bool = True
    curve: str = ""  # a column with a value for each layer, drawn instead: (for example) Figure 1's angles

    def runs(self, profile: str) -> tuple[Run, ...]:
        """Every row with every seed."""
        budget = self.budgets[profile]
        return tuple(
            _run(row, changes, budget.settings, seed)
            for seed in range(budget.seeds)
            for row, changes in self.rows(budget.width).items()
        )


def _run(row: str, changes: dict, settings: dict, seed: int) -> Run:
    """A row's run. The budget's steps are those of all depths that it is grown through together."""
    merged = settings | {name: value for name, value in changes.items() if name not in ("config", "depths", "scaled")}
    merged |= {name: (DEFAULTS | settings)[name] * factor for name, factor in changes.get("scaled", {}).items()}
    merged["config"] = tuple((dict(settings.get("config", ())) | changes.get("config", {})).items())
    depths = changes.get("depths", ())
    merged["steps"] = steps = round(merged["steps"] / (len(depths) + 1))
    return Run(row, **merged, grown=tuple((depth, steps) for depth in depths), seed=seed)


def run_experiment(name: str, profile: str, figures: Path, runs: Path, device: str | None = None) -> Path:
    """Do the runs that are not done, and write them with their provenance to ``figures/results/NAME_PROFILE.json``."""
    from albert_edu.paper.plan import EXPERIMENTS
    from albert_edu.paper.planned import PLANNED, run_planned

    if name in PLANNED:
        return run_planned(name, profile, figures, runs, device)
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.")
    experiment = EXPERIMENTS[name]
    if profile not in experiment.budgets:
        raise ValueError(f"{name} has no profile {profile!r}; it has {', '.join(experiment.budgets)}.")
    if experiment.instead:
        results, settings = experiment.instead(profile, device), {}
    else:
        wanted = experiment.runs(profile)
        results, settings = sweep(wanted, experiment.measure, runs / "sweeps", device), _common(wanted)
        if measured_with := getattr(experiment.measure, "settings", None):
            settings["measured with"] = measured_with
    seconds, seeds = sum(run.get("seconds", 0) for run in results), sorted({run["seed"] for run in results})
    made = provenance(f"reproduce --experiment {name} --profile {profile}", seconds, seeds, pick_device(device))
    for part in ("device", "commit", "date"):  # where, with what and when the runs were done, perhaps on another machine
        made[part] = "; ".join(sorted({run[part] for run in results if part in run})) or made[part]
    made["versions"]["torch"] = "; ".join(sorted({run["torch"] for run in results if "torch" in run})) or torch.__version__
    record = {
        "experiment": name, "profile": profile, "claims": [_told(claim, results) for claim in experiment.claims],
        "note": experiment.note, "settings": settings, "runs": results, "provenance": made,
    }  # fmt: skip
    path = figures / "results" / f"{name}_{profile}.json"
    stood = {claim["claim"]: claim["criterion"] for claim in json.loads(path.read_text())["claims"]} if path.exists() else {}
    if changed := [told["claim"] for told in record["claims"] if stood.get(told["claim"], told["criterion"]) != told["criterion"]]:
        raise ValueError(f"{path} was recorded with another criterion for {changed}. A criterion stays as it was before its runs: "
                         "give the new one a claim of its own.")  # fmt: skip
    write_json(path, record)
    return path


def _told(claim: Claim, results: Sequence[dict]) -> dict:
    """The claim as it stood when the record was written."""
    criterion = [str(part) for part in claim.criterion]
    return {"claim": claim.text, "source": claim.source, "criterion": criterion, "verdict": claim.verdict(results)}


def _common(runs: Sequence[Run]) -> dict:
    """The settings that all runs have in common."""
    every = [dataclasses.asdict(run) for run in runs]
    return {name: value for name, value in every[0].items() if all(other[name] == value for other in every)}
