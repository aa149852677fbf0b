"""A simulated class is graded: each gets what the answers deserve, and the exit code tells the truth."""

import nbformat
import pytest

from albert_edu.assignments import grade, merge, sandbox
from albert_edu.assignments.feedback import overview
from albert_edu.assignments.settings import SOURCES
from albert_edu.cli import main
from tests.assignments.__main__ import grade_class
from tests.assignments.classroom import DESERVED, NAME, SOLVED, SOURCE, submission


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class after grading: the folder, the exit code, each student's row and record."""
    folder = tmp_path_factory.mktemp("class")
    code, rows, records = grade_class(folder)
    return folder / "out", code, rows, records


@pytest.mark.parametrize("student", DESERVED)
def test_each_gets_the_score_it_deserves(graded, student):
    assert float(graded[2][student]["points"]) == DESERVED[student], graded[3][student]


def test_constants_that_pass_the_visible_tests_are_worth_next_to_nothing(graded):
    record = graded[3]["hard_coded"]
    visible = {mark["test"]: [part["score"] for part in mark["parts"]] for mark in record["marks"] if not mark["out_of"]}
    assert visible["layer_plan_visible"] == visible["gradient_of_each_visible"] == [1.0]
    assert record["points"] <= 0.1 * record["out_of"], record


def test_who_reads_the_solutions_from_the_disk_finds_them_covered(graded):
    if sandbox.isolation() != "walled":
        pytest.skip("this machine permits no mount namespace")
    record = graded[3]["peeks"]
    assert record["points"] == 16 and "FileNotFoundError" in str(record["errors"])


def test_those_that_could_not_be_graded_are_named_and_the_exit_code_says_so(graded):
    _, code, rows, records = graded
    assert code == 1
    status = {student: row["status"] for student, row in rows.items()}
    assert {student for student, found in status.items() if found == "not graded"} == {"wrong_name", "not_json"}
    assert {student for student, found in status.items() if found == "missing"} == {"nothing"}
    assert "(2) final.ipynb? Rename it" in records["wrong_name"]["note"]


def test_what_was_tampered_with_is_named_for_a_person(graded):
    flags = " ".join(graded[3]["overwrites_checks"]["flags"])
    for named in ("trial.same", "Trial.call", "Report.score", "torch.allclose", "torch.equal", "builtins.all", "Tensor.norm",
                  "checks.check_layer_plan", "trial.exercise", "defines check_layer_plan"):  # fmt: skip
        assert named in flags, named
    assert "tried sys._getframe" in " ".join(graded[3]["looks_at_frames"]["flags"])
    assert graded[3]["imports_answer"]["flags"] == ["imports albert_edu.model.sharing.layer_plan, which our answers do not"]
    assert "wrote into the channel" in " ".join(graded[3]["forger"]["flags"])
    assert not graded[3]["perfect"]["flags"] and not graded[3]["other_style"]["flags"] and not graded[3]["empty"]["flags"]


@pytest.mark.parametrize("student, told", [
    ("empty", "this exercise is still to do"),
    ("syntax_error", "SyntaxError"),
    ("loop_in_answer", "no answer within"),
    ("loop_in_cell", "not done within 3 seconds"),
    ("loop_that_resists", "did not run to its end"),
    ("memory_hog", "of memory"),
    ("perfect", "A person reads the open question"),
    ("not_json", "no notebook that can be read"),
])  # fmt: skip
def test_feedback_says_what_happened(graded, student, told):
    page = (graded[0] / "feedback" / student / f"{NAME}.md").read_text()
    assert told in page and "Traceback" not in page and "/albert_edu/" not in page


def test_the_overview_names_isolation_key_and_mistakes(graded):
    told = overview(graded[0])
    assert sandbox.ISOLATION_SAYS[sandbox.isolation()] in told and "key: 7" in told
    assert "encoder_hidden" in told and "still to do" in told


@pytest.mark.parametrize("arguments", [["grade", "no/such/folder"], ["report", "--out", "no/such/folder"], ["grade", "."],
                                       ["grade", ".", "--seconds", "0"]])  # fmt: skip
def test_bad_input_is_told_in_a_sentence_with_exit_code_2(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["assignments", *arguments]) == 2
    assert capsys.readouterr().err.startswith("ValueError: ")


def test_an_unknown_assignment_is_bad_input(tmp_path, capsys):
    (tmp_path / "ann").mkdir()
    nbformat.write(submission({}), tmp_path / "ann" / f"{NAME}.ipynb")
    assert main(["assignments", "grade", str(tmp_path), "--out", str(tmp_path / "out"), "--assignment", "77"]) == 2
    assert NAME in capsys.readouterr().err


