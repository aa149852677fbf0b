"""The claims of a plan with the runs of their records, before and after they are judged.

Records go in; claims that have all their runs come out. ``page`` writes them
down. Explained in notebook 09.
"""

from pathlib import Path

from albert_edu.errors import FileError, read_json
from albert_paper.plan import PLAN, runs_of


def read_runs(results: Path) -> dict[str, list[dict]]:
    """Return the runs of every record. FileError for a record of the plan that lacks them."""
    runs = {}
    for path in sorted(results.glob("*.json")):
        record = read_json(path, FileError)
        if path.stem in PLAN and "runs" not in record:
            raise FileError(f"{path} lacks the runs of an experiment: restore it, or run it again.")
        runs[path.stem] = record.get("runs", [])
    return runs


def finished_claims(runs: dict[str, list[dict]]) -> dict[str, dict]:
    """Return the claims of every experiment whose runs are all there, by EXPERIMENT.CLAIM."""
    finished = {}
    for name, section in PLAN.items():
        done = runs.get(name, [])
        if len(done) == len(runs_of(section)):
            common = {"source": section["source"], "setting": section["setting"], "runs": done}
            for key, claim in section["claims"].items():
                finished[f"{name}.{key}"] = common | claim
    return finished


def recorded(claims: dict[str, dict]) -> dict[str, dict]:
    """Return what a file of outcomes keeps of judged claims."""
    kept = ("says", "quote", "source", "criterion", "control", "least", "word", "p_holm", "parts")
    return {key: {k: claim[k] for k in kept if k in claim} for key, claim in claims.items()}
