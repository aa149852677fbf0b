"""Do an experiment of the plan: train and measure what is not done yet, and write its record."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from albert_edu.errors import FileError, read_json
from albert_edu.training.workers import pick_device
from albert_paper.plan import PLAN, best_rates
from albert_paper.provenance import last_commit_of, provenance, write_json
from albert_paper.published import DATA
from albert_paper.sweep import Measure, Run, read_result, recorded_run, result_file, sweep


def run_experiment(name: str, figures: Path, runs: Path, device: str = "auto") -> Path:
    """Do the runs that are not done, first the pilots, then every row with every seed.

    The record ``figures/results/NAME.json`` is written when this is interrupted, too. It holds
    every finished run, so a later sitting goes on from it, perhaps on another machine. A run that
    stands in the record of another experiment is not made again. Raises ValueError when there is
    no such experiment, and when it takes a card that is not there.
    """
    if name not in PLAN:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(PLAN)}.")
    plan = PLAN[name]
    if plan.card and device == "auto" and pick_device(device).type != "cuda":
        raise ValueError(f"{name} needs a CUDA card; insist with --device cpu.")
    folder, measure, pilots, wanted = runs / "sweeps", plan.measured, plan.pilots(), []
    kind = {"measure": plan.measure, "measure_settings": getattr(measure, "settings", None)}
    for result in recorded_results(kind, figures / "results"):
        known = result_file(folder, recorded_run(result), measure)
        if not known.exists():
            write_json(known, result)
    rates: dict[str, float] = {}
    try:
        rates = best_rates(sweep(pilots, measure, folder, device)) if pilots else {}
        wanted = plan.runs(rates)
        sweep(wanted, measure, folder, device)
    finally:
        done = {
            "pilots": finished(pilots, measure, folder),
            "runs": finished(wanted, measure, folder),
        }
        record = {
            "experiment": name,
            **kind,
            "plan_commit": last_commit_of(DATA / "experiments.toml"),
            "rates": rates,
            "planned_runs": len(plan.rows) * len(plan.seeds),
            **done,
            "provenance": provenance_of(f"run {name}", done["pilots"] + done["runs"], device),
        }
        path = figures / "results" / f"{name}.json"
        write_json(path, record)
    return path


def finished(runs: Sequence[Run], measure: Measure, folder: Path) -> list[dict]:
    """Return the results of those runs that are done."""
    return [
        read_result(folder, r, measure) for r in runs if result_file(folder, r, measure).exists()
    ]


def recorded_results(kind: dict, results: Path) -> Iterator[dict]:
    """Yield every run and pilot in the records of this measure, with the same settings.

    An older record may lack what the measure gives today.
    """
    for path in sorted(results.glob("*.json")):
        record = read_json(path, FileError)
        known = record.get("plan", {}) | record  # where older records name their measure
        if all(known.get(name) == value for name, value in kind.items()):
            yield from record.get("pilots", []) + record["runs"]


def provenance_of(command: str, results: Collection[dict], device: str | None) -> dict:
    """Return where, when and with what the runs were done, perhaps on several machines."""
    seeds = sorted({run["seed"] for run in results})
    seconds = sum(run.get("seconds", 0) for run in results)
    record = provenance(command, seconds, seeds, pick_device(device))
    for part in ("device", "commit", "date", "torch"):
        place = record["versions"] if part == "torch" else record
        place[part] = (
            "; ".join(sorted({run[part] for run in results if part in run})) or place[part]
        )
    return record
