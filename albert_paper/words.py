"""The words of a row: what the paper prints and what our runs measured, put into its sentences.

A judged claim of a plan and the records go in; its row comes out, for CLAIMS.md and ASKED_AGAIN.md.
"""

import re

from albert_paper.claim_pictures import runs_kept
from albert_paper.columns import shown
from albert_paper.outcomes import compare, parse
from albert_paper.published import TABLES

# {a < b: column}, {record/a: column}
REFERENCE = re.compile(r"\{(?:(\w+)/)?([^{}:]+): ([\w.-]+)\}")


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
    kept = claim | {"runs": runs_kept(claim)}
    return claim | {
        "paper": paper_of(claim),
        "ours": filled(ours, kept, runs, claims, tell_n=True),
        "note": filled(claim.get("note", ""), kept, runs, claims),
    }


def paper_of(claim: dict) -> str:
    """Return what the paper prints, in the words of a claim of the plan."""
    return claim.get("paper", "").format(*map(printed, claim.get("printed", ())))


def filled(text: str, claim: dict, runs: dict, claims: dict, tell_n: bool = False) -> str:
    """Put what was measured in the place of {a < b: column}, and the word of {EXPERIMENT.CLAIM}.

    ``tell_n`` puts the number of seeds behind the first number, and behind each one that is of
    other seeds than the one before it; a number of another record always has it.
    """
    told = None

    def number(match: re.Match) -> str:
        """Return the number that a reference asks for, and behind it its n."""
        nonlocal told
        record, sides, column = match.groups()
        difference = " < " in sides
        criterion = f"{column}: {sides}" if difference else f"{column}: 0 < {sides}"
        found = compare(criterion, claim | {"runs": runs[record]} if record else claim)
        tell = record or (tell_n and found["n"] != told)
        told = told if record else found["n"]
        behind = f" (n = {found['n']})" if tell else ""
        return shown(found, column, difference or " - " in sides) + behind

    text = REFERENCE.sub(number, text)
    return re.sub(r"\{(\w+\.\w+)\}", lambda match: claims[match[1]]["word"], text)
