"""What a course knows of its submissions: problems, grades in time and late, busy machines."""

import gc
import os
import re
import shutil
import warnings

import pytest
from nbgrader.api import Gradebook

from albert_course.assignments import grade, process
from albert_course.assignments.autograde import CONFIG, failure
from albert_course.assignments.course import open_course
from albert_course.assignments.grade import LATE_NOTE, grade_folder
from albert_course.assignments.records import INTERRUPTED, read_records
from albert_course.assignments.report import overview
from albert_course.assignments.scores_table import score_rows
from albert_course.checks.engine.limits import BUSY
from tests.assignments.classroom import NAME
from tests.assignments.courses import asks_for, grade_by_comment, points, write
from tests.support import main

pytestmark = pytest.mark.slow
DUE = 1.8e9  # 2027-01-15, in seconds since 1970


@pytest.fixture
def places(course_to_copy, tmp_path, monkeypatch):
    """The folder of submissions, and a course; nbgrader runs no submission."""
    monkeypatch.setattr(grade, "grade_apart", grade_by_comment)
    return tmp_path / "in", shutil.copytree(course_to_copy, tmp_path / "out")


def hand_in(folder, student: str, wanted: int, hours: float) -> None:
    """Write a notebook that gets these points, some hours after the due date, or before it."""
    place = write(folder, student, asks_for(wanted))
    os.utime(place, (DUE + 3600 * hours, DUE + 3600 * hours))


def graded(folder, course, **options) -> list[str]:
    """Grade, and return the lines that are shown."""
    return sorted(map(str, grade_folder(folder, course, **options)))


def test_a_late_resubmission_leaves_the_grade_in_time_and_both_are_shown(places):
    folder, course = places
    hand_in(folder, "ann", 1, hours=-2)
    hand_in(folder, "bob", 1, hours=5)
    graded(folder, course)
    hand_in(folder, "ann", 2, hours=3)
    hand_in(folder, "bob", 2, hours=6)
    assert graded(folder, course) == [
        f"{NAME}, ann: graded ({LATE_NOTE})",
        f"{NAME}, bob: graded",
    ]
    assert points(course) == {"ann": 1, "bob": 2}, "nothing of bob's was in time"
    assert points(course / "late") == {"ann": 2}
    report = overview(course)
    first, second = report.split(LATE_NOTE, maxsplit=1)
    assert re.search(r"ann +1 of 24, 24 wait for a person\n", first)
    assert re.search(r"ann +2 of 24, 24 wait for a person, 3\.0 hours late", second)
    assert graded(folder, course) == [], "nothing has changed"


def test_a_later_time_of_the_same_answers_and_a_change_in_time_are_no_late_resubmission(places):
    folder, course = places
    hand_in(folder, "ann", 1, hours=-5)
    graded(folder, course)
    hand_in(folder, "ann", 2, hours=-2)
    assert graded(folder, course) == [f"{NAME}, ann: graded"]
    hand_in(folder, "ann", 2, hours=9)
    assert graded(folder, course) == []
    assert points(course) == {"ann": 2} and not (course / "late").exists()


