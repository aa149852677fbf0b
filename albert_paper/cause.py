"""Not a row of the page: why did the feed-forward block of our first pair die?

The runs of section ``cause`` of the plan go in; ``figures/CAUSE.md`` comes out. Notebook 07 links
to it.
"""

from collections import defaultdict
from pathlib import Path

from albert_paper.plan import PLAN
from albert_paper.templates import render
from albert_paper.words import filled


def write_cause(figures: Path, runs: list[dict]) -> None:
    """Write the page of section ``cause``."""
    claim = PLAN["cause"]["claims"]["feed_forward"] | {"runs": runs}
    words = {"recipes": recipes_and_health(runs), "note": filled(claim["note"], claim)}
    (figures / "CAUSE.md").write_text(render("cause.md", **words), encoding="utf-8")


def recipes_and_health(runs: list[dict]) -> dict[str, dict[str, list]]:
    """Return for each recipe of section ``cause`` what its runs ended with, seed by seed.

    ``closed`` is the first step at which most units of an application were closed, and None in a
    run where that was never seen. ``first_open`` and ``second_open`` are the shares of open units
    after half of the steps, ``early`` is what the feed-forward block cost after 1,000.
    """
    recipes: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        seen = {one["step"]: one for one in run["watched"]}
        first_open, second_open = seen[run["steps"] // 2]["open_units"]
        found = {
            "loss": run["held_out_masked_token_loss"],
            "ffn": run["health"]["ffn_worth"],
            "attention": run["health"]["attention_worth"],
            "open": run["health"]["least_open"],
            "first_open": first_open,
            "second_open": second_open,
            "early": seen[1000]["ffn_worth"],
            "closed": next((w["step"] for w in run["watched"] if w["least_open"] < 0.5), None),
        }
        for name, value in found.items():
            recipes[run["row"]][name].append(value)
    return recipes
