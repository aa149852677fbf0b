"""The plans as data: every experiment of ``data/*.toml``, and the runs it asks for.

A criterion is written down before its runs and not changed after them; the rules stand at the top
of each file.
"""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean

from albert_paper import measures
from albert_paper.counts import counted_rows
from albert_paper.published import DATA, frozen
from albert_paper.speed import speeds
from albert_paper.sweep import DEFAULTS, Measure, Run

PROFILES = ("quick", "laptop", "gpu")  # minutes a table on two cores; longer; one card
MODEL = ("H", "L", "E", "share", "dropout")  # what of a row belongs to the model
OTHER_WAYS = {"counted_rows": counted_rows, "speeds": speeds}  # results that need no training


@dataclass(frozen=True)
class Profile:
    """What a profile spends: its seeds, and the settings that every row starts from."""

    seeds: tuple[int, ...] = ()
    settings: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Rows that are compared, seed by seed, and the claims they decide.

    A row says in which settings of ``Run`` it departs from the profile's. ``published`` says which
    printed number stands beside a row: (table, column, key ...). ``rates`` are the learning rates
    among which each row is tuned on the ``pilot_seeds``. ``instead`` replaces training by another
    way to results, such as counting.
    """

    question: str
    column: str = "held_out_masked_token_loss"  # what is drawn
    rows: dict[str, dict] = field(default_factory=dict)
    measure: Measure | None = None
    budgets: dict[str, Profile] = field(default_factory=dict)
    published: dict[str, Sequence] = field(default_factory=dict)
    instead: Callable[[str, str | None], list[dict]] | None = None
    note: str = ""  # where the setting departs from the paper's, and how it was chosen
    axis: str = "held-out loss (nats)"  # the column in words, with its unit
    curve: str = ""  # a column with a value for each layer, drawn instead: Figure 1's angles
    rates: tuple[float, ...] = ()
    pilot_seeds: tuple[int, ...] = ()
    section: dict = field(default_factory=dict)  # of the file, as a record keeps it
    family: str = ""  # the file: its claims are corrected together for their number

    def runs(self, profile: str, rates: dict[str, float] | None = None) -> tuple[Run, ...]:
        """Return every row with every seed.

        They come seed by seed, so that an unfinished set has whole comparisons.
        """
        budget, rates = self.budgets[profile], rates or {}
        return tuple(
            run_of_row(row, changes, budget.settings, seed, rates.get(row))
            for seed in budget.seeds
            for row, changes in self.rows.items()
        )

    def pilots(self, profile: str) -> tuple[Run, ...]:
        """Return every row that is tuned, with every rate and every pilot seed."""
        settings = self.budgets[profile].settings
        return tuple(
            run_of_row(row, changes, settings, seed, rate)
            for row, changes in self.rows.items()
            if "rate_of" not in changes
            for rate in self.rates
            for seed in self.pilot_seeds
        )

    def tuned_rates(self, pilots: Sequence[dict]) -> dict[str, float]:
        """Return the rate of each row: the lowest mean loss over the pilots, in a tie the lower."""
        losses = defaultdict(list)
        for run in pilots:
            losses[run["row"], run["learning_rate"]].append(run["held_out_masked_token_loss"])
        best = {}
        for row, changes in self.rows.items():
            means = {
                rate: fmean(losses[changes.get("rate_of", row), rate])
                for rate in sorted(self.rates)
            }
            best[row] = min(means, key=means.get)
        return best


def run_of_row(
    row: str, changes: dict, settings: dict, seed: int, rate: float | None = None
) -> Run:
    """Return the run of a row with a seed, at a given learning rate or at that of the settings.

    ``depths`` share the steps with the last depth; each depth of a ``chain`` has all of them. Both
    are trained before.
    """
    changes = settings | changes
    changes.pop("rate_of", None)
    sizes = {name: changes.pop(name) for name in MODEL if name in changes}
    depths, chain, then = (changes.pop(name, ()) for name in ("depths", "chain", "then"))
    for name, factor in changes.pop("scaled", {}).items():
        changes[name] = (DEFAULTS | settings)[name] * factor
    changes["steps"] = steps = round(changes["steps"] / (len(depths) + 1))
    changes |= {"learning_rate": rate} if rate else {}
    grown = tuple((depth, steps) for depth in (*depths, *chain))
    then = tuple(sorted(dict(then).items()))
    return Run(row, **changes, config=model_changes(**sizes), grown=grown, seed=seed, then=then)


def model_changes(
    H: int = 0, L: int = 0, E: int = 0, share: str = "", dropout: float = 0.0
) -> tuple[tuple[str, object], ...]:
    """Return the fields of ``AlbertConfig`` that a row changes.

    Narrow layers start from wider distributions.
    """
    changes = {}
    if H:
        changes = {
            "hidden_size": H,
            "ffn_size": 4 * H,
            "num_heads": max(1, H // (64 if H >= 256 else 32)),
            "embedding_size": E or H // 2,
            "num_layers": L,
            "init_std": round(0.02 * (768 / H) ** 0.5, 3),
        }
    elif E:
        changes = {"embedding_size": E}
    changes |= {"share": share} if share else {}
    changes |= {"hidden_dropout": dropout, "attention_dropout": dropout} if dropout else {}
    return tuple(changes.items())


def load_experiments(file: Path) -> dict[str, Experiment]:
    """Return every experiment of a file by its name.

    What stands at the top of the file holds for all of its sections.
    """
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    top = {name: content.pop(name, ()) for name in ("seeds", "pilot_seeds", "profile")}
    return {name: _experiment(section, top, file.stem) for name, section in content.items()}


def _experiment(section: dict, top: dict, family: str) -> Experiment:
    only = {"seeds": top["seeds"], "settings": section.get("settings", {})}
    profiles = section.get("profiles", {top["profile"] or "laptop": only})
    plain = {field.name for field in fields(Experiment)} - {"measure", "instead"}
    values = {name: frozen(value) for name, value in (top | section).items() if name in plain}
    return Experiment(
        **values,
        measure=getattr(measures, section.get("measure", ""), None),
        instead=OTHER_WAYS.get(section.get("instead")),
        section=section,
        family=family,
        budgets={
            name: Profile(tuple(part.get("seeds", ())), part.get("settings", {}))
            for name, part in profiles.items()
        },
    )


PLANNED = load_experiments(DATA / "planned.toml") | load_experiments(DATA / "gpu.toml")
EXPERIMENTS = load_experiments(DATA / "recorded.toml")
ALL = EXPERIMENTS | PLANNED
