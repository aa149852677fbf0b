"""From the report to ``figures/CLAIMS.md``, its pictures, and the README's summary: ``python -m albert_edu claims``."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from albert_edu.analysis.plots import save
from albert_edu.config import AlbertConfig
from albert_edu.paper.claims import Mean, cell, mean
from albert_edu.paper.outcomes import Compared, Outcome, Question, compare, margin
from albert_edu.paper.pictures import difference_picture, layer_curves, printed
from albert_edu.paper.plan import DATA, Experiment
from albert_edu.paper.published import TABLES
from albert_edu.paper.report import Entry, Report, read_report, why_unfinished

MARKERS = ("<!-- claims -->", "<!-- /claims -->")
SCOPES = ("exact", "same question", "small-scale analogue", "other setting")
WORDS = ("reproduced", "contradicted", "agrees", "opposes", "no difference", "undecided", "void",
         "not finished", "not run")  # fmt: skip


def write_report(figures: Path, readme: Path | None = None) -> Path:
    """Write CLAIMS.md and its pictures; put the summary between the README's markers."""
    report = read_report(figures)
    for name, (figure, alt) in pictures(report):
        save(figure, figures / f"{name}.png", alt)
    path = figures / "CLAIMS.md"
    path.write_text(claims_page(report), encoding="utf-8")
    if readme:
        before, rest = readme.read_text(encoding="utf-8").split(MARKERS[0])
        text = f"{before}{MARKERS[0]}\n{summary(report)}\n{MARKERS[1]}{rest.split(MARKERS[1])[1]}"
        readme.write_text(text, encoding="utf-8")
    return path


def pictures(report: Report) -> Iterator[tuple[str, tuple[Figure, str]]]:
    """The name of each picture with its figure and alt text: differences with intervals, and curves over layers."""
    for entry in report.entries:
        judged = [(q, report.outcomes[q.key]) for q in entry.questions if report.outcomes[q.key].parts]
        if judged and entry.experiment.drawn:
            yield f"{entry.name}_differences", difference_picture(entry.experiment, judged)
        for profile, record in entry.records.items():
            if entry.experiment.curve and not why_unfinished(record):
                yield f"{entry.name}_{profile}_layers", layer_curves(entry.experiment, record["runs"])


def summary(report: Report) -> str:
    """The claims counted by scope, and the hours they took: what the README shows."""
    lines = [*_counts(report), "", f"The first page of [figures/CLAIMS.md](figures/CLAIMS.md) has fifteen claims; "
             f"all {len(report.questions)} follow it. Recorded runs took {core_hours(report):.1f} core hours."]  # fmt: skip
    return "\n".join(lines)


def _counts(report: Report) -> list[str]:
    words = [word for word in WORDS if any(outcome.word.startswith(word) for outcome in report.outcomes.values())]
    lines = [f"| scope | {' | '.join(words)} |", "|---|" + "---:|" * len(words)]
    for scope in SCOPES:
        tally = Counter(next(word for word in WORDS if report.outcomes[key].word.startswith(word))
                        for key, question in report.questions.items() if question.scope == scope)  # fmt: skip
        if tally:
            lines.append(f"| {scope} | " + " | ".join(str(tally[word] or "") for word in words) + " |")
    return lines


def core_hours(report: Report) -> float:
    """Time of all recorded runs; a run that stands in two records counts once."""
    runs = (run for entry in report.entries for record in entry.records.values()
            for run in record["runs"] + record.get("pilots", []))  # fmt: skip
    return sum({json.dumps(run | {"row": ""}, sort_keys=True): run.get("seconds", 0) for run in runs}.values()) / 3600


