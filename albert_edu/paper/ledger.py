"""From ``figures/results/*.json`` alone to ``figures/CLAIMS.md``, its pictures, and the README's summary.

Every verdict is computed here from the recorded runs; none is typed. ``python -m albert_edu claims`` writes it all again.
"""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple, get_args

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from albert_edu.analysis.charts import lines
from albert_edu.analysis.plots import SEPARATE, SHARED, save, style
from albert_edu.config import AlbertConfig
from albert_edu.paper.claims import Claim, Mean, Verdict, cell, mean
from albert_edu.paper.experiments import PROFILES, Experiment
from albert_edu.paper.plan import EXPERIMENTS
from albert_edu.paper.published import TABLES
from albert_edu.paper.speed import PEAK

*_, OPEN = VERDICTS = get_args(Verdict)
MARKERS = ("<!-- claims -->", "<!-- /claims -->")


class Entry(NamedTuple):
    """An experiment with its recorded profiles, the largest last."""

    name: str
    experiment: Experiment
    records: dict[str, dict]

    def verdict(self, claim: Claim) -> tuple[str, str]:
        """The verdict of the largest profile that has runs for it, and that profile; a larger one that cannot tell outranks
        a smaller one that could, or every further profile would be a further chance to be right by luck."""
        found = [(claim.verdict(record["runs"]), profile) for profile, record in self.records.items()]
        return next((pair for pair in reversed(found) if pair[0] != OPEN), (OPEN, ""))


def entries(figures: Path) -> list[Entry]:
    """Every planned experiment and what was recorded of it."""
    found = []
    for name, experiment in EXPERIMENTS.items():
        paths = {profile: figures / "results" / f"{name}_{profile}.json" for profile in PROFILES if profile in experiment.budgets}
        found.append(Entry(name, experiment, {p: json.loads(path.read_text()) for p, path in paths.items() if path.exists()}))
    return found


def write_ledger(figures: Path, readme: Path | None = None) -> Path:
    """Write CLAIMS.md and a picture of each experiment; put the summary between the README's markers."""
    ledger = entries(figures)
    for entry in ledger:
        for profile, record in entry.records.items():
            if entry.experiment.drawn:
                figure, alt = picture(entry, profile, record)
                save(figure, figures / f"{entry.name}_{profile}.png", alt)
    path = figures / "CLAIMS.md"
    path.write_text(claims_page(ledger), encoding="utf-8")
    if readme:
        before, rest = readme.read_text(encoding="utf-8").split(MARKERS[0])
        readme.write_text(f"{before}{MARKERS[0]}\n{summary(ledger)}\n{MARKERS[1]}{rest.split(MARKERS[1])[1]}", encoding="utf-8")
    return path


def summary(ledger: list[Entry]) -> str:
    """One line an experiment: its question and the verdict on each claim."""
    verdicts = Counter(entry.verdict(claim)[0] for entry in ledger for claim in entry.experiment.claims)
    spent = dict.fromkeys(PROFILES, 0.0)
    for profile in PROFILES:  # rows of two tables may be the same run
        runs = [run | {"row": ""} for entry in ledger if profile in entry.records for run in entry.records[profile]["runs"]]
        spent[profile] = sum({json.dumps(run, sort_keys=True): run.get("seconds", 0) for run in runs}.values()) / 3600
    lines = [
        ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name]) + "."
        + "".join(f" Recorded with `{p}`: {hours:.1f} core hours." for p, hours in spent.items() if hours)
        + (f" Planned for `gpu`: {told}." if (told := _on_a_card(ledger)) else ""), "",
        "| question | where in the paper | verdicts |", "|---|---|---|",
    ]  # fmt: skip
    for entry in ledger:
        claims = entry.experiment.claims
        source = "; ".join(dict.fromkeys(claim.source for claim in claims))
        told = ", ".join(f"{n} {verdict}" for verdict, n in Counter(entry.verdict(claim)[0] for claim in claims).items())
        lines.append(f"| [{entry.experiment.question}](figures/CLAIMS.md#{entry.name}) | {source} | {told} |")
    return "\n".join(lines)


