"""The library's size only falls: each room's code lines against a limit that is lowered with it.

Code lines leave out blanks, comments and docstrings. The goals: core (config, text, model,
training, analysis) 2,050, the library without the exercises' cards 3,500, with them 5,000, the
tests 8,000. A line should have at most 100 characters; how many are longer is a limit, too.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {
    "checks": 3288,
    "lessons": 727,
    "paper": 1332,
    "text": 1266,
    "training": 1096,
    "model": 723,
    "analysis": 515,
    "assignments": 378,
    "cli": 191,
    "config": 103,
    "notebooks": 110,
    "doctor": 67,
    "course": 51,
    "errors": 46,
    "folder": 11,
    "__init__": 4,
    "__main__": 3,
    "tests": 7900,
    "lines above 100 characters": 0,
}
SLACK = 100  # a room that has fallen by more than this lowers its limit


def code_lines(source: str) -> int:
    """Lines that hold code: no blank, no comment, no docstring.

    >>> code_lines('def f():\\n    \"\"\"Doc.\"\"\"\\n\\n    return 1  # one\\n')
    2
    """
    tree, docstrings, lines = ast.parse(source), set(), set()
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node, clean=False):
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
              tokenize.ENDMARKER}  # fmt: skip
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


@pytest.fixture(scope="module")
def sizes() -> Counter:
    counted: Counter = Counter()
    for path in sorted((ROOT / "albert_edu").rglob("*.py")):
        source = path.read_text()
        room = path.relative_to(ROOT / "albert_edu").parts[0].removesuffix(".py")
        counted["lessons" if path.parent.name == "lessons" else room] += code_lines(source)
        long = [line for line in source.splitlines() if len(line) > 100]
        counted["lines above 100 characters"] += len(long)
    counted["tests"] = sum(code_lines(path.read_text()) for path in (ROOT / "tests").rglob("*.py"))
    return counted


def test_every_room_has_a_limit(sizes):
    assert sizes.keys() <= LIMITS.keys(), f"no limit for {sizes.keys() - LIMITS.keys()}"


@pytest.mark.parametrize("room", LIMITS)
def test_no_room_grows_and_a_limit_follows_a_room_that_shrinks(room, sizes):
    size, limit = sizes[room], LIMITS[room]
    assert size <= limit, f"{room} has {size} and may have {limit}: delete as much as you add"
    assert size >= limit - SLACK, f"{room} has fallen to {size}: lower its limit to that"
