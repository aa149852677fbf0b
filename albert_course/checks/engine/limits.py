"""What one call of an answer may take: seconds and memory."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS, BYTES = 10, 2 << 30


class TookTooLong(BaseException):
    """Not an Exception, so that an answer's own ``except Exception`` cannot swallow it."""


@contextmanager
def limits() -> Iterator[None]:
    """Stop code that runs too long or takes too much memory, where signals allow.

    They do in the main thread of Linux and macOS; elsewhere nothing is limited.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    def ring(*_):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if used := _address_space():
        most = used + BYTES if hard == -1 else min(used + BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as status:
            return int(status.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
