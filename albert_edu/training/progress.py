"""A progress bar that suits where it is shown: a terminal, a notebook, or a log file."""

import sys

from tqdm.auto import tqdm


def progress_bar(total: int, description: str | None, initial: int = 0, leave: bool = True) -> tqdm:
    """Return tqdm's bar. Where nobody watches it, it is written every ten seconds only.

    A ``description`` of None silences it, and so does the environment variable TQDM_DISABLE.
    """
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    options = {"total": total, "initial": initial, "desc": description, "leave": leave}
    if description is None:  # False instead would overrule the environment
        options["disable"] = True
    return tqdm(mininterval=0.1 if watched else 10, **options)
