"""Checkpoints that survive a kill: written aside, flushed, renamed; so one is whole or not there.

A checkpoint holds the weights, the optimizer's state, and the training state. Nothing is pickled,
and one process at a time writes (notebook 07).
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import Tensor
from torch.optim import Optimizer

from albert_edu.errors import CourseError, errors_about
from albert_edu.model.albert import AlbertForPretraining

KEEP = 2  # the newest, and the one before it in case the newest cannot be read
NAME = re.compile(r"step-\d{8,}")
STATE = "training_state.json"
WEIGHTS = "model.safetensors"
OPTIMIZER = "optimizer.safetensors"


class CheckpointError(CourseError, RuntimeError):
    """A checkpoint cannot be written or is of another run; the message says what to do."""


def save_checkpoint(
    folder: Path, step: int, model: AlbertForPretraining, optimizer: Optimizer, state: dict
) -> None:
    """Write ``folder/step-N``; earlier checkpoints stay until the new one is whole.

    Raises CheckpointError on a full disk.
    """
    aside = folder / ".writing"
    state = {"step": step, "config": _shape(model), **state}
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        save_model(model, str(aside / WEIGHTS))
        save_file(_optimizer_tensors(optimizer), aside / OPTIMIZER)
        (aside / STATE).write_text(json.dumps(state, indent=1) + "\n")
        for path in aside.iterdir():
            flush(path)
        aside.rename(folder / f"step-{step:08d}")
    except Exception as error:  # safetensors reports a full disk with an error type of its own
        shutil.rmtree(aside, ignore_errors=True)
        raise CheckpointError(
            f"could not write the checkpoint of step {step} to {folder}: {error}. Free some space; "
            f"the same command goes on from the newest whole one."
        ) from error
    for old in checkpoints_in(folder)[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)  # what is left of it goes the next time


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, the oldest first.

    One that a user has renamed, such as step-00000006.bad, is no checkpoint, and is not deleted.
    """
    there = [path for path in folder.glob("step-*") if NAME.fullmatch(path.name)]
    return sorted(there, key=step_of)


def step_of(path: Path) -> int:
    """Return the step of a checkpoint.

    >>> step_of(Path("step-00000006"))
    6
    """
    return int(path.name.removeprefix("step-"))


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest checkpoint in a folder, if there is one."""
    there = checkpoints_in(folder)
    return there[-1] if there else None


def resume(
    folder: Path | None, model: AlbertForPretraining, optimizer: Optimizer, run: dict[str, dict]
) -> dict:
    """Load the newest checkpoint, and return its training state; without one, return {}.

    ``run`` is what must not have changed: flat dicts, under their names in the training state.
    Raises CheckpointError when something has, with the model untouched, or for a damaged file.
    """
    path = newest_checkpoint(folder) if folder else None
    if path is None:
        return {}
    advice = "Move it away, and the same command goes on from the checkpoint before it."
    with errors_about(path, CheckpointError, advice):
        state = json.loads((path / STATE).read_text())
        check_same_run(path, state, {"config": _shape(model), **run})
        entries = _optimizer_entries(load_file(path / OPTIMIZER))
        load_model(model, path / WEIGHTS)
        optimizer.load_state_dict(optimizer.state_dict() | {"state": entries})
    return state


def check_same_run(path: Path, state: dict, run: dict[str, dict]) -> None:
    """Raise CheckpointError where the parts of a run differ from those in a training state."""
    changes = []
    for part in run:
        change = differing(state[part], run[part])
        if change and change not in changes:  # a seed stands in several parts, and is told once
            changes.append(change)
    if changes:
        raise CheckpointError(
            f"{path} belongs to another run: {'; '.join(changes)}. Give the same settings to go "
            f"on, another folder, or delete {path.parent} to begin anew."
        )


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
        raise CheckpointError(f"another process trains in {folder}. Give another folder.") from None


def check_free(folder: Path) -> None:
    """Raise CheckpointError if a folder holds what training would replace.

    Training goes on in a folder with checkpoints, and begins anew in one that only its lock marks.
    """
    checkpoints = folder / "checkpoints"
    held = {*folder.glob("[!.]*"), *checkpoints.glob("[!.]*")} - {checkpoints}
    if held and not newest_checkpoint(checkpoints):
        raise CheckpointError(f"{folder} has {min(held).name}, no checkpoint. Give another --out.")


def differing(saved: dict, now: dict) -> str:
    """Return the entries in which two flat dicts differ: ``hidden_size was 64, is 128``."""
    differences = []
    for key in {**saved, **now}:
        before = saved.get(key)
        after = now.get(key)
        if before != after:
            differences.append(f"{key} was {before}, is {after}")
    return ", ".join(differences)


def _shape(model: AlbertForPretraining) -> dict:
    """What must be equal in a checkpoint and in the model that it is loaded into."""
    return vars(model.config) | {"precision": str(next(model.parameters()).dtype)}


def _optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's tensors under names for a file: "3.exp_avg" is of parameter 3."""
    tensors = {}
    for index, entry in optimizer.state_dict()["state"].items():
        for name, tensor in entry.items():
            tensors[f"{index}.{name}"] = tensor.detach().cpu().contiguous()
    return tensors


def _optimizer_entries(tensors: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """Return what ``_optimizer_tensors`` wrote as the optimizer's own state has it."""
    entries: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        # A copy, because a file that tensors are views of could not be deleted.
        entries.setdefault(int(index), {})[name] = tensor.clone()
    return entries


def flush(path: Path) -> None:
    """Wait until the disk has a file, so that a power cut after the rename finds it whole."""
    with path.open("r+b") as file:  # Windows flushes only files that may be written
        os.fsync(file.fileno())
