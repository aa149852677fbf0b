"""Kill a training in the middle, as a power cut would, to see whether it goes on (notebook 07)."""

import copy
import dataclasses
import multiprocessing
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from tqdm import tqdm

from albert_edu.config import check_whole
from albert_edu.errors import InputError, RunError
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training.checkpoint import newest_checkpoint, step_of
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings


def train_and_kill(
    model: AlbertForPretraining,
    stream: PretrainingStream,
    settings: TrainSettings,
    folder: str | Path,
    step: int,
) -> str:
    """Train in a process of its own and kill it after ``step`` steps; what it learnt is lost.

    Returns the name of the newest checkpoint in ``folder``, which is all that is left, or "nothing"
    if there is none. ``model`` stays as it is. The signal is the one that no process can catch.
    Raises InputError for a step that the run does not have, or has behind it, and RunError if the
    training ends before it, as one that was at its end already does.
    """
    check_whole("step", step, 1, settings.steps)
    newest = newest_checkpoint(Path(folder))
    done = step_of(newest) if newest else 0
    if step <= done < settings.steps:
        raise InputError(f"{folder} is at step {done} already: take a later step, or a new folder.")
    spawn = multiprocessing.get_context("spawn")  # the only way that all systems have
    here, there = spawn.Pipe(duplex=False)
    run = (model, stream, settings, Path(folder), step, torch.get_num_threads(), there)
    process = spawn.Process(target=_train_until, args=run)
    process.start()
    there.close()  # its end is the other process's now, so that we notice when that one ends
    try:
        here.recv()
    except EOFError:
        raise RunError(f"the training ended before step {step}: nothing was killed") from None
    finally:
        process.kill()
        process.join()
    left = newest_checkpoint(Path(folder))
    return left.name if left else "nothing"


def _train_until(
    model: AlbertForPretraining,
    stream: PretrainingStream,
    settings: TrainSettings,
    folder: Path,
    step: int,
    threads: int,
    connection: Connection,
) -> None:
    """Train, tell the parent when ``step`` steps are done, and wait there for the end."""

    def wait_for_the_end(model: AlbertForPretraining) -> dict:
        """Say that the step is done, and do nothing more."""
        connection.send(step)
        if parent := multiprocessing.parent_process():
            parent.join()  # and if the parent is killed first, this process ends, too
        return {}

    tqdm.set_lock(threading.RLock())  # its own is the system's, which a kill would leave behind
    torch.set_num_threads(threads)  # the order of additions depends on it
    own = copy.deepcopy(model)  # torch shares the memory of what it sends to another process
    settings = dataclasses.replace(settings, evaluate_every=step)
    pretrain(own, stream, settings, folder, describe=None, observe=wait_for_the_end)
