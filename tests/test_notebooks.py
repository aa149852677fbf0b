"""Stored notebooks are what a reader should find: run from top to bottom, clean, described, and whole."""

import base64
import io
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import PIL.Image
import pytest

from albert_course.assignments.apart import names_asked_for
from albert_course.notebooks import normalise
from tests.support import cells, names_set

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("", "optional", "assignments/source")
PATHS = [
    path for folder in FOLDERS for path in sorted((ROOT / "notebooks" / folder).glob("*.ipynb"))
]

pytestmark = pytest.mark.parametrize(
    "path", PATHS, ids=lambda path: str(path.relative_to(ROOT / "notebooks").with_suffix(""))
)


def test_outputs_hold_no_error_stream_no_warning_no_widget_and_no_machine_path(path):
    for cell in cells(path, "code"):
        for output in cell.outputs:
            assert output.get("name") != "stderr"
            assert output.output_type != "error" or "raises-exception" in cell.metadata.get(
                "tags", []
            )
            text = str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
            assert not re.search(r"Warning|/(home|Users|root|work|tmp)/", text), text
            assert not any("widget" in kind for kind in output.get("data", {}))


def test_a_cell_whose_output_is_not_compared_is_followed_or_ended_by_an_assertion(path):
    code = cells(path, "code")
    for cell, after in zip(code, [*code[1:], None], strict=True):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert "assert" in cell.source or (after and "assert" in after.source), cell.source


def test_the_answer_to_a_guess_is_folded_until_the_reader_runs_it(path):
    for cell in cells(path, "code"):
        answers = any(line.strip().startswith("reveal(") for line in cell.source.splitlines())
        assert cell.metadata.get("jupyter", {}).get("outputs_hidden", False) == answers
        if answers:  # JupyterLab shows the first line of a folded output
            lines = "".join(output.get("text", "") for output in cell.outputs).splitlines()
            answer = next(line for line in lines if line.startswith("it is ")).split()[2]
            assert answer not in lines[0].split(), lines[0]


def test_the_file_is_run_in_order_and_normalised_and_small(path):
    notebook = nbformat.read(path, as_version=4)
    counts = [cell.execution_count for cell in cells(path, "code")]
    assert counts == [*range(1, len(counts) + 1)]
    assert notebook == normalise(nbformat.read(path, as_version=4))
    assert path.stat().st_size <= 400_000


def test_code_cells_are_short(path):
    """A definition of the library is shown whole, with its docstring; every other cell has at most 15 lines, but for one."""
    lengths = {False: [0], True: [0]}
    for cell in cells(path, "code"):
        lengths["verbatim" in cell.metadata.get("tags", [])].append(len(cell.source.splitlines()))
    assert sum(length > 15 for length in lengths[False]) <= 1, lengths
    assert max(lengths[False] + lengths[True]) <= 60, lengths
    for cell in cells(path, "code"):
        widest = max(map(len, cell.source.splitlines()))
        assert widest <= (78 if path.parent.name == "notebooks" else 92), (
            "wider than a window of 800 pixels: the cell would need a scroll bar"
        )


def test_headings_start_with_one_title_and_skip_no_level(path):
    text = re.sub(
        r"```.*?```",
        "",
        "\n".join(cell.source for cell in cells(path, "markdown")),
        flags=re.DOTALL,
    )
    levels = [len(found) for found in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_image_is_described_and_whole(path):
    for cell in cells(path, "markdown"):
        for alt, _ in re.findall(r"!\[(.*?)\]\((.*?)\)", cell.source):
            assert len(alt.split()) > 5, alt
    for cell in cells(path, "code"):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                stored = io.BytesIO(base64.b64decode(output.data["image/png"]))
                with PIL.Image.open(stored) as picture:
                    picture.load()
                    assert picture.width > 100
                assert len(output.metadata.get("image/png", {}).get("alt", "").split()) > 5, (
                    "use course.show(figure, alt)"
                )


def test_every_link_within_the_repository_resolves(path):
    for cell in cells(path, "markdown"):
        for target in re.findall(r"\]\(((?!http|#|mailto)[^)#]+)", cell.source):
            assert (path.parent / target).exists(), target


def test_no_cell_of_a_lesson_uses_a_name_that_a_cell_below_overwrites(path):
    """A reader scrolls back and runs a cell again; tests/reverse.py does so, but for what takes long.

    What is left blank for the reader, such as ``guess = ...``, is written anew on purpose.
    """
    if path.parent.name == "source":
        return
    code = [cell.source for cell in cells(path, "code")]
    blank = set(re.findall(r"^(\w+) = \.\.\.", "\n".join(code), re.MULTILINE))
    for place, source in enumerate(code):
        below = set().union(*map(names_set, code[place + 1 :]))
        assert not (names_asked_for(source) & below) - blank, source


def test_a_cell_that_cannot_be_repeated_says_so(path):
    for cell in cells(path, "code"):
        if "once" in cell.metadata.get("tags", []):
            assert re.search(r"#.*\bonce\b", cell.source), cell.source
