"""Every word and number of the page of claims, computed again from records and the plan alone, without the library.

Run it in the course's folder. The rules are those at the top of ``albert_paper/data/plan.toml``. The distribution of t is
summed as a finite series, not taken from SciPy, and the ranks' distribution is counted sign by sign.
"""

import json
import math
import sys
import tomllib
from pathlib import Path

import numpy as np

LOSS = "held_out_masked_token_loss"


def above(t: float, freedom: int) -> float:
    """P(T > t) for a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
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


def read(criterion: str) -> tuple[str, list[tuple[int, str]], float]:
    """The column, the signed terms whose sum is claimed to be positive (or near 0), and the range of nearness."""
    column, sides = criterion.split(": ", 1)
    sides, _, within = sides.partition(" +- ")
    low, high = sides.split(" = " if within else " < ")

    def terms(side: str, sign: int) -> list[tuple[int, str]]:
        added = side.replace(" - ", "\n-").replace(" + ", "\n+").split("\n")
        return [(-sign if part[0] == "-" else sign, part.lstrip("+-")) for part in added]

    positive, negative = (low, high) if within else (high, low)
    return column, terms(positive, 1) + terms(negative, -1), float(within or 0)


def look_up(run: dict, column: str) -> float:
    for name in column.split("."):
        run = run[name]
    return run


def is_stuck(run: dict) -> bool:
    """Not below the copy baseline, or, where its health was recorded, a half of it is dead."""
    return run[LOSS] >= run["copy_baseline"] or run.get("health", {}).get("alive") is False


def measure(criterion: str, runs: list[dict], test: str = "t", keep_stuck: bool = False) -> dict:
    """The sum of a criterion's terms over seeds without a stuck run: the values, and what t needs of them."""
    column, terms, within = read(criterion)
    rows: dict[str, dict[int, dict]] = {}
    for run in runs:
        rows.setdefault(run["row"], {})[run["seed"]] = run
    named = [rows[name] for _, name in terms if name in rows]
    kept, stuck = [], [0] * len(named)
    seeds = sorted(set.intersection(*map(set, named)))
    for seed in seeds:
        bad = [is_stuck(of[seed]) and not keep_stuck for of in named]
        stuck = [count + one for count, one in zip(stuck, bad, strict=True)]
        if not any(bad):
            here = {name: look_up(rows[name][seed], column) for _, name in terms if name in rows}
            kept.append(sum(sign * float(here.get(name, name)) for sign, name in terms))
    return {
        "kept": kept,
        "test": test,
        "mean": float(np.mean(kept)),
        "error": float(np.std(kept, ddof=1)) / math.sqrt(len(kept)),
        "freedom": len(kept) - 1,
        "stuck": max(stuck) / len(seeds),
        "within": within,
    }


def half_interval(found: dict) -> float:
    """Half of the 95% interval from t, whose quantile is found by halving."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle, found["freedom"]) > 0.025 else (low, middle)
    return high * found["error"]


def by_signs(values: list[float]) -> float:
    """P that of so many fair coins at least as many fall on heads as values are positive."""
    n = sum(value != 0 for value in values)
    positive = sum(value > 0 for value in values)
    return sum(math.comb(n, k) for k in range(positive, n + 1)) / 2**n


def by_ranks(values: list[float]) -> float:
    """P that fair signs give a sum of positive ranks as large as this one; ties share their ranks' mean."""
    sizes = sorted(abs(value) for value in values if value)
    rank = {size: sizes.index(size) + 1 + (sizes.count(size) - 1) / 2 for size in set(sizes)}
    ways = {0.0: 1}  # sum of positive ranks -> number of ways
    for size in sizes:
        more = dict(ways)
        for total, number in ways.items():
            more[total + rank[size]] = more.get(total + rank[size], 0) + number
        ways = more
    reached = sum(rank[abs(value)] for value in values if value > 0)
    return sum(number for total, number in ways.items() if total >= reached) / 2 ** len(sizes)


def chance(found: dict, bound: float, side: int) -> float:
    """One-sided p value against a centre that is not on ``side`` of a bound."""
    if found["test"] == "t":
        return above(side * (found["mean"] - bound) / found["error"], found["freedom"])
    moved = [side * (value - bound) for value in found["kept"]]
    return by_signs(moved) if found["test"] == "sign" else by_ranks(moved)


def near(found: dict, m: float) -> float:
    if found["test"] == "sign" and not found["within"]:
        return 1.0  # the sign test has no `same`
    return max(chance(found, -m, 1), chance(found, m, -1))


def p_value(found: dict) -> float:
    if found["within"]:
        return near(found, found["within"])
    return min(1.0, 2 * min(chance(found, 0.0, 1), chance(found, 0.0, -1)))


def one_word(found: dict, least: float, p: float) -> str:
    if m := found["within"]:
        outside = min(chance(found, m, 1), chance(found, -m, -1))
        return "agrees" if p < 0.05 else "opposes" if outside < 0.05 else "undecided"
    if near(found, least) < 0.05:
        return "same"
    return ("agrees" if found["mean"] > 0 else "opposes") if p < 0.05 else "undecided"


