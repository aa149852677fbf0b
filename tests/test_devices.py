"""A tensor that a notebook's cell makes follows its model, which training moves onto a card.

No card is needed: the cells are read, not run. A value is *made* here, on the CPU, or it is on the
*card* because it comes from a model that was trained; an operation on both would stop a reader who
began with ``begin(device="cuda")``.
"""

import ast
from pathlib import Path

import pytest

from albert_course import own_model
from tests.support import cells

ROOT = Path(__file__).resolve().parents[1]
PATHS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")) + sorted(
    (ROOT / "notebooks" / "optional").glob("*.ipynb")
)
MADE, CARD = "made on the CPU", "on the card"
FACTORIES = set("tensor zeros ones full arange randint randn rand randperm eye empty".split())
FACTORIES |= {"from_numpy", "linspace", "as_tensor"}
TO_THE_CPU = set("item tolist cpu numpy".split())
NO_TENSOR = {"config", "shape", "device", "dtype", "ndim"}


class Reader:
    """Follows where the values of a notebook are, cell by cell, and collects what mixes places."""

    def __init__(self, source: str):
        self.faults: set[str] = set()
        self.env: dict[str, str] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.given: dict[str, dict[str, str]] = {}  # function -> parameter -> place
        self.returned: dict[str, str] = {}
        tree = ast.parse(source)
        for _ in range(3):  # a function may be called by one that stands above it
            self.faults.clear()
            self.env.clear()
            self.block(tree.body, self.env)
            for name, function in list(self.functions.items()):
                local = self.env | self.given.get(name, {})
                for argument in function.args.args:
                    if argument.arg not in self.given.get(name, {}):
                        local.pop(argument.arg, None)
                self.block(function.body, local, name)

    def block(self, body: list[ast.stmt], env: dict[str, str], function: str = "") -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
                continue
            if isinstance(node, ast.ClassDef):
                continue
            self.statement(node, env, function)
            for part in ("body", "orelse", "finalbody"):
                self.block(getattr(node, part, []), env, function)

    def statement(self, node: ast.stmt, env: dict[str, str], function: str) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.bind(target, value, env)
            case ast.For(target=target, iter=value):
                for name in ast.walk(target):
                    self.set(name, self.place(value, env), env)
            case ast.Return(value=value) if value is not None:
                found = self.place(value, env)
                if found:
                    self.returned[function] = found
            case _:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self.place(part, env)
                    elif isinstance(part, ast.withitem):
                        self.place(part.context_expr, env)

    def bind(self, target: ast.expr, value: ast.expr, env: dict[str, str]) -> None:
        found = self.place(value, env)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, given in zip(target.elts, value.elts, strict=False):
                self.set(part, self.place(given, env), env)
        else:
            for name in [target] if isinstance(target, ast.Name) else ast.walk(target):
                if not isinstance(target, ast.Subscript | ast.Attribute):
                    self.set(name, found, env)

    def set(self, name: ast.AST, found: str | None, env: dict[str, str]) -> None:
        if isinstance(name, ast.Name):
            env.pop(name.id, None)
            if found:
                env[name.id] = found

    def place(self, node: ast.expr, env: dict[str, str]) -> str | None:
        """Where the value of an expression is, or None where it is no tensor and no model."""
        match node:
            case ast.Name(id=name):
                return env.get(name)
            case ast.Constant() | ast.Lambda() | ast.JoinedStr():
                return None
            case ast.Attribute(value=value, attr=name):
                found = env.get(ast.unparse(node)) or self.place(value, env)
                return None if name in NO_TENSOR else found
            case ast.Call():
                return self.call(node, env)
            case ast.Subscript(value=value, slice=index):
                self.place(index, env)  # an index may be on the CPU
                return self.place(value, env)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                local = dict(env)
                for loop in node.generators:
                    for name in ast.walk(loop.target):
                        self.set(name, self.place(loop.iter, local), local)
                if isinstance(node, ast.DictComp):
                    return self.place(node.value, local)
                return self.place(node.elt, local)
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return self.meet(node, parts, env, isinstance(node, ast.BinOp | ast.Compare))

    def call(self, node: ast.Call, env: dict[str, str]) -> str | None:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "pretrain":
            on_the_cpu = "device='cpu'" in ast.unparse(node)
            if not on_the_cpu:
                env[ast.unparse(node.args[0])] = CARD
            return None
        for argument in arguments:
            self.place(argument, env)
        if name in TO_THE_CPU:
            self.place(node.func, env)
            return None
        if name in ("to", "cuda") or any(word.arg == "device" for word in node.keywords):
            return CARD  # it follows
        if owner is not None and ast.unparse(owner) == "torch" and name in FACTORIES:
            return MADE
        if name == "batch":
            return MADE
        if name in self.functions:
            return self.own_call(name, node, env)
        if owner is not None and ast.unparse(owner) in ("torch", "F"):
            return self.meet(node, arguments, env, True)
        if name == "deepcopy":
            return self.place(node.args[0], env)
        if self.place(node.func, env) and ast.unparse(node.func) not in self.functions:
            return self.meet(node, [node.func, *arguments], env, True)
        return None

    def own_call(self, name: str, node: ast.Call, env: dict[str, str]) -> str | None:
        """A function of the notebook: its parameters are where its arguments are."""
        parameters = [argument.arg for argument in self.functions[name].args.args]
        given = self.given.setdefault(name, {})
        for place, argument in enumerate(node.args):
            starred = isinstance(argument, ast.Starred)
            found = self.place(argument.value if starred else argument, env)
            for parameter in parameters[place : None if starred else place + 1]:
                if found and given.get(parameter) != CARD:
                    given[parameter] = found
        return self.returned.get(name)

    def meet(self, node: ast.expr, parts: list, env: dict[str, str], mixes: bool) -> str | None:
        found = {self.place(part, env) for part in parts} - {None}
        if mixes and found == {MADE, CARD}:
            self.faults.add(ast.unparse(node))
        return CARD if CARD in found else MADE if MADE in found else None


