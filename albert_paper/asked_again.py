"""The page of the plan of 28 November 2026, as far as it has been run: ``figures/ASKED_AGAIN.md``.

When it has all its rows, it takes the place of the page. Notebooks 07 and 12 link to it.
"""

from collections import defaultdict
from pathlib import Path

from albert_paper.claim_pictures import save_picture
from albert_paper.claims import finished_claims, recorded
from albert_paper.columns import shown
from albert_paper.outcomes import compare, judge, parse
from albert_paper.plan import NEW_PLAN, PAGE
from albert_paper.provenance import write_json
from albert_paper.templates import render
from albert_paper.words import filled, paper_of, row_of


def write_asked_again(figures: Path, runs: dict[str, list[dict]], before: dict[str, dict]) -> None:
    """Write the page, its pictures, and asked_again.json; ``before`` are the older claims."""
    rows = asked_again(runs, before)
    claims = {key: row for key, row in rows.items() if "parts" in row}
    write_json(figures / "asked_again.json", recorded(claims))
    cause = NEW_PLAN["cause"]["claims"]["feed_forward"] | {"runs": runs["cause"]}
    page = render(
        "asked_again.md",
        rows=rows,
        claims=claims,
        alts={key: save_picture(key, claim, figures) for key, claim in claims.items()},
        recipes=recipes_and_health(runs["cause"]),
        cause_note=filled(cause["note"], cause, runs, {}),
    )
    (figures / "ASKED_AGAIN.md").write_text(page, encoding="utf-8")


def asked_again(runs: dict[str, list[dict]], before: dict[str, dict]) -> dict[str, dict]:
    """Return the rows of the page of the plan of 28 November 2026, also those without runs.

    A row with runs is its claim, judged, with its words and what its comparisons ``found``.
    ``before`` are the claims of the older plan.
    """
    finished = finished_claims(runs, NEW_PLAN)
    claims = judge({key: finished[key] for key in PAGE if key in finished}, PAGE)
    rows = {}
    for key in PAGE:
        name, claim_name = key.split(".")
        claim = NEW_PLAN[name]["claims"][claim_name]
        rows[key] = claim | {"paper": paper_of(claim), "ours": "", "word": "not run yet"}
        if key in claims:
            rows[key] = row_of(claims[key], runs, claims) | {"found": comparisons(claims[key])}
        rows[key]["before"] = words_before(before.get(claim.get("before"), {}))
    return rows


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


def words_before(claim: dict) -> str:
    """Return the word of a claim of the older plan, and that when it was run where it differs."""
    if "when_run" in claim:
        return f"{claim['word']} (when run: {claim['when_run']})"
    return claim.get("word", "not asked")


def comparisons(claim: dict) -> dict[str, list[dict]]:
    """Return what each comparison of a claim found, as words: criterion, control and also.

    A test other than t says nothing about the size of a difference, but mean and interval do.
    """
    found: dict[str, list[dict]] = {}
    for kind in ("criterion", "control", "also"):
        found[kind] = []
        for text in claim.get(kind, ()):
            part = compare(text, claim)
            asked = parse(text)
            words = f"{shown(part, asked.column, asked.low != '0')} (n = {part['n']})"
            arms = {}
            for row in part["stuck"]:  # the rows that the comparison names
                alone = compare(f"{asked.column}: 0 < {row}", claim)
                arms[row] = shown(alone, asked.column, difference=False)
            found[kind].append({"text": text, "found": words, "arms": arms, "stuck": part["stuck"]})
    return found
