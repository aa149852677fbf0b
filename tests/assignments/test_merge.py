"""Reading students' cells: with several readers at once, and when a cell is made to break its reader."""

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from albert_edu.assignments.merge import albert_imports, suspicions

NUMBERS = ", ".join(f"{i}: [(0, {i})] * 3" for i in range(30))
CELL = f"from albert_edu.model.sharing import layer_plan\nimport gc\nK = {{{NUMBERS}}}\n"


@pytest.fixture
def slow_garbage():
    """Collections that are frequent and let the other threads run: a SystemError that is rare without."""

    def rest(*_):
        time.sleep(0.0005)

    thresholds = gc.get_threshold()
    gc.callbacks.append(rest)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(rest)


def test_two_threads_read(slow_garbage):
    with ThreadPoolExecutor(2) as pool:
        assert set(map(tuple, pool.map(suspicions, [CELL] * 20))) == {("imports gc",)}


@pytest.mark.parametrize("source", ["(" * 1000 + ")" * 1000, "-" * 100_000 + "1", "a" + ".b" * 100_000, "def f(:", "x = '\0'"])
def test_unreadable_cells_are_not_judged(source):
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        ast.parse(source)
    assert (albert_imports(source), suspicions(source)) == (set(), [])
