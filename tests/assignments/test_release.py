"""What students get: the source without its answers and hidden tests."""

import re

import nbformat
import pytest

from albert_course import checks
from albert_course.assignments import NOTEBOOKS, RELEASES, SOURCES
from albert_course.assignments.build import build, find_sources, release
from tests.support import cells

PATHS = find_sources()
REGION = re.compile(r"^ *### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)^ *### END", re.S | re.M)
each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def text_of(path) -> str:
    """Return what all cells of a notebook say."""
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)


def marks(path) -> list:
    """Return what nbgrader knows of each marked code cell, and the cell."""
    known = [cell for cell in cells(path, "code") if "nbgrader" in cell.metadata]
    return [(cell.metadata.nbgrader, cell) for cell in known]


def test_build_makes_the_committed_copies_and_touches_no_other_file(tmp_path):
    (tmp_path / "99_mine.ipynb").write_text("{}")
    written = build(SOURCES, tmp_path)
    assert [path.name for path in written] == sorted(path.name for path in RELEASES.glob("*.ipynb"))
    for path in written:
        assert path.read_bytes() == (RELEASES / path.name).read_bytes(), path.name
    assert (tmp_path / "99_mine.ipynb").read_text() == "{}"


@each
def test_no_line_of_a_solution_is_handed_out(path):
    inside = REGION.findall(text_of(path))
    lines = {line.strip() for text in inside for line in text.splitlines()}
    lines = {line for line in lines if len(line) > 12 and not line.startswith("from albert_")}
    assert len(lines) > 10
    text = text_of(RELEASES / path.name)
    assert "### BEGIN" not in text and not [line for line in lines if line in text]


@pytest.mark.slow
@each
def test_as_handed_out_each_visible_check_says_that_the_exercise_is_not_answered_yet(path):
    names = {"__name__": "__main__"}
    for mark, cell in marks(RELEASES / path.name):
        if mark.grade and "check_" in cell.source:
            with pytest.raises(checks.CheckFailed, match=r"not answered yet|NotImplementedError"):
                exec(cell.source, names)
        else:
            exec(cell.source, names)


@each
def test_run_all_goes_on_after_a_visible_test_that_fails_and_one_that_passes_says_so(path):
    for mark, cell in marks(RELEASES / path.name):
        if mark.grade_id.endswith("_visible"):
            assert cell.metadata.tags == ["raises-exception"], "JupyterLab and nbclient go on then"
            assert cell.source.endswith("print(report)")


@each
def test_points_come_from_hidden_tests_whose_checks_move_with_the_grading_seed(path):
    answer, kinds = "", {}
    for mark, cell in marks(path):
        answer = mark.grade_id if mark.solution else answer
        if mark.grade:
            kinds.setdefault(answer, set()).add(bool(mark.points))
            assert mark.points == 0 or "### BEGIN HIDDEN TESTS" in cell.source
            assert ("seed=" in cell.source) == mark.grade_id.endswith("_hidden")
            if mark.grade_id.endswith("_hidden"):
                score = f"score(reports, {mark.points})\n### END HIDDEN TESTS"
                assert "in seeds(" in cell.source or "= seeds(" in cell.source
                assert cell.source.endswith(score)
    assert all(kind == {True, False} for kind in kinds.values())


@each
def test_exercises_have_headers_hints_help_and_the_points_of_their_tests(path):
    text = text_of(path)
    header = r"\*\* · difficulty [1-5]/5 · importance [1-5]/5 · [\d-]+ minutes · (\d+) points"
    points = [int(number) for number in re.findall(header, text)]
    given = sum(mark.points for mark, _ in marks(path) if mark.grade)
    assert sum(points[:-1]) == given and points[-1] == 4
    exercises = len(points) - 1
    assert text.count("<summary>Hint 1") == exercises
    assert text.count("<summary>I get ") >= exercises
    row = f"| [{path.stem[:2]}](source/{path.name}) "
    assert row in (NOTEBOOKS / "README.md").read_text(), "the instructors' page lists it"


def test_a_source_that_nbgrader_refuses_is_named(tmp_path):
    mark = dict.fromkeys(("grade", "locked", "task"), False)
    mark |= {"grade_id": "a", "solution": True, "schema_version": 3}
    cell = nbformat.v4.new_code_cell("### BEGIN SOLUTION\npass", metadata={"nbgrader": mark})
    kernel = {"name": "python3", "display_name": "Python", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "01_wrong.ipynb")
    with pytest.raises(ValueError, match=r"01_wrong\.ipynb .*no end solution"):
        release(tmp_path / "01_wrong.ipynb")
