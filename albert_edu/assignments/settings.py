"""Where the notebooks are, and what a submission may take. Apart, so that a command line can name them without loading the rest."""

from dataclasses import dataclass
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks" / "assignments"
SOURCES, RELEASES = NOTEBOOKS / "source", NOTEBOOKS / "release"


@dataclass(frozen=True)
class Limits:
    """What a submission may take: seconds a cell or call, seconds in all, bytes beyond what torch takes itself."""

    seconds: float = 10.0
    seconds_in_all: float = 300.0
    bytes: int = 2 << 30
