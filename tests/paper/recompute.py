"""Every outcome of figures/CLAIMS.md, computed again from the records and the plans alone, without the library.

Run it from the root of the repository: ``python tests/paper/recompute.py``. The rules are those that stand at the top of
``albert_paper/data/planned.toml``. The distribution of t is summed as a finite series, not integrated as the library does.
"""

import json
import math
import sys
import tomllib
from pathlib import Path

import numpy as np

ORDER = ("quick", "laptop", "gpu")
LOSS = "held_out_masked_token_loss"


def above(t: float, freedom: int) -> float:
    """P(T > t) for a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    angle = math.atan(t / math.sqrt(freedom))
    cosine, term, total = math.cos(angle), 1.0, 0.0
    if freedom % 2:
        term = cosine
        for k in range(3, freedom + 1, 2):
            total, term = total + term, term * cosine**2 * (k - 1) / k
        inside = 2 / math.pi * (angle + math.sin(angle) * total)
    else:
        for k in range(2, freedom + 1, 2):
            total, term = total + term, term * cosine**2 * (k - 1) / k
        inside = math.sin(angle) * total
    return (1 - inside) / 2


def read(criterion: str) -> dict:
    column, sides = criterion.split(": ", 1)
    sides, _, within = sides.partition(" +- ")
    low, high = sides.split(" = " if within else " < ")
    high, _, more = high.partition(" + ")
    high, _, less = high.partition(" - ")
    margins = {"by": float(less or 0) - float(more or 0), "within": float(within or 0)}
    return {"column": column, "low": low, "high": high} | margins


def number(text: str) -> float | None:
    return float(text) if text.replace(".", "", 1).isdigit() else None


def look_up(run: dict, column: str) -> float:
    for name in column.split("."):
        run = run[int(name)] if isinstance(run, list) else run[name]
    return run


def stuck(run: dict, claim: dict) -> bool:
    bar = run.get("copy_baseline", claim.get("stuck", 0))
    loss = run.get(LOSS, run["sotu"]["masked_token_loss"] if "sotu" in run else -1)
    return bool(bar) and loss >= bar


def measure(part: dict, runs: list[dict], claim: dict) -> dict:
    """Differences in favour of the claim, their mean and its standard error, and the worse row's share of stuck runs."""
    named = [side for side in ("low", "high") if number(part[side]) is None]
    rows = {side: {run["seed"]: run for run in runs if run["row"] == part[side]} for side in named}
    seeds = sorted(set.intersection(*map(set, rows.values())))
    values = {
        side: [
            look_up(rows[side][seed], part["column"]) if side in rows else number(part[side])
            for seed in seeds
        ]
        for side in ("low", "high")
    }
    bad = np.array([any(stuck(row[seed], claim) for row in rows.values()) for seed in seeds])
    every = (
        np.array(values["high"], dtype=float) - np.array(values["low"], dtype=float) - part["by"]
    )
    kept = every[~bad] if (~bad).any() else every
    means = [
        np.mean([look_up(run, part["column"]) for run in row.values()]) for row in rows.values()
    ]
    noise = (
        sum(accuracy * (1 - accuracy) for accuracy in means) / claim["items"]
        if claim.get("items")
        else 0.0
    )
    ends = (
        {"chance": claim.get("chance", 0.5), "100%": 1.0}
        if part["column"].endswith(("accuracy", "tuned", "frozen"))
        else {}
    )
    m = part["within"] or claim["least"]
    near = [
        name
        for name, end in ends.items()
        if len(means) == 2 and max(abs(mean - end) for mean in means) <= m
    ]
    error = math.sqrt(kept.var(ddof=1) / len(kept) + noise) if len(kept) > 1 else math.inf
    share = max(np.mean([stuck(run, claim) for run in row.values()]) for row in rows.values())
    return {
        "mean": float(kept.mean()),
        "error": error,
        "freedom": len(kept) - 1,
        "stuck": share,
        "near": near,
    }


def chance(found: dict, bound: float, side: int) -> float:
    """One-sided p value against a mean that is not on ``side`` of a bound."""
    if math.isinf(found["error"]):
        return 1.0
    distance = side * (found["mean"] - bound)
    t = (
        distance / found["error"]
        if found["error"]
        else math.copysign(math.inf, distance)
        if distance
        else 0.0
    )
    return above(t, found["freedom"])


