"""A folder for what was trained: tried before, written whole, and never lost at the end."""

import errno
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from albert_edu.errors import InputError, RunError

Said = TypeVar("Said")
WRITING = ".writing"  # where a folder is written, until it is whole


def check_empty(folder: Path) -> None:
    """Raise InputError for a folder that holds anything but what a broken run left behind."""
    if not folder.is_dir():
        return
    held = sorted({path.name for path in folder.iterdir()} - {WRITING})
    if held:
        raise InputError(f"{folder} is not empty, it has {held[0]}. Give another --out.")


def try_writing(folder: Path, size: int = 0) -> None:
    """Raise InputError unless a folder takes so many bytes; nothing of the trial stays."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), folder, size)
            file.write(b"trial")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        need = f" of {size / 1e6:,.0f} MB" if error.errno == errno.ENOSPC and size else ""
        raise InputError(
            f"{folder} takes no files{need}: {error.strerror or error}. Give another --out."
        ) from error
    finally:
        for place in missing:
            if place.is_dir():
                place.rmdir()


def _reserve(file: int, folder: Path, size: int) -> None:
    """Raise OSError unless the disk has room for so many bytes."""
    if not size:
        return
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    elif shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_whole(folder: Path, write: Callable[[Path], Said]) -> tuple[Path, Said]:
    """Let ``write`` fill a folder aside, and move the files to ``folder``.

    Returns the folder in which they are now, and what ``write`` returned. Where that fails, they
    are written to another place, which a warning names. Raises RunError where no place takes them.
    """
    aside = folder / WRITING
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        said = write(aside)
        for file in sorted(aside.iterdir()):
            file.replace(folder / file.name)
        aside.rmdir()
    except Exception as error:  # safetensors has an error of its own for a full disk
        shutil.rmtree(aside, ignore_errors=True)
        elsewhere = _write_elsewhere(write)
        if elsewhere is None:
            raise RunError(f"{folder} could not be written ({error}), nor any other.") from error
        warnings.warn(
            f"{folder} could not be written ({error}). What was trained is in {elsewhere[0]}.",
            stacklevel=2,
        )
        return elsewhere
    return folder, said


def write_text(path: Path, text: str) -> None:
    """Write a text file aside and rename it, so that the file is whole at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.writing")
    try:
        aside.write_text(text, encoding="utf-8", newline="\n")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write_elsewhere(write: Callable[[Path], Said]) -> tuple[Path, Said] | None:
    """Write into a new folder of the first place that takes it; None if there is none."""
    for place in (tempfile.gettempdir(), os.getcwd(), os.path.expanduser("~")):
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="albert-edu-", dir=place))
            return elsewhere, write(elsewhere)
        except Exception:  # this place is full, too
            continue
    return None
