"""Do an experiment of the plan: train and measure what is not done yet, and write the record that the report is made of."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from albert_edu.paper.claims import Claim
from albert_edu.paper.plan import DATA, EXPERIMENTS, PLANNED
from albert_edu.paper.provenance import last_commit_of, provenance, write_json
from albert_edu.paper.sweep import Measure, Run, recorded_run, result_file, sweep
from albert_edu.text.prepare import prepare
from albert_edu.training.pretrain import pick_device


def run_experiment(name: str, profile: str, figures: Path, runs: Path, device: str | None = None) -> Path:
    """Do the runs that are not done, and write them with their provenance to ``figures/results/NAME_PROFILE.json``.

    Raises ValueError when there is no such experiment or profile, and when the record that is there was made under
    another plan: a criterion stays as it was before its runs.
    """
    every = EXPERIMENTS | PLANNED
    if name not in every:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(every)}.")
    if profile not in every[name].budgets:
        raise ValueError(f"{name} has no profile {profile!r}; it has {', '.join(every[name].budgets)}.")
    if name in PLANNED and not every[name].instead:
        return _run_planned(name, profile, figures, runs, device)
    experiment = every[name]
    if experiment.instead:
        results, settings = experiment.instead(profile, device), {}
    else:
        wanted = experiment.runs(profile)
        results, settings = sweep(wanted, experiment.measure, runs / "sweeps", device), _common(wanted)
        if measured_with := getattr(experiment.measure, "settings", None):
            settings["measured with"] = measured_with
    record = {
        "experiment": name, "profile": profile, "claims": [_as_judged(claim, results) for claim in experiment.claims],
        "note": experiment.note, "settings": settings, "runs": results,
        "provenance": _provenance(name, profile, results, device),
    }  # fmt: skip
    record |= {"plan": experiment.section} if name in PLANNED else {}
    path = figures / "results" / f"{name}_{profile}.json"
    before = json.loads(path.read_text())["claims"] if path.exists() else []
    criteria = {claim["claim"]: claim["criterion"] for claim in before}
    if changed := [claim["claim"] for claim in record["claims"]
                   if criteria.get(claim["claim"], claim["criterion"]) != claim["criterion"]]:  # fmt: skip
        raise ValueError(f"{path} was recorded with another criterion for {changed}. A criterion stays as it was before its "
                         "runs: give the new one a claim of its own.")  # fmt: skip
    write_json(path, record)
    return path


def _run_planned(name: str, profile: str, figures: Path, runs: Path, device: str | None) -> Path:
    """First the pilots, then every row at its rate with every seed.

    The record is written when this is interrupted, too. It holds every finished run, so a later sitting, perhaps on
    another machine, goes on from it.
    """
    experiment, folder = PLANNED[name], runs / "sweeps"
    measure, path = experiment.measure, figures / "results" / f"{name}_{profile}.json"
    record = json.loads(path.read_text()) if path.exists() else {"plan": experiment.section, "pilots": [], "runs": []}
    if record["plan"] != experiment.section:
        raise ValueError(f"{path} was recorded under another plan. A plan stays as it was before its runs: give the new one "
                         "a name of its own.")  # fmt: skip
    for result in (*record["pilots"], *record["runs"]):
        if not (finished := result_file(folder, recorded_run(result), measure)).exists():
            write_json(finished, result)
    pilots, evaluation = experiment.pilots(profile), ()
    rates: dict[str, float] = {}
    try:
        rates = experiment.tuned_rates(sweep(pilots, measure, folder, device)) if pilots else {}
        evaluation = experiment.runs(profile, rates)
        sweep(evaluation, measure, folder, device)
    finally:
        done = {part: _finished(wanted, measure, folder) for part, wanted in (("pilots", pilots), ("runs", evaluation))}
        write_json(path, {
            "experiment": name, "profile": profile, "plan": experiment.section,
            "plan_commit": last_commit_of(DATA / f"{experiment.family}.toml"), "rates": rates,
            "planned_runs": len(experiment.runs(profile)), "planned_pilots": len(pilots), **done,
            "provenance": _provenance(name, profile, done["pilots"] + done["runs"], device),
        })  # fmt: skip
    return path


def prepare_texts(profile: str = "gpu") -> None:
    """Fill the cache with every text and vocabulary of a profile, so that its folder can travel to a machine without them."""
    for experiment in (EXPERIMENTS | PLANNED).values():
        for run in experiment.runs(profile) if profile in experiment.budgets else ():
            text = run.text()
            for part in (run.vocabulary or run.corpus).split("+"):
                prepare(part, tokenizer=text.tokenizer)


def _finished(runs: Sequence[Run], measure: Measure, folder: Path) -> list[dict]:
    files = [(run, result_file(folder, run, measure)) for run in runs]
    return [json.loads(file.read_text()) | {"row": run.row} for run, file in files if file.exists()]


def _provenance(name: str, profile: str, results: Sequence[dict], device: str | None) -> dict:
    """Where, when and with what the runs were done, perhaps on several machines."""
    seconds, seeds = sum(run.get("seconds", 0) for run in results), sorted({run["seed"] for run in results})
    record = provenance(f"reproduce --experiment {name} --profile {profile}", seconds, seeds, pick_device(device))
    for part in ("device", "commit", "date"):
        record[part] = "; ".join(sorted({run[part] for run in results if part in run})) or record[part]
    record["versions"]["torch"] = "; ".join(sorted({run["torch"] for run in results if "torch" in run})) or torch.__version__
    return record


def _as_judged(claim: Claim, results: Sequence[dict]) -> dict:
    """The claim as it stood when the record was written."""
    criterion = [str(part) for part in claim.criterion]
    return {"claim": claim.text, "source": claim.source, "criterion": criterion, "verdict": claim.verdict(results)}


def _common(runs: Sequence[Run]) -> dict:
    """The settings that all runs have in common."""
    every = [dataclasses.asdict(run) for run in runs]
    return {name: value for name, value in every[0].items() if all(other[name] == value for other in every)}
