"""All errors of the course have one base, and the command line says them in a sentence."""

import ast
import importlib
from pathlib import Path

import pytest

import albert_course
import albert_edu
import albert_paper
from albert_edu.command_line import explain
from albert_edu.errors import CourseError, FileError, InputError, RunError
from albert_edu.model.formats import InterchangeError
from albert_edu.text.sentences import CorpusError
from albert_edu.text.tokenizer import TokenizerError
from albert_edu.training.checkpoint import CheckpointError
from albert_edu.training.step import NonFiniteLoss
from tests.test_doctests import MODULES

PACKAGES = (albert_edu, albert_course, albert_paper)
# Here a plain ValueError is caught in the same file, or told to who writes an exercise.
CAUGHT = {"guesses.py", "task_rows.py", "making.py", "edits.py"}
EXERCISES = "cards"


def test_every_error_that_the_packages_define_is_a_course_error():
    ours = {
        value
        for module in map(importlib.import_module, MODULES)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
        if value.__module__.split(".")[0] in ("albert_edu", "albert_course", "albert_paper")
    }
    assert {CorpusError, InterchangeError, NonFiniteLoss} < ours
    assert {error.__name__ for error in ours if not issubclass(error, CourseError)} == set()


@pytest.mark.parametrize(
    "error", [InputError, FileError, CorpusError, TokenizerError, InterchangeError]
)
def test_bad_input_is_still_caught_as_a_value_error(error):
    assert issubclass(error, ValueError)


@pytest.mark.parametrize("error", [RunError, CheckpointError, NonFiniteLoss])
def test_a_run_that_fails_is_still_caught_as_a_runtime_error(error):
    assert issubclass(error, RuntimeError)


def test_an_error_of_the_course_is_told_as_a_sentence_and_any_other_as_a_bug_with_its_trace():
    assert explain(InputError("the seed is 1.5.")) == "InputError: the seed is 1.5."
    assert explain(FileNotFoundError("no such file")) == "FileNotFoundError: no such file"
    for unexpected in (ValueError("zip"), RuntimeError("shapes"), KeyError("fonts")):
        said = explain(unexpected)
        assert said.startswith(f"This is a bug in the course ({unexpected!r}); the trace is in ")
        trace = Path(said.rsplit(" ", 1)[1].rstrip("."))
        assert type(unexpected).__name__ in trace.read_text()
        trace.unlink()


def raised_plainly(path: Path) -> list[str]:
    """The lines that raise Python's own ValueError or RuntimeError with a message."""
    raising = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)
    ]
    made = [node.exc for node in raising if isinstance(node.exc, ast.Call)]
    return [
        f"{path.name}:{call.lineno}"
        for call in made
        if ast.unparse(call.func) in ("ValueError", "RuntimeError")
    ]


def test_no_line_raises_a_plain_value_error_or_runtime_error_that_would_be_told_as_a_bug():
    folders = [Path(package.__file__).parent for package in PACKAGES]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    told = [path for path in files if path.name not in CAUGHT and EXERCISES not in path.parts]
    assert len(told) > 80
    assert not [line for path in told for line in raised_plainly(path)]
