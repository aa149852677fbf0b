"""Where a recorded number comes from: command, commit, device, date, seconds.

Every record of ``figures/results`` has it, and is written whole.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from albert_edu.output import write_text
from albert_edu.training.workers import device_name

ROOT = Path(__file__).resolve().parents[1]


def here_and_now(device: torch.device) -> dict[str, str]:
    """Return with what and when something is measured: device, commit, date (UTC), versions.

    The third domain is a part of Python, so its text is that of a version.
    """
    return {
        "device": device_name(device),
        "commit": commit(),
        "date": str(datetime.now(UTC).date()),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def name_of(settings: list) -> str:
    """Return a name that is the same on every machine for the same settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def provenance(command: str, runs: Collection[dict]) -> dict:
    """Return what a reader needs to do runs again, and what a sceptic asks first.

    Runs of several machines, commits or days name them all. ``seconds`` count a stage that several
    runs took up in each of them.
    """
    record: dict[str, Any] = {"command": f"python -m albert_paper {command}"}
    for name in ("device", "commit", "date", "torch", "python"):
        known = {run[name] for run in runs if name in run}  # older runs name no Python
        if known:
            record[name] = "; ".join(sorted(known))
    record["seeds"] = sorted({run["seed"] for run in runs})
    record["seconds"] = round(sum(run["training_seconds"] for run in runs), 1)
    return record


def commit() -> str:
    """Return the commit's first ten digits, with a + when the code has changed since.

    On a machine without the repository the environment variable ALBERT_EDU_COMMIT names it.
    """
    if named := os.environ.get("ALBERT_EDU_COMMIT"):
        return named
    changed = "+" if git("status", "-s", "albert_edu", "albert_paper") else ""
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + changed


def git(*words: str) -> str:
    """Return what git prints about this repository: nothing where there is none, or no git."""
    command = ["git", "-C", str(ROOT), *words]
    if not shutil.which("git"):
        return ""
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def write_json(path: Path, record: dict) -> None:
    """Write a record so that the file is whole at any moment."""
    write_text(path, json.dumps(record, indent=1) + "\n")
