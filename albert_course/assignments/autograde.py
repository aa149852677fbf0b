"""nbgrader's settings, and one submission graded with them, in a kernel behind a wall.

``nbgrader_config.py`` in a graded folder calls ``configure``, so nbgrader's own commands and its
formgrader grade there as ``grade`` does.
"""

import atexit
import logging
import os
import re
import shutil
import sys
import tempfile
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from sqlalchemy import Engine, event
from traitlets.config import Config, PyFileConfigLoader

from albert_course.assignments.build import configuration
from albert_course.assignments.wall import KERNEL, Limits, find_wall, install_kernel, limit_memory

ERROR = re.compile(r"^ *[\w.]*(?:Error|Exception): .+", re.MULTILINE)
CONFIG = '''"""nbgrader's settings here, for its own commands and `grade`. Yours to change."""

from albert_course.assignments.autograde import configure

c = get_config()
configure(c, __file__)

# Who is late, by the due date that `nbgrader db assignment add` gives, loses nothing or all points:
# c.LateSubmissionPlugin.penalty_method = "zero"
'''
chosen: list[tuple[str, Limits, Path]] = []  # by ``grade`` for this process; else the usual ones


def configure(config: Config, file: str) -> None:
    """Set nbgrader to grade in the folder of ``file`` as ``grade`` does."""
    course = Path(file).resolve().parent
    programs = str(Path(sys.executable).parent)  # nbgrader calls "alembic", of its own environment
    os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    if not chosen:
        folder = Path(tempfile.mkdtemp(prefix="albert-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        chosen.append((find_wall(), Limits(), folder))
    wall, limits, folder = chosen[0]
    install_kernel(wall, limits, folder, (course / "grading_seed.txt").read_text())
    config.merge(configuration())
    config.CourseDirectory.root = str(course)
    config.OverwriteCells.add_missing_cells = True
    config.IgnorePattern.enabled = True  # otherwise a warning on stderr would cost all points
    config.IgnorePattern.pattern = r"[\s\S]"
    config.Execute.kernel_name = KERNEL
    config.Execute.timeout = limits.cell_seconds
    config.Execute.startup_timeout = 120
    config.Execute.shutdown_kernel = "immediate"
    if wall == "bwrap":  # it has no network, so messages go through files
        config.KernelManager.transport = "ipc"
        config.KernelManager.connection_file = f"{folder}/kernel.json"


def nbgrader_api(course: Path) -> NbGraderAPI:
    """Return nbgrader with the settings of ``nbgrader_config.py`` in the folder ``course``."""
    logging.getLogger("traitlets").addHandler(logging.NullHandler())  # it would log to the terminal
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
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
    limit_memory(limits.memory)
    warnings.simplefilter("ignore")  # SQLAlchemy's, of nbgrader's queries
    chosen[:] = [(wall, limits, folder)]
    api = nbgrader_api(course)
    event.listen(Engine, "connect", _wait_for_the_others)
    outcome = api.autograde(assignment, student)
    if outcome["success"]:
        outcome = api.generate_feedback(assignment, student)
    errors = ERROR.findall(outcome["log"]) or ["nbgrader could not grade it"]
    sender.send("" if outcome["success"] else errors[0].strip()[:200])


def _wait_for_the_others(connection, _) -> None:
    """Submissions are graded at the same time and write to one gradebook."""
    connection.execute("pragma busy_timeout = 120000")
