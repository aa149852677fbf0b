"""A submission and its source into the steps to run: the student's cells, the source's tests."""

import ast
import threading
from dataclasses import dataclass

import nbformat

from albert_edu.assignments.release import role


@dataclass(frozen=True)
class Step:
    """A cell to run. ``kind`` is "cell" or "test"; only a test has points."""

    kind: str
    name: str
    source: str
    points: float = 0.0
    exercise: str = ""  # the grade_id of the answer that a test belongs to


def grade_id(cell: nbformat.NotebookNode) -> str:
    found = cell.metadata.get("nbgrader", {})
    return str(found.get("grade_id", "")) if isinstance(found, dict) else ""


def steps(source: nbformat.NotebookNode, submission: nbformat.NotebookNode) -> list[Step]:
    """The steps in order. Locked cells and tests are the source's, whatever the submission has in their place.

    They run where the source has them: after the answer they follow, and the student's own cells behind it. The tests of an
    answer that is not there run at the end, and fail.
    """
    fixed, anchor, roles = {"": []}, "", {}
    for cell in source.cells:
        kind, name = role(cell), grade_id(cell)
        roles[name] = kind
        if kind == "answer":
            anchor = name
            fixed[anchor] = []
        elif cell.cell_type == "code" and kind in ("test", "locked"):
            points = float(cell.metadata.nbgrader.get("points", 0)) if kind == "test" else 0.0
            fixed[anchor].append(Step("test" if kind == "test" else "cell", name, cell.source, points, anchor))
    todo, anchor = fixed.pop(""), ""
    for number, cell in enumerate(submission.cells):
        name = grade_id(cell)
        if cell.cell_type != "code" or roles.get(name) in ("test", "locked"):
            continue
        if name in fixed and name != anchor:  # the next answer: the tests of the one before come first
            todo += fixed.pop(anchor, [])
            anchor = name
        todo.append(Step("cell", f"cell {number}" + (f" ({name})" if name else ""), cell.source))
    return todo + fixed.pop(anchor, []) + [step for rest in fixed.values() for step in rest]


def open_answers(source: nbformat.NotebookNode, submission: nbformat.NotebookNode) -> list[tuple[str, float, str, str]]:
    """(grade_id, points, what the student wrote, the source's answer with its rubric) of each question a person must read."""
    written = {grade_id(cell): cell.source for cell in reversed(submission.cells)}
    return [(grade_id(cell), float(cell.metadata.nbgrader.points), written.get(grade_id(cell), ""), cell.source)
            for cell in source.cells if role(cell) == "open"]  # fmt: skip


RISKY = {"sys", "gc", "inspect", "ctypes", "importlib", "builtins", "os", "subprocess", "socket", "threading", "multiprocessing",
         "signal", "resource", "pickle", "shutil", "urllib", "requests", "http", "traceback", "atexit", "_thread", "__main__",
         "bdb", "pdb", "marshal", "operator", "overrides", "library", "_python_dispatch", "_C"}  # fmt: skip
HANDS_OFF = ("albert_edu.assignments", "albert_edu.checks.")
FRAMES = {"_getframe", "tb_frame", "gi_frame", "cr_frame", "f_back", "f_locals", "f_globals"}
CALLS = {"eval", "exec", "compile", "__import__", "setattr", "globals", "vars", "open"}
LIES = {"__eq__", "__torch_function__", "__torch_dispatch__"}  # what has these may say that it equals anything


PARSING = threading.Lock()  # in Python 3.11 two threads within ast.parse now and then end in a SystemError


def _tree(source: str) -> ast.Module:
    """The syntax tree of a student's cell; an empty one if Python cannot read it."""
    try:
        with PARSING:
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: brackets nested too deeply
        return ast.Module([], [])


def albert_imports(source: str) -> set[str]:
    """The names that a cell imports from this library, as ``module.name``; none if it cannot be read.

    >>> sorted(albert_imports("from albert_edu.model.sharing import layer_plan\\nimport torch, albert_edu.checks"))
    ['albert_edu.checks', 'albert_edu.model.sharing.layer_plan']
    """
    nodes = list(ast.walk(_tree(source)))
    names = {f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in names if name.split(".")[0] == "albert_edu"}


def suspicions(source: str) -> list[str]:
    """What a person should look at in a student's cell: no proof of anything, and no points are taken for it.

    >>> suspicions("import gc, math\\nimport torch\\ntorch.equal = print")
    ['imports gc', 'assigns to torch.equal']
    """
    tree, found = _tree(source), []
    imported = {(alias.asname or alias.name).split(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names} | {"torch", "albert_edu"}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            found += [f"imports {name}" for name in modules if name.split(".")[0] in RISKY or name.startswith(HANDS_OFF)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            found.append(f"calls {node.func.id}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            found += [] if isinstance(node.args[1:] and node.args[1], ast.Constant) else ["calls getattr with a name that it makes"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in FRAMES | LIES:
            found.append(f"names {node.value}")
        elif isinstance(node, ast.Name) and node.id in LIES:
            found.append(f"defines {node.id}")
        elif isinstance(node, ast.Attribute):
            base = node.value
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(node.ctx, ast.Store) and isinstance(base, ast.Name) and base.id in imported:
                found.append(f"assigns to {ast.unparse(node)}")
            elif node.attr in RISKY and isinstance(base, ast.Name) and base.id in imported:
                found.append(f"reaches for {ast.unparse(node)}")
            elif node.attr in FRAMES or (node.attr.startswith("__") and node.attr not in ("__init__", "__name__", "__class__")):
                found.append(f"uses {node.attr}")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and (node.name.startswith("check_") or node.name in LIES):
            found.append(f"defines {node.name}")
    return list(dict.fromkeys(found))
