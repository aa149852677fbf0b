"""The words of a row: what the paper prints and what our runs measured, put into its sentences.

A judged claim of the plan goes in; its row of CLAIMS.md and its section of COMPARISONS.md come out.
"""

import re

from albert_paper.claim_pictures import runs_kept
from albert_paper.columns import shown
from albert_paper.criterion import parse
from albert_paper.outcomes import compare
from albert_paper.published import TABLES

REFERENCE = re.compile(r"\{([^{}:]+): ([\w.-]+)\}")  # {a < b: column}


def printed(reference: list) -> float:
    """Return a number of the paper, [table, column, key ...], or one such minus another."""
    if isinstance(reference[0], list):
        return round(printed(reference[0]) - printed(reference[1]), 2)
    number, column, *key = reference
    return TABLES[number][tuple(key) if len(key) > 1 else key[0]][column]


def row_of(claim: dict) -> dict:
    """Return a judged claim with the words of its row, and what its comparisons ``found``."""
    kept = claim | {"runs": runs_kept(claim)}
    return claim | {
        "paper": paper_of(claim),
        "ours": filled(claim["ours"], kept, tell_n=True),
        "note": filled(claim.get("note", ""), kept),
        "found": comparisons(claim),
    }


def paper_of(claim: dict) -> str:
    """Return what the paper prints, in the words of a claim of the plan."""
    return claim.get("paper", "").format(*map(printed, claim.get("printed", ())))


def filled(text: str, claim: dict, tell_n: bool = False) -> str:
    """Put what was measured in the place of {a < b: column}.

    ``tell_n`` puts the number of seeds behind the first number, and behind each one that is of
    other seeds than the one before it.
    """
    told = None

    def number(match: re.Match) -> str:
        """Return the number that a reference asks for, and behind it its n."""
        nonlocal told
        sides, column = match.groups()
        difference = " < " in sides
        found = compare(f"{column}: {sides if difference else f'0 < {sides}'}", claim)
        behind = f" (n = {found['n']})" if tell_n and found["n"] != told else ""
        told = found["n"]
        return shown(found, column, difference or " - " in sides) + behind

    return REFERENCE.sub(number, text)


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
            numbers = {name: part[name] for name in ("mean", "half", "n", "stuck")}
            found[kind].append({"text": text, "found": words, "arms": arms} | numbers)
    return found
