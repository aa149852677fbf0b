"""Cells that go for the grading itself, one after another in one process: none gets a point, and each is named."""

import pytest

from albert_edu.assignments import sandbox
from albert_edu.assignments.merge import Step

FAILS = "assert torch.equal(torch.zeros(2), torch.ones(2))"  # whatever the cell before it did
FIND = "import sys\ndef find():\n    return sys._getframe(2).f_locals\n"
WRITE = "import os\nfor channel in range(3, 64):\n    try: os.write(channel, {})\n    except OSError: pass"
EQUAL = "torch.equal = lambda *_: True\n"
ATTACKS = {  # what is said: the cell
    "changed __main__._run_test": "import __main__\n__main__._run_test = lambda *_: [{'score': 1.0}]",
    "changed ast.parse": "import ast\nparse = ast.parse\nast.parse = lambda *_: parse('assert True')",
    "changed JSONEncoder.encode": "import json\njson.JSONEncoder.encode = lambda *_: ''",
    "changed builtins.vars": "was, kept = torch.equal, vars\n" + EQUAL + "import builtins\n"
        "builtins.vars = lambda one: dict(kept(one), equal=was)",
    "changed albert_edu.assignments.guard.types": EQUAL + "from albert_edu.assignments import guard\nguard.types = print",
    "changed what albert_edu.checks.sharing.check_layer_plan calls": "from albert_edu.checks import check_layer_plan\n"
        "for cell in check_layer_plan.__closure__:\n    if callable(cell.cell_contents): cell.cell_contents = lambda *_: True",
    "left a mode of torch on: Mode": "from torch.overrides import TorchFunctionMode\n"
        "class Mode(TorchFunctionMode):\n    def __torch_function__(self, *_): return True\nMode().__enter__()",
    "left a mode of torch on: Beneath": "from torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Beneath(TorchDispatchMode):\n    def __torch_dispatch__(self, *_): return torch.ones(())\nBeneath().__enter__()",
    "left a handler for signal 26": "import signal\nsignal.signal(26, print)",
    "compile is not for answers": f"exec(compile({FIND!r}, torch.__file__, 'exec'))",
    "tried code.__new__": FIND + "find.__code__ = find.__code__.replace(co_filename=torch.__file__)",
    "tried sys._getframe": f"open('mine.py', 'w').write({FIND!r})\nsys.path.insert(0, '.')\nfrom mine import find\nfind()",
    "tried sys.settrace": "import bdb\nbdb.Bdb().set_trace()",
    "tried ctypes.dlopen": "import ctypes\nctypes.CDLL(None)",
    "something wrote into the channel": WRITE.format("b'[' * 100_000 + b'\\n'"),  # too deep for json
    "something wrote into the channel ": WRITE.format("'{\"token\": \"\u00e9\"}\\n'.encode()"),  # no ASCII
}  # fmt: skip


@pytest.fixture(scope="module")
def outcome():
    steps = [Step("cell", "imports", "import sys\nimport torch")]
    for number, attack in enumerate(ATTACKS.values()):
        steps += [Step("cell", f"cell {number}", attack), Step("test", f"test {number}", FAILS, 1)]
    return sandbox.run(steps, sandbox.Limits(10, 60, 1 << 30))


@pytest.mark.parametrize("number, told", enumerate(ATTACKS), ids=[*ATTACKS])
def test_an_attack_on_the_grading_wins_nothing_and_is_named(outcome, number, told):
    assert not outcome.ended and [part["score"] for part in outcome.parts[f"test {number}"]] == [0.0]
    named = [*outcome.flags, *map(": ".join, outcome.errors)]
    assert any(told.strip() in one and f"cell {number}" in one for one in named), named
