"""Every record and every question of the plans, and what the runs say: ``page.py`` writes it down.

Every outcome is computed from the recorded runs; none is typed.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

from albert_edu.errors import FileError, read_json
from albert_paper.claims import comparison
from albert_paper.outcomes import Outcome, Question, judge_family
from albert_paper.plan import ALL, PROFILES, Experiment
from albert_paper.published import DATA


class Entry(NamedTuple):
    """An experiment, its recorded profiles (the largest last) and the questions it is judged on."""

    name: str
    experiment: Experiment
    records: dict[str, dict]
    questions: tuple[Question, ...] = ()

    def deciding(self, question: Question) -> str:
        """The profile with most seeds for a question, the larger one in a tie."""
        if question.profile or not self.records:
            return question.profile
        sides = [side for part in question.criterion for side in (part.low, part.high)]
        rows = {side for side in sides if isinstance(side, str)}

        def seeds(profile: str) -> int:
            runs = self.records[profile]["runs"]
            return min(sum(run["row"] == row for run in runs) for row in rows)

        return max(self.records, key=lambda profile: (seeds(profile), PROFILES.index(profile)))


class Report(NamedTuple):
    """Everything the page is made of."""

    entries: tuple[Entry, ...]
    outcomes: dict[str, Outcome]
    pairs: dict[str, dict]  # the records behind Figure 1, by their profiles
    headline: list[dict]
    out_of_reach: list[dict]
    remarks: dict[str, str]  # on a question, after its runs
    paper: dict[str, list]  # the printed numbers of a question that its rows do not name
    columns: dict[str, tuple[str, str]]  # what a measured column is, and its unit

    @property
    def questions(self) -> dict[str, Question]:
        """Every question by its key."""
        return {question.key: question for entry in self.entries for question in entry.questions}


def read_report(figures: Path) -> Report:
    """Read every record and judge every question; each plan's file is a family for Holm."""
    entries = tuple(
        Entry(name, plan, _records(figures, name), _questions(name, plan))
        for name, plan in ALL.items()
    )
    outcomes: dict[str, Outcome] = {}
    for family in dict.fromkeys(plan.family for plan in ALL.values()):
        members = [
            (entry, question)
            for entry in entries
            for question in entry.questions
            if question.family == family
        ]
        records = {q.key: entry.records.get(entry.deciding(q)) for entry, q in members}
        reasons = {key: why_unfinished(record) for key, record in records.items()}
        unfinished = {key: reason for key, reason in reasons.items() if reason}
        runs = {key: record["runs"] for key, record in records.items() if not reasons[key]}
        outcomes |= judge_family([question for _, question in members], runs, unfinished)
    headline = tomllib.loads((DATA / "headline.toml").read_text(encoding="utf-8"))
    return Report(entries, outcomes, _records(figures, "figure1"), **headline)


def _records(figures: Path, name: str) -> dict[str, dict]:
    """What is recorded of an experiment, by profile, the largest last."""
    paths = {profile: figures / "results" / f"{name}_{profile}.json" for profile in PROFILES}
    return {profile: _record(path) for profile, path in paths.items() if path.exists()}


def _record(path: Path) -> dict:
    record = read_json(path, FileError)
    if not record.keys() & {"runs", "members"}:
        raise FileError(f"{path} lacks the runs of an experiment: restore it, or run that again.")
    return record


def _questions(name: str, plan: Experiment) -> tuple[Question, ...]:
    section = plan.section
    parts, common = section["claims"], {"source": section.get("source", ""), "family": plan.family}
    if "judged" in section:
        numbered = enumerate(section["assess"], start=1)
        parts = {str(number): section["judged"] | part for number, part in numbered}
    questions = []
    for key, part in parts.items():
        criteria = {
            field: tuple(map(comparison, part.get(field, ()))) for field in ("criterion", "control")
        }
        questions.append(Question(key=f"{name}.{key}", **common | part | criteria))
    return tuple(questions)


def why_unfinished(record: dict | None) -> str:
    """Return why a record has no outcome yet, or ""."""
    if record is None:
        return "not run"
    finished, planned = len(record["runs"]), record.get("planned_runs", 0)
    return f"not finished: {finished} of {planned} runs" if finished < planned else ""
