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
from sqlalchemy import Engine, event
from traitlets.config import Config, PyFileConfigLoader

from albert_course.assignments.build import configuration
from albert_course.assignments.wall import KERNEL, SAYS, find_wall, install_kernel, limit_memory

ERROR = re.compile(r"^ *[\w.]*(?:Error|Exception): .+", re.MULTILINE)
CONFIG = '''"""nbgrader's settings here, for its own commands and `grade`. Yours to change."""

from albert_course.assignments.autograde import configure

c = get_config()
# Another seed would ask the rest of the class other questions. The seconds are those of a whole
# submission. With wall="bwrap" nothing is graded where bubblewrap does not work.
configure(c, __file__, seed={seed}, seconds=300, wall="")
c.Execute.timeout = 60  # seconds of a cell

# Who is late, by the due date that `nbgrader db assignment add` gives, loses nothing or all points:
# c.LateSubmissionPlugin.penalty_method = "zero"
'''


def configure(config: Config, file: str, seed: int, seconds=300, wall="", memory=2 << 30) -> None:
    """Set nbgrader to grade in the folder of ``file``, and write its kernel.

    A submission may take ``seconds`` in all, and ``memory`` bytes beyond torch's own. ``wall`` is
    one of SAYS, or "" for the best that works.
    """
    programs = str(Path(sys.executable).parent)  # nbgrader calls "alembic", of its own environment
    os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    folder = Path(kernel_folder().name)
    wall = wall or find_wall(folder)
    install_kernel(wall, seconds, memory, folder, str(seed))
    config.merge(configuration())
    config.Submission.update(seconds=seconds, memory=memory, says=SAYS[wall])  # for ``grade``
    config.CourseDirectory.root = str(Path(file).resolve().parent)
    config.OverwriteCells.add_missing_cells = True
    config.IgnorePattern.enabled = True  # otherwise a warning on stderr would cost all points
    config.IgnorePattern.pattern = r"[\s\S]"
    config.Execute.kernel_name = KERNEL
    config.Execute.startup_timeout = 120
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
    errors = ERROR.findall(outcome["log"]) or ["nbgrader could not do it"]
    return "" if outcome["success"] else errors[0].strip()[:200]


def autograde(
    sender: Connection, folder: Path, course: Path, student: str, assignment: str
) -> None:
    """Grade one submission, write its feedback page, and send why that failed, or "".

    ``folder`` is an empty one for the kernel, which this process and the submission can write to.
    """
    tempfile.tempdir = str(folder)
    api = nbgrader_api(course)
    limit_memory(api.config.Submission.memory)
    event.listen(Engine, "connect", _wait_for_the_others)
    sender.send(
        failure(api.autograde(assignment, student))
        or failure(api.generate_feedback(assignment, student))
    )


def _wait_for_the_others(connection, _) -> None:
    """Submissions are graded at the same time and write to one gradebook."""
    connection.execute("pragma busy_timeout = 120000")
