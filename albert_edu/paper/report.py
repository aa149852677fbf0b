"""Every record and every question of the plans, and what the runs say: ``page.py`` writes it down.

Every outcome is computed from the recorded runs; none is typed.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from albert_edu.paper.claims import Claim, Verdict, comparison
from albert_edu.paper.outcomes import Outcome, Question, judge_family
from albert_edu.paper.plan import DATA, EXPERIMENTS, PLANNED, PROFILES, Experiment

*_, OPEN = VERDICTS = get_args(Verdict)  # of criteria recorded before the rules; notebooks 09 and 12 judge by them


class Entry(NamedTuple):
    """An experiment with its recorded profiles, the largest last, and the questions it is judged on."""

    name: str
    experiment: Experiment
    records: dict[str, dict]
    questions: tuple[Question, ...] = ()

    def verdict(self, claim: Claim) -> tuple[str, str]:
        """How a criterion recorded before the rules was judged then: by the largest profile that has runs for it."""
        verdicts = [(claim.verdict(record["runs"]), profile) for profile, record in self.records.items()]
        return next((pair for pair in reversed(verdicts) if pair[0] != OPEN), (OPEN, ""))

    def deciding(self, question: Question) -> str:
        """The profile with most seeds for a question, the larger one in a tie; a few seeds do not overrule many."""
        if question.profile or not self.records:
            return question.profile
        rows = {side for part in question.criterion for side in (part.low, part.high) if isinstance(side, str)}

        def seeds(profile: str) -> int:
            runs = self.records[profile]["runs"]
            return min(sum(run["row"] == row for run in runs) for row in rows)

        return max(self.records, key=lambda profile: (seeds(profile), PROFILES.index(profile)))


class Report(NamedTuple):
    """Everything the page is made of."""

    entries: tuple[Entry, ...]
    outcomes: dict[str, Outcome]
    headline: list[dict]
    out_of_reach: list[dict]

    @property
    def questions(self) -> dict[str, Question]:
        """Every question by its key."""
        return {question.key: question for entry in self.entries for question in entry.questions}


def read_report(figures: Path, plans: Mapping[str, Experiment] = EXPERIMENTS | PLANNED) -> Report:
    """Read every record and judge every question; what was recorded before the rules is a family of its own for Holm."""
    entries = tuple(Entry(name, plan, _records(figures, name, plan), _questions(name, plan)) for name, plan in plans.items())
    outcomes: dict[str, Outcome] = {}
    for family in dict.fromkeys(plan.family for plan in plans.values()):
        questions, runs, unfinished = [], {}, {}
        for entry in entries:
            for question in (question for question in entry.questions if question.family == family):
                questions.append(question)
                record = entry.records.get(entry.deciding(question))
                if reason := why_unfinished(record):
                    unfinished[question.key] = reason
                else:
                    runs[question.key] = record["runs"]
        outcomes |= judge_family(questions, runs, unfinished)
    return Report(entries, outcomes, **tomllib.loads((DATA / "headline.toml").read_text(encoding="utf-8")))


def entries(figures: Path) -> list[Entry]:
    """The experiments recorded before the rules, as notebooks 09 and 12 read them."""
    return [Entry(name, plan, _records(figures, name, plan), _questions(name, plan)) for name, plan in EXPERIMENTS.items()]


def _records(figures: Path, name: str, plan: Experiment) -> dict[str, dict]:
    paths = {profile: figures / "results" / f"{name}_{profile}.json" for profile in PROFILES if profile in plan.budgets}
    return {profile: json.loads(path.read_text()) for profile, path in paths.items() if path.exists()}


def _questions(name: str, plan: Experiment) -> tuple[Question, ...]:
    section = plan.section
    if "judged" in section:
        judged = {str(number + 1): section["judged"] | part for number, part in enumerate(section["assess"])}
    else:
        judged = section["claims"]
    common = {"source": section.get("source", ""), "family": plan.family}
    return tuple(_question(f"{name}.{key}", common | part) for key, part in judged.items())


def _question(key: str, part: dict) -> Question:
    criteria = {field: tuple(map(comparison, part.get(field, ()))) for field in ("criterion", "control")}
    return Question(key=key, **part | criteria)


def why_unfinished(record: dict | None) -> str:
    """Why a record has no outcome yet; empty when it has."""
    if record is None:
        return "not run"
    planned = record.get("planned_runs", 0)
    return f"not finished: {len(record['runs'])} of {planned} runs" if len(record["runs"]) < planned else ""
