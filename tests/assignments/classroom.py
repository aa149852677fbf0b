"""A class that hands in assignment 4: who they are, what they wrote, and what it deserves."""

import copy
import inspect
from collections.abc import Callable
from pathlib import Path

import nbformat
import torch

from albert_edu.assignments.release import RELEASES, SOURCES, role
from albert_edu.checks import check_layer_plan, check_shared_gradient
from tests.bug_zoo.sharing import EncoderByRemainder

NAME = "04_shared_layers"
SOURCE, HANDED_OUT = (nbformat.read(folder / f"{NAME}.ipynb", as_version=4) for folder in (SOURCES, RELEASES))
POINTS = {"layer_plan": 4, "encoder": 6, "gradient_of_each": 5, "loss_with_last_only": 5}


def answers_in(notebook: nbformat.NotebookNode) -> dict[str, str]:
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in notebook.cells if role(cell) == "answer"}


SOLVED = answers_in(SOURCE)

OTHER_STYLE = {
    "layer_plan": """
def layer_plan(L, share, G=1):
    if G < 1 or G > L or share not in {"all", "attention", "ffn", "none"}:
        raise ValueError("no such plan")
    plan = []
    for i in range(L):
        g = max(g for g in range(G) if g * L <= i * G)
        plan += [(g if share in ("all", "attention") else i, g if share in ("all", "ffn") else i)]
    return tuple(plan)""",
    "encoder": inspect.getsource(EncoderByRemainder).partition("\n")[2] + "\nEncoder = EncoderByRemainder",  # without its decorator
    "gradient_of_each": """
def gradient_of_each(apply, W, x, L, loss):
    stack = torch.stack([W] * L).detach().requires_grad_()
    for layer in stack.unbind():
        x = apply(layer, x)
    loss(x).backward()
    return stack.grad""",
    "loss_with_last_only": """
def loss_with_last_only(model, batch):
    encoder, keep = model.albert.encoder, batch.attention_mask.bool()
    x = model.albert.embeddings(batch.token_ids, batch.segment_ids)
    for i, state in enumerate(encoder.steps(x, keep)):
        if i == model.config.num_layers - 2:
            break
    x = encoder.ffn[0](encoder.attention[0](state.detach(), keep))
    rows = torch.arange(len(x))[:, None]
    logits = model.masked_token_head(x[rows, batch.masked_positions])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.masked_labels.flatten(), ignore_index=-100)""",
}

LOOP = "def gradient_of_each(apply, W, x, L, loss):\n    while True:\n        pass"
STUBBORN = """
class Encoder(nn.Module):
    def __init__(self, *_):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass"""
HOG = """
def gradient_of_each(apply, W, x, L, loss):
    kept = []
    while True:
        kept.append(torch.empty(1 << 24))"""
OVERWRITE = """
import albert_edu.checks
from albert_edu.checks import Report, trial
from albert_edu.checks.report import Property

def check_layer_plan(answer, seed=None):
    return Report("layer_plan", [Property("all is well", True)])

check_shared_encoder = check_shared_gradient = check_last_application = check_layer_plan
for name in albert_edu.checks.__all__:
    if name.startswith("check_"):
        setattr(albert_edu.checks, name, check_layer_plan)
trial.same = lambda *_: True
trial.Trial.call = lambda self, answer, *_, **__: answer
trial.Trial.need = trial.Trial.true = lambda self, name, *_, **__: self.add(name, True)
trial.exercise.__code__ = (lambda number: lambda questions: check_layer_plan).__code__
Report.score = property(lambda self: 1.0)
torch.allclose = torch.equal = lambda *_, **__: True
torch.Tensor.norm = lambda *_: 0
import builtins
builtins.all = lambda *_: True

def layer_plan(*_): pass
Encoder = gradient_of_each = loss_with_last_only = layer_plan"""
FRAMES = """
def the_trial():
    import torch
    frame = getattr(torch.sys, "_get" + "frame")()
    while frame and "trial" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["trial"]

def layer_plan(*_):
    try:
        trial = the_trial()
        trial.equal = trial.true = trial.need = lambda name, *_, **__: trial.add(name, True, 1e9)
    except RuntimeError:
        pass"""
FORGER = """
import json, os
good = json.dumps({"token": "", "ready": True, "error": "", "changed": [], "parts": [{"score": 1.0, "says": "", "reasons": []}]})
for channel in range(3, 64):
    try:
        os.write(channel, (good + "\\n").encode() * 9)
    except OSError:
        pass

def layer_plan(*_):
    for channel in range(3, 64):
        try:
            os.write(channel, (good + "\\n").encode())
        except OSError:
            pass
    os._exit(0)"""
PEEK = f"""
import json
cells = json.load(open({str(SOURCES / (NAME + ".ipynb"))!r}))["cells"]
exec("".join(next(c for c in cells if "BEGIN SOLUTION" in "".join(c["source"]))["source"]))"""


