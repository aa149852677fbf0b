"""A simulated class is graded behind the wall: each gets what the answers deserve."""

import shutil
import socketserver
import subprocess
import sys
import threading

import nbformat
import pytest
from nbgrader.api import Gradebook

from albert_course.assignments import SEED_VARIABLE, SOURCES, grade
from albert_course.assignments.course import open_course
from albert_course.assignments.grade import grade_folder
from albert_course.assignments.records import read_records
from albert_course.assignments.report import overview
from albert_course.assignments.wall import SAYS
from albert_course.checks.engine.limits import BUSY
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
    submission,
)
from tests.assignments.courses import change, grade_by_comment, hidden, points, write
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
    change(course, "seconds=900", "seconds=150, memory=1 << 30")
    change(course, "# c.LateSubmissionPlugin", "c.LateSubmissionPlugin")
    lines = list(map(str, grade_folder(folder / "in", course)))
    server.shutdown()
    server.server_close()
    assert not (Server.visited and hidden(course)), "a submission reached the network"
    return course, lines, points(course)


@pytest.mark.parametrize("student", DESERVED)
def test_each_gets_the_points_that_the_answers_deserve(graded, student):
    if student == "spies" and not hidden(graded[0]):
        pytest.skip("bubblewrap does not work here, and a plain process hides nothing")
    assert graded[2][student] == DESERVED[student]


def test_who_cannot_be_graded_is_named_and_everybody_else_is_graded(graded):
    course, lines, scores = graded
    problems = {name: one.problem for name, one in read_records(course)[NAME].items()}
    assert {student for student, problem in problems.items() if problem} == NOT_GRADED | {"nothing"}
    assert problems["nothing"] == "missing" and "(2) final.ipynb?" in problems["wrong_name"]
    assert not NOT_GRADED & set(scores), "what is not graded is empty in the table, and not 0"
    assert "\x1b" not in "".join(lines)


def test_the_cell_that_ended_the_kernel_is_named(graded):
    problems = {name: one.problem for name, one in read_records(graded[0])[NAME].items()}
    assert "the kernel ended in cell layer_plan_visible" in problems["dies"]
    assert "the kernel ended in cell encoder_visible" in problems["resists"]
    assert problems["exits"] == "cell 3 (print('bye')) calls exit(), which ends the kernel"


def test_the_table_has_the_columns_that_canvas_asks_for(graded):
    header = (graded[0] / "scores.csv").read_text().splitlines()[0]
    assert header == f"Student,ID,SIS User ID,SIS Login ID,Section,{NAME}"


def page(course, student: str) -> str:
    """Return the feedback of a student."""
    return (course / "feedback" / student / NAME / f"{NAME}.html").read_text()


def test_feedback_shows_the_likely_mistake_and_no_place_on_the_grader_s_disk(graded):
    text = page(graded[0], "अनिल")
    assert "SyntaxError" in text and "not answered yet" in text
    assert str(graded[0]) not in text
    assert "allocate memory" in page(graded[0], "takes_all"), "it ends at its memory, not its time"
    assert "it sleeps" in page(graded[0], "never_ends")


def test_what_is_printed_without_end_is_cut_in_the_feedback(graded):
    long, other = page(graded[0], "takes_all"), page(graded[0], "perfect")
    assert "a cell may print and show 100 KB" in long
    assert len(long) < len(other) + 150_000


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
        "mended: imports: not in its place, and put back",
        "missing, 1: nothing",
    ):
        assert words in text, words


def test_what_is_unchanged_is_not_graded_again_and_a_person_s_points_are_added(graded, monkeypatch):
    monkeypatch.setattr(grade, "grade_apart", lambda course, student, *_: f"{student} again")
    folder, course, _ = graded[0].parent / "in", *graded[:2]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission(NAME, "perfect").notebooks[0].grades
        next(grade for grade in grades if grade.name == "open_question").manual_score = 3
        gradebook.db.commit()
    done = [str(one) for one in grade_folder(folder, course)]
    again = sorted(line for line in done if "again" in line)
    assert again == [f"{NAME}, {name}: {name} again" for name in ("dies", "exits", "resists")]
    assert points(course)["perfect"] == 23


def test_nbgrader_s_own_command_in_the_graded_folder_gives_the_same_points(graded):
    words = ["autograde", NAME, "--student=O'Brien, John", "--force"]
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=graded[0], check=True, capture_output=True)
    with Gradebook(f"sqlite:///{graded[0] / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(NAME, "O'Brien, John").score == 20


def test_a_source_whose_points_change_is_graded_again_and_one_with_other_cells_is_refused(
    graded, tmp_path, monkeypatch
):
    monkeypatch.setattr(grade, "grade_apart", lambda *_: "")
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


def test_without_bubblewrap_it_is_said_loudly_and_time_and_memory_are_limited(tmp_path, capsys):
    fails = submission(SOLVED | {"encoder": "0 ** -1"}, HONEST_BUT_MESSY)
    write(tmp_path / "in", "fails", fails)
    change(tmp_path / "out", 'wall=""', 'wall="plain"')
    command = ["assignments", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert SAYS["plain"] in capsys.readouterr().err and "WARNING" in SAYS["plain"]
    assert points(tmp_path / "out") == {"fails": 14}


def test_a_net_of_the_clock_is_no_fault_of_the_student_s_and_grading_is_tried_again(
    tmp_path, monkeypatch
):
    folder, course = tmp_path / "in", tmp_path / "out"
    write(folder, "ann", submission(SOLVED, "import time\ntime.sleep(3)"))
    change(course, 'wall="")', 'wall="")\nc.Execute.timeout = 1')
    apart = grade.grade_apart
    tries = []

    def apart_and_then_its_stand_in(*names):
        tries.append(grade_by_comment(*names) if tries else apart(*names))
        return tries[-1]

    monkeypatch.setattr(grade, "grade_apart", apart_and_then_its_stand_in)
    assert [str(one) for one in grade_folder(folder, course)] == [f"{NAME}, ann: graded"]
    assert len(tries) == 2 and tries[0].startswith(f"{BUSY}, or cell")
