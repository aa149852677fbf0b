"""The small errors: in each, one node of a module's syntax tree is replaced by another.

Left alone are docstrings, type annotations, decorators, what comes after ``raise``, and strings of
four words or more.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

PAIRS = [
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
    (ast.LShift, ast.RShift),
]
SWAPS = dict(PAIRS) | {b: a for a, b in PAIRS}
SWAPS |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult}
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "format_spec"}


class Mutant(NamedTuple):
    """``parent.field`` (or its item ``index``) is ``old`` and becomes ``new``.

    It matters where a line of ``span`` runs.
    """

    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST
    span: range | None
    where: str
    change: str

    @property
    def key(self) -> str:
        return f"{self.where}: {self.change}"

    def apply(self) -> None:
        """Replace the node; there is no way back."""
        new = ast.copy_location(self.new, self.old)
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


def mutants(tree: ast.Module) -> list[Mutant]:
    """Every mutant of a module, each told from the others by where it is and what it changes."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {name.asname or name.name for node in imports for name in node.names}
    found, seen = [], Counter()
    for parent, field, index, old, where, span in places(tree):
        if isinstance(parent, ast.Expr):
            continue  # the call itself: leaving out its statement is the same
        for new in alternatives(old, imported | {"self", "cls"}):
            change = describe(old, new)
            seen[where, change] += 1
            again = f" (no. {seen[where, change]})" if seen[where, change] > 1 else ""
            found.append(Mutant(parent, field, index, old, new, span, where, change + again))
    return found


def places(node: ast.AST, where: str = "", span: range | None = None) -> Iterator[tuple]:
    """Every node that may be replaced: parent, field, index, node, its definition, its lines."""
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            literal = isinstance(child, ast.Subscript) and ast.unparse(child.value) == "Literal"
            if not isinstance(child, ast.AST) or field in UNTOUCHED or docstring or literal:
                continue
            inside, lines = where, span
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{where}.{child.name}".lstrip(".")
                lines = None
            if isinstance(child, ast.FunctionDef):
                lines = range(child.body[0].lineno, child.end_lineno + 1)
            elif isinstance(child, ast.stmt) and span is not None and inside == where:
                end = child.body[0].lineno if hasattr(child, "body") else child.end_lineno + 1
                lines = range(child.lineno, end)
            yield node, field, index, child, inside, lines
            if not isinstance(child, ast.Raise):
                yield from places(child, inside, lines)


def alternatives(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """What a node may become; attributes of ``names`` are functions rather than methods."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                yield ast.Compare(left, [*ops[:i], SWAPS[type(op)](), *ops[i + 1 :]], comparators)
        case ast.BinOp(left, op, right):
            yield ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPS[type(op)](), values)
        case ast.AugAssign(target, op, value):
            yield ast.AugAssign(target, SWAPS[type(op)](), value)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value / 2 or 1.0)
        case ast.Constant(value=str(value)) if value.count(" ") < 3:
            yield ast.Constant(f"XX{value}XX")
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.If(_, body, orelse):
            yield from (ast.If(ast.Constant(value), body, orelse) for value in (True, False))
        case ast.While(_, body, orelse):
            yield ast.While(ast.Constant(False), body, orelse)
        case ast.comprehension(target, iterator, [_, *_] as ifs, is_async):
            yield from (
                ast.comprehension(target, iterator, ifs[:i] + ifs[i + 1 :], is_async)
                for i in range(len(ifs))
            )
        case ast.Slice(lower, upper, step):
            parts = (lower, upper, step)
            yield from (ast.Slice(*parts[:i], None, *parts[i + 1 :]) for i in range(3) if parts[i])
        case ast.Call(func, args, keywords):
            yield from (
                ast.Call(func, args, keywords[:i] + keywords[i + 1 :])
                for i in range(len(keywords))
                if keywords[i].arg
            )
            method = isinstance(func, ast.Attribute) and getattr(func.value, "id", "") not in names
            if method or (args and not isinstance(args[0], ast.Starred)):
                yield func.value if method else args[0]
        case ast.Raise() | ast.Expr() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            # Not Pass: the function keeps its free variables.
            yield ast.If(ast.Constant(False), [node], [])


def describe(old: ast.AST, new: ast.AST) -> str:
    """One line for people: the shortest texts that show the change."""
    if isinstance(old, ast.stmt) and isinstance(new, ast.If) and not isinstance(old, ast.If):
        return f"`{short(old)}` left out"
    if isinstance(old, ast.If | ast.While):
        return f"`{short(old.test)}` taken as `{short(new.test)}`"
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and old.func is new.func:
        gone = next(keyword for keyword in old.keywords if keyword not in new.keywords)
        return f"`{ast.unparse(gone)}` left out of `{short(old.func)}`"
    if isinstance(old, ast.comprehension):
        return f"`{short(old)}` without its condition"
    return f"`{short(old)}` becomes `{short(new)}`"


def short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:45]} ... {text[-20:]}"
