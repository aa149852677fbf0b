"""A folder for a machine with a card and without a network: the library, the text in pieces, and what torch does not bring.

There it needs torch, numpy, safetensors and sentencepiece. ``run.sh`` does every planned gpu run, or goes on with them, for as
many minutes as it is given; ``runs/sweeps`` and ``figures/results`` are what to bring home.
"""

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from albert_edu.paper.plan import EXPERIMENTS
from albert_edu.paper.provenance import ROOT, commit
from albert_edu.paper.sweep import Run
from albert_edu.text.prepare import prepare

CARRIED = ("jaxtyping", "wadler_lindig", "filelock", "tqdm")  # pure Python
NO_CORPORA = '''"""Stands in for the package of this name: text comes prepared, so only the name is needed."""


class Dataset:
    pass


def load_dataset(*_, **__):
    raise RuntimeError("this machine has prepared text only; see text/.")


concatenate_datasets = load_dataset
'''
RUN = """#!/usr/bin/env bash
# MINUTES=9 ./run.sh: every gpu experiment, or what is left of them; the same command again goes on.
cd "$(dirname "$0")"
export PYTHONPATH="$PWD:$PWD/site" ALBERT_EDU_CACHE="$PWD/text" ALBERT_EDU_COMMIT={commit} TQDM_DISABLE=1
exec python3 -m albert_edu reproduce --experiment "${{1:-all}}" --profile gpu --minutes "${{MINUTES:-9}}"
"""


def pack(folder: Path, runs: Sequence[Run] | None = None) -> None:
    """Fill a new folder with all that the runs (every planned gpu run, when left out) need."""
    folder.mkdir(parents=True)
    if runs is None:
        runs = [run for planned in EXPERIMENTS.values() if "gpu" in planned.budgets and planned.rows for run in planned.runs("gpu")]
    shutil.copytree(ROOT / "albert_edu", folder / "albert_edu", ignore=shutil.ignore_patterns("__pycache__"))
    for name in CARRIED:
        shutil.copytree(find_spec(name).submodule_search_locations[0], folder / "site" / name,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    (folder / "site" / "datasets.py").write_text(NO_CORPORA)
    before = os.environ.get("ALBERT_EDU_CACHE")
    os.environ["ALBERT_EDU_CACHE"] = str(folder / "text")
    try:
        for run in {(run.corpus, run.vocabulary): run for run in runs}.values():
            text = run.text()
            for part in (run.vocabulary or run.corpus).split("+"):
                prepare(part, tokenizer=text.tokenizer)  # what a joint corpus is also measured on
    finally:
        os.environ.pop("ALBERT_EDU_CACHE")
        os.environ |= {"ALBERT_EDU_CACHE": before} if before else {}
    script = folder / "run.sh"
    script.write_text(RUN.format(commit=commit()), newline="\n")
    script.chmod(0o755)
