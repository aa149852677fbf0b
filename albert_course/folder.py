"""Where the course's folder is, the clone with notebooks/ and figures/.

An installed package does not carry them.
"""

from pathlib import Path

from albert_edu.errors import InputError

MARK = Path("notebooks") / "00_start_here.ipynb"


def course_folder() -> Path:
    """Return the course's folder: the current folder, one above it, or the one of this library.

    Raises ValueError where there is none, as after ``pip install`` without a clone.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / MARK).exists():
            return folder
    raise InputError(
        "this needs the course's folder, which has notebooks/ and figures/, and there is none "
        f"here ({here}). Clone the course's repository, go to its folder, and try again."
    )
