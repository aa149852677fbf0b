"""A simulated class is graded behind the wall: each gets what the answers deserve."""

import csv
import gc
import json
import os
import shutil
import socketserver
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook

from albert_course.assignments import SEED_VARIABLE, SOURCES, grade
from albert_course.assignments.grade import grade_folder, open_course, read_state
from albert_course.assignments.report import overview
from albert_course.assignments.scores import write_scores
from albert_course.assignments.submissions import Unreadable, mend
from albert_course.assignments.wall import SAYS
from tests.assignments.classroom import (
    DESERVED,
    HONEST_BUT_MESSY,
    NAME,
    NOT_GRADED,
    SOLVED,
    Server,
    hand_in,
    marked,
    read,
    split,
    submission,
)
from tests.support import main

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_seed_of_another_course(monkeypatch):
    """Let every course draw its own seed."""
    monkeypatch.delenv(SEED_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class after grading: the course, the lines that were shown, and the points."""
    folder = tmp_path_factory.mktemp("class")
    course = folder / "out"
    server = socketserver.TCPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hand_in(folder / "in", server.server_address[1])
    course.mkdir()
    (course / "gradebook.db").touch()  # as who sets the due date first has one
    with open_course(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-01 00:00 UTC")
    change(course, "seconds=300", "seconds=60, memory=1 << 30")
    change(course, "timeout = 60", "timeout = 10")
    change(course, "# c.LateSubmissionPlugin", "c.LateSubmissionPlugin")
    lines = list(map(str, grade_folder(folder / "in", course)))
    server.shutdown()
    server.server_close()
    assert not (Server.visited and hidden(course)), "a submission reached the network"
    return course, lines, points(course)


def change(course: Path, old: str, new: str) -> None:
    """Write the settings of a course, if there are none yet, and change them."""
    open_course(course)
    text = (course / "nbgrader_config.py").read_text()
    assert old in text
    (course / "nbgrader_config.py").write_text(text.replace(old, new))


def hidden(course: Path) -> bool:
    """Return whether bubblewrap stands around the submissions."""
    return open_course(course).config.Submission.says == SAYS["bwrap"]


def points(course: Path) -> dict[str, float]:
    """Return the points of each student who has some, or 0, in the table."""
    with (course / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {row["Student"]: float(row[NAME]) for row in csv.DictReader(file) if row[NAME]}


@pytest.mark.parametrize("student", DESERVED)
def test_each_gets_the_points_that_the_answers_deserve(graded, student):
    if student == "spies" and not hidden(graded[0]):
        pytest.skip("bubblewrap does not work here, and a plain process hides nothing")
    assert graded[2][student] == DESERVED[student]


def test_who_cannot_be_graded_is_named_and_everybody_else_is_graded(graded):
    course, lines, scores = graded
    problems = {name: one["problem"] for name, one in read_state(course)[NAME].items()}
    assert {student for student, problem in problems.items() if problem} == NOT_GRADED | {"nothing"}
    assert "DeadKernelError" in problems["dies"] and "Timeout" in problems["resists"]
    assert problems["nothing"] == "missing" and "(2) final.ipynb?" in problems["wrong_name"]
    assert not NOT_GRADED & set(scores), "what is not graded is empty in the table, and not 0"
    assert "\x1b" not in "".join(lines)


def test_the_table_has_the_columns_that_canvas_asks_for(graded):
    header = (graded[0] / "scores.csv").read_text().splitlines()[0]
    assert header == f"Student,ID,SIS User ID,SIS Login ID,Section,{NAME}"


def test_feedback_shows_the_likely_mistake_and_no_place_on_the_grader_s_disk(graded):
    page = (graded[0] / "feedback" / "half_done" / NAME / f"{NAME}.html").read_text()
    assert "SyntaxError" in page and "not answered yet" in page
    assert str(graded[0]) not in page
    hog = (graded[0] / "feedback" / "memory_hog" / NAME / f"{NAME}.html").read_text()
    assert "allocate memory" in hog, "it ends at its memory, not at its time"


def test_the_report_names_mistakes_and_what_a_person_should_look_at(graded):
    text = overview(graded[0])
    for words in (
        "encoder_hidden",
        "this exercise is still to do",
        "not graded: ",
        "look: Report.score = property",
        "look: import socket",
        "wait for a person",
        "hours late, 4 points lost",
        "mended: imports was not in its place and is put back",
    ):
        assert words in text, words
    rows = text.splitlines()
    assert not rows[rows.index(next(row for row in rows if "O'Brien" in row)) + 1].count("look")


def test_what_is_unchanged_is_not_graded_again_and_a_person_s_points_are_added(graded, monkeypatch):
    monkeypatch.setattr(grade, "_apart", lambda course, student, *_: f"{student} again")
    folder, course, _ = graded[0].parent / "in", *graded[:2]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission(NAME, "O'Brien").notebooks[0].grades
        next(grade for grade in grades if grade.name == "open_question").manual_score = 3
        gradebook.db.commit()
    done = [str(one) for one in grade_folder(folder, course)]
    again = sorted(line for line in done if "again" in line)
    assert again == [f"{NAME}, dies: dies again", f"{NAME}, resists: resists again"]
    assert points(course)["O'Brien"] == 23


def test_nbgrader_s_own_command_in_the_graded_folder_gives_the_same_points(graded):
    words = ["autograde", NAME, "--student=Smith, John", "--force"]
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=graded[0], check=True, capture_output=True)
    with Gradebook(f"sqlite:///{graded[0] / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(NAME, "Smith, John").score == 20


def test_a_source_whose_points_change_is_graded_again_and_one_with_other_cells_is_refused(
    graded, tmp_path, monkeypatch
):
    monkeypatch.setattr(grade, "_apart", lambda *_: "")
    course, source = shutil.copytree(graded[0], tmp_path / "out"), read(SOURCES)

    def outcomes() -> set[str]:
        nbformat.write(source, tmp_path / f"{NAME}.ipynb")
        done = grade_folder(graded[0].parent / "in", course, tmp_path)
        return {one.student for one in done}

    marked(source)["encoder_hidden"].metadata.nbgrader.points = 4
    assert set(DESERVED) < outcomes()
    source.cells.remove(marked(source)["encoder_hidden"])
    with pytest.raises(
        RuntimeError, match=r"Cannot add or remove cells.* Another --out begins anew"
    ):
        outcomes()


def test_lost_grades_are_told_and_nothing_of_the_user_s_is_overwritten(tmp_path):
    course, book = tmp_path / "out", tmp_path / "out" / "gradebook.db"
    with open_course(course).gradebook as gradebook:
        gradebook.add_assignment(NAME)
        gradebook.add_student("ann")
        gradebook.add_submission(NAME, "ann")
    (course / "state.json").write_text(json.dumps({NAME: {"ann": {"problem": ""}}}))
    page = course / "feedback" / "ann" / NAME / f"{NAME}.html"
    page.parent.mkdir(parents=True)
    spoilt = []
    for step in (lambda: None, page.touch, lambda: book.write_bytes(b"")):
        step()
        spoilt.append("lost" in read_state(course)[NAME]["ann"]["problem"])
    assert spoilt == [True, False, True]  # without a page, with both, without a grade
    book.unlink()
    with pytest.raises(ValueError, match="holds no grades"):
        overview(course)
    with pytest.raises(ValueError, match="holds out, and no grades"):
        open_course(tmp_path)


def names_in(text: str) -> list[str]:
    """Return the names of a notebook's marked cells."""
    marks = [cell["metadata"].get("nbgrader") for cell in json.loads(text)["cells"]]
    return [mark["grade_id"] for mark in marks if mark]


def test_a_copied_cell_keeps_its_answer_and_what_another_assignment_marked_is_no_error(tmp_path):
    place = tmp_path / "ann" / f"{NAME}.ipynb"
    place.parent.mkdir()
    notebook = split()
    for mark in ({}, {"grade_id": "of_another", "solution": True}, {"grade": "x"}):
        notebook.cells.append(nbformat.v4.new_code_cell("1", metadata={"nbgrader": mark}))
    place.write_text(nbformat.writes(notebook), encoding="utf-8-sig")
    text, note = mend(place, SOURCES / place.name)
    names = names_in(text)
    assert len(names) == len(set(names)) and "encoder" in note and "the last copy counts" in note
    whole = [cell.source for cell in nbformat.reads(text, 4).cells]
    assert "# the first half" in whole, "a person reads both halves"
    assert SOLVED["encoder"] == marked(nbformat.reads(text, 4))["encoder"].source


@pytest.mark.parametrize("moved, to", [("imports", -1), ("imports", 9), ("encoder_hidden", 0)])
def test_a_cell_on_the_wrong_side_of_an_answer_is_put_back(moved, to, tmp_path):
    notebook = submission({})
    cell = marked(notebook)[moved]
    notebook.cells.remove(cell)
    notebook.cells.insert(to % len(notebook.cells), cell)
    nbformat.write(notebook, tmp_path / f"{NAME}.ipynb")
    text, note = mend(tmp_path / f"{NAME}.ipynb", SOURCES / f"{NAME}.ipynb")
    names = names_in(text)
    assert {*names[:2]} == {"course", "imports"}
    assert "encoder_hidden" not in names[: names.index("encoder")]
    assert note == "imports was not in its place and is put back" * (moved == "imports")


@pytest.mark.parametrize("name", ["a*", "[b]", " c", "d\n", "e{f}"])
def test_a_name_that_nbgrader_would_read_as_a_pattern_is_refused(name, tmp_path):
    with pytest.raises(Unreadable, match="rename the folder"):
        mend(tmp_path / name / f"{NAME}.ipynb", SOURCES / f"{NAME}.ipynb")


def test_without_bubblewrap_it_is_said_loudly_and_time_and_memory_are_limited(tmp_path, capsys):
    for student, answers in (("nests", SOLVED), ("fails", SOLVED | {"encoder": "0 ** -1"})):
        (tmp_path / "in" / student).mkdir(parents=True)
        notebook = submission(answers, HONEST_BUT_MESSY)
        nbformat.write(notebook, tmp_path / "in" / student / f"{NAME}.ipynb")
    change(tmp_path / "out", 'wall=""', 'wall="plain"')
    command = ["assignments", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert SAYS["plain"] in capsys.readouterr().err and "WARNING" in SAYS["plain"]
    assert points(tmp_path / "out") == {"fails": 14, "nests": 20}


def test_a_process_that_ends_while_it_grades_is_a_problem_of_one_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(grade, "autograde", os._exit)
    assert "ended" in grade._apart(tmp_path, "ann", NAME, 60)


def test_an_error_of_the_system_is_one_student_s_problem_and_a_damaged_course_is_named(
    tmp_path, monkeypatch, capsys
):
    folder, course = tmp_path / "in", tmp_path / "out"
    for student in ("ann", "bob"):
        (folder / student).mkdir(parents=True)
        nbformat.write(submission({}), folder / student / f"{NAME}.ipynb")
    monkeypatch.setattr(grade, "_apart", lambda _, who, *__: "" if who == "bob" else open("none"))
    lines = sorted(map(str, grade_folder(folder, course)))
    assert "ann: FileNotFoundError" in lines[0] and lines[1] == f"{NAME}, bob: graded"
    assert ",,,ann," in (course / "scores.csv").read_text(), "a row without grades"
    report = " ".join(overview(course).split())  # bob's page was never written
    assert "bob not graded: its grading was interrupted" in report
    assert main(["assignments", "grade", str(folder), "--assignment=77"]) == 2
    assert f"has none, it has {NAME}" in capsys.readouterr().err
    damaged = {"nbgrader_config.py": "c = get_config()"}  # of nbgrader alone, without our wall
    damaged |= {"state.json": f'{{"{NAME}": 3}}', "gradebook.db": "no database " * 99}
    for name, content in damaged.items():
        (course / name).write_text(content)
        with pytest.raises(ValueError, match=f"{name} cannot be used"):
            list(grade_folder(folder, course))
    with warnings.catch_warnings(action="ignore"):  # nbgrader leaves a damaged gradebook open
        gc.collect()


def test_a_notebook_in_a_folder_of_its_own_is_named(tmp_path):
    (tmp_path / "ann" / "hw").mkdir(parents=True)
    nbformat.write(submission({}), tmp_path / "ann" / "hw" / f"{NAME}.ipynb")
    expected = rf"is it hw/{NAME}\.ipynb\? It must be ann/{NAME}\.ipynb"
    with pytest.raises(Unreadable, match=expected):
        mend(tmp_path / "ann" / f"{NAME}.ipynb", SOURCES / f"{NAME}.ipynb")


def test_a_spreadsheet_computes_no_name(tmp_path):
    names = ("=cmd|x", "+1", "-1", "@sum", " =1+1", "O'Brien", "Ann-Marie", " ")
    nobody = SimpleNamespace(students=[], assignments=[])
    write_scores(nobody, {NAME: dict.fromkeys(names)}, tmp_path / "scores.csv")
    rows = (tmp_path / "scores.csv").read_text().splitlines()[1:]
    assert [row[0] for row in sorted(rows)] == [" ", *["'"] * 5, "A", "O"]
