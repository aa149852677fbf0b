"""What lies in a folder of submissions: each file is graded, or somebody is told why not."""

import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from albert_course.assignments import SOURCES, grade
from albert_course.assignments.grade import grade_folder
from albert_course.assignments.mend import Unreadable
from albert_course.assignments.report import name_missing
from albert_course.assignments.submissions import check_file, find_submissions, is_student
from tests.assignments.classroom import NAME
from tests.assignments.courses import grade_by_comment, write
from tests.support import main

SOURCE = SOURCES / f"{NAME}.ipynb"


def problem_of(student: Path) -> str:
    """Return why a student's notebook cannot be graded."""
    with pytest.raises(Unreadable) as refused:
        check_file(student, SOURCE)
    return str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "assignment4_final.ipynb",
        f"{NAME} (1).ipynb",
        "04_Shared_Layers.IPYNB",
        "hw/04_shared_layers.ipynb",
        "hw/week 4/notebook.ipynb",
        "04.zip",
        "homework.tar.gz",
        "Untitled.ipynb",
        "04_shared_layers.ipynb.txt",
        "04_shared_layers.html",
        "2027 assignment 4.ipynb",
    ],
)
def test_a_file_that_may_be_meant_is_named(name, tmp_path):
    file = tmp_path / "ann" / name
    file.parent.mkdir(parents=True)
    file.touch()
    assert problem_of(tmp_path / "ann") == f"is it {name}? It must be ann/{NAME}.ipynb"


@pytest.mark.parametrize(
    "name",
    ["05_masked_tokens.ipynb", "notes.txt", ".ipynb_checkpoints/04.ipynb", "__MACOSX/04.zip"],
)
def test_a_file_that_is_another_thing_is_not_named(name, tmp_path):
    file = tmp_path / "ann" / name
    file.parent.mkdir(parents=True)
    file.touch()
    assert problem_of(tmp_path / "ann") == "missing"


@pytest.mark.parametrize("name", ["a*", "[b]", " c", "d\n", "e{f}"])
def test_a_name_that_nbgrader_would_read_as_a_pattern_is_refused(name, tmp_path):
    assert problem_of(tmp_path / name).startswith("rename the folder")


def test_a_link_and_a_folder_and_a_huge_file_are_no_submission(tmp_path):
    place = write(tmp_path, "ann")
    for student in ("bob", "cem", "dan"):
        (tmp_path / student).mkdir()
    os.symlink(place, tmp_path / "bob" / place.name)
    (tmp_path / "cem" / place.name).mkdir()
    with (tmp_path / "dan" / place.name).open("wb") as file:
        file.truncate(21 << 20)
    for student in ("bob", "cem", "dan"):
        assert problem_of(tmp_path / student).startswith("it is no plain file")


def test_what_lies_beside_the_students_is_no_student(tmp_path):
    write(tmp_path, "ann")
    for other in ("__MACOSX/ann", ".git", "graded/feedback", "of last year"):
        (tmp_path / other).mkdir(parents=True)
    (tmp_path / "of last year" / "gradebook.db").touch()
    (tmp_path / "list.csv").touch()
    students, paths = find_submissions(tmp_path, SOURCES, ("",), tmp_path / "graded")
    assert [student.name for student in students] == ["ann"] and paths == [SOURCE]


def test_what_lies_beside_the_students_and_may_be_handed_in_is_named(
    course_to_copy, tmp_path, monkeypatch
):
    folder, course = tmp_path / "in", shutil.copytree(course_to_copy, tmp_path / "out")
    place = write(folder, "ann")
    shutil.copy(place, folder / "bob_04.ipynb")
    (folder / "carl.zip").touch()
    for other in ("list.csv", "._bob_04.ipynb"):
        (folder / other).touch()
    monkeypatch.setattr(grade, "grade_apart", lambda *_: "")
    named = list(map(str, grade_folder(folder, course)))
    assert named[:2] == [
        f"{name}, nobody: it must lie in a student's folder"
        for name in ("bob_04.ipynb", "carl.zip")
    ]


def test_a_student_with_a_file_of_nbgraders_is_a_student(tmp_path):
    (tmp_path / "dora" / "hw").mkdir(parents=True)
    (tmp_path / "dora" / "hw" / "assignment4_final.ipynb").touch()
    (tmp_path / "dora" / "nbgrader_config.py").touch()
    assert is_student(tmp_path / "dora", tmp_path / "graded")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep names in Unicode")
def test_a_name_in_another_encoding_is_one_students_problem(course_to_copy, tmp_path, monkeypatch):
    folder, course = tmp_path / "in", shutil.copytree(course_to_copy, tmp_path / "out")
    write(folder, "ann")
    shutil.copytree(folder / "ann", folder / os.fsdecode(b"M\xfcller"))
    monkeypatch.setattr(grade, "grade_apart", lambda *_: "")
    named = sorted(map(str, grade_folder(folder, course)))
    assert named == [
        f"{NAME}, M?ller: rename the folder: its name is not in UTF-8",
        f"{NAME}, ann: graded",
    ]


def test_an_archive_alone_brings_its_assignment_into_the_list(tmp_path):
    write(tmp_path, "ann")
    (tmp_path / "bob").mkdir()
    with zipfile.ZipFile(tmp_path / "bob" / "05.zip", "w") as archive:
        archive.writestr("05_masked_tokens.ipynb", "{}")
    _, paths = find_submissions(tmp_path, SOURCES, ("",), tmp_path / "graded")
    assert [path.name[:2] for path in paths] == ["04", "05"]


def test_the_missing_are_named_in_one_order_whoever_was_looked_at_first():
    assert name_missing(["cem", "bob", "ann"]) == "missing, 3: ann, bob, cem"


@pytest.mark.slow
def test_grading_inside_the_folder_twice_makes_no_students_of_what_it_wrote(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(grade, "grade_apart", grade_by_comment)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "ann")
    for other in ("__MACOSX", "bob", "cem"):
        (tmp_path / other).mkdir()
    for _ in range(2):
        assert main(["assignments", "grade", "."]) == 0
        assert f"{NAME}, missing, 2: bob, cem\n" in capsys.readouterr().out
    rows = (tmp_path / "graded" / "scores.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["ann", "bob", "cem"]


@pytest.mark.slow
def test_a_file_that_is_gone_takes_no_grade_away(course_to_copy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grade, "grade_apart", grade_by_comment)
    shutil.copytree(course_to_copy, tmp_path / "out")
    write(tmp_path / "in", "ann")
    write(tmp_path / "in", "bob")
    command = ["assignments", "grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    before = (tmp_path / "out" / "scores.csv").read_text()
    shutil.rmtree(tmp_path / "in" / "bob")
    (tmp_path / "in" / "bob").mkdir()
    assert main(command) == 0
    assert (tmp_path / "out" / "scores.csv").read_text() == before
    assert "bob" not in capsys.readouterr().out.splitlines()[-1]
