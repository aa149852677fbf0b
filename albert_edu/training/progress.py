"""Progress that suits where it is shown: a bar on a terminal or in a notebook, a line for each tenth in a log file."""

import os
import sys

from tqdm import tqdm as terminal_bar
from tqdm.auto import tqdm as bar_for_this_frontend


class LinePerTenth(terminal_bar):
    """A bar for a log file: it prints a line whenever another tenth of the total is done, and nothing else."""

    tenth = 0

    def display(self, msg=None, pos=None) -> None:
        """Print description, count and postfix if the current tenth has not been printed yet."""
        tenth = 10 * self.n // max(self.total or 1, 1)
        if tenth > self.tenth and not self.disable:
            self.tenth = tenth
            print(f"{self.desc or 'done'}: {self.n:,} of {self.total:,}", self.postfix or "",
                  file=sys.stderr, flush=True)  # fmt: skip

    def close(self) -> None:
        """Write nothing more: tqdm would clear a line that a file does not have."""
        self.disable = True


def in_a_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


def progress_bar(total: int, description: str, initial: int = 0, **options) -> terminal_bar:
    """Return tqdm's bar on a terminal or in a notebook, elsewhere one that prints a line per tenth.

    ``options`` are tqdm's. The environment variable TQDM_DISABLE silences all of them.

    >>> isinstance(progress_bar(10, "steps"), terminal_bar)
    True
    """
    if sys.stderr.isatty() or in_a_notebook():
        return bar_for_this_frontend(total=total, initial=initial, desc=description, **options)
    options = {"mininterval": 0, "miniters": 1, "disable": bool(os.environ.get("TQDM_DISABLE"))} | options
    return LinePerTenth(total=total, initial=initial, desc=description, **options)
