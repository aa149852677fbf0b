"""The claims of a plan with the runs of their records, before and after they are judged.

Records go in; claims that have all their runs come out. ``page`` writes them
down. Explained in notebook 09.
"""

from pathlib import Path

from albert_edu.errors import FileError, read_json
from albert_paper.plan import PLAN, runs_of


def read_runs(results: Path) -> dict[str, list[dict]]:
    """Return the runs of every record. FileError for a record of the plan that lacks them.

    Two records are no row, and the page needs them all the same.
    """
    runs = {}
    for path in sorted(results.glob("*.json")):
        record = read_json(path, FileError)
        if path.stem in PLAN and "runs" not in record:
            raise FileError(f"{path} lacks the runs of an experiment: restore it, or run it again.")
        runs[path.stem] = record.get("runs", [])
    for name in ("cause", "figure1_seeds"):
        if name not in runs:
            raise FileError(f"{results / name}.json is missing: restore it, or run {name} again.")
    return runs


def finished_claims(runs: dict[str, list[dict]]) -> dict[str, dict]:
    """Return the claims of every experiment whose runs are all there, by EXPERIMENT.CLAIM.

    FileError for a record with a run that is not planned, or with one of them twice.
    """
    finished = {}
    for name, section in PLAN.items():
        done = runs.get(name, [])
        planned = {(run.row, run.seed) for run in runs_of(section)}
        found = {(run["row"], run["seed"]) for run in done}
        if found - planned or len(found) < len(done):
            raise FileError(f"{name}.json has runs that the plan has not, or one of them twice.")
        if found == planned:
            common = {"source": section["source"], "setting": section["setting"], "runs": done}
            for key, claim in section["claims"].items():
                finished[f"{name}.{key}"] = common | claim
    return finished


def recorded(claims: dict[str, dict]) -> dict[str, dict]:
    """Return what a file of outcomes keeps of judged claims."""
    asked = ("says", "quote", "source", "criterion", "control", "also", "least")
    kept = (*asked, "word", "p_holm", "parts", "found")
    return {key: {k: claim[k] for k in kept if k in claim} for key, claim in claims.items()}
