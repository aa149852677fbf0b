"""What other programs write or leave out is no reason not to grade; what is no notebook is refused."""

import json

import nbformat
import pytest

from albert_course.assignments import NOTEBOOKS, SOURCES
from albert_course.assignments.build import find_sources
from albert_course.assignments.mend import Unreadable, mend
from tests.assignments.classroom import NAME, SOLVED, marked, submission
from tests.assignments.test_mend import ANSWERS


def strip(notebook: dict, key: str) -> None:
    for cell in notebook["cells"]:
        cell.pop(key, None)


def of_another_language(notebook: dict) -> None:
    kernel = {"name": "ir", "display_name": "R"}
    notebook["metadata"].update(kernelspec=kernel, language_info={"name": "R"})


def with_metadata_that_are_none(notebook: dict) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = None


def without_version(notebook: dict) -> None:
    del notebook["nbformat"]
    del notebook["nbformat_minor"]


def with_a_cell_called(notebook: dict, name: object) -> None:
    """Add a cell whose name in nbgrader is no text."""
    metadata = {"nbgrader": {"grade_id": name}}
    notebook["cells"].append({"cell_type": "code", "source": "1", "metadata": metadata})


STRANGE = {
    "no metadata of a cell": lambda notebook: strip(notebook, "metadata"),
    "no outputs": lambda notebook: strip(notebook, "outputs"),
    "no numbers of cells": lambda notebook: strip(notebook, "execution_count"),
    "no ids": lambda notebook: strip(notebook, "id"),
    "widgets without a state": lambda notebook: notebook["metadata"].update(widgets={"a": {}}),
    "no metadata": lambda notebook: notebook.pop("metadata"),
    "no version": without_version,
    "a kernel of another language": of_another_language,
    "metadata that are none": with_metadata_that_are_none,
    "a list for a name": lambda notebook: with_a_cell_called(notebook, [1]),
    "a dict for a name": lambda notebook: with_a_cell_called(notebook, {"a": 1}),
}


@pytest.mark.parametrize("how", STRANGE)
def test_what_other_programs_write_or_leave_out_is_no_reason_not_to_grade(how, tmp_path):
    notebook = json.loads(nbformat.writes(submission(SOLVED)))
    STRANGE[how](notebook)
    place = tmp_path / f"{NAME}.ipynb"
    place.write_text(json.dumps(notebook))
    text, _ = mend(place, SOURCES / place.name)
    cells = nbformat.reads(text, 4)
    nbformat.validate(cells)
    assert [marked(cells)[name].source for name in ANSWERS] == [
        SOLVED[name].strip() for name in ANSWERS
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "my dog ate it",
        "[]",
        "null",
        "[" * 99_999,
        '{"cells": 3}',
        '{"cells": [null]}',
        '{"cells": [{}]}',
        '{"cells": [{"metadata": {"nbgrader": []}}]}',
        "\x00",
        "PK\x03",
    ],
)
def test_what_is_no_notebook_is_refused(text, tmp_path):
    place = tmp_path / f"{NAME}.ipynb"
    place.write_text(text)
    with pytest.raises(Unreadable, match="no notebook that can be read"):
        mend(place, SOURCES / place.name)


@pytest.mark.parametrize("source", find_sources(), ids=lambda path: path.stem)
def test_the_lesson_of_the_same_name_is_no_submission(source):
    lesson = NOTEBOOKS.parent / source.name
    with pytest.raises(Unreadable, match="is it the lesson"):
        mend(lesson, source)


@pytest.mark.slow
@pytest.mark.parametrize("source", find_sources(), ids=lambda path: path.stem)
def test_every_assignment_is_recognised_without_its_metadata(source, tmp_path):
    notebook = nbformat.read(source, 4)
    given = {
        name: cell for name, cell in marked(notebook).items() if not cell.metadata.nbgrader.grade
    }
    for cell in notebook.cells:
        cell.metadata = {}
    place = tmp_path / source.name
    nbformat.write(notebook, place)
    cells = marked(nbformat.reads(mend(place, source)[0], 4))
    assert all(cells[name].source == cell.source for name, cell in given.items())
