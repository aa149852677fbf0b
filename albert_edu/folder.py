"""Where the course's folder is: the clone with notebooks/ and figures/, which an installed package does not carry."""

from pathlib import Path

MARK = Path("notebooks") / "00_start_here.ipynb"


def course_folder() -> Path:
    """Return the course's folder: the current folder or one above it, else the one that this library lies in.

    Raises ValueError where there is none, as after ``pip install`` without a clone.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / MARK).exists():
            return folder
    raise ValueError(
        "this command needs the course's folder, the one with notebooks/ and figures/, and there is none here. "
        "Clone the course's repository, change into its folder, and run the command again."
    )
