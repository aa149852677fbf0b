"""The claims of a plan with the runs of their records, before and after they are judged.

Records go in; claims that have all their runs come out, and which arms of the older plan were found
dead. ``page`` and ``asked_again`` write them down. Explained in notebook 09.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from albert_edu.errors import FileError, read_json
from albert_paper.plan import NEW_PLAN, PLAN, runs_of


def read_runs(results: Path) -> dict[str, list[dict]]:
    """Return the runs of every record. FileError for a record of the plan that lacks them."""
    runs = {}
    for path in sorted(results.glob("*.json")):
        record = read_json(path, FileError)
        if path.stem in PLAN | NEW_PLAN and "runs" not in record:
            raise FileError(f"{path} lacks the runs of an experiment: restore it, or run it again.")
        runs[path.stem] = record.get("runs", [])
    return runs


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


def dead_arms(again: Sequence[dict]) -> dict[str, list[str]]:
    """Return by experiment which of its arms learnt and yet had a dead half when run again.

    ``again`` are the runs of section ``old_arms``, whose rows are called EXPERIMENT: ROW. A start
    that never learnt says nothing about an arm: such seeds are left out of every comparison.

    >>> health = {"alive": False}
    >>> dead_arms([{"row": "gap: shared", "never_learnt": 0.0, "health": health}])
    {'gap': ['shared']}
    """
    dead: dict[str, list[str]] = {}
    for run in again:
        if not run["never_learnt"] and not run["health"]["alive"]:
            name, row = run["row"].split(": ")
            dead.setdefault(name, []).append(row)
    return dead


def recorded(claims: dict[str, dict]) -> dict[str, dict]:
    """Return what a file of outcomes keeps of judged claims."""
    kept = ("says", "quote", "source", "criterion", "control", "least", "word", "p_holm", "parts")
    return {key: {k: claim[k] for k in kept if k in claim} for key, claim in claims.items()}
