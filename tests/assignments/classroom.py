"""A class that hands in assignment 4: who they are, what they wrote, and what it deserves."""

import copy
import os
import socketserver
from pathlib import Path

import nbformat

from albert_course.assignments import RELEASES, SOURCES

NAME = "04_shared_layers"


def read(folder: Path, name: str = NAME) -> nbformat.NotebookNode:
    """Return the notebook of this name."""
    return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def marked(notebook: nbformat.NotebookNode) -> dict[str, nbformat.NotebookNode]:
    """Return the cells that nbgrader knows by their names."""
    known = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    return {cell.metadata.nbgrader.grade_id: cell for cell in known}


SOLVED = {name: cell.source for name, cell in marked(read(SOURCES)).items()}

HONEST_BUT_MESSY = """
%matplotlib inline
import os, sys, warnings
warnings.warn("a warning is no mistake")
print("hello", file=sys.stderr)
attention, ffn, score, seeds, report, each = "names that the tests use too".split()
map = {"of": "the student"}
for depth in range(3_000):
    os.mkdir("x")
    os.chdir("x")"""
MESSY_PLAN = (
    SOLVED["layer_plan"]
    + """
plain_plan = layer_plan
def layer_plan(*arguments, **named):
    print("called", file=sys.stderr)
    return plain_plan(*arguments, **named)"""
)
IMPORTED = "from albert_edu.model.sharing import layer_plan"
HALF = "def gradient_of_each(apply, W:\n    return"
SLEEP = "def gradient_of_each(*_):\n    import time\n    time.sleep(1_000)"
LOOP = "def loss_with_last_only(*_):\n    while True:\n        pass"
STUBBORN = """
import time
class Encoder(nn.Module):
    def __init__(self, *_):
        while True:
            try:
                time.sleep(1_000)
            except BaseException:
                pass"""
HOG = """
def gradient_of_each(apply, W, x, L, loss):
    kept = []
    while True:
        kept.append(torch.empty(1 << 24))"""
OVERWRITE = """
import albert_course.checks
from albert_course.checks import Report
albert_course.checks.check_layer_plan = lambda *_, **__: Report("layer_plan", [True])
Report.score = property(lambda self: 1.0)
def layer_plan(*_): pass"""
DIES = "import os\ndef layer_plan(*_):\n    os._exit(0)"
TALKS = """
print("a word " * 1_000_000)
for number in range(200_000):
    print(number)"""
PEEK = f"""
import json
cells = json.load(open({str(SOURCES / (NAME + ".ipynb"))!r}))["cells"]
solved = [cell for cell in cells if "class Encoder" in "".join(cell["source"])]
exec("".join(solved[0]["source"]))"""
ONLINE = """
import socket
with socket.create_connection(("127.0.0.1", {port}), timeout=2) as line:
    exec(line.recv(10000).decode())"""


class Server(socketserver.StreamRequestHandler):
    """Tells everybody who connects the answer, and remembers that somebody did."""

    visited = False

    def handle(self):
        Server.visited = True
        self.wfile.write(SOLVED["layer_plan"].encode())


def submission(
    answers: dict[str, str], extra: str = "", assignment: str = NAME
) -> nbformat.NotebookNode:
    """Return the notebook handed out, with these answers; ``extra`` is a cell before them."""
    notebook = read(RELEASES, assignment)
    for name, cell in marked(notebook).items():
        if cell.metadata.nbgrader.solution and not cell.metadata.nbgrader.grade:
            cell.source = answers.get(name, cell.source).strip()
    if extra:
        notebook.cells.insert(2, nbformat.v4.new_code_cell(extra.strip()))
    return notebook


def tampered() -> nbformat.NotebookNode:
    """Return a notebook with one right answer, whose tests are deleted or say nothing."""
    notebook = submission({"layer_plan": SOLVED["layer_plan"]})
    for cell in marked(notebook).values():
        if cell.metadata.nbgrader.grade and cell.metadata.nbgrader.locked:
            cell.source = "pass"
    notebook.cells.remove(marked(notebook)["encoder_hidden"])
    return notebook


def split() -> nbformat.NotebookNode:
    """Return a solved notebook after JupyterLab's "split cell", which copies the metadata, too.

    The answers lie in two cells each, and a test has a copy.
    """
    notebook = submission(SOLVED)
    cells, notebook.cells = notebook.cells, []
    for cell in cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution") or mark.get("grade_id") == "encoder_visible":
            half = copy.deepcopy(cell)
            half.id, half.source = f"{cell.id}-split", "# the first half"
            notebook.cells.append(half)
        notebook.cells.append(cell)
    return notebook


def without_imports() -> nbformat.NotebookNode:
    """Return a solved notebook whose cell of imports was deleted."""
    notebook = submission(SOLVED)
    notebook.cells.remove(marked(notebook)["imports"])
    return notebook


def without_metadata() -> nbformat.NotebookNode:
    """Return a solved notebook whose cells have lost their metadata, as in some programs."""
    notebook = submission(SOLVED)
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def hand_in(folder: Path, port: int) -> None:
    """Write the whole class; ``port`` is that of a server which knows an answer."""
    half_done = {"layer_plan": IMPORTED, "encoder": SOLVED["encoder"], "gradient_of_each": HALF}
    written = {
        "perfect": submission(SOLVED | {"layer_plan": MESSY_PLAN}, HONEST_BUT_MESSY),
        "O'Brien, John": split(),
        "Zoe\u0308": without_imports(),
        "late": submission({"layer_plan": SOLVED["layer_plan"]}),
        "अनिल": submission(half_done),
        "never_ends": submission(SOLVED | {"gradient_of_each": SLEEP, "loss_with_last_only": LOOP}),
        "resists": submission(SOLVED | {"encoder": STUBBORN}),
        "takes_all": submission(SOLVED | {"gradient_of_each": HOG}, TALKS),
        "tampers": tampered(),
        "spies": submission(SOLVED | {"layer_plan": ONLINE.format(port=port), "encoder": PEEK}),
        "dies": submission(SOLVED | {"layer_plan": DIES}),
        "overwrites": submission({"layer_plan": OVERWRITE}),
        "exits": submission(SOLVED, "print('bye')\nexit()"),
        "wrong_name": submission(SOLVED),
        "clear\x1b[2J": submission(SOLVED),
    }
    for student, notebook in written.items():
        (folder / student).mkdir(parents=True)
        nbformat.write(notebook, folder / student / f"{NAME}.ipynb")
    os.utime(folder / "late" / f"{NAME}.ipynb", (1.9e9, 1.9e9))  # in 2030
    wrong = folder / "wrong_name" / f"{NAME}.ipynb"
    wrong.rename(wrong.with_stem(f"{NAME} (2) final"))
    (folder / "nothing").mkdir()
    (folder / "links").mkdir()
    os.symlink(folder / "perfect" / f"{NAME}.ipynb", folder / "links" / f"{NAME}.ipynb")


DESERVED = {
    "perfect": 20,
    "O'Brien, John": 20,
    "Zoe\u0308": 20,
    "late": 0,
    "अनिल": 6,
    "never_ends": 10,
    "takes_all": 15,
    "tampers": 4,
    "spies": 10,
}
NOT_GRADED = {"resists", "dies", "exits", "wrong_name", "clear\x1b[2J", "links"}
