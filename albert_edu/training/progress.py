"""Progress that suits where it is shown.

A terminal and a notebook get a bar, a log file gets a line for each tenth.
"""

import os
import sys

from tqdm import tqdm as terminal_bar
from tqdm.asyncio import tqdm_asyncio
from tqdm.auto import tqdm as bar_for_this_frontend


class LinePerTenth(terminal_bar):
    """A bar for a log file: a line whenever another tenth of the total is done, nothing else."""

    tenth = 0

    def display(self, msg=None, pos=None) -> None:
        """Print description, count and postfix if the current tenth has not been printed yet."""
        tenth = 10 * self.n // max(self.total or 1, 1)
        if tenth > self.tenth and not self.disable:
            self.tenth = tenth
            line = f"{self.desc or 'done'}: {self.n:,} of {self.total:,} {self.postfix or ''}"
            print(line.rstrip(), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Write nothing more: tqdm would clear a line that a file does not have."""
        self.disable = True


def progress_bar(total: int, description: str | None, initial: int = 0, **options) -> terminal_bar:
    """Return tqdm's bar on a terminal or in a notebook, elsewhere one that prints a line per tenth.

    A ``description`` of None silences it, and so does the environment variable TQDM_DISABLE. The
    other ``options`` are tqdm's.

    >>> isinstance(progress_bar(10, "steps"), terminal_bar)
    True
    """
    options |= {"total": total, "initial": initial, "desc": description}
    if description is None:
        options["disable"] = True
    if sys.stderr.isatty() or bar_for_this_frontend is not tqdm_asyncio:  # a notebook has its own
        return bar_for_this_frontend(**options)
    silent = bool(os.environ.get("TQDM_DISABLE"))
    return LinePerTenth(**{"mininterval": 0, "miniters": 1, "disable": silent} | options)
