"""What one call of an answer may take: seconds of its own, and memory.

Seconds in which other programs had the processor are not the answer's own. So what is stopped on a
busy machine is stopped on an idle one, too.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

COMPUTING = 10  # seconds, of all threads
ASLEEP = 20  # seconds, of the main thread
NET = 300  # seconds asleep where nobody can tell sleep from a busy machine
TICK = 0.5  # seconds of the clock between two looks
AGAIN = 10  # seconds until an answer that has caught TookTooLong gets it again
BYTES = 2 << 30
BUSY = "the machine was busy"  # grading looks for these words, and tries again

LOOP = "a loop without end, or too many steps?"
SLEEP = "it sleeps, or waits for something that does not come"


class TookTooLong(BaseException):
    """Not an Exception, so that an answer's own ``except Exception`` cannot swallow it."""

    def __init__(self, message: str, reason: str):
        super().__init__(message)
        self.reason = reason


class Spent(NamedTuple):
    """Seconds of this process."""

    computing: float  # in all threads
    asleep: float  # in the main thread
    exact: bool  # False if ``asleep`` may hold seconds in which other programs ran


def spent() -> Spent:
    """Return what this process has spent so far; for its main thread to call.

    Linux counts how long a thread was ready to run and had to wait. Other systems do not.
    """
    computing = time.process_time()
    asleep = time.monotonic() - time.thread_time()
    try:
        waited = Path("/proc/self/schedstat").read_text().split()[1]
    except (OSError, IndexError):
        return Spent(computing, asleep, exact=False)
    return Spent(computing, asleep - int(waited) / 1e9, exact=True)


class Alarm:
    """Handles a ticking alarm: raises TookTooLong when too much was spent since it was made."""

    def __init__(self, computing: float, asleep: float, outer: Callable | int | None = None):
        begun = spent()
        self.allowed = Spent(computing, asleep if begun.exact else max(asleep, NET), begun.exact)
        self.begun, self.more, self.rings = begun, 0.0, 0
        self.outer = outer if isinstance(outer, Alarm) else None  # that of the cell, for example

    def __call__(self, *_) -> None:
        """Look at what was spent; called at each tick."""
        if self.outer:
            self.outer()
        now = spent()
        computed = now.computing - self.begun.computing
        slept = now.asleep - self.begun.asleep
        longest = max(computed - self.allowed.computing, slept - self.allowed.asleep)
        if longest < self.more:
            return
        self.rings += 1
        self.more = longest + AGAIN
        raise self.error(computed)

    def error(self, computed: float) -> TookTooLong:
        """Return what to raise: which limit was passed, and the likely reason."""
        if computed >= self.allowed.computing:
            return TookTooLong(
                f"no answer after computing for {self.allowed.computing:.3g} s", LOOP
            )
        if self.allowed.exact:
            return TookTooLong(f"no answer after sleeping for {self.allowed.asleep:.3g} s", SLEEP)
        reason = f"it sleeps, or {BUSY}"
        return TookTooLong(f"no answer within {self.allowed.asleep:.3g} s: {reason}", reason)


def alarms_work() -> bool:
    """Return whether an alarm reaches the code that runs here.

    It does in the main thread of Linux and macOS.
    """
    main = threading.current_thread() is threading.main_thread()
    return main and sys.platform != "win32"


@contextmanager
def limits() -> Iterator[None]:
    """Stop code that takes too much time or memory, where alarms work.

    Elsewhere nothing is limited. Memory is limited on Linux alone.
    """
    if not alarms_work():
        yield
        return
    import resource

    handler = signal.getsignal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, Alarm(COMPUTING, ASLEEP, handler))
    timer = signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == -1 else min(most, hard), hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
