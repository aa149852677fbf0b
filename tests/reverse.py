"""A plugin of pytest: what a reader does after Run All, every cell once more, from the last to the first.

    python -m pytest -p tests.reverse --nbval ... notebooks

Readers scroll back, type a guess and run one cell again. What it says must not depend on what ran below it. The kernel is
that of nbval's own run, and each cell is compared with what it said there, on this machine and a moment ago, so that
cells count whose outputs differ from machine to machine. Two tags excuse a cell: ``once`` for one that cannot or need not
be repeated, and ``varies`` for one that prints times, which may print other words but must not fail.
"""

import copy
from collections import defaultdict

import pytest
from nbval.plugin import IPyNbCell


class CellAgain(IPyNbCell):
    """A cell that has run already, and its outputs as the reference."""

    first: IPyNbCell

    def runtest(self) -> None:
        """Run the cell, and compare what it says with what it said."""
        tags = self.cell.metadata.get("tags", [])
        if "once" in tags or self.first.test_outputs is None:
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
    """Put the cells of a notebook behind its last one, in reverse order."""
    by_notebook = defaultdict(list)
    for item in items:
        by_notebook[item.parent].append(item)
    items.clear()
    for notebook, members in by_notebook.items():
        items += members
        for cell in reversed([item for item in members if isinstance(item, IPyNbCell)]):
            again = CellAgain.from_parent(
                notebook,
                name=f"{cell.name} again",
                cell_num=cell.cell_num,
                cell=cell.cell,
                options=cell.options,
            )
            again.first = cell
            items.append(again)