def claims_page(ledger: list[Entry]) -> str:
    """CLAIMS.md: a table of all verdicts, then each experiment with its numbers, its criterion and where they come from."""
    lines = [
        "# The paper's claims and what we measured", "",
        "Generated from `figures/results/*.json` by `python -m albert_edu claims`; do not edit. A claim is *reproduced* when the",
        "95% interval of every comparison in its criterion, over seeds, lies on the claim's side of 0; *contradicted* when one",
        "lies on the other side; *not at this scale* when the runs cannot tell. Where several profiles are recorded, the largest",
        "has the word. Criteria were written before their runs, but for table5, whose note tells. Most tables of `quick`, and",
        "table4 of `laptop`, began with three seeds and were given two more, whatever the three had said; table7, whose runs are",
        "the longest of `quick`, was not. Some claims were once reworded to promise no more than their criteria ask; no criterion",
        "was changed for it.", "",
        "| claim | source | verdict | profile |", "|---|---|---|---|",
    ]  # fmt: skip
    for entry in ledger:
        for claim in entry.experiment.claims:
            verdict, profile = entry.verdict(claim)
            lines.append(f"| [{claim.text}](#{entry.name}) | {claim.source} | {verdict} | {profile} |")
    for entry in ledger:
        lines += ["", f'<a id="{entry.name}"></a>', "", f"## {entry.experiment.question}", "", *_section(entry)]
    return "\n".join(lines) + "\n"


def _section(entry: Entry) -> list[str]:
    lines = [entry.experiment.note] if entry.experiment.note else []
    for profile, record in entry.records.items():
        made = record["provenance"]
        lines += [
            "", f"### {profile}", "",
            f"`python -m albert_edu reproduce --experiment {entry.name} --profile {profile}` · {made['device']} · "
            f"{made['seconds'] / 60:.0f} core minutes · torch {made['versions']['torch']} · commit {made['commit']} · "
            f"{made['date']}", "", *([f"![{entry.experiment.question}]({entry.name}_{profile}.png)", ""] * entry.experiment.drawn),
            *([_setting(entry.experiment, profile), ""] if entry.experiment.rows else []),
            *_numbers(entry.experiment, record["runs"]), "",
            "| claim | criterion | measured: right side minus left, 95% interval | verdict |", "|---|---|---|---|",
        ]  # fmt: skip
        for claim in entry.experiment.claims:
            for part in claim.criterion:
                verdict = claim.verdict(record["runs"])
                measured = "" if verdict == OPEN else _shown(part.difference(record["runs"]), exact=claim.exact)
                told = verdict if verdict == OPEN else part.verdict(record["runs"], claim.exact)
                lines.append(f"| {claim.text} | `{part}` | {measured} | {told} |")
    missing = [profile for profile in entry.experiment.budgets if profile not in entry.records]
    if missing:
        cost = f" ({told})" if (told := _on_a_card([entry])) else ""
        lines += ["", f"Not recorded yet: {', '.join(missing)}{cost}."]
    return lines


def _on_a_card(ledger: list[Entry]) -> str:
    """What the runs of ``gpu`` that nobody has done would cost, by their operations."""
    left = [entry.experiment for entry in ledger if entry.experiment.rows and "gpu" not in entry.records]
    runs = {run.key(one.measure): run for one in left if "gpu" in one.budgets for run in one.runs("gpu")}
    if not runs:
        return ""
    seconds = {card: 3 * sum(run.operations() for run in runs.values()) / PEAK[f"NVIDIA {card}"] for card in ("H100", "A100")}
    hours = " or ".join(f"{time / 3600:.1f} hours of an {card}" for card, time in seconds.items())
    return f"{len(runs)} runs, {hours} at a third of its peak"


def _setting(experiment: Experiment, profile: str) -> str:
    """What all runs have in common, and between what the rows differ."""
    runs = experiment.runs(profile)
    layers = [dict(run.config).get("num_layers", AlbertConfig.named(run.preset).num_layers) for run in runs]
    steps = [run.steps + sum(more for _, more in run.grown) for run in runs]
    corpora = ", ".join(f"`{corpus}`" for corpus in dict.fromkeys(run.corpus for run in runs))
    return (f"H = {experiment.budgets[profile].width}, L = {_span(layers)}; a run is {_span(steps)} steps of "
            f"{runs[0].batch_size} x {runs[0].sequence_length} pieces of {corpora}.")  # fmt: skip


def _span(values: list[int]) -> str:
    return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)}))


