"""The kernel that a submission runs in: IPython's own, with limits set before the first cell.

``wall`` starts this module with SECONDS BYTES -f CONNECTION_FILE.
"""

import os
import signal
import sys
import time
from functools import partial

from ipykernel.kernelapp import IPKernelApp
from IPython.core.interactiveshell import InteractiveShell

import albert_course.checks  # noqa: F401 - the imports must not count as a submission's seconds
from albert_course.assignments.apart import add_magics
from albert_course.assignments.outbox import Outbox
from albert_course.assignments.wall import limit_memory
from albert_course.checks.engine.limits import TICK, Alarm, TookTooLong

# How long a cell may compute and sleep, as shares of the seconds of the whole submission. Its test
# may ask several questions.
COMPUTING_SHARE = 1 / 15
ASLEEP_SHARE = 1 / 20
STUBBORN = 2  # times that a cell may catch TookTooLong
GRACE_SECONDS = 60  # of computing, after which the system ends a cell that Python cannot stop
LARGEST_FILE = 64 << 20  # bytes


class CellAlarm(Alarm):
    """Stops a cell, and ends the kernel where the cell does not let itself be stopped."""

    def error(self, computed: float) -> TookTooLong:
        """Return what to raise, or do not return."""
        if self.rings > STUBBORN:
            os._exit(1)
        return super().error(computed)


def main() -> None:
    """Start the kernel, and serve until it is told to end."""
    seconds = int(sys.argv.pop(1))
    memory = int(sys.argv.pop(1))
    limit_process(seconds, memory)
    for standard in (1, 2):  # a kernel's own notes must not mix with what the grader prints
        os.dup2(os.open(os.devnull, os.O_WRONLY), standard)
    os.chdir(os.environ["HOME"])  # what a submission writes lands in its own folder
    kernel = IPKernelApp.instance()
    kernel.initialize()
    kernel.session.send = outbox = Outbox(kernel.session.send)
    shell: InteractiveShell = kernel.shell  # type: ignore[assignment]  # initialize made it
    add_magics(shell)
    events = shell.events
    events.register("pre_run_cell", outbox.begin)
    if sys.platform != "win32":
        events.register(
            "pre_run_cell", partial(begin_cell, seconds * COMPUTING_SHARE, seconds * ASLEEP_SHARE)
        )
        events.register("post_run_cell", end_cell)
    kernel.start()


def limit_process(seconds: int, memory: int) -> None:
    """Limit the submission as a whole."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(memory, hard=True)


def begin_cell(computing: float, asleep: float, *_) -> None:
    """Start the clocks of a cell: one that Python looks at, and one of the system behind it."""
    import resource

    signal.signal(signal.SIGALRM, CellAlarm(computing, asleep))
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(time.process_time() + computing) + GRACE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (min(soft, hard), hard))


def end_cell(*_) -> None:
    """Stop the clock of a cell."""
    signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
