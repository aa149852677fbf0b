"""What one call of an answer may take: seconds and memory."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS, BYTES = 10, 2 << 30


class TookTooLong(BaseException):
    """Not an Exception, so that an answer's own ``except Exception`` cannot swallow it."""


@contextmanager
def limits() -> Iterator[None]:
    """Stop code that runs too long or takes too much memory, where signals allow.

    They do in the main thread of Linux and macOS; elsewhere nothing is limited. Memory is limited
    on Linux alone.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    def ring(*_):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == -1 else min(most, hard), hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
