"""From the report to ``figures/CLAIMS.md``, its pictures, and the README's summary."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from albert_edu.analysis.plots import save
from albert_edu.config import AlbertConfig
from albert_paper.claims import cell, comparison, mean, quantity, shown
from albert_paper.outcomes import Scope, compare, is_stuck, margin
from albert_paper.pictures import difference_picture, layer_curves, pair_picture, printed
from albert_paper.plan import Experiment
from albert_paper.published import TABLES
from albert_paper.report import Entry, Report, read_report, why_unfinished
from albert_paper.templates import render

MARKERS = ("<!-- claims -->", "<!-- /claims -->")
WORDS = (
    "reproduced",
    "contradicted",
    "agrees",
    "opposes",
    "no difference",
    "undecided",
    "void",
    "not finished",
    "not run",
)


def write_report(figures: Path, readme: Path | None = None) -> Path:
    """Write CLAIMS.md and its pictures; put the summary between the README's markers.

    ValueError if ``figures`` holds no results/: then this is not the course's folder.
    """
    if not (figures / "results").is_dir():
        raise ValueError(f"{figures / 'results'} is missing: go to the course's folder first")
    report = read_report(figures)
    for name, (figure, alt) in pictures(report):
        save(figure, figures / f"{name}.png", alt)
    path = figures / "CLAIMS.md"
    path.write_text(claims_page(report), encoding="utf-8")
    if readme:
        block, text = f"\n{summary(report)}\n".join(MARKERS), readme.read_text(encoding="utf-8")
        text = re.sub(".*".join(MARKERS), lambda _: block, text, flags=re.DOTALL)
        readme.write_text(text, encoding="utf-8")
    return path


def pictures(report: Report) -> Iterator[tuple[str, tuple[Figure, str]]]:
    """Yield the name of each picture with its figure and alt text.

    A picture shows differences with their intervals, or curves over layers.
    """
    for profile, record in report.pairs.items():
        yield f"figure1_{profile}", pair_picture(record["members"].values())
    for entry in report.entries:
        if _is_drawn(entry, report):
            yield f"{entry.name}_differences", difference_picture(entry, report)
        for profile, kept in entry.records.items():
            if entry.experiment.curve and not why_unfinished(kept):
                yield f"{entry.name}_{profile}_layers", layer_curves(entry.experiment, kept["runs"])


def _is_drawn(entry: Entry, report: Report) -> bool:
    return any(report.outcomes[q.key].parts for q in entry.questions if q.scope != "exact")


def summary(report: Report) -> str:
    """Return what the README shows: the claims counted by scope, and the hours they took."""
    return (
        f"{_table_of_scopes(report)}\n\n"
        "The first page of [figures/CLAIMS.md](figures/CLAIMS.md) has fifteen claims; "
        f"all {len(report.questions)} follow it. "
        f"Recorded runs took {core_hours(report):.1f} core hours."
    )


def claims_page(report: Report) -> str:
    """Return CLAIMS.md: fifteen claims on a screen, how to read them, then every experiment."""
    return render(
        "claims.md",
        report=report,
        table_of_scopes=_table_of_scopes(report),
        sharing=_shared_runs(report),
        is_drawn=lambda entry: _is_drawn(entry, report),
        setting=_setting,
        quantity=quantity,
        shown=shown,
        numbers=_numbers,
        compare=compare,
        margin=margin,
        why_unfinished=why_unfinished,
        remark=_remark,
        printed=printed,
        tables=TABLES,
        comparison=comparison,
        CARD=346e12,
    )


def _remark(text: str, runs: Sequence[dict]) -> str:
    """Put what was measured in the place of {row: column} and of {row: column: range}."""
    for row, column, span in re.findall(r"\{(.+?): ([\w.-]+)(: range)?\}", text):
        values = [cell(run, column) for run in runs if run["row"] == row]
        numbers = f"{min(values):.2f} and {max(values):.2f}" if span else shown(mean(values))
        text = text.replace(f"{{{row}: {column}{span}}}", numbers)
    return text


def _table_of_scopes(report: Report) -> str:
    counts = defaultdict(Counter)
    for key, question in report.questions.items():
        word = next(word for word in WORDS if report.outcomes[key].word.startswith(word))
        counts[question.scope][word] += 1
    words = [word for word in WORDS if any(counter[word] for counter in counts.values())]
    rows = [
        f"| {scope} | {' | '.join(str(counts[scope][word] or '') for word in words)} |"
        for scope in Scope.__args__
        if scope in counts
    ]
    return "\n".join([f"| scope | {' | '.join(words)} |", "|---|" + "---:|" * len(words), *rows])


def core_hours(report: Report) -> float:
    """Return the hours of all recorded runs; a run that stands in two records counts once."""
    runs = (
        run
        for entry in report.entries
        for record in entry.records.values()
        for run in record["runs"] + record.get("pilots", [])
    )
    seconds = {json.dumps(run | {"row": ""}, sort_keys=True): run.get("seconds", 0) for run in runs}
    return sum(seconds.values()) / 3600


def _shared_runs(report: Report) -> dict[str, set[str]]:
    """For each experiment the others in whose records some of its runs stand as well."""
    experiments = defaultdict(set)
    for entry in report.entries:
        for run in (run for record in entry.records.values() for run in record["runs"]):
            if "training_curve" in run:
                identity = json.dumps([run["training_curve"], run["config"], run["seed"]])
                experiments[identity].add(entry.name)
    return {
        name: set().union(*(names for names in experiments.values() if name in names)) - {name}
        for name in (entry.name for entry in report.entries)
    }


def _setting(experiment: Experiment, profile: str) -> str:
    """What all runs have in common, and between what the rows differ."""
    runs = experiment.runs(profile)
    layers = [
        dict(run.config).get("num_layers", AlbertConfig.named(run.preset).num_layers)
        for run in runs
    ]
    steps = [
        run.steps + sum(more for _, more in run.grown) + dict(run.then).get("steps", 0)
        for run in runs
    ]
    corpora = ", ".join(f"`{corpus}`" for corpus in dict.fromkeys(run.corpus for run in runs))
    return (
        f"L = {_span(layers)}; a run is {_span(steps)} steps of {runs[0].batch_size} x "
        f"{runs[0].sequence_length} tokens of {corpora}; "
        f"seeds {_span([run.seed for run in runs])}."
    )


def _span(values: Sequence[int]) -> str:
    return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)}))


def _numbers(entry: Entry, runs: Sequence[dict]) -> Iterator[tuple[str, ...]]:
    """A row of the table: paper, ours, parameters and training seconds where there are any."""
    for row in dict.fromkeys(run["row"] for run in runs):
        of_row = [run for run in runs if run["row"] == row]
        ours = shown(mean([cell(run, entry.experiment.column) for run in of_row]))
        stuck = sum(is_stuck(run, entry.questions[0]) for run in of_row)
        parameters = f"{of_row[0]['parameters']:,}" if "parameters" in of_row[0] else ""
        seconds = [run.get("training_seconds", run.get("seconds")) for run in of_row]
        time = f"{sorted(seconds)[len(seconds) // 2]:.0f}" if None not in seconds else ""
        paper = f"{of_row[0]['printed']}M" if "printed" in of_row[0] else ""
        if row in entry.experiment.published:
            table, *cell_of = reference = entry.experiment.published[row]
            paper = f"{printed(reference)} ({TABLES[table].name}, {', '.join(map(str, cell_of))})"
        yield row, paper, f"{ours}, {stuck} stuck" if stuck else ours, parameters, time
