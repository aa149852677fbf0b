"""Checkpoints that survive a power cut: written aside, checksummed, renamed; read only when whole.

A checkpoint is a model folder (``transformers``' own where it can express the model) plus the
optimizer's state and ``training_state.json``. Nothing is pickled. One process at a time writes.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from albert_edu.errors import read_file, read_json
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.folders import read_config, read_weights
from albert_edu.model.formats import OURS
from albert_edu.model.interchange import save_pretrained
from albert_edu.text.tokenizer import AlbertTokenizer

KEEP = 2  # the newest, and the one before it in case the newest is damaged
STATE, OPTIMIZER, CHECKSUMS = "training_state.json", "optimizer.safetensors", "checksums.json"
WEIGHTS = "model.safetensors"


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written or is of another run; the message says what to do."""


def save_checkpoint(
    folder: str | Path,
    step: int,
    model: nn.Module,
    tokenizer: AlbertTokenizer | None,
    optimizer: torch.optim.Optimizer,
    state: dict,
) -> Path:
    """Write ``folder/step-N``; earlier checkpoints stay until the new one is whole.

    Raises CheckpointError on a full disk.
    """
    folder = Path(folder)
    target, aside = folder / f"step-{step:08d}", folder / f".writing-{step:08d}"
    state = {"step": step, "config": _shape(model), **state}
    tensors = {
        f"{index}.{name}": value.detach().cpu().contiguous()
        for index, entry in optimizer.state_dict()["state"].items()
        for name, value in entry.items()
    }
    seal = fingerprint(dict(model.named_parameters()) | tensors)
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        if isinstance(model, AlbertForPretraining):
            save_pretrained(model, tokenizer, aside, native=True)
        else:
            save_file({name: p.cpu() for name, p in model.state_dict().items()}, aside / WEIGHTS)
        save_file(tensors, aside / OPTIMIZER, metadata={"seal": seal})
        (aside / STATE).write_text(json.dumps(state, indent=1) + "\n")
        checksums = {path.name: _sha256(path) for path in sorted(aside.iterdir())}
        (aside / CHECKSUMS).write_text(json.dumps(checksums, indent=1) + "\n")
        for path in aside.iterdir():
            _flush(path)
        shutil.rmtree(target, ignore_errors=True)  # a damaged one of the same step
        aside.rename(target)
        _flush(folder)
    except Exception as error:  # safetensors reports a full disk with an error type of its own
        shutil.rmtree(aside, ignore_errors=True)
        kept = ", ".join(path.name for path in sorted(folder.glob("step-*"))) or "none"
        raise CheckpointError(
            f"could not write the checkpoint of step {step} to {folder}: {error}. Checkpoints "
            f"kept: {kept}. Free some space and give the same command again; training goes on from "
            f"the newest one."
        ) from error
    # Damaged checkpoints of later steps must not crowd the new one out.
    earlier = sorted(path for path in folder.glob("step-*") if path <= target)
    for old in earlier[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)  # what is left of it goes the next time
    return target


def newest_checkpoint(folder: str | Path) -> Path | None:
    """Return the newest whole checkpoint. Damaged ones are named in a warning and never deleted."""
    for path in sorted(Path(folder).glob("step-*"), reverse=True):
        if (damage := find_damage(path)) is None:
            return path
        warnings.warn(
            f"checkpoint {path.name} is damaged ({damage}); going back to the one before it.",
            stacklevel=2,
        )
    return None


def find_damage(path: Path) -> str | None:
    """Return what is wrong with a checkpoint's files, or None if they are whole and agree."""
    try:
        checksums = read_json(path / CHECKSUMS, CheckpointError)
        for name in dict.fromkeys((*checksums, WEIGHTS, OPTIMIZER, STATE)):
            if read_file(path / name, _sha256, CheckpointError, None) != checksums.get(name):
                return f"{name} does not match its checksum in {CHECKSUMS}"
        step = read_state(path).get("step")
    except CheckpointError as error:
        return str(error)
    whole = f"step-{step!r:0>8}" == path.name
    return None if whole else f"{STATE} says that its step is {step!r}"


