"""What tests of several rooms need: a small model, weights that say something, equal bits."""

import importlib
import json
import symtable
from pathlib import Path

import torch
from torch import nn

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining

# Seconds after which a test gives up on another process. It is a net: a busy machine is no failure.
HOUR = 3600
COURSE, PAPER = ("doctor", "start", "notebooks", "assignments"), ("reproduce", "claims", "figure1")


def tiny(seed: int = 0, **changes) -> AlbertForPretraining:
    """A model of two narrow layers, the same for the same seed."""
    torch.manual_seed(seed)
    shape = dict(
        vocab_size=190,
        embedding_size=8,
        hidden_size=16,
        num_layers=2,
        num_heads=2,
        max_positions=32,
    )
    return AlbertForPretraining(AlbertConfig(**(shape | changes)))


def randomised(module: nn.Module, std: float = 0.4) -> nn.Module:
    """Weights far from the small start, so that nothing in a model is idle or nearly linear."""
    for name, parameter in module.named_parameters():
        nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=std)
    return module.eval()


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of every parameter by its name."""
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def same_bits(one: nn.Module | dict, other: nn.Module | dict) -> bool:
    """Whether two models, or two dicts of tensors, have the same names and the same numbers."""
    one, other = (weights(each) if isinstance(each, nn.Module) else each for each in (one, other))
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def cells(path: Path, kind: str) -> list:
    """The cells of a notebook that are of this kind, code or markdown."""
    import nbformat  # takes a second, and the processes of a training test need no notebook

    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def snapshot(folder: Path) -> dict[Path, bytes | bool]:
    """What lies in a folder and below it, with the contents of files that are not huge."""
    return {
        path: path.is_file() and path.stat().st_size < 1e8 and path.read_bytes()
        for path in folder.rglob("*")
    }


def run_here(jobs, processes, done=lambda result: None):
    """Do the jobs in this process: those of a pool would not see the patches."""
    for job in jobs:
        done(job())


def timeless(records: list[dict]) -> list[dict]:
    """The records of a run without the one number that the clock decides."""
    return [record | {"seconds": 0} for record in records]


def metrics(checkpoint: Path) -> list[dict]:
    """The records in a checkpoint, without the clock."""
    return timeless(json.loads((checkpoint / "training_state.json").read_text())["records"])


def main(words: list[str]) -> int:
    """Run a command of the package whose verb comes first."""
    verb = words[0] if words else ""
    part = "course" if verb in COURSE else "paper" if verb in PAPER else "edu"
    return importlib.import_module(f"albert_{part}.cli").main(words)


def names_set(source: str) -> set[str]:
    """The names that a cell sets at its top level."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
