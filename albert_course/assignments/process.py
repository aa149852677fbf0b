"""A process of its own for each submission, so that none can harm what grades the others."""

import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path

from albert_course.assignments.autograde import autograde
from albert_course.checks.engine.limits import BUSY

NET = 4 * 3600  # seconds of the clock for a submission, all its cells and its page


def grade_apart(course: Path, student: str, assignment: str) -> str:
    """Let nbgrader grade one submission in a process of its own; return why it could not, or "".

    Whatever the submission does, this process goes on: the other one's memory is limited, and it is
    killed when nothing comes from it for hours.
    """
    processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    processes.set_forkserver_preload([autograde.__module__])  # nbgrader is imported once
    receiver, sender = processes.Pipe(duplex=False)
    folder = Path(tempfile.mkdtemp(prefix="albert-"))
    arguments = sender, folder, course, student, assignment
    process = processes.Process(  # type: ignore[attr-defined]  # typeshed's base has none
        target=autograde, args=arguments
    )
    process.start()
    sender.close()
    try:
        in_time = receiver.poll(NET)
        return receiver.recv() if in_time else f"{BUSY}: nothing came in {NET // 3600} hours"
    except EOFError:
        return "it ended the process that graded it"
    finally:
        process.join(10)
        process.kill()
        remove(folder)


def remove(folder: Path) -> None:
    """Delete a folder; shutil cannot delete 3,000 nested ones."""
    delete = ["cmd", "/c", "rd", "/s", "/q"] if sys.platform == "win32" else ["rm", "-rf"]
    subprocess.run([*delete, str(folder)], check=False)
