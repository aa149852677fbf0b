"""Checkpoints that survive a pulled plug: written aside, checksummed, renamed; read back only when whole.

A checkpoint is a model folder (``transformers``' own where it can express the model) plus the optimizer's state and
``training_state.json``. Nothing is pickled.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import warnings
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained, save_pretrained
from albert_edu.text.tokenizer import AlbertTokenizer

KEEP = 2  # the newest, and the one before it in case the newest is damaged
STATE, OPTIMIZER, CHECKSUMS = "training_state.json", "optimizer.safetensors", "checksums.json"


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written, or does not belong to this run; the message says which and what to do."""


def save_checkpoint(
    folder: str | Path, step: int, model: AlbertForPretraining, tokenizer: AlbertTokenizer | None,
    optimizer: torch.optim.Optimizer, state: dict,
) -> Path:  # fmt: skip
    """Write ``folder/step-N``; earlier checkpoints stay until the new one is whole. Raises CheckpointError on a full disk."""
    folder = Path(folder)
    target, aside = folder / f"step-{step:08d}", folder / f".writing-{step:08d}"
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        save_pretrained(model, tokenizer, aside, native=True)
        save_file(_flatten(optimizer), aside / OPTIMIZER)
        state = {"step": step, "config": dataclasses.asdict(model.config), **state}
        (aside / STATE).write_text(json.dumps(state, indent=1) + "\n")
        (aside / CHECKSUMS).write_text(json.dumps({path.name: _sha256(path) for path in sorted(aside.iterdir())}, indent=1) + "\n")
        for path in aside.iterdir():
            _flush(path)
        shutil.rmtree(target, ignore_errors=True)  # a damaged one of the same step
        aside.rename(target)
        _flush(folder)
    except Exception as error:  # safetensors reports a full disk with an error type of its own
        shutil.rmtree(aside, ignore_errors=True)
        kept = ", ".join(path.name for path in _checkpoints(folder)) or "none"
        raise CheckpointError(
            f"could not write the checkpoint of step {step} to {folder}: {error}. Checkpoints kept: {kept}. Free some space and "
            f"give the same command again; training goes on from the newest one."
        ) from error
    earlier = [path for path in _checkpoints(folder) if path <= target]  # damaged ones of later steps must not crowd it out
    for old in earlier[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)  # what is left of it goes the next time
    return target


def newest_checkpoint(folder: str | Path) -> Path | None:
    """The newest whole checkpoint. Damaged ones are named in a warning and passed over, never deleted."""
    for path in reversed(_checkpoints(Path(folder))):
        damage = find_damage(path)
        if damage is None:
            return path
        warnings.warn(f"checkpoint {path.name} is damaged ({damage}); going back to the one before it.", stacklevel=2)
    return None


def find_damage(path: Path) -> str | None:
    """What is wrong with a checkpoint's files, or None if every checksum holds."""
    try:
        checksums = json.loads((path / CHECKSUMS).read_text())
    except (OSError, ValueError):
        return f"{CHECKSUMS} is missing or unreadable"
    for name, expected in checksums.items():
        if not (path / name).exists():
            return f"{name} is missing"
        if _sha256(path / name) != expected:
            return f"{name} does not match its checksum"
    return None


def load_checkpoint(path: Path, model: AlbertForPretraining, optimizer: torch.optim.Optimizer) -> dict:
    """Put a checkpoint's weights and optimizer state into place; return its training state.

    Raises CheckpointError when the checkpoint is of a model of another shape.
    """
    with torch.random.fork_rng(devices=[]):  # building a model draws; the caller's random state stays
        saved, _ = load_pretrained(path)
    training_state = read_state(path)
    # Our own words for it: transformers has one for "one group a layer" and "nothing shared".
    if differences := differing(training_state["config"], dataclasses.asdict(model.config)):
        raise CheckpointError(f"{path} is a checkpoint of another config: {differences}. Use another --out, or that config.")
    model.load_state_dict(saved.state_dict())
    flat = load_file(path / OPTIMIZER)
    state = optimizer.state_dict()
    state["state"] = {}
    for key, tensor in flat.items():
        index, name = key.split(".", 1)
        state["state"].setdefault(int(index), {})[name] = tensor.clone()  # not a view of the file, which could not be deleted
    optimizer.load_state_dict(state)
    return training_state


def read_state(path: Path) -> dict:
    """The training state of a checkpoint: its step, its config, and what the run left there."""
    return json.loads((path / STATE).read_text())


def weights_fingerprint(model: AlbertForPretraining) -> str:
    """Sixteen hex digits that change with any weight."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(name.encode() + parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def differing(saved: dict, now: dict) -> str:
    """The entries in which two flat dicts differ, as text: ``hidden_size was 64, is 128``."""
    keys = [key for key in {**saved, **now} if saved.get(key) != now.get(key)]
    return ", ".join(f"{key} was {saved.get(key)}, is {now.get(key)}" for key in keys)


def _flatten(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": value.detach().cpu().contiguous() for index, entry in state.items() for name, value in entry.items()}


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*")) if folder.is_dir() else []


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    """Ask the system to put a file or a folder on the disk (a rename is only safe once what it renames is there)."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what may be written
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
