"""From the plans and the records to ``figures/CLAIMS.md``, its pictures, and outcomes.json.

Each claim is judged by ``outcomes``, and its words are filled in with the numbers of its runs.
``asked_again`` writes the rows of the plan of 28 November 2026 as they come. Notebooks 09 and 12
read the page.
"""

from pathlib import Path

from albert_edu.analysis.plots import save
from albert_edu.errors import FileError, InputError, read_json
from albert_paper.asked_again import write_asked_again
from albert_paper.claim_pictures import figure1_picture, save_picture
from albert_paper.claims import finished_claims, read_runs, recorded
from albert_paper.counts import counted_rows
from albert_paper.layer_steps import FAR, step_sizes
from albert_paper.outcomes import judge
from albert_paper.plan import PLAN, UNJUDGED
from albert_paper.provenance import write_json
from albert_paper.templates import render
from albert_paper.words import filled, row_of

AT_REST = 0.01  # degrees
SIMILARITIES = ("similarity", "similarity_untrained")  # of a pair, in its record


def write_report(root: Path) -> Path:
    """Write the page, its pictures, and outcomes.json.

    ValueError if ``root`` is not the course's folder, which holds figures/results.
    """
    figures = root / "figures"
    if not (figures / "results").is_dir():
        raise InputError(f"{figures / 'results'} is missing: go to the course's folder first")
    runs = read_runs(figures / "results")
    claims = judge(finished_claims(runs, PLAN))
    write_json(figures / "outcomes.json", recorded(claims))
    write_asked_again(figures, runs, claims)
    rows = counted_rows()
    for key, claim in claims.items():
        if "paper" in claim:
            alt = save_picture(key, claim, figures)
            rows[key] = row_of(claim, runs, claims) | {"alt": alt}
    six = runs["figure1_seeds"]
    figure, small_alt = figure1_picture(six)
    save(figure, figures / "figure1_seeds.png", small_alt)
    base = read_json(figures / "results" / "figure1_gpu.json", FileError)
    page = render(
        "claims.md",
        rows=rows,
        judged=len(claims),
        small=filled(UNJUDGED["figure1_seeds"]["text"], {"runs": six}, runs, claims),
        small_alt=small_alt,
        far=far_angles(six),
        base=base,
        base_steps={name: more_when_separate(base, name) for name in SIMILARITIES},
    )
    path = figures / "CLAIMS.md"
    path.write_text(page, encoding="utf-8")
    return path


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