def test_who_moves_the_due_date_lets_the_late_one_count(places):
    folder, course = places
    hand_in(folder, "ann", 1, hours=-2)
    graded(folder, course)
    hand_in(folder, "ann", 2, hours=3)
    graded(folder, course)
    with open_course(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2027-01-16 08:00 UTC")
    assert graded(folder, course) == [f"{NAME}, ann: graded"]
    assert points(course) == {"ann": 2}


def test_what_was_in_time_is_graded_again_beside_the_late_one(places):
    folder, course = places
    hand_in(folder, "ann", 1, hours=-2)
    graded(folder, course)
    hand_in(folder, "ann", 2, hours=3)
    graded(folder, course)
    lines = graded(folder, course, again=True)
    assert lines == [f"{NAME}, ann: graded", f"{NAME}, ann: graded ({LATE_NOTE})"]
    assert points(course) == {"ann": 1} and points(course / "late") == {"ann": 2}


def test_a_late_file_that_cannot_be_read_leaves_the_grade_in_time(places):
    folder, course = places
    hand_in(folder, "ann", 1, hours=-2)
    graded(folder, course)
    (folder / "ann" / f"{NAME}.ipynb").write_text("no notebook")
    os.utime(folder / "ann" / f"{NAME}.ipynb", (DUE + 9, DUE + 9))
    (line,) = graded(folder, course)
    assert "no notebook that can be read" in line and LATE_NOTE in line
    assert points(course) == {"ann": 1}


def busy(times: int):
    """Return a stand-in for nbgrader that finds the machine busy some times for each student."""
    calls: dict[str, int] = {}

    def grade_apart(course, student, assignment):
        calls[student] = calls.get(student, 0) + 1
        if student == "bob" and calls[student] <= times:
            return f"{BUSY}, or cell encoder_hidden cannot be stopped"
        return grade_by_comment(course, student, assignment)

    grade_apart.calls = calls
    return grade_apart


def test_what_a_busy_machine_stopped_is_graded_once_more_when_the_others_are_done(
    places, monkeypatch
):
    folder, course = places
    for student in ("ann", "bob", "cem"):
        hand_in(folder, student, 2, hours=-1)
    monkeypatch.setattr(grade, "grade_apart", busy(times=1))
    lines = list(map(str, grade_folder(folder, course)))
    assert lines[-1] == f"{NAME}, bob: graded" and len(lines) == 3
    assert grade.grade_apart.calls == {"ann": 1, "bob": 2, "cem": 1}
    assert points(course) == {"ann": 2, "bob": 2, "cem": 2}


def test_twice_busy_is_a_named_problem_and_the_same_command_grades_it(places, monkeypatch, capsys):
    folder, course = places
    hand_in(folder, "ann", 2, hours=-1)
    hand_in(folder, "bob", 2, hours=-1)
    monkeypatch.setattr(grade, "grade_apart", busy(times=2))
    command = ["assignments", "grade", str(folder), "--out", str(course)]
    assert main(command) == 1
    said = f"bob: {BUSY}, or cell encoder_hidden cannot be stopped"
    assert said in capsys.readouterr().out
    assert points(course) == {"ann": 2}, "it has no points, and not 0"
    assert f"not graded: {BUSY}" in overview(course)
    assert main(command) == 0
    assert capsys.readouterr().out.count("graded") >= 1
    assert points(course) == {"ann": 2, "bob": 2}


def test_the_words_of_a_clock_of_ours_come_out_of_nbgrader_s_log():
    log = "Traceback ...\nalbert_course.assignments.execute.NotGraded: the machine was busy\n"
    assert failure({"success": False, "log": log + "\nOtherError: no"}) == BUSY
    assert failure({"success": False, "log": "x\nValueError: no"}) == "ValueError: no"
    assert failure({"success": False}) and not failure({"success": True, "log": log})


def test_interrupted_grading_is_told_and_goes_on(places, monkeypatch):
    folder, course = places
    hand_in(folder, "ann", 2, hours=-1)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(grade, "grade_apart", interrupt)
    with pytest.raises(KeyboardInterrupt):
        graded(folder, course)
    assert f"not graded: {INTERRUPTED}" in overview(course)
    monkeypatch.setattr(grade, "grade_apart", grade_by_comment)
    assert graded(folder, course) == [f"{NAME}, ann: graded"]


def test_who_is_removed_from_the_gradebook_or_the_gradebook_itself_is_graded_again(places):
    folder, course = places
    for student in ("ann", "bob"):
        hand_in(folder, student, 2, hours=-1)
    graded(folder, course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.remove_submission(NAME, "ann")
    assert set(read_records(course)[NAME]) == {"bob"}
    assert graded(folder, course) == [f"{NAME}, ann: graded"]
    kept = shutil.copyfile(course / "gradebook.db", course.parent / "kept.db")
    (course / "gradebook.db").unlink()
    with pytest.raises(ValueError, match="holds no grades"):
        overview(course)
    shutil.copyfile(kept, course / "gradebook.db")
    assert graded(folder, course) == [] and points(course) == {"ann": 2, "bob": 2}
    with pytest.raises(ValueError, match="holds in, and no grades"):
        open_course(course.parent)


def test_a_process_that_ends_while_it_grades_is_a_problem_of_one_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "autograde", os._exit)
    assert "ended" in process.grade_apart(tmp_path, "ann", NAME)


def test_an_error_of_the_system_is_one_student_s_problem(places, monkeypatch, capsys):
    folder, course = places
    for student in ("ann", "bob"):
        write(folder, student)

    def grade_bob(course, student, assignment):
        if student == "ann":
            raise FileNotFoundError("no such file")
        return grade_by_comment(course, student, assignment)

    monkeypatch.setattr(grade, "grade_apart", grade_bob)
    lines = graded(folder, course)
    assert "ann: FileNotFoundError" in lines[0] and lines[1] == f"{NAME}, bob: graded"
    assert ",,,ann," in (course / "scores.csv").read_text(), "a row without grades"
    assert main(["assignments", "grade", str(folder), "--assignment=77"]) == 2
    assert f"has none, it has {NAME}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nbgrader_config.py", "c = get_config()"),  # of nbgrader alone, without our wall
        ("nbgrader_config.py", "no Python"),
        ("nbgrader_config.py", CONFIG.format(seed='"spring"')),
        ("nbgrader_config.py", CONFIG.format(seed=-5)),
        ("gradebook.db", "no database " * 99),
    ],
)
def test_a_damaged_course_is_named(name, content, places):
    folder, course = places
    write(folder, "ann")
    (course / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name} cannot be used"):
        graded(folder, course)
    with warnings.catch_warnings(action="ignore"):  # nbgrader leaves a damaged gradebook open
        gc.collect()


def test_a_spreadsheet_computes_no_name():
    class Nobody:
        students, assignments = [], []

    names = ("=cmd|x", "+1", "-1", "@sum", " =1+1", "O'Brien", "Ann-Marie", " ")
    rows = score_rows(Nobody, {NAME: dict.fromkeys(names)})
    assert [row["Student"][:1] for row in sorted(rows, key=lambda row: row["Student"])] == [
        " ",
        *["'"] * 5,
        "A",
        "O",
    ]
