"""A simulated class is graded behind the wall: each gets what the answers deserve."""

import importlib
import json
import os

import nbformat
import pytest

from albert_course.assignments import SEED_VARIABLE, SOURCES, grade
from albert_course.assignments.build import find_sources
from albert_course.assignments.grade import grade_folder
from albert_course.assignments.report import overview
from albert_course.assignments.wall import SAYS, find_wall
from tests.assignments.__main__ import LIMITS, grade_class, points
from tests.assignments.classroom import (
    DESERVED,
    HONEST_BUT_MESSY,
    NAME,
    NOT_GRADED,
    SOLVED,
    answers_in,
    read,
    submission,
)
from tests.support import main

OTHERS = [path.stem for path in find_sources() if path.stem != NAME]


@pytest.fixture(autouse=True)
def no_seed_of_another_course(monkeypatch):
    """Let every course draw its own seed."""
    monkeypatch.delenv(SEED_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class after grading: the course, the lines that were shown, and the points."""
    folder = tmp_path_factory.mktemp("class")
    lines, scores, visited = grade_class(folder, find_wall())
    assert not visited or find_wall() == "plain", "a submission reached the network"
    return folder / "out", lines, scores


@pytest.mark.slow
@pytest.mark.parametrize("student", DESERVED)
def test_each_gets_the_points_that_the_answers_deserve(graded, student):
    if student == "spies" and find_wall() == "plain":
        pytest.skip("bubblewrap does not work here, and a plain process hides nothing")
    assert graded[2][student] == DESERVED[student]


@pytest.mark.slow
def test_constants_that_pass_the_visible_tests_are_worth_next_to_nothing(graded):
    path = graded[0] / "autograded" / "hard_coded" / NAME / f"{NAME}.ipynb"
    failed = {
        cell.metadata.nbgrader.grade_id
        for cell in nbformat.read(path, as_version=4).cells
        if any(output.output_type == "error" for output in cell.get("outputs", []))
    }
    assert not failed & {"layer_plan_visible", "gradient_of_each_visible"}
    assert graded[2]["hard_coded"] <= 2


@pytest.mark.slow
def test_who_cannot_be_graded_is_named_and_everybody_else_is_graded(graded):
    course, lines, scores = graded
    problems = json.loads((course / "problems.json").read_text())[NAME]
    assert {student for student, problem in problems.items() if problem} == NOT_GRADED | {"nothing"}
    assert "DeadKernelError" in problems["dies"] and "Timeout" in problems["resists"]
    assert problems["nothing"] == "missing" and "(2) final.ipynb?" in problems["wrong_name"]
    assert not any(scores.get(student) for student in NOT_GRADED)
    assert "\x1b" not in "".join(lines)


@pytest.mark.slow
def test_feedback_shows_the_likely_mistake_and_no_place_on_the_grader_s_disk(graded):
    page = (graded[0] / "feedback" / "half_done" / NAME / f"{NAME}.html").read_text()
    assert "SyntaxError" in page and "not answered yet" in page
    assert str(graded[0]) not in page


@pytest.mark.slow
def test_the_report_names_mistakes_and_what_a_person_should_look_at(graded):
    text = overview(graded[0])
    for words in (
        "encoder_hidden",
        "not answered yet",
        "not graded: ",
        "look: Report.score = property",
        "look: import socket",
        "wait for a person",
    ):
        assert words in text, words
    rows = text.splitlines()
    assert not rows[rows.index(next(row for row in rows if "other_style" in row)) + 1].count("look")


@pytest.mark.slow
def test_what_is_graded_and_unchanged_is_not_graded_again(graded, monkeypatch):
    monkeypatch.setattr(grade, "grade_one", lambda course, student, *_: f"{student} again")
    folder, course, _ = graded[0].parent / "in", *graded[:2]
    again = [line for line in grade_folder(folder, course, "plain", LIMITS) if "again" in line]
    assert again == [f"{NAME}, dies: dies again", f"{NAME}, resists: resists again"]


@pytest.mark.slow
def test_a_right_answer_in_another_style_gets_all_points_of_each_assignment(tmp_path):
    for name in OTHERS:
        answers = importlib.import_module(f"tests.assignments.answers.a{name[:2]}").OTHER_STYLE
        notebook = submission(answers_in(read(SOURCES, name)) | answers, name=name)
        (tmp_path / "in" / "ann").mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, tmp_path / "in" / "ann" / f"{name}.ipynb")
    lines = list(grade_folder(tmp_path / "in", tmp_path / "out", find_wall(), LIMITS))
    assert sum(line.endswith(": graded") for line in lines) == len(OTHERS)
    scores = points(tmp_path / "out", by="assignment")
    assert scores == dict.fromkeys(OTHERS, 20.0), overview(tmp_path / "out")


@pytest.mark.slow
def test_without_bubblewrap_it_is_said_loudly_and_time_and_memory_are_limited(tmp_path, capsys):
    for student, answers in (("nests", SOLVED), ("fails", SOLVED | {"encoder": "0 ** -1"})):
        (tmp_path / "in" / student).mkdir(parents=True)
        notebook = submission(answers, HONEST_BUT_MESSY)
        nbformat.write(notebook, tmp_path / "in" / student / f"{NAME}.ipynb")
    command = ["assignments", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main([*command, "--wall", "plain"]) == 0
    assert SAYS["plain"] in capsys.readouterr().err and "WARNING" in SAYS["plain"]
    assert points(tmp_path / "out") == {"fails": 14, "nests": 20}


def test_a_process_that_ends_while_it_grades_is_a_problem_of_one_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(grade, "autograde", os._exit)
    assert "ended" in grade.grade_one(tmp_path, "ann", NAME, "plain", LIMITS)


def test_an_error_of_the_system_is_one_student_s_problem_and_a_damaged_course_is_named(
    tmp_path, monkeypatch, capsys
):
    folder, course = tmp_path / "in", tmp_path / "out"
    for student in ("ann", "bob"):
        (folder / student).mkdir(parents=True)
        nbformat.write(submission({}), folder / student / f"{NAME}.ipynb")
    monkeypatch.setattr(
        grade, "grade_one", lambda course, student, *_: "" if student == "bob" else open("none")
    )
    lines = list(grade_folder(folder, course, "plain", LIMITS))
    assert "ann: FileNotFoundError" in lines[0] and lines[1] == f"{NAME}, bob: graded"
    assert (
        main(["assignments", "grade", str(folder), "--assignment", "77"]) == 2
        and NAME in capsys.readouterr().err
    )
    for name, content in (
        ("gradebook.db", "no database " * 99),
        ("problems.json", f'{{"{NAME}": 3}}'),
    ):
        (course / name).write_text(content)
        with pytest.raises(ValueError, match=f"{name} is damaged"):
            list(grade_folder(folder, course, "plain", LIMITS))