def faults(source: str) -> set[str]:
    return Reader(source).faults


def code_of(path: Path) -> str:
    return "\n".join(cell.source for cell in cells(path, "code"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_tensor_that_a_cell_makes_is_where_the_trained_model_is(path):
    assert not faults(code_of(path))


def test_the_mended_cell_of_the_first_notebook_would_be_found_without_its_device():
    source = code_of(PATHS[0])
    broken = source.replace("device=device", "requires_grad=False")
    assert broken != source
    assert faults(broken) == {"model.albert(ids, segments)"}


TRAINED = "pretrain(model, stream, settings)\n"
OWNED = "mine = my_model()\npretrain(mine.model, stream, settings)\n"


@pytest.mark.parametrize(
    "cell",
    [
        TRAINED + "model(stream.batch(0))",
        TRAINED
        + "def ask(model, ids):\n    return model.albert(ids)\nask(model, torch.zeros(1, 2))",
        TRAINED + "rows = make()\ndef make():\n    return torch.arange(3)\nmodel(rows)",
        OWNED + "mine.model(mine.unseen.batch(0))",
        TRAINED + "def train():\n    pretrain(m, s, t)\n    return m\ntrain()(s.batch(1)).loss",
        OWNED + "other = deepcopy(mine.model)\nx = torch.randn(2, 3)\nother.albert.encoder(x)",
        OWNED + "h = mine.model(b).pooled\nprint(h + torch.ones(3))",
        OWNED + "h = mine.model(b).pooled\ntorch.isin(h, torch.tensor([1]))",
        OWNED + "for m in (mine.model, fresh):\n    with torch.no_grad():\n        m(s.batch(0))",
    ],
)
def test_a_fault_of_this_kind_is_found_and_its_cure_is_none(cell):
    assert faults(cell)
    cured = ast.unparse(Cure().visit(ast.parse(cell)))
    assert not faults(cured), cured


class Cure(ast.NodeTransformer):
    """Moves whatever is made to the model's device."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if getattr(node.func, "attr", "") in FACTORIES | {"batch"}:
            return ast.parse(f"({ast.unparse(node)}).to(device)", mode="eval").body
        return node


def test_what_never_meets_a_trained_model_may_stay_on_the_cpu():
    assert not faults("table = torch.eye(3)\nmodel(table)\n" + TRAINED + "table @ torch.ones(3)")
    assert not faults(OWNED + "print(mine.model(b.to(d)).loss.item() + torch.ones(1).item())")
    assert not faults("pretrain(model, stream, settings, device='cpu')\nmodel(stream.batch(0))")


def test_the_model_that_goes_along_is_on_the_cpu_whether_it_is_read_or_trained(
    tmp_path, monkeypatch
):
    """Lessons give it tensors of the CPU; one that was kept is read onto the CPU."""
    places = []
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path))
    monkeypatch.setattr(own_model, "pretrain", lambda *_, device=None, **__: places.append(device))
    own_model.my_model()
    assert places == ["cpu"]
    device = next(own_model.my_model().model.parameters()).device
    assert device.type == "cpu" and len(places) == 1  # the second one was read
