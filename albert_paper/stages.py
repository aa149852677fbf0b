"""The stages of a run, and what runs that begin in the same way need to train only once.

A run that branches, or one of a deeper stack, repeats the first stages of another run bit by bit.
So the last checkpoint of a finished stage (weights, optimizer, records) is copied to a folder that
is named by all that led to it, and the next run takes it up there. Sections ``dropout``, ``third``
and ``layers`` of the plan have such runs; ``plan.run_experiment`` says where the folders are, and
deletes them when all runs are done.
"""

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from albert_edu.text.masking import MASK_RATE, MAX_NGRAM
from albert_edu.training.checkpoint import flush, newest_checkpoint


class Stage(NamedTuple):
    """A part of a run: a depth, its steps, peak learning rate, tokens of a sequence, and so on.

    ``mask_rate`` and ``max_ngram`` are those of the stream: which tokens are masked.
    """

    num_layers: int
    steps: int
    learning_rate: float
    sequence_length: int
    mask_rate: float = MASK_RATE
    max_ngram: int = MAX_NGRAM
    dropout: float | None = None  # None means that of the run
    corpus: str = ""  # that of the run when empty


def take_up_stage(finished: Path, own: Path) -> None:
    """Copy the end of a stage that another run has trained, unless this run has begun it."""
    newest = newest_checkpoint(finished)
    if newest and not own.exists():
        _copy_whole(newest, own)


def leave_stage(own: Path, finished: Path) -> None:
    """Copy the end of a finished stage for runs that begin in the same way.

    On a full disk it is not there, and they train it themselves.
    """
    newest = newest_checkpoint(own)
    if newest and not finished.exists():
        with contextlib.suppress(OSError, shutil.Error):
            _copy_whole(newest, finished)


def _copy_whole(checkpoint: Path, folder: Path) -> None:
    """Copy a checkpoint into a new folder, which is there when all of it is.

    Another process may have made the same folder meanwhile.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".copy-") as scratch:
        whole = Path(scratch, "whole")
        shutil.copytree(checkpoint, whole / checkpoint.name)
        for path in (whole / checkpoint.name).iterdir():
            flush(path)
        try:
            whole.rename(folder)
        except OSError:
            if not folder.exists():
                raise
