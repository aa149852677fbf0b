"""From the plan and the records to ``figures/CLAIMS.md``, COMPARISONS.md and their pictures.

``outcomes.json`` has what our first plan found, and no code writes it. Explained in notebook 12.
"""

from pathlib import Path

from albert_edu.analysis.plots import save
from albert_edu.errors import FileError, InputError, read_json
from albert_paper.cause import write_cause
from albert_paper.claim_pictures import figure1_picture, save_picture
from albert_paper.claims import finished_claims, read_runs, recorded
from albert_paper.counts import counted_rows
from albert_paper.layer_steps import FAR, step_sizes
from albert_paper.outcomes import judge
from albert_paper.plan import PAGE, PLAN, UNJUDGED
from albert_paper.provenance import write_json
from albert_paper.templates import render
from albert_paper.words import filled, paper_of, row_of

AT_REST = 0.01  # degrees
SIMILARITIES = ("similarity", "similarity_untrained")  # of a pair, in its record


def write_report(root: Path) -> Path:
    """Write the page, its pictures, and decided.json.

    ValueError if ``root`` is not the course's folder, which holds figures/results.
    """
    figures = root / "figures"
    if not (figures / "results").is_dir():
        raise InputError(f"{figures / 'results'} is missing: go to the course's folder first")
    runs = read_runs(figures / "results")
    before = read_json(figures / "outcomes.json", FileError)
    rows = rows_of(runs, before)
    claims = {key: row for key, row in rows.items() if row["word"]}
    write_json(figures / "decided.json", recorded(claims))
    for key, claim in claims.items():
        claim["alt"] = save_picture(key, claim, figures)
    write_cause(figures, runs["cause"])
    six = runs["figure1_seeds"]
    figure, small_alt = figure1_picture(six)
    save(figure, figures / "figure1_seeds.png", small_alt)
    base = read_json(figures / "results" / "figure1_gpu.json", FileError)
    values = {
        "counted": counted_rows(),
        "rows": rows,
        "waiting": len(rows) - len(claims),
        "before": before,
        "asked": sum(bool(row["old"]) for row in rows.values()),
        "small": filled(UNJUDGED["figure1_seeds"]["text"], {"runs": six}),
        "small_alt": small_alt,
        "far": far_angles(six),
        "base": base,
        "base_steps": {name: more_when_separate(base, name) for name in SIMILARITIES},
    }
    for name in ("claims", "comparisons"):
        path = figures / f"{name.upper()}.md"
        path.write_text(render(f"{name}.md", **values), encoding="utf-8")
    return figures / "CLAIMS.md"


def rows_of(runs: dict[str, list[dict]], before: dict[str, dict]) -> dict[str, dict]:
    """Return the rows of the page, judged as far as they have run: the others have no ``word``.

    ``old`` is what the first plan found, with the ``day`` of its runs; {} where it did not ask.
    """
    finished = finished_claims(runs)
    claims = judge({key: finished[key] for key in PAGE if key in finished}, PAGE)
    rows = {}
    for key in PAGE:
        name, claim_name = key.split(".")
        section = PLAN[name]
        planned = section["claims"][claim_name]
        old = before.get(planned.get("before"), {})
        if "before" in planned and not old:
            raise FileError(f"outcomes.json has lost {planned['before']}: restore the file.")
        common = {"source": section["source"], "setting": section["setting"], "word": ""}
        row = row_of(claims[key]) if key in claims else common | planned
        rows[key] = row | {"paper": paper_of(planned), "old": old and old | {"day": day_of(old)}}
    return rows


def day_of(old: dict) -> str:
    """Return the day of a record's runs, such as 23 Nov."""
    return f"{int(old['date'][-2:])} Nov"  # all of them were made in that month


def more_when_separate(pair: dict, similarity: str) -> dict[str, float]:
    """Return how much larger and rougher the steps of a pair's separate layers are."""
    sizes = {}
    for member in ("albert", "unshared"):
        curves = pair["members"][member][similarity]
        sizes[member] = step_sizes(curves, len(curves["l2"]))
    return {name: sizes["unshared"][name] - sizes["albert"][name] for name in sizes["albert"]}


def far_angles(runs: list[dict]) -> dict[str, list[float]]:
    """Return the angles of shared layers at application 1,000: of those at rest, and the others."""
    angles = sorted(run["angle_at"][str(FAR)] for run in runs if "angle_at" in run)
    return {
        "at_rest": [angle for angle in angles if angle < AT_REST],
        "moving": [angle for angle in angles if angle >= AT_REST],
    }
