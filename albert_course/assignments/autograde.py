"""One submission, graded by nbgrader in this process; its cells run in a kernel behind the wall."""

import logging
import os
import re
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

from nbgrader.apps import NbGraderAPI

from albert_course.assignments import SEED_VARIABLE
from albert_course.assignments.build import configuration
from albert_course.assignments.wall import KERNEL, Limits, install_kernel, limit_memory

ERROR = re.compile(r"^ *[\w.]*(?:Error|Exception): .+", re.MULTILINE)


def nbgrader_api(course: Path, limits: Limits, connection: str = "") -> NbGraderAPI:
    """Return nbgrader, set to grade in the folder ``course``.

    ``connection`` is the file by which it finds a kernel behind a wall without network.
    """
    logging.getLogger("traitlets").addHandler(logging.NullHandler())  # it would log to the terminal
    config = configuration()
    config.CourseDirectory.root = str(course.resolve())
    config.OverwriteCells.add_missing_cells = True
    config.IgnorePattern.enabled = True  # otherwise a warning on stderr would cost all points
    config.IgnorePattern.pattern = r"[\s\S]"
    config.Execute.kernel_name = KERNEL
    config.Execute.timeout = limits.cell_seconds
    config.Execute.startup_timeout = 120
    config.Execute.shutdown_kernel = "immediate"
    if connection:
        config.KernelManager.transport = "ipc"
        config.KernelManager.connection_file = connection
    return NbGraderAPI(config=config)


def autograde(
    sender: Connection,
    folder: Path,
    course: Path,
    student: str,
    assignment: str,
    wall: str,
    limits: Limits,
) -> None:
    """Grade one submission, write its feedback page, and send why that failed, or "".

    ``folder`` is an empty one for the kernel, which this process and the submission can write to.
    """
    os.environ[SEED_VARIABLE] = (course / "grading_seed.txt").read_text()
    limit_memory(limits.memory)
    warnings.simplefilter("ignore")  # SQLAlchemy's, of nbgrader's queries
    install_kernel(wall, limits, folder)
    api = nbgrader_api(course, limits, f"{folder}/kernel.json" if wall == "bwrap" else "")
    outcome = api.autograde(assignment, student)
    if outcome["success"]:
        outcome = api.generate_feedback(assignment, student)
    errors = ERROR.findall(outcome["log"]) or ["nbgrader could not grade it"]
    sender.send("" if outcome["success"] else errors[0].strip()[:200])
