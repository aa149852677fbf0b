"""The kernel that a submission runs in: IPython's own, with limits set before the first cell.

``wall`` starts this module with SECONDS BYTES -f CONNECTION_FILE.
"""

import os
import sys

from ipykernel import kernelapp

import albert_course.checks  # noqa: F401 - the imports must not count as a submission's seconds
from albert_course.assignments.wall import limit_memory

LARGEST_FILE = 64 << 20  # bytes

if __name__ == "__main__":
    seconds, memory = int(sys.argv.pop(1)), int(sys.argv.pop(1))
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(memory, hard=True)
    for standard in (1, 2):  # a kernel's own notes must not mix with what the grader prints
        os.dup2(os.open(os.devnull, os.O_WRONLY), standard)
    os.chdir(os.environ["HOME"])  # what a submission writes lands in its own folder
    kernelapp.launch_new_instance()
