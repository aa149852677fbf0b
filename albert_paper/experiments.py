"""Do an experiment of the plan: train and measure what is not done yet, and write its record."""

from collections.abc import Collection
from pathlib import Path

from albert_edu.errors import FileError, read_json
from albert_edu.text.prepare import prepare
from albert_edu.training.workers import pick_device
from albert_paper.plan import ALL
from albert_paper.provenance import last_commit_of, provenance, write_json
from albert_paper.published import DATA
from albert_paper.sweep import read_result, recorded_run, result_file, sweep


def run_experiment(
    name: str, profile: str, figures: Path, runs: Path, device: str | None = None
) -> Path:
    """Do the runs that are not done, first the pilots, then every row at its rate with every seed.

    The record ``figures/results/NAME_PROFILE.json`` is written when this is interrupted, too. It
    holds every finished run, so a later sitting, perhaps on another machine, goes on from it.
    Raises ValueError when there is no such experiment or profile, and when the record that is there
    was made under another plan: a plan stays as it was before its runs.
    """
    if name not in ALL:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(ALL)}.")
    experiment = ALL[name]
    if profile not in experiment.budgets:
        profiles = ", ".join(experiment.budgets)
        raise ValueError(f"{name} has no profile {profile!r}. The profiles it has: {profiles}.")
    path, folder = figures / "results" / f"{name}_{profile}.json", runs / "sweeps"
    before = read_json(path, FileError) if path.exists() else {}
    if before and before.get("plan") != experiment.section:
        raise ValueError(f"{path} was recorded under another plan; give the new one another name.")
    record = {
        "experiment": name,
        "profile": profile,
        "plan": experiment.section,
        "plan_commit": last_commit_of(DATA / f"{experiment.family}.toml"),
    }
    command = f"reproduce --experiment {name} --profile {profile}"
    if experiment.instead:
        results = experiment.instead(profile, device)
        origin = provenance_of(command, results, device)
        write_json(path, record | {"runs": results, "provenance": origin})
        return path
    measure, pilots, evaluation = experiment.measure, experiment.pilots(profile), ()
    for result in before.get("pilots", []) + before.get("runs", []):
        finished = result_file(folder, recorded_run(result), measure)
        if not finished.exists():
            write_json(finished, result)
    rates: dict[str, float] = {}
    try:
        rates = experiment.tuned_rates(sweep(pilots, measure, folder, device)) if pilots else {}
        evaluation = experiment.runs(profile, rates)
        sweep(evaluation, measure, folder, device)
    finally:
        done = {
            part: [
                read_result(folder, run, measure)
                for run in wanted
                if result_file(folder, run, measure).exists()
            ]
            for part, wanted in (("pilots", pilots), ("runs", evaluation))
        }
        write_json(
            path,
            record
            | {
                "rates": rates,
                "planned_runs": len(experiment.runs(profile)),
                "planned_pilots": len(pilots),
                **done,
                "provenance": provenance_of(command, done["pilots"] + done["runs"], device),
            },
        )
    return path


def prepare_texts(profile: str = "gpu") -> None:
    """Fill the cache with every text of a profile, so that it can travel to another machine."""
    for experiment in ALL.values():
        for run in experiment.runs(profile) if profile in experiment.budgets else ():
            text = run.text()
            for part in (run.vocabulary or run.corpus).split("+"):
                prepare(part, tokenizer=text.tokenizer)


def provenance_of(command: str, results: Collection[dict], device: str | None) -> dict:
    """Return where, when and with what the runs were done, perhaps on several machines."""
    seeds = sorted({run["seed"] for run in results})
    seconds = sum(run.get("seconds", 0) for run in results)
    record = provenance(command, seconds, seeds, pick_device(device))
    for place, part in (
        (record, "device"),
        (record, "commit"),
        (record, "date"),
        (record["versions"], "torch"),
    ):
        parts = sorted({run[part] for run in results if part in run})
        place[part] = "; ".join(parts) or place[part]
    return record
