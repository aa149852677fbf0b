"""From the plans and the records to ``figures/CLAIMS.md``, its pictures, and outcomes.json.

Each claim is judged by ``outcomes``, and its words are filled in with the numbers of its runs.
While the plan of 28 November 2026 is run, ``figures/ASKED_AGAIN.md`` has its rows as they come.
When it has all of them, it takes the place of the page. Notebooks 09 and 12 read the page.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from matplotlib.figure import Figure

from albert_edu.analysis.plots import save
from albert_edu.errors import FileError, InputError, read_json
from albert_paper.claim_pictures import (
    counts_picture,
    curves_picture,
    figure1_picture,
    label,
    layers_picture,
    seeds_picture,
)
from albert_paper.counts import counted_rows
from albert_paper.layer_steps import FAR, step_sizes
from albert_paper.outcomes import compare, judge, parse
from albert_paper.plan import NEW_PLAN, PAGE, PLAN, UNJUDGED, runs_of
from albert_paper.provenance import write_json
from albert_paper.published import TABLES
from albert_paper.templates import render

AT_REST = 0.01  # degrees
SIMILARITIES = ("similarity", "similarity_untrained")  # of a pair, in its record
# {a < b: column}, {record/a: column}
REFERENCE = re.compile(r"\{(?:(\w+)/)?([^{}:]+): ([\w.-]+)\}")


def write_report(root: Path) -> Path:
    """Write the page, its pictures, and outcomes.json.

    ValueError if ``root`` is not the course's folder, which holds figures/results.
    """
    figures = root / "figures"
    if not (figures / "results").is_dir():
        raise InputError(f"{figures / 'results'} is missing: go to the course's folder first")
    runs = read_runs(figures / "results")
    dead = dead_arms(runs.get("old_arms", []))
    claims = judge(finished_claims(runs, PLAN, dead))
    write_json(figures / "outcomes.json", recorded(claims))
    again = asked_again(runs, claims)
    write_json(figures / "asked_again.json", recorded(again["claims"]))
    page = render(
        "asked_again.md",
        **again,
        alts={key: save_picture(key, claim, figures) for key, claim in again["claims"].items()},
        recipes=recipes_and_health(runs.get("cause", [])),
        planned=len(runs_of(NEW_PLAN["cause"])),
    )
    (figures / "ASKED_AGAIN.md").write_text(page, encoding="utf-8")
    rows = counted_rows()
    for key, claim in claims.items():
        if "paper" in claim:
            alt = save_picture(key, claim, figures)
            rows[key] = row_of(claim, runs, claims) | {"alt": alt}
    figure, small_alt = figure1_picture(runs["figure1_seeds"])
    save(figure, figures / "figure1_seeds.png", small_alt)
    base = read_json(figures / "results" / "figure1_gpu.json", FileError)
    page = render(
        "claims.md",
        rows=rows,
        judged=len(claims),
        small=filled(UNJUDGED["figure1_seeds"]["text"], runs["figure1_seeds"], runs, claims),
        small_alt=small_alt,
        far=far_angles(runs["figure1_seeds"]),
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


def recorded(claims: dict[str, dict]) -> dict[str, dict]:
    """Return what a file of outcomes keeps of judged claims."""
    kept = ("says", "quote", "source", "criterion", "control", "least", "word", "p_holm", "parts")
    return {key: {k: claim[k] for k in kept if k in claim} for key, claim in claims.items()}


def asked_again(runs: dict[str, list[dict]], before: dict[str, dict]) -> dict:
    """Return what the page of the plan of 28 November 2026 shows.

    These are its ``claims`` as far as they have runs, judged; its ``rows``, also those without
    runs; and of each judged claim, what its comparisons found (``findings``). ``before`` are the
    claims of the older plan.
    """
    finished = finished_claims(runs, NEW_PLAN)
    claims = judge({key: finished[key] for key in PAGE if key in finished}, PAGE)
    rows = {}
    findings = {}
    for key in PAGE:
        name, claim_name = key.split(".")
        claim = NEW_PLAN[name]["claims"][claim_name]
        rows[key] = {
            "says": claim["says"],
            "ours": "",
            "word": claims[key]["word"] if key in claims else "not run yet",
            "before": words_before(before.get(claim.get("before"), {})),
        }
        if key in claims:
            findings[key] = comparisons(claims[key])
            rows[key]["ours"] = "; ".join(each["found"] for each in findings[key]["criterion"])
    return {"claims": claims, "rows": rows, "findings": findings}


def recipes_and_health(runs: list[dict]) -> dict[str, dict[str, list]]:
    """Return for each recipe of section ``cause`` what its runs ended with, seed by seed.

    ``closed`` is the first step at which most units of an application were closed, and None in a
    run where that was never seen.
    """
    recipes: dict[str, dict[str, list]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        health = run["health"]
        found = {
            "loss": run["held_out_masked_token_loss"],
            "ffn": health["ffn_worth"],
            "attention": health["attention_worth"],
            "open": health["least_open"],
            "closed": next((w["step"] for w in run["watched"] if w["least_open"] < 0.5), None),
        }
        kept = recipes.setdefault(run["row"], {name: [] for name in found})
        for name, value in found.items():
            kept[name].append(value)
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
    how = {name: claim[name] for name in ("test", "keep_stuck") if name in claim}
    found: dict[str, list[dict]] = {}
    for kind in ("criterion", "control", "also"):
        found[kind] = []
        for text in claim.get(kind, ()):
            part = compare(text, claim["runs"], claim["least"], **how)
            asked = parse(text)
            words = f"{shown(part, asked.column, asked.low != '0')} (n = {part['n']})"
            arms = {}
            for row in part["stuck"]:  # the rows that the comparison names
                alone = compare(f"{asked.column}: 0 < {row}", claim["runs"], 0.0, **how)
                arms[row] = shown(alone, asked.column, difference=False)
            found[kind].append({"text": text, "found": words, "arms": arms, "stuck": part["stuck"]})
    return found


def read_runs(results: Path) -> dict[str, list[dict]]:
    """Return the runs of every record. FileError for a record of the plan that lacks them."""
    runs = {}
    for path in sorted(results.glob("*.json")):
        record = read_json(path, FileError)
        if path.stem in PLAN | NEW_PLAN and "runs" not in record:
            raise FileError(f"{path} lacks the runs of an experiment: restore it, or run it again.")
        runs[path.stem] = record.get("runs", [])
    return runs


def dead_arms(again: Sequence[dict]) -> dict[str, list[str]]:
    """Return by experiment which of its arms had a dead half when they were run again.

    ``again`` are the runs of section ``old_arms``, whose rows are called EXPERIMENT: ROW.

    >>> dead_arms([{"row": "gap: shared", "health": {"alive": False}}])
    {'gap': ['shared']}
    """
    dead: dict[str, list[str]] = {}
    for run in again:
        if not run["health"]["alive"]:
            name, row = run["row"].split(": ")
            dead.setdefault(name, []).append(row)
    return dead


def finished_claims(
    runs: dict[str, list[dict]],
    plan: dict[str, dict],
    dead: Mapping[str, list[str]] = MappingProxyType({}),
) -> dict[str, dict]:
    """Return the claims of every experiment whose runs are all there, by EXPERIMENT.CLAIM.

    ``dead`` names the arms of each experiment that were found dead.
    """
    finished = {}
    for name, section in plan.items():
        done = runs.get(name, [])
        if len(done) == len(runs_of(section)):
            common = {"source": section["source"], "setting": section["setting"], "runs": done}
            common["dead_arms"] = dead.get(name, [])
            for key, claim in section["claims"].items():
                finished[f"{name}.{key}"] = common | claim
    return finished


def printed(reference: list) -> float:
    """Return a number of the paper, [table, column, key ...], or one such minus another."""
    if isinstance(reference[0], list):
        return round(printed(reference[0]) - printed(reference[1]), 2)
    number, column, *key = reference
    return TABLES[number][tuple(key) if len(key) > 1 else key[0]][column]


def row_of(claim: dict, runs: dict, claims: dict) -> dict:
    """Return a claim with the words of its row and its section."""
    asked = parse(claim["criterion"][0])
    ours = claim.get("ours", f"{{{asked.low} < {asked.high}: {asked.column}}}")
    first = claim["parts"][0]
    n = f" (n = {first['n']})"
    kept = runs_kept(claim)
    words = {
        "paper": claim["paper"].format(*map(printed, claim.get("printed", ()))),
        "ours": filled(ours, kept, runs, claims, n),
        "note": filled(claim.get("note", ""), kept, runs, claims),
    }
    return claim | words


def runs_kept(claim: dict) -> list[dict]:
    """Return the runs of the seeds that a claim's first comparison leaves in."""
    return [run for run in claim["runs"] if run["seed"] in claim["parts"][0]["seeds"]]