def test_tests_run_behind_their_answer_wherever_the_student_put_it():
    names = [step.name for step in merge.steps(SOURCE, submission(SOLVED, extra="x = 1", tests=False))]
    assert names[:5] == ["imports", "cell 2", "cell 4 (layer_plan)", "layer_plan_visible", "layer_plan_hidden"]
    whole = [step.name for step in merge.steps(SOURCE, submission(SOLVED))]
    assert [name for name in whole if not name.startswith("cell")] == [name for name in names if not name.startswith("cell")]


def test_a_submission_without_metadata_is_still_graded_by_its_functions():
    bare = submission(SOLVED)
    for cell in bare.cells:
        cell.metadata = {}
    steps = merge.steps(SOURCE, bare)
    assert [step.name for step in steps][-8::2] == [f"{name}_visible" for name in SOLVED]


@pytest.mark.parametrize("code, told", [
    ("import subprocess\nsubprocess.run(['true'])", "subprocess.Popen is not for answers"),
    ("try:\n    1 / 0\nexcept ArithmeticError as error:\n    error.__traceback__.tb_frame", "is not for answers"),
    ("import gc\ngc.get_objects()", "gc.get_objects is not for answers"),
    ("import sys\nsys.exit(0)", "SystemExit: 0"),
    ("import torch\ntorch.ones(1 << 33)", "more memory than is allowed"),
    ("from collections import namedtuple\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('a.png')\n"
     "assert namedtuple('Pair', 'x y')(1, 2).y == 3", "AssertionError"),
])  # fmt: skip
def test_what_a_cell_may_and_may_not_do(code, told):
    outcome = sandbox.run([merge.Step("cell", "cell 0", code)], sandbox.Limits(10, 60, 1 << 30))
    assert outcome.ready and told in outcome.errors[0][1]


@pytest.mark.parametrize("code", [
    "w = torch.nn.Parameter(torch.ones(1))\nw.sum().backward()\ntorch.optim.AdamW([w]).step()\nassert w < 1",
    "from albert_edu.checks.sharing import _bend\nbend = torch.compile(_bend(torch.zeros(2)), backend='eager')\n"  # no C++ compiler
    "assert bend(torch.nn.Linear(1, 2)(torch.ones(1))).shape == (2,)",
])  # fmt: skip
def test_what_torch_changes_of_itself_at_its_first_use_is_not_held_against_the_student(code):
    outcome = sandbox.run([merge.Step("test", "first_use", f"import torch\n{code}", 1)], sandbox.Limits(30, 60, 1 << 30))
    assert not outcome.flags and [part["score"] for part in outcome.parts["first_use"]] == [1.0]


def test_who_calls_a_check_in_a_cell_is_not_named():
    code = f"from albert_edu.checks import check_layer_plan\n{SOLVED['layer_plan']}\ncheck_layer_plan(layer_plan)"
    outcome = sandbox.run([merge.Step("cell", "cell 0", code)], sandbox.Limits(10, 60, 1 << 30))
    assert outcome.ready and not outcome.flags and not outcome.errors


def test_what_a_submission_writes_stays_in_its_folder():
    if sandbox.isolation() != "walled":
        pytest.skip("this machine permits no mount namespace")
    code = "open('mine', 'w')\nimport albert_edu\nopen(albert_edu.__file__, 'a')"
    outcome = sandbox.run([merge.Step("cell", "cell 0", code)], sandbox.Limits(10, 60, 1 << 30))
    assert "Read-only file system" in outcome.errors[0][1] and "albert_edu" in outcome.errors[0][1]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"cells": [{"source": "x"}]}', "\0"])
def test_a_file_that_is_no_notebook_is_not_graded_and_stops_nobody_else(text, tmp_path):
    (tmp_path / f"{NAME}.ipynb").write_text(text)
    found = grade.grade_one(tmp_path, SOURCES / f"{NAME}.ipynb", sandbox.Limits(10, 60, 1 << 30), 7)
    assert found.status == "not graded" and "no notebook that can be read" in found.note


def test_without_namespaces_sockets_are_blocked_and_it_is_said(monkeypatch):
    monkeypatch.setattr(sandbox, "isolation", lambda: "sockets blocked")
    online = "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    outcome = sandbox.run([merge.Step("cell", "cell 0", online)], sandbox.Limits(5, 60, 1 << 30))
    assert outcome.errors == [("cell 0", "OSError: submissions are graded without a network")]
    assert "undoes" in sandbox.ISOLATION_SAYS["sockets blocked"]