def word(claim: dict, measured: list[dict], runs: list[dict], p: float) -> str:
    controls = [
        measure(control, runs, "t", claim.get("keep_stuck", False))
        for control in claim.get("control", [])
    ]
    if any(len(found["kept"]) < 2 or chance(found, 0.0, 1) >= 0.025 for found in controls):
        return "void"
    if max(found["stuck"] for found in [*measured, *controls]) > 0.25:
        return "void"
    words = {one_word(found, claim["least"], p) for found in measured}
    return words.pop() if len(words) == 1 else "opposes" if "opposes" in words else "undecided"


def outcomes(root: Path) -> dict[str, dict]:
    """The word of every row of the plan whose experiment has all its runs; its p, and a mean, half interval and n for each
    of its comparisons: criteria, controls, and those that decide nothing. Rows that have no runs yet count with p = 1.
    """
    sections = tomllib.loads((root / "albert_paper/data/plan.toml").read_text(encoding="utf-8"))
    page = sections.pop("page")["rows"]
    asked = {}
    for key in page:
        name, claim = key.split(".")
        section = sections[name]
        wanted = [min(row.get("n", section["n"]), section["n"]) for row in section["rows"].values()]
        runs = runs_of(root, name)
        if len(runs) == sum(wanted):
            asked[key] = (section["claims"][claim], runs)
    return decide(asked, page)


def first_outcomes(root: Path) -> dict[str, dict]:
    """The same of the claims of the first plan, of which a file has criteria, controls and m."""
    claims = json.loads((root / "figures/outcomes.json").read_text(encoding="utf-8"))
    asked = {key: (claim, runs_of(root, key.split(".")[0])) for key, claim in claims.items()}
    return decide(asked, list(claims))


def runs_of(root: Path, name: str) -> list[dict]:
    path = root / "figures/results" / f"{name}.json"
    return json.loads(path.read_text())["runs"] if path.exists() else []


def decide(asked: dict[str, tuple[dict, list[dict]]], family: list[str]) -> dict[str, dict]:
    """The words of claims with their runs; the correction is for the whole family."""
    p = dict.fromkeys(family, 1.0)
    measured = {}
    for key, (claim, runs) in asked.items():
        measured[key] = measured_of("criterion", claim, runs)
        p[key] = max(map(p_value, measured[key]))
    said, so_far = {}, 0.0
    for rank, key in enumerate(sorted(p, key=p.__getitem__)):
        so_far = max(so_far, min(1.0, p[key] * (len(p) - rank)))
        if key in measured:
            claim, runs = asked[key]
            others = measured_of("control", claim, runs) + measured_of("also", claim, runs)
            numbers = [
                (found["mean"], half_interval(found), len(found["kept"]))
                for found in measured[key] + others
            ]
            said[key] = {
                "word": word(claim, measured[key], runs, so_far),
                "p": so_far,
                "numbers": numbers,
            }
    return said


def measured_of(kind: str, claim: dict, runs: list[dict]) -> list[dict]:
    """The comparisons of a claim that are criteria, controls, or decide nothing."""
    test = claim.get("test", "t")
    keep_stuck = claim.get("keep_stuck", False)
    return [measure(text, runs, test, keep_stuck) for text in claim.get(kind, [])]


def parameters(H: int, E: int, L: int, share: str) -> int:
    """Embeddings, norm, projection, and layers, without the pooler; V = 30,000 and 512 positions."""
    attention, ffn = 4 * (H * H + H) + 2 * H, 8 * H * H + 5 * H + 2 * H
    layers = ffn * (1 if share in ("all", "ffn") else L)
    layers += attention * (1 if share in ("all", "attention") else L)
    return (30_000 + 512 + 2) * E + 2 * E + (E * H + H if E != H else 0) + layers


def counted(root: Path) -> dict[str, str]:
    tables = tomllib.loads((root / "albert_paper/data/tables.toml").read_text(encoding="utf-8"))
    rows = {table["number"]: table["rows"] for table in tables["table"]}
    base = [(share, E, printed) for share, E, printed, *_ in rows["3"]]
    base += [(share, E, printed) for E, share, printed, *_ in rows["4"]]
    pooler = 768 * 768 + 768
    right = all(
        printed == round((parameters(768, E, 12, share) + (pooler if share != "none" else 0)) / 1e6)
        for share, E, printed in base
    )
    (printed,) = (row[1] for row in rows["1"] if row[0] == "ALBERT-xxlarge")
    wide = parameters(4096, 128, 12, "all")
    fits = printed in (round(wide / 1e6), round((wide + 4096 * 4096 + 4096) / 1e6))
    words = {True: "right", False: "wrong"}
    return {"counts.tables_3_and_4": words[right], "counts.xxlarge": words[fits]}


if __name__ == "__main__":
    place = Path(*sys.argv[1:])
    for key, said in counted(place).items():
        print(f"{key:36} {said}")
    for decided in (first_outcomes(place), outcomes(place)):
        for key, found in decided.items():
            mean, half, n = found["numbers"][0]
            print(f"{key:36} {found['word']:10} {mean:8.4f} +- {half:.4f} (n = {n})")