def claims_page(report: Report) -> str:
    """CLAIMS.md: fifteen claims on a screen, then how to read them, then every experiment with its numbers and rules."""
    lines = [
        "# The paper's claims and what we measured", "",
        "| claim | scope | outcome | difference | an older record of ours |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for entry in report.headline:
        question, outcome = report.questions[entry["claim"]], report.outcomes[entry["claim"]]
        earlier = entry.get("earlier", "")
        before = _earlier(report, earlier) if earlier else ""
        lines.append(f"| [{entry['short']}](#{question.key.split('.')[0]}) | {question.scope} | {outcome.word} | "
                     f"{_difference(question, outcome)} | {before} |")  # fmt: skip
    lines += ["", "## All claims by scope", "", *_counts(report), "", *_reading(), "", "## What no budget of ours can answer", ""]
    lines += [f"- **{part['claim']}.** {part['takes']}" for part in report.out_of_reach]
    sharing = _shared_runs(report)
    for entry in report.entries:
        lines += ["", f'<a id="{entry.name}"></a>', "", f"## {entry.experiment.question}", "", *_section(entry, report, sharing)]
    return "\n".join(lines) + "\n"


def _earlier(report: Report, key: str) -> str:
    question, outcome = report.questions[key], report.outcomes[key]
    numbers = f", {_shown(outcome.parts[0].difference)}" if outcome.parts else ""
    return f"[{outcome.word}](#{key.split('.')[0]}), {question.scope}{numbers}"


def _reading() -> list[str]:
    return (DATA / "reading.md").read_text(encoding="utf-8").rstrip("\n").split("\n")


def _section(entry: Entry, report: Report, sharing: dict[str, set[str]]) -> list[str]:
    experiment = entry.experiment
    lines = [experiment.note] if experiment.note else []
    if others := sorted(sharing[entry.name]):
        lines += ["", f"Its runs are partly those of {', '.join(f'[{name}](#{name})' for name in others)}: not independent."]
    for profile, record in entry.records.items():
        made = record["provenance"]
        origin = (f"`{made['command']}`", made["device"], f"{made['seconds'] / 60:.0f} core minutes",
                  f"torch {made['versions']['torch']}", f"commit {made['commit']}", made["date"])  # fmt: skip
        lines += ["", f"### {entry.name}, {profile}", "", " · ".join(origin)]
        if rates := record.get("rates"):
            lines += ["", "Learning rates, from the pilots: " + ", ".join(f"{row}: {rate:g}" for row, rate in rates.items()) + "."]
        lines += ["", *([_setting(experiment, profile), ""] if experiment.rows else []), *_numbers(experiment, record["runs"])]
        if experiment.curve and not why_unfinished(record):
            lines += ["", f"![{experiment.axis} over layers]({entry.name}_{profile}_layers.png)"]
    if experiment.drawn and any(report.outcomes[q.key].parts for q in entry.questions):
        lines += ["", f"![{experiment.question}]({entry.name}_differences.png)"]
    for question in entry.questions:
        lines += _about(entry, question, report.outcomes[question.key])
    return lines


def _about(entry: Entry, question: Question, outcome: Outcome) -> list[str]:
    when = ", recorded before the rules" if question.family == "recorded" else ""
    profile = f", {entry.deciding(question)}" if outcome.parts else ""
    lines = ["", f"**{question.text}** {question.scope}: **{outcome.word}** ({question.source}{profile}{when}).", ""]
    lines += [f"- The paper: \"{question.quote}\""] if question.quote else []
    lines += [f"- Ours differs: {question.differs}"]
    for part in question.control:
        lines.append(f"- Control: `{part}`.")
    compared = outcome.parts or [None] * len(question.criterion)
    for part, found in zip(question.criterion, compared, strict=True):
        measured = f" {_found(found, question)}" if found else ""
        lines.append(f"- Criterion: `{part}`, m = {margin(part, question):g}.{measured}")
    if outcome.parts and question.scope != "exact":
        lines.append(f"- p = {outcome.p:.2g} after Holm.")
    for profile in sorted(set(entry.records) - {entry.deciding(question)}) if outcome.parts else ():
        others = (compare(part, entry.records[profile]["runs"], question) for part in question.criterion)
        lines.append(f"- The profile {profile} decides nothing here: {' '.join(_found(other, question) for other in others)}")
    lines += [f"- History: {question.history}"] if question.history else []
    return lines


def _found(compared: Compared, question: Question) -> str:
    if question.scope == "exact":
        return f"{compared.difference.value:.3f} to spare."
    text = f"Difference {_shown(compared.difference)}, in favour in {compared.positive} of {compared.difference.n} seeds."
    if compared.stuck_pairs:
        text += f" Pairs with a stuck run: {compared.stuck_pairs}; with them {_shown(compared.with_stuck)}."
    return text


def _difference(question: Question, outcome: Outcome) -> str:
    if not outcome.parts:
        return ""
    first = outcome.parts[0].difference
    return f"{first.value:.2f}" if question.scope == "exact" else f"{_shown(first)}"


def _shared_runs(report: Report) -> dict[str, set[str]]:
    """For each experiment the others in whose records some of its runs stand as well."""
    where, sharing = defaultdict(set), defaultdict(set)
    for entry in report.entries:
        for record in entry.records.values():
            for run in record["runs"]:
                if "training_curve" in run:
                    where[json.dumps([run["training_curve"], run["config"], run["seed"]])].add(entry.name)
    for names in where.values():
        for name in names:
            sharing[name] |= names - {name}
    return sharing


def _setting(experiment: Experiment, profile: str) -> str:
    """What all runs have in common, and between what the rows differ."""
    runs = experiment.runs(profile)
    layers = [dict(run.config).get("num_layers", AlbertConfig.named(run.preset).num_layers) for run in runs]
    steps = [run.steps + sum(more for _, more in run.grown) + dict(run.then).get("steps", 0) for run in runs]
    corpora = ", ".join(f"`{corpus}`" for corpus in dict.fromkeys(run.corpus for run in runs))
    return (f"L = {_span(layers)}; a run is {_span(steps)} steps of {runs[0].batch_size} x {runs[0].sequence_length} tokens of "
            f"{corpora}; seeds {_span([run.seed for run in runs])}.")  # fmt: skip


def _span(values: Sequence[int]) -> str:
    return " to ".join(f"{value:,}" for value in sorted({min(values), max(values)}))


def _numbers(experiment: Experiment, runs: Sequence[dict]) -> list[str]:
    """Paper and ours, row by row, with the parameters and the training time of a run where there are any."""
    lines = [f"| row | paper | ours: {experiment.column} | parameters | seconds a run |", "|---|---:|---:|---:|---:|"]
    for row in dict.fromkeys(run["row"] for run in runs):
        of_row = [run for run in runs if run["row"] == row]
        ours = mean([cell(run, experiment.column) for run in of_row])
        parameters = f"{of_row[0]['parameters']:,}" if "parameters" in of_row[0] else ""
        trained = "training_seconds" if any("training_seconds" in run for run in of_row) else "seconds"
        seconds = [run[trained] for run in of_row if trained in run]
        time = f"{sum(seconds) / len(seconds):.0f}" if seconds else ""
        paper = f"{of_row[0]['printed']}M" if "printed" in of_row[0] else _printed(experiment, row)
        lines.append(f"| {row} | {paper} | {_shown(ours)} | {parameters} | {time} |")
    return lines


def _printed(experiment: Experiment, row: str) -> str:
    if (value := printed(experiment, row)) is None:
        return ""
    table, column, *_ = experiment.published[row]
    return f"{value:g} ({column}, {TABLES[table].name})"


def _shown(found: Mean) -> str:
    digits = 3 if abs(found.value) < 100 else 1
    return f"{found.value:.{digits}f}" + (f" ± {found.half:.{digits}f} (n={found.n})" if found.n > 1 else "")