def _numbers(experiment: Experiment, runs: list[dict]) -> list[str]:
    """Paper and ours, row by row, with the parameters and the training time of a run where there are any."""
    lines = [f"| row | paper | ours: {experiment.column} | parameters | seconds a run |", "|---|---:|---:|---:|---:|"]
    for row in dict.fromkeys(run["row"] for run in runs):
        mine = [run for run in runs if run["row"] == row]
        ours = mean([cell(run, experiment.column) for run in mine])
        parameters = f"{mine[0]['parameters']:,}" if "parameters" in mine[0] else ""
        trained = "training_seconds" if any("training_seconds" in run for run in mine) else "seconds"
        seconds = [run[trained] for run in mine if trained in run]
        time = f"{sum(seconds) / len(seconds):.0f}" if seconds else ""
        paper = f"{mine[0]['printed']}M" if "printed" in mine[0] else _printed(experiment, row)
        lines.append(f"| {row} | {paper} | {_shown(ours, exact=len(mine) == 1)} | {parameters} | {time} |")
    return lines


def printed(experiment: Experiment, row: str) -> float | None:
    """The paper's number beside a row of ours."""
    if row not in experiment.published:
        return None
    table, column, *key = experiment.published[row]
    return TABLES[table].value(column, *key)


def _printed(experiment: Experiment, row: str) -> str:
    if (value := printed(experiment, row)) is None:
        return ""
    table, column, *_ = experiment.published[row]
    return f"{value:g} ({column}, {TABLES[table].name})"


def _shown(found: Mean, exact: bool = False) -> str:
    digits = 3 if abs(found.value) < 100 else 1
    return f"{found.value:.{digits}f}" + ("" if exact else f" ± {found.half:.{digits}f} (n={found.n})")


def picture(entry: Entry, profile: str, record: dict) -> tuple[Figure, str]:
    """Ours beside the paper's: the same rows, one dot each, ours with its 95% interval. Further right is better."""
    experiment, runs = entry.experiment, record["runs"]
    rows = list(dict.fromkeys(run["row"] for run in runs))
    found = [f"{claim.text.rstrip('.')}: {claim.verdict(runs)}" for claim in experiment.claims]
    if experiment.curve:
        return _curves(experiment, rows, runs, "\n".join(found))
    style()
    ours = {row: mean([cell(run, experiment.column) for run in runs if run["row"] == row]) for row in rows}
    theirs = {row: value for row in rows if (value := printed(experiment, row)) is not None}
    figure, axes = plt.subplots(1, 2 if theirs else 1, figsize=(8.2, 1.5 + 0.27 * len(rows)), sharey=True, squeeze=False)
    places = {row: -i for i, row in enumerate(rows)}
    mine = axes[0, -1]
    halves = [found.half if found.n > 1 else 0 for found in ours.values()]
    mine.errorbar([found.value for found in ours.values()], list(places.values()), xerr=halves, fmt="o", color=SHARED, capsize=3)
    lower = experiment.lower_is_better
    mine.set_xlabel(f"ours ({profile}), better to the right:\n{experiment.axis}")
    mine.set_ylim(0.6 - len(rows), 0.6)
    if lower:
        mine.invert_xaxis()
    if theirs:
        axes[0, 0].plot(list(theirs.values()), [places[row] for row in theirs], "s", color=SEPARATE)
        sources = list(dict.fromkeys(experiment.published[row][:2] for row in theirs))
        axes[0, 0].set_xlabel("the paper:\n" + "; ".join(f"{column}, {TABLES[table].name}" for table, column in sources))
    axes[0, 0].set_yticks(list(places.values()), rows)
    figure.suptitle("\n".join(found), fontsize=9.5, x=0.02, ha="left")
    beside = {row: f", paper {value:g}" for row, value in theirs.items()}
    told = "; ".join(f"{row} {_shown(value)}{beside.get(row, '')}" for row, value in ours.items())
    return figure, f"Dots with intervals, a row each. {experiment.question} {'. '.join(found)}. {told}."


def _curves(experiment: Experiment, rows: list[str], runs: list[dict], title: str) -> tuple[Figure, str]:
    """A curve over layers for each row: the mean over seeds in its 95% interval."""
    series, length = [], min(len(run[experiment.curve]) for run in runs)  # a shared stack was also applied beyond its depth
    for row in rows:
        found = [mean(at) for at in zip(*(run[experiment.curve][:length] for run in runs if run["row"] == row), strict=True)]
        series.append((row, range(1, len(found) + 1), [m.value for m in found], [m.half for m in found]))
    figure, alt = lines(series, "layer application", experiment.axis, "")
    figure.suptitle(title, fontsize=9.5, x=0.02, ha="left")
    return figure, f"{alt} {title}."
