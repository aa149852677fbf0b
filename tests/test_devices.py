"""On a GPU every notebook runs: a tensor that a cell makes is where the model is.

``pretrain`` moves a model to the GPU. Here it moves it to a fake one, after two steps instead of
hundreds, and every cell runs; what a cell asserts about the numbers is left out.
"""

import ast
import contextlib
import dataclasses
import io
import re
from pathlib import Path

import jaxtyping
import nbformat
import pytest
import torch
from torch import nn

import albert_course.cells
import albert_edu.training.finetune
import albert_edu.training.pretrain
from albert_course import own_model
from albert_course.assignments.apart import names_asked_for
from tests.fake_card import FakeCard, WrongDevice, move, move_model, on_card
from tests.support import names_set, tiny

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
PATHS = [path for folder in ("", "optional") for path in (NOTEBOOKS / folder).glob("*.ipynb")]


def code_cells(path: Path) -> list[tuple[int, str]]:
    """The cells with code, each with its place."""
    notebook = nbformat.read(path, as_version=4)
    return [(i, cell.source) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


MOVING = [path for path in sorted(PATHS) if any("pretrain(" in s for _, s in code_cells(path))]


FAULTS = ("WrongDevice", "NameError")


class Shortened(ast.NodeTransformer):
    """No assertion about numbers, and two turns of a loop ``for step in range(...)``."""

    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id == "step":
            node.iter = ast.parse(f"[*{ast.unparse(node.iter)}][:2]", mode="eval").body
        return node


@pytest.fixture
def card(monkeypatch, tmp_path):
    """Let ``pretrain`` move models to a fake card, and every training have two steps."""
    real = albert_edu.training.pretrain.pretrain
    tune = albert_edu.training.finetune.finetune
    deepcopy = nn.Parameter.__deepcopy__

    def pretrain(model, stream, settings, checkpoint_dir=None, device=None, *rest, **named):
        with torch._C.DisableTorchFunction():
            history = real(model, stream, short(settings), checkpoint_dir, "cpu", *rest, **named)
        if device != "cpu":
            move_model(model)
        return history

    def finetune(model, train, settings, *rest, **named):
        if len({on_card(parameter) for parameter in model.parameters()}) > 1:
            raise WrongDevice("finetune got a model that is half on the card")
        with torch._C.DisableTorchFunction():
            tune(model, train, short(settings), *rest, **named)

    def copied(parameter, memo):
        return move(deepcopy(parameter, memo), on_card(parameter))

    monkeypatch.setattr("albert_edu.training.pretrain.pretrain", pretrain)
    monkeypatch.setattr("albert_edu.pretrain", pretrain)
    monkeypatch.setattr("albert_edu.training.finetune.finetune", finetune)
    monkeypatch.setattr(own_model, "pretrain", pretrain)
    monkeypatch.setattr(own_model, "model_place", lambda: tmp_path / "my_model")
    monkeypatch.setattr(albert_course.cells, "show", lambda figure, alt: None)
    monkeypatch.setattr(nn.Parameter, "__deepcopy__", copied)
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # readers have no such check


def short(settings):
    return dataclasses.replace(
        settings, steps=min(2, settings.steps), warmup_steps=min(1, settings.warmup_steps)
    )


def run_cells(numbered: list[tuple[int, str]], scope: dict | None = None) -> dict[int, str]:
    """Run the cells one after another; return what each wrong one says.

    The card is there from the first cell on that has a model moved; before, it would only be slow.
    """
    moved = scope is not None
    scope = {"__name__": "__main__"} if scope is None else scope
    wrong = {}
    for place, source in numbered:
        moved = moved or "pretrain(" in source
        tree = ast.fix_missing_locations(Shortened().visit(ast.parse(source)))
        try:
            card = FakeCard() if moved else contextlib.nullcontext()
            with card, contextlib.redirect_stdout(io.StringIO()):
                exec(compile(tree, f"cell {place}", "exec"), scope)
        except Exception as error:
            wrong[place] = f"{type(error).__name__}: {error}"
    return wrong


def with_what_they_need(code: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The cells from the first that moves a model on, and those before it that set what they use."""
    first = next(at for at, (_, source) in enumerate(code) if "pretrain(" in source)
    kept = code[first:]
    for place, source in reversed(code[:first]):
        asked = set().union(*(names_asked_for(later) for _, later in kept))
        if names_of([source]) & asked:
            kept.insert(0, (place, source))
    return kept


def names_of(sources: list[str]) -> set[str]:
    """The names that these cells set at their top level."""
    return set().union(*map(names_set, sources))


@pytest.mark.slow
@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_every_cell_runs_where_pretrain_has_moved_the_model(path, card, monkeypatch):
    """A cell may miss the numbers of a long training, but it may hide no name from those after it.

    A cell that starts another process is left out, and so is what needs a name of it.
    """
    monkeypatch.chdir(path.parent)
    code = code_cells(path)
    starts = re.compile(r"subprocess|train_and_kill\(")
    apart = names_of([source for _, source in code if starts.search(source)])
    here = [(place, source) for place, source in code if not starts.search(source)]
    wrong = run_cells(with_what_they_need(here))
    faults = {place: text for place, text in wrong.items() if text.startswith(FAULTS)}
    assert {at: text for at, text in faults.items() if not apart & {*text.split("'")}} == {}


def test_the_model_that_my_model_trains_is_where_a_kept_one_is(card):
    with FakeCard(), contextlib.redirect_stdout(io.StringIO()):
        trained, kept = own_model.my_model().model, own_model.my_model().model
        for model in (trained, kept):
            assert {parameter.device.type for parameter in model.parameters()} == {"cpu"}


MOVED = """
import copy
import numpy as np
import torch
ids = torch.ones(1, 4, dtype=torch.long)
place = next(model.parameters()).device
there = torch.arange(3.0, device=place)
"""
WRONG = [
    "model.albert(ids, 0 * ids)",
    "model.albert(ids.to(place), torch.zeros(1, 4, dtype=torch.long))",
    "copy.deepcopy(model).albert(ids, 0 * ids)",
    "model.albert(ids.to(place), 0 * ids.to(place)).pooled @ torch.ones(16)",
    "there + torch.ones(3)",
    "torch.stack([there, torch.ones(3)])",
    "torch.equal(there, torch.ones(3))",
    "torch.ones(3)[there > 0]",
    "there[:1] = torch.ones(1)",
    "torch.zeros_like(there) @ there.cpu()",
    "torch.nn.functional.cross_entropy(there, torch.tensor([0.0, 0.0, 1.0]))",
    "there.numpy()",
    "np.asarray(there)",
]
RIGHT = [
    "model.albert(ids.to(place), 0 * ids.to(place)).pooled.sum().item()",
    "copy.deepcopy(model).albert(ids.to(place), torch.zeros_like(ids, device=place))",
    "there.to(torch.float64) + torch.tensor(1.0)",
    "there[torch.tensor([0])].tolist()",
    "there.cpu().numpy()",
    "there.to('cpu') + torch.ones(3)",
    "torch.ones(3).copy_(there) + torch.ones(3)",
]


def run_with_a_model_that_was_moved(source: str) -> dict[int, str]:
    model = tiny()
    move_model(model)
    return run_cells([(0, MOVED), (1, source)], {"model": model})


@pytest.mark.parametrize("source", WRONG)
def test_a_tensor_that_stayed_on_the_cpu_is_found(source, card):
    (wrong,) = run_with_a_model_that_was_moved(source).values()
    assert wrong.startswith("WrongDevice")


@pytest.mark.parametrize("source", RIGHT)
def test_a_tensor_that_follows_the_model_is_no_fault(source, card):
    assert run_with_a_model_that_was_moved(source) == {}


def test_the_first_lesson_would_fail_if_its_ids_stayed_on_the_cpu(card):
    sources = [source for _, source in code_cells(NOTEBOOKS / "00_start_here.ipynb")]
    (asked,) = (source for source in sources if "def probability_swapped" in source)
    encode = type("Tokenizer", (), {"encode": lambda self, text: [7, 8]})
    for source, faults in ((asked, 0), (asked.replace("device=device", "device='cpu'"), 1)):
        scope = {"model": tiny(), "tokenizer": encode(), "torch": torch}
        move_model(scope["model"])
        cells = [(0, source), (1, "probability_swapped('one', 'other')")]
        assert len(run_cells(cells, scope)) == faults
