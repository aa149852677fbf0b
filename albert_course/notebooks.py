"""Execute the notebooks, normalise and measure what is stored."""

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat

from albert_course.folder import course_folder
from albert_edu.errors import InputError

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
MINUTES = re.compile(r"about (\d+) minutes to read and about (\d+) to do")
EXERCISE_MINUTES = re.compile(r"· (?:(\d+)-)?(\d+) minutes$", re.MULTILINE)
ANSWER = re.compile(r"^\s*reveal\(", re.MULTILINE)  # a cell that answers a guess
FOLDED = re.compile(r"!\[[^\]]*\]\([^)]*\)|<details>.*?</details>", re.DOTALL)


def find(names: list[str]) -> list[Path]:
    """Return the notebooks whose names start with one of these numbers; all for an empty list.

    Raises ValueError for a number that no notebook has.
    """
    folder = course_folder() / "notebooks"
    paths = sorted(folder.glob("[0-9]*.ipynb")) + sorted(folder.glob("optional/[0-9]*.ipynb"))
    there = " ".join(path.stem for path in paths)
    unknown = [name for name in names if len(name) < 2 or f" {name}" not in f" {there}"]
    if unknown:
        raise InputError(f"no notebook starts with {' or '.join(unknown)}. There are: {there}")
    return [path for path in paths if not names or path.name.startswith(tuple(names))]


def execute_all(names: list[str], write: bool) -> int:
    """Run the notebooks in order with a fresh kernel each. Return 1 if one fails, else 0.

    With ``write`` the outputs are stored, and the minutes in the README and the teaching page.
    """
    failed = 0
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone:
        for path in find(names):
            try:
                notebook, seconds, peak = alone.submit(_execute, path).result()
            except Exception as error:
                failed += 1
                print(f"FAIL  {path.stem}: {error}")
                continue
            if write:
                nbformat.write(with_minutes(normalise(notebook)), path)
                update_table(path.stem, reading_minutes(notebook), seconds, peak)
            print(f"OK    {path.stem}: {seconds:.0f} core seconds, {peak:.0f} MB", flush=True)
    if write:
        update_syllabus(course_folder() / "notebooks" / "TEACHING.md")
    return 1 if failed else 0


def _execute(path: Path) -> tuple[nbformat.NotebookNode, float, float]:
    """Run every cell, as nbval will, in the notebook's own folder.

    Returns the notebook, and its kernel's core seconds and peak memory in MB; the process that
    calls this must have no other kernel in its life. Raises nbclient's CellExecutionError for a
    cell that fails.
    """
    try:
        import resource
    except ImportError:  # `find` must work all the same
        words = "Windows does not tell a kernel's seconds and memory: run this under WSL, or Linux."
        raise InputError(words) from None

    import nbclient

    notebook = nbformat.read(path, as_version=4)
    nbclient.execute(  # in place
        notebook,
        cwd=str(path.parent),
        timeout=300,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
    )
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    megabyte = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return notebook, spent.ru_utime + spent.ru_stime, spent.ru_maxrss / megabyte


def reading_minutes(notebook: nbformat.NotebookNode) -> int:
    """Return the minutes that a careful reader needs: 150 words or 10 lines of code a minute.

    Folded answers and the descriptions of drawings are left out.
    """
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    words = FOLDED.sub("", prose).split()
    code = [cell.source.splitlines() for cell in notebook.cells if cell.cell_type == "code"]
    lines = sum(bool(line.strip()) for cell in code for line in cell)
    return round(len(words) / 150 + lines / 10)


def with_minutes(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Put the minutes where the first cell says so (``MINUTES``), and return the notebook.

    Those to do are the sum of what the exercises say they take, the mean of each range.
    """
    ranges = [EXERCISE_MINUTES.findall(cell.source) for cell in notebook.cells]
    doing = sum((int(low or high) + int(high)) / 2 for found in ranges for low, high in found)
    words = f"about {reading_minutes(notebook)} minutes to read and about {round(doing)} to do"
    first = notebook.cells[0]
    first.source = MINUTES.sub(words, first.source, count=1)
    return notebook


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Keep what a reader sees and nbval compares, and return the notebook.

    Timings and ids, which change at every run, are dropped. Neighbouring parts of one stream are
    joined, because the places where it is cut depend on timing. The output of a cell that answers a
    guess is folded until the reader runs it.
    """
    from nbconvert.preprocessors import CoalesceStreamsPreprocessor

    CoalesceStreamsPreprocessor().preprocess(notebook, {})  # in place
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index:03d}"
        kept = ("tags", "nbgrader", "jupyter")
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in kept}
        if cell.cell_type == "code" and ANSWER.search(cell.source):
            cell.metadata["jupyter"] = {"outputs_hidden": True}
        for output in cell.get("outputs", []):
            if "metadata" in output:  # nothing but the description of an image
                described = output.metadata.get("image/png", {}).get("alt")
                output.metadata = {"image/png": {"alt": described}} if described else {}
            if "text" in output:  # where the course lies on the machine that stored it
                output.text = output.text.replace(str(course_folder()), "albert")
    return notebook


def update_table(name: str, minutes: int, seconds: float, peak: float) -> None:
    """Write a notebook's minutes to read, core minutes and MB into the README's table."""
    readme = course_folder() / "README.md"
    row = rf"(/{name}\.ipynb\).*)\|[^|]*\|[^|]*\|[^|]*\|\n"  # its last three cells
    cells = rf"\1| {minutes} | {seconds / 60:.1f} | {peak:.0f} |\n"
    text = re.sub(row, cells, readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")


def update_syllabus(page: Path) -> None:
    """Add up the minutes that the notebooks of each week say, in the rows of the teaching page."""

    def row(found: re.Match) -> str:
        """The row of a week with the sum of its notebooks' minutes."""
        names = re.findall(r"\]\((\d\d_\w+\.ipynb)\)", found[0])
        said = [MINUTES.search((page.parent / name).read_text(encoding="utf-8")) for name in names]
        minutes = sum(int(number) for one in filter(None, said) for number in one.groups())
        return re.sub(r"about \d+ minutes", f"about {minutes} minutes", found[0], count=1)

    text = re.sub(r"(?m)^\|.*\]\(\d\d_\w+\.ipynb\).*", row, page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