def resume(
    folder: Path | None,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    run: dict[str, dict],
    needs: tuple[str, ...] = (),
) -> dict:
    """Load the newest whole checkpoint, and return its training state; without one, return {}.

    ``run`` is what must not have changed: flat dicts, under their names in the training state.
    Raises CheckpointError when something has, when the state lacks one of these or of what else the
    caller ``needs``, and as ``load_checkpoint`` does.
    """
    path = newest_checkpoint(folder) if folder else None
    if path is None:
        return {}
    state = {"held_out": run.get("held_out")} | read_state(path)  # older ones do not name that text
    if lacking := [name for name in ("config", *run, *needs) if state.get(name) is None]:
        raise CheckpointError(
            f"{path} has an incomplete {STATE}, without {', '.join(lacking)}. Move that folder "
            f"away to go on from the checkpoint before it."
        )
    if changes := "; ".join(filter(None, (differing(state[part], run[part]) for part in run))):
        raise CheckpointError(
            f"{path} belongs to another run: {changes}. Give the same settings to go on, or "
            f"another folder."
        )
    return load_checkpoint(path, model, optimizer)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict:
    """Put a checkpoint's weights and optimizer state into place; return its training state.

    Raises CheckpointError when the checkpoint is of a model of another shape or precision, and when
    its optimizer state does not belong to its weights. Then the model is untouched.
    """
    state = read_state(path)
    # In our own words: transformers has one word for "one group per layer" and "nothing shared".
    if differences := differing(state["config"], _shape(model)):
        raise CheckpointError(
            f"{path} is a checkpoint of another config: {differences}. Use another --out, or that "
            f"config."
        )
    pretraining = isinstance(model, AlbertForPretraining)
    weights = read_weights(path, read_config(path) if pretraining else {"model_type": OURS}, model)
    stored, wanted = (next(iter(part)).dtype for part in (weights.values(), model.parameters()))
    if stored != wanted:
        raise CheckpointError(
            f"{path} holds {stored}, the model {wanted}: use model.to({stored}), or another folder."
        )
    tensors = read_file(path / OPTIMIZER, load_file, CheckpointError, None)
    with safe_open(path / OPTIMIZER, "pt") as file:
        seal = (file.metadata() or {}).get("seal")  # the oldest checkpoints have none
    if seal not in (None, fingerprint(weights | tensors)):
        raise CheckpointError(
            f"{path / OPTIMIZER} does not belong to the weights beside it: it is incomplete, or of "
            f"another step, precision or run. Move {path} away to go on from the checkpoint before "
            f"it."
        )
    entries: dict[int, dict] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        # A copy, because a file that tensors are views of could not be deleted.
        entries.setdefault(int(index), {})[name] = tensor.clone()
    model.load_state_dict(weights, strict=False)  # a tied tensor is in the file once
    optimizer.load_state_dict(optimizer.state_dict() | {"state": entries})
    return state


@contextmanager
def only_process(folder: Path) -> Iterator[None]:
    """Hold the lock of a checkpoint folder; raise CheckpointError if another process trains there.

    The operating system releases the lock of a process that was killed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise CheckpointError(
            f"another process is training in {folder}. Wait for it, or give another folder."
        ) from None


def check_free(folder: Path | None, overwrite: bool) -> None:
    """Raise CheckpointError if a folder holds a model without a checkpoint of its training."""
    if not folder or overwrite or newest_checkpoint(folder / "checkpoints"):
        return
    if [*folder.glob("*.safetensors*"), *folder.glob("pytorch_model*.bin")]:
        raise CheckpointError(
            f"{folder} holds a finished model, which training would replace. Give another --out, "
            f"or --overwrite."
        )


def read_state(path: Path) -> dict:
    """Return a checkpoint's training state: its step, its config, and what the run left there."""
    return read_json(path / STATE, CheckpointError)


def fingerprint(tensors: dict[str, torch.Tensor]) -> str:
    """Return sixteen hex digits that change with any tensor and its name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def differing(saved: object, now: dict) -> str:
    """Return the entries in which two flat dicts differ: ``hidden_size was 64, is 128``."""
    saved = saved if isinstance(saved, dict) else {}  # a file may hold anything
    keys = [key for key in {**saved, **now} if saved.get(key) != now.get(key)]
    return ", ".join(f"{key} was {saved.get(key)}, is {now.get(key)}" for key in keys)


def _shape(model: nn.Module) -> dict:
    """What must be equal in a checkpoint and in the model that it is loaded into."""
    head = {"head": str(model.head)} if hasattr(model, "head") else {}
    return dataclasses.asdict(model.albert.config) | head


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    """Ask the system to write a file or a folder to the disk, so that renaming it is safe."""
    if os.name == "nt" and path.is_dir():
        return
    # Windows flushes only files that may be written.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
