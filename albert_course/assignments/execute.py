"""nbgrader's step that runs a submission, with nets of time that say what they caught.

What an answer may take is limited inside the kernel, by seconds of its own. The clocks here are
nets behind that. When one of them runs out, the machine may be the reason.
"""

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from albert_course.assignments.apart import magic_line
from albert_course.checks.engine.limits import BUSY
from albert_edu.errors import CourseError

START = 900  # seconds until the kernel must have started, its imports done
CELL = 3600  # seconds of the clock for a cell, many times what it may compute
MESSAGES = 900  # seconds until what a cell has printed must have arrived


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
        """Run the notebook. NotGraded if a clock inside ran out that may be the machine's fault."""
        notebook, resources = super().preprocess(notebook, resources)
        for index, cell in enumerate(notebook.cells):
            if any(was_busy(output) for output in cell.get("outputs", [])):
                raise NotGraded(f"{BUSY}, or {name_of(cell, index)} waits for something")
        return notebook, resources

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple:
        """Run a cell, a test apart from others. NotGraded if it ends the kernel, or never ends."""
        source = cell.source
        if cell.cell_type == "code":
            cell.source = magic_line(cell.metadata.get("nbgrader", {})) + source
        try:
            return super().preprocess_cell(cell, resources, index)
        except DeadKernelError:
            why = "os._exit(), a crash, or code that cannot be stopped"
            raise NotGraded(f"the kernel ended in {name_of(cell, index)}: {why}") from None
        except CellTimeoutError:
            raise NotGraded(f"{BUSY}, or {name_of(cell, index)} cannot be stopped") from None
        finally:
            cell.source = source

    def on_cell_executed(self, **reported) -> None:
        """Look at what the kernel says of a cell. NotGraded if the cell has called ``exit()``."""
        super().on_cell_executed(**reported)
        payload = reported["execute_reply"]["content"].get("payload", [])
        if any(part.get("source") == "ask_exit" for part in payload):
            name = name_of(reported["cell"], reported["cell_index"])
            raise NotGraded(f"{name} calls exit(), which ends the kernel")


def name_of(cell: NotebookNode, index: int) -> str:
    """Return what to call a cell: its name in nbgrader, else its place and its first line."""
    if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
        return f"cell {name}"
    first = cell.source.strip().partition("\n")[0]
    return f"cell {index + 1} ({first[:40]})"


def was_busy(output: NotebookNode) -> bool:
    """Return whether an error, or the report of a check, says that the machine may be at fault."""
    said = [output.get("evalue", ""), *output.get("metadata", {}).get("mistakes", [])]
    return any(BUSY in text for text in said)