def save_picture(key: str, claim: dict, figures: Path) -> str:
    """Draw the picture of a judged claim into ``figures/claims``, and return its alt text."""
    figure, alt = picture_of(claim, runs_kept(claim))
    save(figure, figures / "claims" / f"{key}.png", alt)
    return alt


def picture_of(claim: dict, runs: Sequence[dict]) -> tuple[Figure, str]:
    """Return the picture of a claim and its alt text, which its measure chooses.

    Angles are drawn over the layers, starts are counted, and what was watched is drawn over the
    steps.
    """
    column = parse(claim["criterion"][0]).column
    if column == "mean_angle":
        return layers_picture(claim, runs)
    if column == "never_learnt":
        return counts_picture(claim, runs)
    if "watched" in runs[0]:
        return curves_picture(claim, runs)
    return seeds_picture(claim, runs)


def filled(text: str, own: list[dict], runs: dict, claims: dict, n: str = "") -> str:
    """Put what was measured in the place of {a < b: column}, and the word of {EXPERIMENT.CLAIM}.

    ``n`` follows the first number; a number of another record names its own.
    """

    def number(match: re.Match) -> str:
        """Return the number that a reference asks for, and behind it its n."""
        nonlocal n
        record, sides, column = match.groups()
        difference = " < " in sides
        criterion = f"{column}: {sides}" if difference else f"{column}: 0 < {sides}"
        found = compare(criterion, runs[record] if record else own, 0.0)
        behind = f" (n = {found['n']})" if record else n
        n = ""
        return shown(found, column, difference or " - " in sides) + behind

    text = REFERENCE.sub(number, text)
    return re.sub(r"\{(\w+\.\w+)\}", lambda match: claims[match[1]]["word"], text)


def shown(found: dict, column: str, difference: bool) -> str:
    """Return a mean with its 95% interval and unit; seconds are rounded and have no interval."""
    if column.endswith("seconds"):
        return f"{found['mean']:.0f}"
    axis = label(column)
    unit = axis.unit_of_differences if difference else axis.unit
    scale = 100 if unit in ("%", " points") else 1
    digits = 1 if unit else 2
    return f"{found['mean'] * scale:.{digits}f} ± {found['half'] * scale:.{digits}f}{unit}"
