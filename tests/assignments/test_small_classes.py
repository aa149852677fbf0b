"""Every assignment but 04, which has a large class, in one class of four: our answers, another style, mistakes, nothing done."""

import importlib
import importlib.util
import json

import nbformat
import pytest

from albert_edu.assignments.release import RELEASES, SOURCES, find_sources
from albert_edu.cli import main
from tests.assignments.classroom import NAME, answers_in, submission

pytestmark = pytest.mark.slow
NAMES = [path.stem for path in find_sources(SOURCES) if path.stem != NAME]
SOLVED = {name: answers_in(nbformat.read(SOURCES / f"{name}.ipynb", as_version=4)) for name in NAMES}
each = pytest.mark.parametrize("name", NAMES)
each_answer = pytest.mark.parametrize("name, answer", [(name, answer) for name in NAMES for answer in SOLVED[name]])


def answers_file(name: str):
    """The module ``tests/assignments/answers/aNN.py``, or None where it is not written."""
    module = f"tests.assignments.answers.a{name[:2]}"
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade the four by one command. The exit code, records by (student, assignment), and where the feedback is."""
    folder = tmp_path_factory.mktemp("small")
    for name in NAMES:
        handed_out, theirs = nbformat.read(RELEASES / f"{name}.ipynb", as_version=4), answers_file(name)
        mistakes = {answer: source for answer, (source, _) in theirs.WRONG.items()} if theirs else {}
        written = {"perfect": SOLVED[name], "other_style": theirs.OTHER_STYLE if theirs else {}, "wrong": mistakes, "untouched": {}}
        for student, answers in written.items():
            path = folder / "in" / student / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(submission(answers, handed_out=handed_out), path)
    code = main(["assignments", "grade", str(folder / "in"), "--out", str(folder / "out"), "--jobs", "2", "--key", "7"])
    grades = json.loads((folder / "out" / "grades.json").read_text())["grades"]
    return code, {(one["student"], one["assignment"]): one for one in grades}, folder / "out" / "feedback"


@each
def test_there_is_another_style_and_a_mistake_for_each_answer(name):
    theirs = answers_file(name)
    assert theirs, f"tests/assignments/answers/a{name[:2]}.py is missing"
    assert set(theirs.OTHER_STYLE) == set(theirs.WRONG) == set(SOLVED[name])
    assert all(theirs.OTHER_STYLE[answer].strip() != SOLVED[name][answer].strip() for answer in SOLVED[name])


@each
@pytest.mark.parametrize("student", ["perfect", "other_style"])
def test_right_answers_get_all_points(graded, name, student):
    code, records, _ = graded
    assert code == 0
    record = records[student, name]
    assert record["points"] == record["out_of"] > 0, [mark for mark in record["marks"] if mark["points"] < mark["out_of"]]
    assert not record["errors"] and not record["note"]


@each
def test_as_handed_out_it_is_worth_nothing(graded, name):
    assert graded[1]["untouched", name]["points"] == 0


@each_answer
def test_a_mistake_costs_points_and_is_named(graded, name, answer):
    _, records, feedback = graded
    marks = [mark for mark in records["wrong", name]["marks"] if mark["exercise"] == answer]
    assert sum(mark["points"] for mark in marks) < sum(mark["out_of"] for mark in marks), marks
    told = "\n".join(part["says"] for mark in marks for part in mark["parts"])
    words = answers_file(name).WRONG[answer][1]
    assert words in told and words in (feedback / "wrong" / f"{name}.md").read_text()
