"""A progress bar that suits where it is shown: a terminal, a notebook, or a log file."""

import os
import sys
from collections.abc import Iterable

from tqdm.auto import tqdm


def progress_bar(description: str | None, rows: Iterable | None = None, **counts: int) -> tqdm:
    """Return tqdm's bar, to iterate over ``rows`` or to update; ``counts`` are total and initial.

    It shows once the work takes longer than three seconds. Where nobody watches it, it is written
    every ten seconds only. A ``description`` of None silences it, and so does the environment
    variable TQDM_DISABLE.
    """
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    if description is None or os.environ.get("TQDM_DISABLE"):  # tqdm reads it at its import alone
        counts["disable"] = True
    every = 0.1 if watched else 10
    return tqdm(rows, description, mininterval=every, delay=3, leave=False, **counts)