def claims(plan: dict, name: str):
    section = plan[name]
    if "judged" in section:
        return {
            f"{name}.{i}": section["judged"] | part for i, part in enumerate(section["assess"], 1)
        }
    return {f"{name}.{key}": part for key, part in section["claims"].items()}


def record_of(claim: dict, records: dict[str, dict]) -> dict | None:
    if "profile" in claim:
        return records.get(claim["profile"])
    sides = [read(criterion)[side] for criterion in claim["criterion"] for side in ("low", "high")]
    rows = [side for side in sides if number(side) is None]

    def seeds(profile):
        return min(sum(run["row"] == row for run in records[profile]["runs"]) for row in rows)

    return (
        records[max(records, key=lambda profile: (seeds(profile), ORDER.index(profile)))]
        if records
        else None
    )


def outcomes(root: Path) -> dict[str, str]:
    """The outcome of every claim by its key."""
    found = {}
    for file in ("planned", "gpu", "recorded"):
        plan = tomllib.loads(
            (root / "albert_paper/data" / f"{file}.toml").read_text(encoding="utf-8")
        )
        family, measured = {}, {}
        for name in (name for name, section in plan.items() if isinstance(section, dict)):
            paths = {
                profile: root / "figures/results" / f"{name}_{profile}.json" for profile in ORDER
            }
            records = {
                profile: json.loads(path.read_text())
                for profile, path in paths.items()
                if path.exists()
            }
            for key, claim in claims(plan, name).items():
                record = record_of(claim, records)
                if claim["scope"] != "exact":
                    family[key] = 1.0
                if record is None:
                    found[key] = "not run"
                elif len(record["runs"]) < record.get("planned_runs", 0):
                    found[key] = (
                        f"not finished: {len(record['runs'])} of {record['planned_runs']} runs"
                    )
                else:
                    parts = [read(criterion) for criterion in claim["criterion"]]
                    measured[key] = (
                        claim,
                        parts,
                        [measure(part, record["runs"], claim) for part in parts],
                        record["runs"],
                    )
                    if key in family:
                        family[key] = max(
                            p_value(part, each)
                            for part, each in zip(parts, measured[key][2], strict=True)
                        )
        corrected = correct(family)
        found |= {key: word(*these, corrected.get(key, 0.0)) for key, these in measured.items()}
    return found


def p_value(part: dict, found: dict) -> float:
    if part["within"]:
        return max(chance(found, -part["within"], 1), chance(found, part["within"], -1))
    return min(1.0, 2 * min(chance(found, 0.0, 1), chance(found, 0.0, -1)))


def correct(family: dict[str, float]) -> dict[str, float]:
    corrected, so_far = {}, 0.0
    for rank, key in enumerate(sorted(family, key=family.get)):
        so_far = max(so_far, min(1.0, family[key] * (len(family) - rank)))
        corrected[key] = so_far
    return corrected


def word(claim: dict, parts: list[dict], measured: list[dict], runs: list[dict], p: float) -> str:
    if claim["scope"] == "exact":
        return "reproduced" if all(found["mean"] > 0 for found in measured) else "contradicted"
    for control in claim.get("control", []):
        if chance(measure(read(control), runs, claim), 0.0, 1) >= 0.025:
            return "void: the control failed"
    if max(found["stuck"] for found in measured) > 0.25:
        return "void: too many stuck runs"
    if near := [name for found in measured for name in found["near"]]:
        return f"void: both rows at {near[0]}"
    words = {
        one_word(part, found, claim["least"], p)
        for part, found in zip(parts, measured, strict=True)
    }
    if len(words) > 1:
        return "opposes" if "opposes" in words else "undecided"
    said = words.pop()
    return (
        {"agrees": "reproduced", "opposes": "contradicted"}.get(said, said)
        if claim["scope"] == "same question"
        else said
    )


def one_word(part: dict, found: dict, least: float, p: float) -> str:
    if part["within"]:
        outside = min(chance(found, part["within"], 1), chance(found, -part["within"], -1))
        return "agrees" if p < 0.05 else "opposes" if outside < 0.05 else "undecided"
    if not part["by"] and max(chance(found, -least, 1), chance(found, least, -1)) < 0.05:
        return f"no difference larger than {least:g}"
    return ("agrees" if found["mean"] > 0 else "opposes") if p < 0.05 else "undecided"


if __name__ == "__main__":
    for key, said in outcomes(Path(*sys.argv[1:])).items():
        print(f"{key:28} {said}")
