"""A check is a class, and what a student holds of it leads to no answer."""

import ast
import contextlib
import inspect
import types
from pathlib import Path

import pytest

import albert_course
from albert_course import checks
from albert_course.checks import Check, check_gelu, make_check
from albert_course.checks.engine.card import _CARDS, card_of

CHECKS = [value for value in vars(checks).values() if isinstance(value, Check)]


def test_every_check_of_a_card_can_be_imported_and_tells_its_task():
    assert len(CHECKS) > 50 and {*CHECKS} <= {*_CARDS}
    for check in CHECKS:
        name = f"check_{check.title}"
        assert getattr(checks, name) is check
        assert check.__doc__ == check.task == card_of(check).reference.__doc__
    places = [check.place for check in CHECKS]
    assert len(places) == len(set(places)), "two exercises have one number"


def test_help_shows_the_task(capsys):
    help(check_gelu)
    assert "gelu(x) -> tensor of x's shape" in capsys.readouterr().out


def test_a_place_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"assignment 03\.1"):
        make_check("the third one", lambda x: x, lambda draw: iter(()))


def test_a_type_checker_finds_every_check_by_an_import_that_names_it():
    body = ast.parse(Path(checks.__file__).read_text()).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    named = {alias.name for node in imports for alias in node.names if alias.name == alias.asname}
    assert {f"check_{check.title}" for check in CHECKS} | {"Check", "Report"} <= named
    assert (Path(albert_course.__file__).parent / "py.typed").exists()


def near(value: object) -> list[tuple[str, object]]:
    """What one step leads to: attributes, those that a dictionary or a closure holds, too."""
    found = [(name, getattr(value, name, None)) for name in dir(value)]
    if isinstance(value, dict):
        found += [(f"[{name!r}]", one) for name, one in value.items()]
    if isinstance(value, types.FunctionType):
        found += [("closure", cell.cell_contents) for cell in value.__closure__ or ()]
    return found


def two_steps_from(check: Check) -> dict[str, object]:
    """All that one or two steps lead to, by the way there."""
    seen = {}
    for name, value in near(check):
        seen[name] = value
        for inner, one in near(value):
            seen[f"{name}.{inner}"] = one
    return seen


def test_two_steps_from_a_check_lead_to_no_answer():
    for check in CHECKS:
        known = card_of(check)
        secret = [known, known.reference, known.cases, known.mistakes, *known.mistakes.values()]
        for path, value in two_steps_from(check).items():
            assert not any(value is one for one in secret), f"{check.title}: {path}"


def test_no_source_text_that_two_steps_lead_to_holds_an_answer():
    sources = {}
    for path, value in two_steps_from(check_gelu).items():
        with contextlib.suppress(TypeError, OSError):
            sources[path] = inspect.getsource(value)
    assert any("judge" in text for text in sources.values()), "the check's own source is seen"
    for check in CHECKS:
        reference = card_of(check).reference
        body = inspect.getsource(reference).split('"""')[-1].strip()
        assert body and not any(body in text for text in sources.values()), check.title
