"""A progress bar that suits where it is shown: a terminal, a notebook, or a log file."""

import os
import sys
from collections.abc import Iterable

from tqdm.auto import tqdm


def progress_bar(
    description: str | None,
    rows: Iterable | None = None,
    total: int | None = None,
    initial: int = 0,
) -> tqdm:
    """Return tqdm's bar, to iterate over ``rows`` or to update from ``initial`` to ``total``.

    It shows once the work takes longer than three seconds. Where nobody watches it, it is written
    every ten seconds only. A ``description`` of None silences it, and so does the environment
    variable TQDM_DISABLE.
    """
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    silent = os.environ.get("TQDM_DISABLE")  # tqdm itself reads it when it is imported, and no more
    return tqdm(
        rows,
        desc=description,
        total=total,
        initial=initial,
        mininterval=0.1 if watched else 10,
        delay=3,
        leave=False,
        disable=description is None or bool(silent),
    )
