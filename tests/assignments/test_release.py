"""What students get: the source without its answers, and nothing else changed."""

import ast
import re

import nbformat
import pytest

from albert_edu import checks
from albert_edu.assignments import contents
from albert_edu.assignments.release import BLANK, RELEASES, SOURCES, STUB, build, cleared, find_sources, release, role

PATHS = find_sources(SOURCES)
REGION = re.compile(r"^[ ]*### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)^[ ]*### END \1$\n?", re.DOTALL | re.MULTILINE)
each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def read(path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@each
def test_the_committed_copy_is_the_one_that_is_built(path, tmp_path):
    again = build(SOURCES, tmp_path)
    assert (RELEASES / path.name).read_bytes() == (tmp_path / path.name).read_bytes()
    assert sorted(one.name for one in again) == sorted(one.name for one in RELEASES.glob("*.ipynb"))


@each
def test_no_line_of_a_solution_is_handed_out(path):
    inside = [region[1] for cell in read(path).cells for region in REGION.findall(cell.source)]
    lines = {line.strip() for text in inside for line in text.splitlines() if len(line.strip()) > 12}
    assert len(lines) > 10
    text = "\n".join(cell.source for cell in read(RELEASES / path.name).cells)
    assert "### " not in re.sub(r"^#+ .*$", "", text, flags=re.MULTILINE)
    assert not [line for line in lines if line in text]


@each
def test_nothing_is_changed_outside_of_the_marked_regions(path):
    """By another way than the library's: one substitution over the whole cell."""

    def stub(region: re.Match) -> str:
        indent = region[0][: len(region[0]) - len(region[0].lstrip())]
        return "" if region[1] != "SOLUTION" else f"{indent}{STUB if code else BLANK}\n"

    source, handed_out = read(path), read(RELEASES / path.name)
    assert source.metadata == handed_out.metadata and len(source.cells) == len(handed_out.cells)
    for ours, theirs in zip(source.cells, handed_out.cells, strict=True):
        code = ours.cell_type == "code"
        assert theirs.source == REGION.sub(stub, ours.source + "\n").rstrip("\n")
        assert (theirs.id, theirs.cell_type, theirs.metadata) == (ours.id, ours.cell_type, ours.metadata)
        assert not code or (theirs.outputs == [] and theirs.execution_count is None)


@each
def test_as_handed_out_each_check_says_not_implemented(path):
    names = {"__name__": "__main__"}
    tested = 0
    for cell in read(RELEASES / path.name).cells:
        if cell.cell_type != "code":
            continue
        if role(cell) == "test" and "check_" in cell.source:
            with pytest.raises(checks.CheckFailed, match="NotImplementedError"):
                exec(cell.source, names)
            tested += 1
        else:
            exec(cell.source, names)
    assert tested >= 2


@each
def test_points_come_from_hidden_tests_with_seeds_and_each_answer_has_both_kinds(path):
    answer, tests = "", {}
    for cell in read(path).cells:
        answer = cell.metadata.nbgrader.grade_id if role(cell) == "answer" else answer
        if role(cell) == "test":
            tests.setdefault(answer, []).append(cell)
        if role(cell) == "answer":
            ast.parse(cleared(cell.source))
    for answer, cells in tests.items():
        visible = [cell for cell in cells if cell.metadata.nbgrader.points == 0]
        hidden = [cell for cell in cells if cell.metadata.nbgrader.points > 0]
        assert visible and hidden, answer
        assert all("BEGIN HIDDEN" in cell.source and "seed=" in cell.source for cell in hidden), answer
        assert all("seed" not in cell.source for cell in visible), answer


@each
def test_exercises_have_headers_hints_and_help(path):
    text = "\n".join(cell.source for cell in read(path).cells)
    headers = re.findall(r"\*\*.*?\*\* · difficulty [1-5]/5 · importance [1-5]/5 · \d+(?:-\d+)? minutes · \d+ points", text)
    answers = sum(role(cell) in ("answer", "open") for cell in read(path).cells)
    assert len(headers) == answers
    assert text.count("<summary>Hint 1") == answers - 1 and text.count("<summary>I get ") >= answers - 1
    minutes = int(re.search(r"\*\*Minutes\.\*\* (\d+)", text)[1])
    asked = [int(found) for found in re.findall(r" · (?:\d+-)?(\d+) minutes", text)]
    assert abs(sum(asked) - minutes) <= 15


def test_the_instructors_page_has_the_table_of_the_source_notebooks():
    assert contents.table() in contents.PAGE.read_text(), "python -m albert_edu assignments build writes it"


def notebook(*cells: tuple[str, dict]) -> nbformat.NotebookNode:
    made = [nbformat.v4.new_code_cell(text, metadata={"nbgrader": about} if about else {}) for text, about in cells]
    return nbformat.v4.new_notebook(cells=made)


ANSWER = {"grade": False, "solution": True, "locked": False, "task": False, "grade_id": "a", "schema_version": 3}
TEST = {"grade": True, "solution": False, "locked": True, "task": False, "grade_id": "t", "schema_version": 3, "points": 1}
SOLVED = "### BEGIN SOLUTION\npass\n### END SOLUTION"


@pytest.mark.parametrize("cell, told", [
    (("### BEGIN SOLUTION\npass", ANSWER), "never ended"),
    (("### END SOLUTION", {}), None),
    (("### BEGIN SOLUTION\n### BEGIN HIDDEN TESTS\n### END SOLUTION", ANSWER), "inside of SOLUTION"),
    ((SOLVED, {}), "solution: true"),
    ((SOLVED, {**ANSWER, "schema_version": 2}), "schema_version"),
    ((SOLVED, {key: value for key, value in ANSWER.items() if key != "task"}), "task"),
    (("pass", ANSWER), "marks no solution"),
    (("### BEGIN HIDDEN TESTS\npass\n### END HIDDEN TESTS", {}), "no test cell"),
    (("assert 1", {**TEST, "points": "1"}), "points"),
    (("assert 1", {**TEST, "locked": False}), "locked"),
])  # fmt: skip
def test_a_source_that_is_not_fit_is_refused_and_the_cell_is_named(cell, told):
    with pytest.raises(ValueError, match=told):
        release(notebook(("import torch", {}), cell))


def test_a_grade_id_used_twice_is_refused():
    with pytest.raises(ValueError, match=r"cell 0: the grade_id 'a' is used 2 times"):
        release(notebook((SOLVED, ANSWER), (SOLVED, ANSWER)))


def test_a_release_whose_source_is_gone_is_removed(tmp_path):
    (tmp_path / "99_old.ipynb").write_text("{}")
    build(SOURCES, tmp_path)
    assert not (tmp_path / "99_old.ipynb").exists()
