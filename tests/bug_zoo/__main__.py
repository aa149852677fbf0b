"""``python -m tests.bug_zoo``: how many wrong answers each exercise has, rejects, and names."""

import argparse
import contextlib
import sys
import warnings

from tests.bug_zoo.zoo import Animal, all_animals

HEAD = ("exercise", "check", "wrong", "rejected", "named", "right", "accepted")


def survey(animals: list[Animal], seed: int | None = None) -> tuple[str, bool]:
    """A table with a line for each check, what is not named, and whether all are judged right."""
    counts: dict[tuple[str, str], list[int]] = {}
    unnamed, misjudged = [], []
    for animal in sorted(animals, key=lambda one: (one.check.place[-2:], one.check.place)):
        name = animal.check.__name__.removeprefix("check_")
        with contextlib.redirect_stdout(None), warnings.catch_warnings(action="ignore"):
            report = animal.check(animal.answer, seed)  # some answers print, or divide by 0
        reasons = " | ".join(report.reasons)
        named = not report.passed and animal.says != "" and animal.says in reasons
        row = counts.setdefault((animal.check.place, name), [0] * 5)
        if animal.right:
            row[3] += 1
            row[4] += report.passed
        else:
            row[0] += 1
            row[1] += not report.passed
            row[2] += named
            unnamed += [] if named else [f"{name}: {animal.name}"]
        misjudged += [] if report.passed == animal.right else [f"{name}: {animal.name}"]
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [HEAD, *[(*check, *row) for check, row in counts.items()]]
    rows.append(("total", f"{len(counts)} checks", *totals))
    lines = ["{:34} {:22} {:>6} {:>9} {:>6} {:>6} {:>9}".format(*row) for row in rows]
    lines += ["", f"rejected but not named, {len(unnamed)} of {totals[0]}:"]
    lines += [f"  {name}" for name in unnamed]
    if misjudged:
        lines += ["", "MISJUDGED:", *(f"  {name}" for name in misjudged)]
    return "\n".join(lines), not misjudged


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bug_zoo", description=__doc__)
    parser.add_argument("--seed", type=int, help="draw other questions than students see")
    table, well = survey(all_animals(), parser.parse_args().seed)
    print(table)
    sys.exit(0 if well else 1)
