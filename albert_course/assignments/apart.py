"""Tests run in a namespace of their own, so that they and a student's variables never meet.

A student may call a variable ``map``, ``torch`` or ``score``. A test that ran beside it would use
it, or overwrite it. So what is handed out, such as the imports, runs a second time in a namespace
for the tests. They get the student's answers by name, and nothing else that the student has named.
"""

import ast
import builtins
import contextlib
import io
import symtable

from IPython.core.interactiveshell import InteractiveShell


def names_asked_for(code: str) -> set[str]:
    """Return the global names that code uses and does not bind at its top level.

    >>> sorted(names_asked_for("x = layer(1)\\ndef f(y):\\n    return g(x, y)"))
    ['g', 'layer']
    """
    top = symtable.symtable(code, "<test>", "exec")
    bound = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for one in table.get_symbols():
            if one.is_referenced() and (table is top or one.is_global()):
                used.add(one.get_name())
    return used - bound


class Apart:
    """The namespace of the tests, beside that of a student."""

    def __init__(self, student: dict[str, object]):
        self.student = student
        self.own: dict[str, object] = {"__name__": "__main__"}
        self.fetched: set[str] = set()  # names in ``own`` that are a student's answers

    def give(self, code: str) -> None:
        """Run what is handed out, silently. An error is seen where the student's cell runs."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            exec(compile(code, "<given>", "exec"), self.own)

    def run(self, code: str, name: str = "<test>") -> object:
        """Run a test, and return the value of the expression that it ends with, if it does."""
        self.fetch(code)
        parsed = ast.parse(code, name)
        last = parsed.body[-1] if parsed.body else None
        if not isinstance(last, ast.Expr):
            exec(compile(parsed, name, "exec"), self.own)
            return None
        del parsed.body[-1]
        exec(compile(parsed, name, "exec"), self.own)
        return eval(compile(ast.Expression(last.value), name, "eval"), self.own)

    def fetch(self, code: str) -> None:
        """Take the answers that a test asks for, as they are now."""
        given = self.own.keys() - self.fetched
        for name in names_asked_for(code) - given - vars(builtins).keys():
            self.own.pop(name, None)  # an earlier answer does not stand for a lost one
            self.fetched.add(name)
            if name in self.student:
                self.own[name] = self.student[name]


def add_magics(shell: InteractiveShell) -> None:
    """Let a kernel know the first line ``%%given`` of what is handed out, and ``%%test``."""
    tests = Apart(shell.user_ns)

    def given(line: str, cell: str) -> None:
        """Keep what a cell sets for the tests, and run it for the student."""
        tests.give(cell)
        shell.run_cell(cell)

    def test(line: str, cell: str) -> object:
        """Run a test apart from the student's own variables."""
        # Like every cell it gets a file name under which a traceback finds its lines.
        return tests.run(cell, shell.compile.cache(cell, shell.execution_count))

    for magic in (given, test):  # %%given and %%test
        shell.magics_manager.register_function(magic, magic_kind="cell")


def magic_line(mark: dict) -> str:
    """Return the first line that a cell needs, by what nbgrader knows of it; "" for a student's.

    >>> magic_line({"locked": True, "grade": True}), magic_line({"locked": False})
    ('%%test\\n', '')
    """
    if not mark.get("locked"):
        return ""
    return "%%test\n" if mark.get("grade") else "%%given\n"
