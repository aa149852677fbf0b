"""The plans as data, and how an experiment is carried out.

A section is written down before its runs: rows, seeds, settings, what pilots settle, and for each
claim the criterion, the control and the smallest difference that matters. Notebook 09 explains why.
``data/plan.toml`` is the plan of the page, and ``data/unjudged.toml`` has runs that decide no row.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from albert_edu.errors import FileError, InputError, read_json
from albert_edu.training.workers import pick_device
from albert_paper import measures
from albert_paper.provenance import commit, git, name_of, provenance, write_json
from albert_paper.published import DATA, read_toml
from albert_paper.sweep import recorded_run, result_file, results, sweep
from albert_paper.training_run import Measure, Run
from albert_paper.tuning import settle

PILOT_MEASURE = measures.scores  # of every pilot of the plan
PLAN = read_toml("plan.toml")
UNJUDGED = read_toml("unjudged.toml")  # runs that decide no row of the page
PAGE = PLAN.pop("page")["rows"]  # the family of Holm's correction


def runs_of(experiment: dict) -> list[Run]:
    """Return every row with every seed, seed by seed, so that an unfinished set has whole pairs.

    A row with an ``n`` of its own has the first n seeds.
    """
    runs = []
    for number in range(experiment["n"]):
        for row, changes in experiment["rows"].items():
            if number < changes.get("n", number + 1):
                seed = experiment["first_seed"] + number
                runs.append(run_of_row(row, seed, **(experiment["settings"] | changes)))
    return runs


def run_of_row(
    row: str,
    seed: int,
    *,
    H: int = 0,
    L: int = 0,
    E: int = 0,
    A: int = 0,
    share: str = "",
    groups: int = 0,
    dropout: float = 0.0,
    chain: Sequence[int] = (),
    then: Mapping | None = None,
    stage_rates: Mapping[int, float] | None = None,
    n: int = 0,
    **changes,
) -> Run:
    """Return the run of a row with a seed; each depth of a ``chain`` is trained before, as long.

    Model fields left out are those of the preset. Narrow layers start from wider distributions.
    ``stage_rates`` has the learning rate of each depth; ``n`` says nothing about a run.
    """
    width_of_head = 64 if H >= 256 else 32
    fields = {
        "hidden_size": H,
        "ffn_size": 4 * H,
        "num_heads": A or (max(1, H // width_of_head) if H else 0),
        "embedding_size": E,
        "num_layers": L,
        "init_std": round(0.02 * (768 / H) ** 0.5, 3) if H else 0,
        "share": share,
        "num_groups": groups,
        "hidden_dropout": dropout,
        "attention_dropout": dropout,
    }
    config = tuple((name, value) for name, value in fields.items() if value)
    grown = tuple((depth, changes["steps"]) for depth in chain)
    if stage_rates:
        grown = tuple((*stage, stage_rates[stage[0]]) for stage in grown)
        changes["learning_rate"] = stage_rates[L]
    last = tuple(sorted((then or {}).items()))
    return Run(row, **changes, config=config, grown=grown, then=last, seed=seed)


def run_experiment(name: str, figures: Path, runs: Path, device: str = "auto") -> Path:
    """Do what is not done of an experiment: pilots, and then every row with every seed.

    The record ``figures/results/NAME.json`` is written when this is interrupted, too. It holds
    every finished run and pilot, so a later sitting goes on from it, perhaps on another machine.
    Raises ValueError when there is no such experiment, and when it takes a card that is not there.
    """
    plans = PLAN | UNJUDGED
    if name not in plans:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(plans)}.")
    plan = plans[name]
    folder = runs / "sweeps"
    stages = runs / "stages" / name
    path = figures / "results" / f"{name}.json"
    # A card is taken where the plan asks for one, unless a device is named.
    device = pick_device("cuda" if plan.get("card") and device == "auto" else device)
    measure = getattr(measures, plan["measure"])
    record = read_json(path, FileError) if path.exists() else {}
    record.setdefault("plan_commit", git("log", "-1", "--format=%h", "--", str(file_of(name))))
    record.setdefault("plan", plan)
    wanted = take_up(record.get("runs", []), measure, folder)
    pilots = take_up(record.get("pilots", []), PILOT_MEASURE, folder)

    def do_pilots(asked: Sequence[Run]) -> list[dict]:
        """Train the pilots that are not trained yet."""
        pilots.extend(run for run in asked if run not in pilots)
        return sweep(asked, PILOT_MEASURE, folder, device, for_stages(asked, stages, device))

    try:
        wanted = runs_of(settle(plan, run_of_row, do_pilots, record))
        sweep(wanted, measure, folder, device, for_stages(wanted, stages, device))
        shutil.rmtree(stages, ignore_errors=True)
    finally:
        record["runs"] = results(wanted, measure, folder)
        if pilots:
            record["pilots"] = results(pilots, PILOT_MEASURE, folder)
        everything = record["runs"] + record.get("pilots", [])
        record["provenance"] = provenance(f"run {name}", everything)
        write_json(path, record)
    return path


def for_stages(runs: Sequence[Run], folder: Path, device: torch.device) -> Path | None:
    """Return where runs leave finished stages for others; None where nobody could take them up.

    Those are runs of one stage. Nor may a stage go on with other code, or on another kind of
    device; of code that is not committed nobody knows whether it is the same.
    """
    if all(len(run.stages()) == 1 for run in runs) or commit().endswith("+"):
        return None
    return folder / name_of([device.type, commit(), torch.__version__])


def file_of(name: str) -> Path:
    """Return the file that an experiment is a section of."""
    return DATA / ("plan.toml" if name in PLAN else "unjudged.toml")


def take_up(recorded: Sequence[dict], measure: Measure, folder: Path) -> list[Run]:
    """Put the results of a record where a sweep looks for them; return their runs."""
    runs = []
    for result in recorded:
        run = recorded_run(result)
        write_json(result_file(folder, run, measure), result)
        runs.append(run)
    return runs
