"""The plans as data: every experiment of ``data/recorded.toml`` and ``data/planned.toml``, and the runs it asks for.

A criterion is written down before its runs and not changed after them; the rules stand at the top of each file.
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from albert_edu.paper import measures
from albert_edu.paper.claims import Claim, comparison
from albert_edu.paper.counts import counted_rows
from albert_edu.paper.published import DATA
from albert_edu.paper.speed import speeds
from albert_edu.paper.sweep import DEFAULTS, Measure, Run

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

    A row says in which settings of ``Run`` it departs from the profile's. ``published`` says which printed number stands
    beside a row: (table, column, *key). ``rates`` are the learning rates among which each row is tuned on the
    ``pilot_seeds``. ``instead`` replaces training by another way to results, such as counting.
    """

    question: str
    claims: tuple[Claim, ...] = ()  # of recorded experiments: the criteria of that time
    column: str = "held_out_masked_token_loss"  # what is drawn
    rows: dict[str, dict] = field(default_factory=dict)
    measure: Measure | None = None
    budgets: dict[str, Profile] = field(default_factory=dict)
    published: dict[str, tuple] = field(default_factory=dict)
    instead: Callable[[str, str | None], list[dict]] | None = None
    note: str = ""  # where the setting departs from the paper's, and how it was chosen
    axis: str = "held-out loss (nats)"  # the column in words, with its unit
    lower_is_better: bool = True
    drawn: bool = True
    curve: str = ""  # a column with a value for each layer, drawn instead: Figure 1's angles
    rates: tuple[float, ...] = ()
    pilot_seeds: tuple[int, ...] = ()
    section: dict = field(default_factory=dict)  # of the file, as a record keeps it
    family: str = ""  # the file: its claims are corrected together for their number

    def runs(self, profile: str, rates: dict[str, float] | None = None) -> tuple[Run, ...]:
        """Every row with every seed, seed by seed, so that an unfinished set has whole comparisons."""
        budget = self.budgets[profile]
        return tuple(run_of_row(row, changes, budget.settings, seed, (rates or {}).get(row))
                     for seed in budget.seeds for row, changes in self.rows.items())  # fmt: skip

    def pilots(self, profile: str) -> tuple[Run, ...]:
        """Every row that is tuned, with every rate and every pilot seed."""
        tuned = {row: changes for row, changes in self.rows.items() if "rate_of" not in changes}
        settings = self.budgets[profile].settings
        return tuple(run_of_row(row, changes, settings, seed, rate) for row, changes in tuned.items()
                     for rate in self.rates for seed in self.pilot_seeds)  # fmt: skip

    def tuned_rates(self, pilots: Sequence[dict]) -> dict[str, float]:
        """The rate of each row: the lowest mean held-out loss over the pilot seeds, the lower rate in a tie."""
        chosen = {}
        for row, changes in self.rows.items() if self.rates else ():
            tuned = changes.get("rate_of", row)
            losses = {rate: fmean(run["held_out_masked_token_loss"] for run in pilots
                                  if (run["row"], run["learning_rate"]) == (tuned, rate))
                      for rate in sorted(self.rates)}  # fmt: skip
            chosen[row] = min(losses, key=losses.get)
        return chosen


def run_of_row(row: str, changes: dict, settings: dict, seed: int, rate: float | None = None) -> Run:
    """The run of a row with a seed, at a given learning rate or at that of the settings.

    ``depths`` share the steps with the last depth; each depth of a ``chain`` has all of them. Both are trained before.
    """
    changes = settings | {name: value for name, value in changes.items() if name != "rate_of"}
    sizes = {name: changes.pop(name) for name in MODEL if name in changes}
    depths, chain, then = (changes.pop(name, ()) for name in ("depths", "chain", "then"))
    for name, factor in changes.pop("scaled", {}).items():
        changes[name] = (DEFAULTS | settings)[name] * factor
    changes["steps"] = steps = round(changes["steps"] / (len(depths) + 1))
    changes |= {"learning_rate": rate} if rate else {}
    shallower = tuple((depth, steps) for depth in (*depths, *chain))
    return Run(row, **changes, config=model_changes(**sizes), grown=shallower, seed=seed, then=tuple(sorted(dict(then).items())))


def model_changes(
    H: int = 0, L: int = 0, E: int = 0, share: str = "", dropout: float = 0.0
) -> tuple[tuple[str, object], ...]:
    """The fields of ``AlbertConfig`` that a row changes; narrow layers start from wider distributions."""
    changes = {}
    if H:
        changes = {"hidden_size": H, "ffn_size": 4 * H, "num_heads": max(1, H // (64 if H >= 256 else 32)),
                   "embedding_size": E or H // 2, "num_layers": L,
                   "init_std": round(0.02 * (768 / H) ** 0.5, 3)}  # fmt: skip
    elif E:
        changes = {"embedding_size": E}
    changes |= {"share": share} if share else {}
    return tuple((changes | ({"hidden_dropout": dropout, "attention_dropout": dropout} if dropout else {})).items())


def load_experiments(file: Path) -> dict[str, Experiment]:
    """Every experiment of a file by its name. What stands at the top of the file holds for all of its sections."""
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    seeds, pilot_seeds = (tuple(content.pop(name, ())) for name in ("seeds", "pilot_seeds"))
    profile = content.pop("profile", "laptop")
    return {name: _experiment(section, {profile: {"seeds": seeds, "settings": section.get("settings", {})}}, pilot_seeds, file.stem)
            for name, section in content.items()}  # fmt: skip


def _experiment(section: dict, profiles: dict, pilot_seeds: tuple[int, ...], family: str) -> Experiment:
    plain = {name: section[name] for name in ("question", "column", "rows", "note", "axis", "lower_is_better", "drawn", "curve")
             if name in section}  # fmt: skip
    claims, profiles = section["claims"], section.get("profiles", profiles)
    if isinstance(claims, list):  # recorded before the rules
        plain["claims"] = tuple(Claim(claim["text"], claim["source"], tuple(map(comparison, claim["criterion"])),
                                      claim.get("exact", False)) for claim in claims)  # fmt: skip
    return Experiment(
        **plain, measure=getattr(measures, section["measure"]) if "measure" in section else None,
        budgets={name: Profile(tuple(part.get("seeds", ())), part.get("settings", {})) for name, part in profiles.items()},
        published={row: tuple(place) for row, place in section.get("published", {}).items()},
        instead=OTHER_WAYS.get(section.get("instead")), rates=tuple(section.get("rates", ())),
        pilot_seeds=pilot_seeds, section=section, family=family,
    )  # fmt: skip


PLANNED = load_experiments(DATA / "planned.toml") | load_experiments(DATA / "gpu.toml")
EXPERIMENTS = load_experiments(DATA / "recorded.toml")
