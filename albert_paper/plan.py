"""The plan as data: every experiment of ``data/experiments.toml``, and the runs it asks for.

A section is written down before its runs: rows, seeds, settings, learning rates, and for each claim
the criterion, the control and the smallest difference that matters. Notebook 09 explains why.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from albert_paper import measures
from albert_paper.published import read_toml
from albert_paper.sweep import Run

MODEL = ("H", "L", "E", "share", "dropout")  # what of a row belongs to the model


@dataclass(frozen=True)
class Experiment:
    """Rows that are compared seed by seed, and the claims that they decide.

    A row says in which settings of ``Run`` it departs from ``settings``. A row without a learning
    rate takes the best of its pilots, or that of the row it names as ``rate_of``.
    """

    measure: str  # a function of measures.py
    seeds: Sequence[int]
    rows: dict[str, dict]
    settings: dict
    source: str  # where in the paper
    setting: str  # how our runs differ from the paper's, in words
    pilot: dict = field(default_factory=dict)  # rates, seeds, rows, perhaps settings
    claims: dict[str, dict] = field(default_factory=dict)
    card: bool = False  # takes a GPU

    @property
    def measured(self) -> Callable[..., dict]:
        """The function that measures a trained model."""
        return getattr(measures, self.measure)

    def runs(self, rates: dict[str, float]) -> list[Run]:
        """Return every row with every seed; ``rates`` are those of the pilots.

        They come seed by seed, so that an unfinished set has whole comparisons. Raises ValueError
        for a row without a learning rate.
        """
        runs = []
        for seed in self.seeds:
            for row, changes in self.rows.items():
                settings = self.settings | changes
                rate = settings.get("learning_rate") or rates.get(changes.get("rate_of", row))
                if not rate:
                    raise ValueError(
                        f"the row {row!r} has no learning rate: write one, or a pilot."
                    )
                runs.append(run_of_row(row, settings | {"learning_rate": rate}, seed))
        return runs

    def pilots(self) -> list[Run]:
        """Return every row that is tuned, with every rate and every pilot seed."""
        own = self.pilot.get("settings", {})
        return [
            run_of_row(row, self.settings | self.rows[row] | {"learning_rate": rate} | own, seed)
            for row in self.pilot.get("rows", ())
            for rate in self.pilot["rates"]
            for seed in self.pilot["seeds"]
        ]


def best_rates(pilots: Sequence[dict]) -> dict[str, float]:
    """Return the rate of each row: the lowest mean held-out loss of its pilots, in a tie the lower.

    >>> runs = [("a", 1e-3, 2.0), ("a", 2e-3, 1.5), ("a", 4e-3, 1.5)]
    >>> names = ("row", "learning_rate", "held_out_masked_token_loss")
    >>> best_rates([dict(zip(names, run)) for run in runs])
    {'a': 0.002}
    """
    losses = defaultdict(lambda: defaultdict(list))
    for run in pilots:
        losses[run["row"]][run["learning_rate"]].append(run["held_out_masked_token_loss"])
    return {
        row: min(sorted(by_rate), key=lambda rate, tried=by_rate: fmean(tried[rate]))
        for row, by_rate in losses.items()
    }


def run_of_row(row: str, changes: dict, seed: int) -> Run:
    """Return the run of a row with a seed; each depth of a ``chain`` is trained before, as long."""
    changes = {name: value for name, value in changes.items() if name != "rate_of"}
    sizes = {name: changes.pop(name) for name in MODEL if name in changes}
    grown = tuple((depth, changes["steps"]) for depth in changes.pop("chain", ()))
    then = tuple(sorted(changes.pop("then", {}).items()))
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


PLAN = {name: Experiment(**section) for name, section in read_toml("experiments.toml").items()}
