"""A notebook of the main road is a lesson: it fits an hour, asks the reader, and its exercises can be solved."""

import ast
import contextlib
import re
from pathlib import Path

import nbformat
import pytest

from albert_course.notebooks import MINUTES, update_syllabus, update_table, with_minutes
from tests.support import cells

ROOT = Path(__file__).resolve().parents[1]
ROAD = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISE = re.compile(
    r"^\*\*(\d+) .+?\*\* · difficulty \d/5 · importance \d/5 · .*minutes", re.MULTILINE
)
FRAME = re.compile(r"Symbols|Summary|Self-test|Exercises?$|What next|Where to go next")
SOLUTION = re.compile(r"<summary>Solution</summary>\s*```python\n(.*?)```\s*</details>", re.DOTALL)


def source_of(path: Path, kind: str) -> str:
    return "\n".join(cell.source for cell in cells(path, kind))


each_lesson = pytest.mark.parametrize("path", ROAD, ids=lambda path: path.stem)


@each_lesson
def test_a_lesson_leaves_out_what_does_not_fit_an_hour(path):
    prose = source_of(path, "markdown")
    shown = re.sub(r"!\[[^\]]*\]\([^)]*\)|<details>.*?</details>", "", prose, flags=re.DOTALL)
    code = source_of(path, "code").splitlines()
    sections = [
        head for head in re.findall(r"^## (.*)", prose, re.MULTILINE) if not FRAME.match(head)
    ]
    assert len(shown.split()) <= 3000 and sum(bool(line.strip()) for line in code) <= 180
    assert 3 <= len(sections) <= 6, sections


@each_lesson
def test_a_lesson_says_how_long_reading_and_doing_take(path):
    notebook = nbformat.read(path, as_version=4)
    assert with_minutes(notebook) == nbformat.read(path, as_version=4)
    assert MINUTES.search(notebook.cells[0].source)


@each_lesson
def test_a_lesson_opens_with_its_problem_and_a_drawing(path):
    first = nbformat.read(path, as_version=4).cells[:3]
    opening = "\n".join(cell.source for cell in first)
    assert "**The problem**" in opening and re.search(r"drawings/\w+\.svg", opening)


@each_lesson
def test_a_guess_is_left_to_the_reader(path):
    """The cell holds ``guess = ...``; what is revealed was asked for first."""
    code = source_of(path, "code")
    revealed = re.findall(r"^\s*reveal\((\w+)", code, re.MULTILINE)
    assert revealed and not re.search(r"(?<!def )\bpredict\(", code)
    for guess in revealed:
        assert re.search(rf"^{guess} = \.\.\.", code.split(f"reveal({guess}")[0], re.MULTILINE), (
            guess
        )


@each_lesson
def test_every_exercise_has_hints_an_error_a_solution_and_a_check_that_it_passes(path):
    """The solution sees what the notebook imports, defines and names; the check is the cell's own."""
    notebook = nbformat.read(path, as_version=4)
    sources = [(cell.cell_type, cell.source) for cell in notebook.cells]
    scope: dict = {}
    exercises = 0
    for (kind, text), (after, check) in zip(sources, [*sources[1:], ("", "")], strict=True):
        if kind == "code" and not re.search(r"^check_\w+\(", text, re.MULTILINE):
            define(text, scope)
        if not EXERCISE.search(text) or kind != "markdown":
            continue
        exercises += 1
        assert EXERCISE.findall(text) == [str(exercises)] and text.count("<summary>Hint") >= 1, (
            text[:80]
        )
        assert "I get" in text or "says" in text, text[:80]
        solution = SOLUTION.search(text)
        assert solution and after == "code", text[:80]
        called = re.search(r"^(check_\w+)\((\w+)\)$", check, re.MULTILINE)
        assert called and "NotImplementedError" in check, check
        define(check, scope)
        exec(compile(solution[1], f"<solution in {path.name}>", "exec"), scope)
        report = scope[called[1]](scope[called[2]])
        assert report.passed, report
    assert exercises >= (1 if path.name.startswith("00") else 2)


def define(source: str, scope: dict) -> None:
    """Run what a cell imports, defines and sets to constants, and leave out what computes."""
    wanted = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    for node in ast.parse(source).body:
        calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node))
        if isinstance(node, wanted) or (isinstance(node, ast.Assign) and not calls):
            with contextlib.suppress(NameError):  # made of something that the notebook computes
                exec(compile(ast.Module([node], []), "<cell>", "exec"), scope)


def glossary() -> list[tuple[str, str]]:
    """Each term with the number of the notebook that introduces it."""
    rows = re.findall(
        r"^\| ([^|$]+?) \|.*\| (\d\d) \|$",
        (ROOT / "notebooks" / "GLOSSARY.md").read_text(),
        re.MULTILINE,
    )
    assert len({term for term, _ in rows}) == len(rows) > 80, "no term is there twice"
    return rows


@each_lesson
def test_a_notebook_uses_the_terms_that_the_glossary_says_it_introduces(path):
    text = " ".join(source_of(path, "markdown").lower().replace("-", " ").split())
    terms = [term for term, number in glossary() if number == path.name[:2]]
    missing = [
        term
        for term in terms
        for part in term.lower().split(", ")
        if part.replace("-", " ") not in text
    ]
    assert terms or path.name.startswith("00")
    assert not missing


def test_what_a_run_took_is_written_into_its_row_of_the_readme_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("albert_course.notebooks.course_folder", lambda: tmp_path)
    page, before = tmp_path / "README.md", (ROOT / "README.md").read_text()
    page.write_text(before)
    update_table("07_pretraining", 7, 90.0, 400.4)
    changed = set(page.read_text().splitlines()) - set(before.splitlines())
    assert [line[-17:] for line in changed] == ["| 7 | 1.5 | 400 |"]


def test_the_teaching_page_adds_up_the_minutes_of_its_notebooks(tmp_path):
    page = ROOT / "notebooks" / "TEACHING.md"
    for path in (*(ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"), page):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    update_syllabus(tmp_path / page.name)
    assert (tmp_path / page.name).read_text() == page.read_text()
    taught = re.findall(r"\]\((\d\d)_", page.read_text())
    # Each notebook once in both syllabuses.
    assert sorted(taught) == sorted(2 * [f"{number:02}" for number in range(13)])
