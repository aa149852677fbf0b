"""A plugin of pytest: what a reader does after Run All, every cell once more, from the last to the first.

    python -m pytest -p tests.reverse --nbval ... notebooks

Readers scroll back, type a guess and run one cell again. What it says must not depend on what ran below it. The kernel is
that of nbval's own run, and each cell is compared with what it said there, on this machine and a moment ago, so that
cells count whose outputs differ from machine to machine, and pictures, too. Three tags excuse a cell:

- ``once``: it cannot be repeated, and says so in a comment;
- ``long``: it takes seconds. That no later cell overwrites a name which it uses is read by tests/test_notebooks.py;
- ``varies``: it prints times, draws at random, or measures a model that a cell below trains further, so it must not fail, but
  may print something else.

Before that, ``tests/seen/NAME.py`` runs in the same kernel where there is one. It does what the folded answers of the lesson tell
numbers of, and asserts these. Their code is there as ``FOLDED``: a list of texts for each summary.
"""

import copy
import re
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import IPyNbCell

SEEN = Path(__file__).with_name("seen")
FOLD = re.compile(r"<details><summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


class CellAgain(IPyNbCell):
    """A cell that has run already, and its outputs as the reference."""

    first: IPyNbCell

    def runtest(self) -> None:
        """Run the cell, and compare what it says with what it said."""
        tags = self.cell.metadata.get("tags", [])
        if {"once", "long"} & set(tags) or self.first.test_outputs is None:
            pytest.skip("runs once")
        self.options = self.options | {"check": "varies" not in tags}
        self.cell = copy.copy(self.cell)
        self.cell.outputs = self.first.test_outputs
        super().runtest()

    def compare_outputs(self, test, ref, skip_compare=None) -> bool:
        """Compare pictures, too: the same process draws the same one twice."""
        kept = tuple(key for key in self.parent.skip_compare if not key.startswith("image/"))
        return super().compare_outputs(test, ref, skip_compare or kept)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the cells of a notebook once more behind its last one, in reverse order."""
    planned = []
    cells: list[IPyNbCell] = []
    for item, following in zip(items, [*items[1:], None], strict=True):
        planned.append(item)
        if isinstance(item, IPyNbCell):
            cells.append(item)
        if cells and (following is None or following.parent is not item.parent):
            planned += what_we_saw(cells[-1])
            planned += [again(cell) for cell in reversed(cells)]
            cells = []
    items[:] = planned


def what_we_saw(last: IPyNbCell) -> list[IPyNbCell]:
    """Return the item that does a notebook's exercises behind its last cell, where a file does."""
    notebook = last.parent.path
    exercises = SEEN / f"{notebook.stem}.py"
    if notebook.parent.name != "notebooks" or not exercises.exists():
        return []  # an assignment has the name of its lesson
    source = f"FOLDED = {folded_code(notebook)}\n{exercises.read_text(encoding='utf-8')}"
    item = IPyNbCell.from_parent(
        last.parent,
        name=f"what we saw, {exercises.name}",
        cell_num=last.cell_num + 1,
        cell=nbformat.v4.new_code_cell(source),
        options=last.options | {"check": False},
    )
    item.output_timeout = last.output_timeout
    return [item]


def folded_code(notebook: Path) -> dict[str, list[str]]:
    """Return the Python code of the folded answers of a notebook, by their summaries."""
    cells = nbformat.read(notebook, as_version=4).cells
    found: dict[str, list[str]] = {}
    for cell in cells:
        if cell.cell_type == "markdown":
            for summary, answer in FOLD.findall(cell.source):
                found.setdefault(summary, []).extend(CODE.findall(answer))
    return found


def again(cell: IPyNbCell) -> CellAgain:
    """Return the item that runs a cell once more, in the kernel of its notebook."""
    name = f"{cell.name} again"
    item = CellAgain.from_parent(
        cell.parent, name=name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
    )
    item.output_timeout = cell.output_timeout  # which tests/conftest.py sets
    item.first = cell
    return item
