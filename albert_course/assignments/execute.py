"""nbgrader's step that runs a submission, with timeouts that say which cell they ended.

What an answer may take is limited inside the kernel, by seconds of its own (``kernel``). The
timeouts here stand behind those limits, so where one of them ends a run, the machine may be the
reason.
"""

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from albert_course.assignments.apart import magic_line
from albert_course.checks.engine.limits import BUSY
from albert_edu.errors import CourseError

START_TIMEOUT = 900  # seconds of the clock, for the kernel and its imports
CELL_TIMEOUT = 3600  # many times the seconds that a cell may compute
OUTPUT_TIMEOUT = 900  # until what a cell has printed must have arrived


class NotGraded(CourseError):
    """Why a submission gets no grade, in words for the instructor."""


class RunSubmission(Execute):
    """Runs the cells, and says which of them ended the kernel or could not be stopped."""

    def start_new_kernel_client(self):
        """Wait for the kernel. NotGraded if it does not come."""
        try:
            return super().start_new_kernel_client()
        except RuntimeError:
            raise NotGraded(f"{BUSY}, or the kernel cannot start here") from None

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple:
        """Run the notebook. NotGraded if a limit was passed, perhaps by the machine's fault."""
        notebook, resources = super().preprocess(notebook, resources)
        for index, cell in enumerate(notebook.cells):
            if any(says_busy(output) for output in cell.get("outputs", [])):
                raise NotGraded(f"{BUSY}, or {cell_name(cell, index)} waits for something")
        return notebook, resources

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple:
        """Run a cell, ours under its magic. NotGraded if it ends the kernel, or never ends."""
        source = cell.source
        if cell.cell_type == "code":
            cell.source = magic_line(cell.metadata.get("nbgrader", {})) + source
        try:
            return super().preprocess_cell(cell, resources, index)
        except DeadKernelError:
            why = "os._exit(), a crash, or code that cannot be stopped"
            raise NotGraded(f"the kernel ended in {cell_name(cell, index)}: {why}") from None
        except CellTimeoutError:
            raise NotGraded(f"{BUSY}, or {cell_name(cell, index)} cannot be stopped") from None
        finally:
            cell.source = source

    def on_cell_executed(self, **reported) -> None:
        """Look at what the kernel says of a cell. NotGraded if the cell has called ``exit()``."""
        super().on_cell_executed(**reported)
        payload = reported["execute_reply"]["content"].get("payload", [])
        if any(part.get("source") == "ask_exit" for part in payload):
            name = cell_name(reported["cell"], reported["cell_index"])
            raise NotGraded(f"{name} calls exit(), which ends the kernel")


def cell_name(cell: NotebookNode, index: int) -> str:
    """Return what to call a cell: its name in nbgrader, else its place and its first line."""
    if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
        return f"cell {name}"
    first = cell.source.strip().partition("\n")[0]
    return f"cell {index + 1} ({first[:40]})"


def says_busy(output: NotebookNode) -> bool:
    """Return whether an error, or the report of a check, says that the machine may be at fault."""
    said = [output.get("evalue", ""), *output.get("metadata", {}).get("mistakes", [])]
    return any(BUSY in text for text in said)
