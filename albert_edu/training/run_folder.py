"""Who may write into a run's folder: one process at a time, and never over a finished model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from albert_edu.training.checkpoint import CheckpointError, newest_checkpoint


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
