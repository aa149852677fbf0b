"""The packages' size only falls: code lines, as the formatter writes them, against a limit.

Code lines leave out blanks, comments and docstrings. Goals: the library 2,800, the course around
the notebooks 3,500, the evidence 950, the tests 8,000.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"albert_edu": 2797, "albert_course": 3497, "albert_paper": 930, "tests": 7667}
SLACK = 100  # a package that has fallen by more than this lowers its limit


def code_lines(source: str) -> int:
    """Lines that hold code: no blank, no comment, no docstring.

    >>> code_lines('def f():\\n    \"\"\"Doc.\"\"\"\\n\\n    return 1  # one\\n')
    2
    """
    docstrings, lines = set(), set()
    for node in ast.walk(ast.parse(source)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node, clean=False):
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE}
    layout |= {tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


@pytest.mark.parametrize("package", LIMITS)
def test_no_package_grows_and_its_limit_follows_when_it_shrinks(package):
    size = sum(code_lines(path.read_text()) for path in (ROOT / package).rglob("*.py"))
    limit = LIMITS[package]
    assert size <= limit, f"{package} has {size} and may have {limit}: delete as much as you add"
    assert size > limit - SLACK, f"{package} has fallen to {size}: lower its limit of {limit}"


def test_the_formatter_writes_every_line():
    for package in LIMITS:
        for path in (ROOT / package).rglob("*.py"):
            marks = re.findall(r"# fmt: \w+", path.read_text())
            assert not marks or path.name == "test_budgets.py", path
