"""A lost, copied or moved cell costs its own exercise at most, and is noted."""

import copy

import nbformat
import pytest

from albert_course.assignments import RELEASES, SOURCES
from albert_course.assignments.mend import mend
from tests.assignments.classroom import (
    NAME,
    SOLVED,
    marked,
    read,
    split,
    submission,
    without_metadata,
)

ANSWERS = ("layer_plan", "encoder", "gradient_of_each", "loss_with_last_only")


@pytest.fixture
def mended(tmp_path):
    """A function that mends a notebook: it returns the cells that have a name, and the note."""

    def function(notebook: nbformat.NotebookNode) -> tuple[dict, str]:
        place = tmp_path / f"{NAME}.ipynb"
        place.write_text(nbformat.writes(notebook), encoding="utf-8-sig")
        text, note = mend(place, SOURCES / place.name)
        cells = nbformat.reads(text, 4)
        nbformat.validate(cells)
        names = [cell.metadata.nbgrader.grade_id for cell in cells.cells if cell.metadata]
        assert len(names) == len(set(names))
        place.write_text(text)
        assert mend(place, SOURCES / place.name) == (text, ""), "mended once, it is whole"
        return marked(cells), note

    return function


def test_a_copied_cell_keeps_its_answer_and_what_another_assignment_marked_is_no_error(mended):
    notebook = split()
    for mark in ({}, {"grade_id": "of_another", "solution": True}, {"grade": "x"}):
        notebook.cells.append(nbformat.v4.new_code_cell("1", metadata={"nbgrader": mark}))
    cells, note = mended(notebook)
    assert "encoder" in note and "the last copy counts" in note
    assert cells["encoder"].source == SOLVED["encoder"].strip()


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("name", ["layer_plan", "encoder", "open_question"])
def test_an_untouched_copy_of_a_cell_takes_nothing_from_the_answer(name, place, mended):
    notebook = submission(SOLVED)
    marked(notebook)["open_question"].source = "my words"
    notebook.cells.insert(place, marked(submission({}))[name])
    cells, note = mended(notebook)
    answer = "my words" if name == "open_question" else SOLVED[name].strip()
    assert cells[name].source == answer and note == f"{name}: an untouched copy is left out"


@pytest.mark.parametrize("text", ["{}\n", "{} \n\n"])
@pytest.mark.parametrize("named", [True, False])
def test_a_stub_behind_an_answer_defines_nothing_again(text, named, mended):
    notebook = submission(SOLVED)
    stub = marked(submission({}))["layer_plan"]
    stub.source = text.format(stub.source)
    if not named:
        stub.metadata = {}
    place = notebook.cells.index(marked(notebook)["layer_plan"])
    notebook.cells.insert(place + 1, stub)
    cells, note = mended(notebook)
    assert cells["layer_plan"].source == SOLVED["layer_plan"].strip()
    assert note == "layer_plan: an untouched copy is left out"


def test_an_answer_whose_name_is_lost_wins_against_two_stubs(mended):
    notebook = submission(SOLVED)
    answer = marked(notebook)["layer_plan"]
    answer.metadata = {}
    place = notebook.cells.index(answer)
    notebook.cells[place + 1 : place + 1] = [marked(submission({}))["layer_plan"] for _ in "12"]
    cells, _ = mended(notebook)
    assert cells["layer_plan"].source == SOLVED["layer_plan"].strip()


@pytest.mark.parametrize("texts", [["", None, "mine"], [None, "mine", ""], ["", "mine", None]])
def test_an_open_answer_is_found_among_the_parts_of_a_cell_that_was_split(texts, mended):
    """None is the stub. What stands behind a split at the start has lost its name."""
    notebook = submission(SOLVED)
    stub = marked(notebook)["open_question"]
    place = notebook.cells.index(stub)
    parts = [copy.deepcopy(stub) for _ in texts]
    for part, text in zip(parts, texts, strict=True):
        part.source = stub.source if text is None else text
    notebook.cells[place : place + 1] = parts
    cells, _ = mended(notebook)
    assert cells["open_question"].source == "mine"