def recorded(check: Callable, code: str, name: str) -> list[tuple[tuple, object]]:
    """What a right answer is asked by the visible test, and what it says."""
    names, calls = {"torch": torch, "nn": torch.nn}, []
    exec(code, names)

    def recording(*arguments):
        said = names[name](*arguments)
        calls.append((arguments, said))
        return said

    assert check(recording).passed
    return calls


def hard_coded() -> dict[str, str]:
    """Answers that know what the visible test asks, and nothing else."""
    plans = dict(recorded(check_layer_plan, SOLVED["layer_plan"], "layer_plan"))
    gradients = [said.tolist() for _, said in recorded(check_shared_gradient, SOLVED["gradient_of_each"], "gradient_of_each")]
    return {
        "layer_plan": f"KNOWN = {plans!r}\ndef layer_plan(*asked):\n"
                      "    if asked not in KNOWN:\n        raise ValueError\n    return KNOWN[asked]",
        "gradient_of_each": f"import itertools\nNEXT = itertools.cycle({gradients!r})\n"
                            "def gradient_of_each(*_):\n    return torch.tensor(next(NEXT))",
    }  # fmt: skip


def submission(
    answers: dict[str, str], extra: str = "", tests: bool = True, handed_out: nbformat.NotebookNode = HANDED_OUT
) -> nbformat.NotebookNode:
    """The notebook handed out, with these answers; ``extra`` is a cell before all answers."""
    made = copy.deepcopy(handed_out)
    for cell in made.cells:
        if role(cell) == "answer":
            cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
    if not tests:
        made.cells = [cell for cell in made.cells if role(cell) != "test"]
    if extra:
        made.cells.insert(2, nbformat.v4.new_code_cell(extra.strip()))
    return made


def but(**changed: str) -> dict[str, str]:
    return SOLVED | changed


def hand_in(folder: Path, port: int) -> None:
    """Write the whole class; ``port`` is that of a server which knows an answer."""
    only_plan = {"layer_plan": SOLVED["layer_plan"]}
    online = f"""
import socket
with socket.create_connection(("127.0.0.1", {port}), timeout=2) as line:
    exec(line.recv(10000).decode())"""
    rigged = submission(only_plan)
    for cell in rigged.cells:
        if role(cell) == "test":
            cell.source = "pass"
    written = {
        "perfect": submission(SOLVED),
        "other_style": submission(OTHER_STYLE, extra="%matplotlib inline\nprint('hello')"),
        "empty": HANDED_OUT,
        "half_done": submission({name: SOLVED[name] for name in ("layer_plan", "encoder")}),
        "syntax_error": submission(but(gradient_of_each="def gradient_of_each(apply, W, x, L, loss:\n    return")),
        "loop_in_answer": submission(but(gradient_of_each=LOOP)),
        "loop_in_cell": submission(SOLVED, extra="while True: pass"),
        "loop_that_resists": submission(but(encoder=STUBBORN)),
        "memory_hog": submission(but(gradient_of_each=HOG)),
        "overwrites_checks": submission({}, extra=OVERWRITE),
        "hard_coded": submission(hard_coded()),
        "deletes_tests": submission(only_plan, tests=False),
        "rewrites_tests": rigged,
        "network": submission(but(layer_plan=online, encoder=OTHER_STYLE["encoder"])),
        "forger": submission({"layer_plan": FORGER}),
        "looks_at_frames": submission({"layer_plan": FRAMES}),
        "imports_answer": submission({"layer_plan": "from albert_edu.model.sharing import layer_plan"}),
        "peeks": submission(but(layer_plan=PEEK, encoder=OTHER_STYLE["encoder"])),
    }
    for student, notebook in written.items():
        (folder / student).mkdir(parents=True)
        if student == "overwrites_checks":  # its stubs would come after and undo what the first cell defines
            notebook.cells = [cell for cell in notebook.cells if role(cell) != "answer"]
        nbformat.write(notebook, folder / student / f"{NAME}.ipynb")
    (folder / "wrong_name").mkdir()
    nbformat.write(submission(SOLVED), folder / "wrong_name" / f"{NAME} (2) final.ipynb")
    (folder / "not_json").mkdir()
    (folder / "not_json" / f"{NAME}.ipynb").write_text("my dog ate it")
    (folder / "nothing").mkdir()


ALL = sum(POINTS.values())
DESERVED = {
    "perfect": ALL, "other_style": ALL, "empty": 0, "half_done": 10, "syntax_error": 15, "loop_in_answer": 15, "loop_in_cell": ALL,
    "loop_that_resists": 4, "memory_hog": 15, "overwrites_checks": 0, "deletes_tests": 4, "rewrites_tests": 4, "network": 16,
    "forger": 0, "looks_at_frames": 0, "imports_answer": 4, "wrong_name": 0, "not_json": 0, "nothing": 0,
}  # fmt: skip
