"""The plan as data: ``data/planned.toml`` holds rows, seeds, criteria and controls that were set before their runs."""

import dataclasses
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from albert_edu.paper import measures
from albert_edu.paper.provenance import last_commit_of, provenance, write_json
from albert_edu.paper.rows import model
from albert_edu.paper.sweep import Measure, Run, sweep
from albert_edu.training.pretrain import pick_device

DATA = Path(__file__).parent / "data"
SIZES = ("H", "L", "E", "share", "dropout")  # what of a row belongs to the model


@dataclass(frozen=True)
class Planned:
    """One experiment of the plan: a section of the file, and the runs that it asks for."""

    name: str
    section: dict
    seeds: tuple[int, ...]
    pilot_seeds: tuple[int, ...]

    @property
    def measure(self) -> Measure:
        """What is measured on every run."""
        return getattr(measures, self.section["measure"])

    def pilots(self) -> list[Run]:
        """Every row that is tuned, with every rate and every pilot seed."""
        tuned = [row for row, changes in self.section["rows"].items() if "rate_of" not in changes]
        return [self.run(row, seed, rate) for row in tuned
                for rate in self.section["rates"] for seed in self.pilot_seeds]  # fmt: skip

    def rates(self, pilots: Sequence[dict]) -> dict[str, float]:
        """The learning rate of each row: the one with the lowest mean loss over the pilot seeds, the lower one in a tie."""
        chosen = {}
        for row in self.section["rows"] if self.section["rates"] else ():
            tuned = self.section["rows"][row].get("rate_of", row)
            losses = {
                rate: fmean(run["held_out_masked_token_loss"] for run in pilots
                            if run["row"] == tuned and run["learning_rate"] == rate)
                for rate in sorted(self.section["rates"])
            }  # fmt: skip
            chosen[row] = min(losses, key=losses.get)
        return chosen

    def runs(self, rates: dict[str, float]) -> list[Run]:
        """Every row with every evaluation seed, seed by seed, so that an unfinished set has whole comparisons."""
        return [self.run(row, seed, rates.get(row)) for seed in self.seeds for row in self.section["rows"]]

    def run(self, row: str, seed: int, rate: float | None = None) -> Run:
        """One row with one seed, at a given learning rate or at that of the settings."""
        changes = dict(self.section["rows"][row])
        changes.pop("rate_of", None)
        sizes = {name: changes.pop(name) for name in SIZES if name in changes}
        settings = self.section["settings"] | changes
        chain, then = settings.pop("chain", ()), settings.pop("then", {})
        settings |= {"learning_rate": rate} if rate else {}
        steps = settings["steps"]
        return Run(row, **settings, config=config(**sizes), seed=seed, grown=tuple((depth, steps) for depth in chain),
                   then=tuple(sorted(then.items())))  # fmt: skip


def config(H: int, L: int, E: int, share: str = "all", dropout: float = 0.0) -> tuple:
    """The changes of a preset that a row of the plan asks for."""
    dropouts = {"hidden_dropout": dropout, "attention_dropout": dropout} if dropout else {}
    sharing = {"share": share} if share != "all" else {}
    return tuple(model(H, L, E, **sharing, **dropouts)["config"].items())


def planned(file: Path = DATA / "planned.toml") -> dict[str, Planned]:
    """Every experiment of a plan's file by its name."""
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    seeds = [tuple(content.pop(name)) for name in ("seeds", "pilot_seeds")]
    return {name: Planned(name, section, *seeds) for name, section in content.items()}


PLANNED = planned()


def run_planned(name: str, profile: str, figures: Path, runs: Path, device: str | None = None) -> Path:
    """Do what is not done yet: first the pilots, then every row at its rate with every seed; write the record.

    The record is also written when this is interrupted. It holds every finished run, so it is what a later sitting, perhaps
    on another machine, goes on from.
    """
    experiment, folder = PLANNED[name], runs / "sweeps"
    path = figures / "results" / f"{name}_{profile}.json"
    record = json.loads(path.read_text()) if path.exists() else {"plan": experiment.section, "pilots": [], "runs": []}
    if record["plan"] != experiment.section:
        raise ValueError(f"{path} was recorded under another plan. A plan stays as it was before its runs: give the new one "
                         "a name of its own.")  # fmt: skip
    measure = experiment.measure
    for result in (*record["pilots"], *record["runs"]):
        run = run_of(result)
        if not (known := folder / f"{run.key(measure)}.json").exists():
            write_json(known, result)
    wanted: dict[str, list[Run]] = {"pilots": experiment.pilots(), "runs": []}
    rates: dict[str, float] = {}
    try:
        rates = experiment.rates(sweep(wanted["pilots"], measure, folder, device)) if wanted["pilots"] else {}
        wanted["runs"] = experiment.runs(rates)
        sweep(wanted["runs"], measure, folder, device)
    finally:
        finished = {part: _finished(these, measure, folder) for part, these in wanted.items()}
        every = finished["pilots"] + finished["runs"]
        seconds = sum(run["seconds"] for run in every)
        made = provenance(f"reproduce --experiment {name} --profile {profile}", seconds,
                          sorted({run["seed"] for run in finished["runs"]}), pick_device(device))  # fmt: skip
        for part in ("device", "commit", "date"):
            made[part] = "; ".join(sorted({run[part] for run in every})) or made[part]
        write_json(path, {
            "experiment": name, "profile": profile, "plan": experiment.section,
            "plan_commit": last_commit_of(DATA / "planned.toml"), "rates": rates,
            "planned_runs": len(experiment.seeds) * len(experiment.section["rows"]), "planned_pilots": len(wanted["pilots"]),
            **finished, "provenance": made,
        })  # fmt: skip
    return path


def run_of(result: dict) -> Run:
    """The run that a recorded result is of."""
    settings = {field.name: result.get(field.name, field.default) for field in dataclasses.fields(Run)}
    tuples = {name: tuple(tuple(pair) if isinstance(pair, list) else pair for pair in value)
              for name, value in settings.items() if isinstance(value, list)}  # fmt: skip
    return Run(**settings | tuples)


def _finished(runs: Sequence[Run], measure: Measure, folder: Path) -> list[dict]:
    paths = [(run, folder / f"{run.key(measure)}.json") for run in runs]
    return [json.loads(path.read_text()) | {"row": run.row} for run, path in paths if path.exists()]