@pytest.mark.parametrize(("moved", "to"), [("imports", -1), ("imports", 9), ("encoder_hidden", 0)])
def test_a_cell_on_the_wrong_side_of_an_answer_is_put_back(moved, to, mended):
    notebook = submission({})
    cell = marked(notebook)[moved] if moved in marked(notebook) else marked(read(SOURCES))[moved]
    notebook.cells = [other for other in notebook.cells if other is not cell]
    notebook.cells.insert(to % len(notebook.cells), cell)
    cells, note = mended(notebook)
    names = list(cells)
    assert {*names[:2]} == {"course", "imports"}
    assert "encoder_hidden" not in names[: names.index("encoder")]
    assert note == "imports: not in its place, and put back" * (moved == "imports")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_deleted_answer_is_put_back_as_it_was_handed_out_and_the_others_stay(name, mended):
    notebook = submission(SOLVED)
    notebook.cells.remove(marked(notebook)[name])
    cells, note = mended(notebook)
    assert note == f"{name}: gone, and put back without an answer"
    assert cells[name].source == marked(read(RELEASES))[name].source
    kept = [other for other in ANSWERS if other != name]
    assert all(cells[other].source == SOLVED[other].strip() for other in kept)
    names = list(cells)
    assert names.index(name) + 1 == names.index(f"{name}_visible")


def test_a_notebook_without_metadata_is_recognised_by_its_texts_and_definitions(mended):
    cells, note = mended(without_metadata())
    assert note == f"{', '.join(ANSWERS)}: found in another cell"
    assert [cells[name].source for name in ANSWERS] == [SOLVED[name].strip() for name in ANSWERS]
    assert list(cells) == list(marked(read(RELEASES)))


@pytest.mark.parametrize(
    "definition",
    [
        "def layer_plan(L, share, G=1):\n    return 3",
        "layer_plan = lambda L, share, G=1: 3",
        "%matplotlib inline\nlayer_plan: object = max",
        "def helper():\n    pass\n\n\ndef layer_plan(*_):\n    return helper()",
    ],
)
@pytest.mark.parametrize("leave_the_stub", [True, False])
def test_an_answer_below_its_tests_is_found_and_the_tests_follow(
    definition, leave_the_stub, mended
):
    notebook = submission({})
    if not leave_the_stub:
        marked(notebook)["layer_plan"].source = "# see below"
    notebook.cells.append(nbformat.v4.new_code_cell(definition))
    cells, note = mended(notebook)
    assert cells["layer_plan"].source == definition
    assert note == "layer_plan: found in another cell"
    assert "layer_plan_visible" not in cells, "nbgrader puts it behind the answer"


def test_an_answer_in_its_place_is_kept_beside_older_attempts(mended):
    notebook = submission(SOLVED)
    for place in (0, len(notebook.cells)):
        attempt = nbformat.v4.new_code_cell("def layer_plan(L, share, G=1):\n    return 3")
        notebook.cells.insert(place, attempt)
    cells, note = mended(notebook)
    assert cells["layer_plan"].source == SOLVED["layer_plan"].strip() and note == ""


@pytest.mark.parametrize("how", ["without metadata", "in a cell of its own", "deleted"])
def test_an_open_answer_is_found_behind_its_question(how, mended):
    notebook = without_metadata() if how == "without metadata" else submission(SOLVED)
    stub = marked(read(RELEASES))["open_question"].source
    place = next(k for k, cell in enumerate(notebook.cells) if cell.source == stub)
    if how == "deleted":
        del notebook.cells[place]
    elif how == "without metadata":
        notebook.cells[place].source = "Because they share."
    else:
        own = nbformat.v4.new_markdown_cell("Because they share.")
        notebook.cells.insert(place + 1, own)
    cells, note = mended(notebook)
    expected = stub if how == "deleted" else "Because they share."
    assert cells["open_question"].source == expected
    assert ("open_question" in note) and ("gone" in note) == (how == "deleted")


def test_a_tag_that_would_skip_a_test_is_dropped(mended):
    notebook = submission({})
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]
    assert all(cell.metadata.keys() == {"nbgrader"} for cell in mended(notebook)[0].values())


def test_of_two_copies_that_both_answer_the_last_one_counts(mended):
    notebook = submission(SOLVED)
    answer = marked(notebook)["layer_plan"]
    older = copy.deepcopy(answer)
    older.source, older.id = "def layer_plan(L, share, G=1):\n    return 3", "older"
    notebook.cells.insert(notebook.cells.index(answer), older)
    cells, note = mended(notebook)
    assert cells["layer_plan"].source == SOLVED["layer_plan"].strip()
    assert note == "layer_plan: the last copy counts"
