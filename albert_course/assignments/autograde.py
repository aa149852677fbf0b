"""nbgrader's settings, and one submission graded with them, in a kernel behind a wall.

``nbgrader_config.py`` in a graded folder calls ``configure``, so nbgrader's own commands and its
formgrader grade there as ``grade`` does.
"""

import logging
import os
import re
import sys
import tempfile
import warnings
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute
from sqlalchemy import Engine, event
from traitlets.config import Config, PyFileConfigLoader

from albert_course.assignments import LARGEST_SEED
from albert_course.assignments.build import configuration
from albert_course.assignments.execute import (
    CELL_TIMEOUT,
    OUTPUT_TIMEOUT,
    START_TIMEOUT,
    NotGraded,
    RunSubmission,
)
from albert_course.assignments.wall import KERNEL, SAYS, find_wall, install_kernel, limit_memory
from albert_edu.config import check_whole

LOCKED = 900  # seconds that a write waits for the other processes' writes
ERROR = re.compile(r"^ *[\w.]*(?:Error|Exception): .+", re.MULTILINE)
NOT_GRADED = re.compile(rf"^ *[\w.]*{NotGraded.__name__}: (.+)", re.MULTILINE)
CONFIG = '''"""nbgrader's settings here, for its own commands and `grade`. Yours to change."""

from albert_course.assignments.autograde import configure

c = get_config()
# Another seed would ask the rest of the class other questions. The seconds are those that a whole
# submission may compute; a cell may for a fifteenth of them. With wall="bwrap" nothing is graded
# where bubblewrap does not work.
configure(c, __file__, seed={seed}, seconds=900, wall="")

# Who is late, by the due date that `nbgrader db assignment add` gives, loses nothing or all points:
# c.LateSubmissionPlugin.penalty_method = "zero"
'''


def configure(config: Config, file: str, seed: int, seconds=900, wall="", memory=2 << 30) -> None:
    """Set nbgrader to grade in the folder of ``file``, and write its kernel.

    A submission may compute for ``seconds`` in all, and take ``memory`` bytes beyond torch's own. A
    cell may compute for a fifteenth of the seconds, and sleep for a twentieth.
    ``wall`` is one of SAYS, or "" for the best that works. Raises InputError for a seed that is no
    whole number.
    """
    check_whole("seed", seed, 0, LARGEST_SEED)
    programs = str(Path(sys.executable).parent)  # nbgrader calls "alembic", of its own environment
    os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    folder = Path(kernel_folder().name)
    wall = wall or find_wall(folder)
    install_kernel(wall, seconds, memory, folder, str(seed))
    config.merge(configuration())
    config.AlbertCourse.update(memory=memory, says=SAYS[wall])  # no section of nbgrader's
    config.CourseDirectory.root = str(Path(file).resolve().parent)
    config.OverwriteCells.add_missing_cells = True
    config.IgnorePattern.enabled = True  # otherwise a warning on stderr would cost all points
    config.IgnorePattern.pattern = r"[\s\S]"
    steps = Autograde.autograde_preprocessors.default()
    config.Autograde.autograde_preprocessors = [
        RunSubmission if step is Execute else step for step in steps
    ]
    config.Execute.kernel_name = KERNEL
    config.Execute.startup_timeout = START_TIMEOUT
    config.Execute.timeout = CELL_TIMEOUT
    config.Execute.iopub_timeout = OUTPUT_TIMEOUT
    config.Execute.interrupt_on_timeout = False  # an error of the clock ends the submission
    config.Execute.shutdown_kernel = "immediate"
    if wall == "bwrap":  # it has no network, so messages go through files
        config.KernelManager.transport = "ipc"
        config.KernelManager.connection_file = f"{folder}/kernel.json"


@cache
def kernel_folder() -> tempfile.TemporaryDirectory:
    """Return this process's folder for the kernel: nbgrader may read its settings twice."""
    return tempfile.TemporaryDirectory(prefix="albert-", ignore_cleanup_errors=True)


def nbgrader_api(course: Path) -> NbGraderAPI:
    """Return nbgrader with the settings of ``nbgrader_config.py`` in the folder ``course``."""
    logging.getLogger("traitlets").addHandler(logging.NullHandler())  # it would log to the terminal
    warnings.simplefilter("ignore")  # SQLAlchemy's, of nbgrader's queries
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    return NbGraderAPI(config=config)


def failure(outcome: dict) -> str:
    """Return why nbgrader could not do something, or ""."""
    if outcome["success"]:
        return ""
    log = outcome.get("log", "")
    errors = NOT_GRADED.findall(log) or ERROR.findall(log) or ["nbgrader could not do it"]
    return errors[0].strip()[:200]


def autograde(
    sender: Connection, folder: Path, course: Path, student: str, assignment: str
) -> None:
    """Grade one submission, write its feedback page, and send why that failed, or "".

    ``folder`` is an empty one for the kernel, which this process and the submission can write to.
    """
    tempfile.tempdir = str(folder)
    api = nbgrader_api(course)
    limit_memory(api.config.AlbertCourse.memory)
    sender.send(
        failure(api.autograde(assignment, student))
        or failure(api.generate_feedback(assignment, student))
    )


@event.listens_for(Engine, "connect")
def _wait_for_the_others(connection, _) -> None:
    """Submissions are graded at the same time and write to one gradebook."""
    connection.execute(f"pragma busy_timeout = {LOCKED * 1000}")
