"""Checkpoints that survive a kill: written aside, flushed, renamed; so one is whole or not there.

A checkpoint is a model folder under our own names, the optimizer's state, and the training state.
Nothing is pickled, and one process at a time writes (notebook 07).
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

from albert_edu.errors import blame, read_file, read_json
from albert_edu.model.formats import OURS
from albert_edu.model.interchange import WEIGHTS, read_weights, write_folder
from albert_edu.text.tokenizer import AlbertTokenizer

KEEP = 2  # the newest, and the one before it in case the newest cannot be read
STATE, OPTIMIZER = "training_state.json", "optimizer.safetensors"


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
    target, aside = folder / f"step-{step:08d}", folder / ".writing"
    tensors = {
        f"{index}.{name}": value.detach().cpu().contiguous()
        for index, entry in optimizer.state_dict()["state"].items()
        for name, value in entry.items()
    }
    try:
        shutil.rmtree(aside, ignore_errors=True)
        write_folder(model, tokenizer, aside, type(model).__name__, native=True)
        save_file(tensors, aside / OPTIMIZER)
        state = {"step": step, "config": _shape(model), **state}
        (aside / STATE).write_text(json.dumps(state, indent=1) + "\n")
        for path in aside.iterdir():
            _flush(path)
        shutil.rmtree(target, ignore_errors=True)  # one of the same step that could not be read
        aside.rename(target)
    except Exception as error:  # safetensors reports a full disk with an error type of its own
        shutil.rmtree(aside, ignore_errors=True)
        kept = ", ".join(path.name for path in sorted(folder.glob("step-*"))) or "none"
        raise CheckpointError(
            f"could not write the checkpoint of step {step} to {folder}: {error}. Checkpoints "
            f"kept: {kept}. Free some space; the same command goes on from the newest one."
        ) from error
    # Later ones could not be read, or this would be a later step; they must not crowd it out.
    earlier = sorted(path for path in folder.glob("step-*") if path <= target)
    for old in earlier[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)  # what is left of it goes the next time
    return target


def newest_checkpoint(folder: str | Path) -> Path | None:
    """Return the newest checkpoint that can be read; a warning names each one that cannot."""
    for path in sorted(Path(folder).glob("step-*"), reverse=True):
        try:
            read_state(path)
            for name in (WEIGHTS, OPTIMIZER):  # a file that was cut short does not open
                with read_file(
                    path / name, lambda file: safe_open(file, "pt"), CheckpointError, None
                ):
                    pass
            return path
        except CheckpointError as error:
            message = f"checkpoint {path.name} is damaged ({error}); an earlier one is looked for."
            warnings.warn(message, stacklevel=2)
    return None


def resume(
    folder: Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, run: dict[str, dict]
) -> dict:
    """Load the newest checkpoint, and return its training state; without one, return {}.

    ``run`` is what must not have changed: flat dicts, under their names in the training state.
    Raises CheckpointError when something has, and as ``load_checkpoint`` does.
    """
    path = newest_checkpoint(folder) if folder else None
    if path is None:
        return {}
    state = read_state(path)
    run = {"config": _shape(model), **run}
    # A seed stands in several parts, and is told once.
    changes = dict.fromkeys(differing(state.get(part), run[part]) for part in run)
    if told := "; ".join(filter(None, changes)):
        raise CheckpointError(
            f"{path} belongs to another run: {told}. Give the same settings to go on, another "
            f"folder, or delete {folder} to begin anew."
        )
    return load_checkpoint(path, model, optimizer)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict:
    """Put a checkpoint's weights and optimizer state into place; return its training state.

    Raises CheckpointError, or InterchangeError for the weights, when they cannot be used. Then the
    model is untouched.
    """
    weights = read_weights(path, {"model_type": OURS}, model)
    entries: dict[int, dict] = {}
    with blame(path / OPTIMIZER, CheckpointError):
        for key, tensor in load_file(path / OPTIMIZER).items():
            index, name = key.split(".", 1)
            # A copy, because a file that tensors are views of could not be deleted.
            entries.setdefault(int(index), {})[name] = tensor.clone()
    model.load_state_dict(weights, strict=False)  # a tied tensor is in the file once
    optimizer.load_state_dict(optimizer.state_dict() | {"state": entries})
    return read_state(path)


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
    """Raise CheckpointError if a folder holds what training would replace.

    Training goes on in a folder with checkpoints, and begins anew in one that only its lock marks.
    """
    if not folder or overwrite or newest_checkpoint(folder / "checkpoints"):
        return
    begun = (folder / "checkpoints" / ".lock").exists()
    held = {file.name for file in folder.glob("*.safetensors*" if begun else "*")}
    if held:
        raise CheckpointError(
            f"{folder} holds {min(held - {'checkpoints'} or held)} and no checkpoint to go on "
            f"from, and training would replace files there. Give another --out, or --overwrite."
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
    dtype = str(next(model.parameters()).dtype)
    return dataclasses.asdict(model.albert.config) | head | {"precision": dtype}


def _flush(path: Path) -> None:
    """Wait until the disk has a file, so that a power cut after the rename finds it whole."""
    with path.open("r+b") as file:  # Windows flushes only files that may be written
        os.fsync(file.fileno())
