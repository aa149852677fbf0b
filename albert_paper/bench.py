"""A training step of ours beside one of ``transformers``: same weights, same batch, in turns.

On a CPU one core computes in float32, and only its own time counts. On a card the step is compiled
and computes in bfloat16. The record names machine and commit (notebook 10 quotes it).
"""

import importlib
import multiprocessing
import re
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.utils.benchmark import timer

from albert_edu.analysis.counting import flops_per_token
from albert_edu.batch import IGNORE, PretrainingBatch
from albert_edu.config import AlbertConfig
from albert_edu.errors import FileError, read_json
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.training.settings import TrainSettings, compiled, make_optimizer
from albert_edu.training.workers import pick_device
from albert_paper.provenance import here_and_now, write_json

SEQUENCES = {  # of a batch, for each size; on a card enough to fill it
    "cpu": {"albert-tiny": 32, "albert-mini": 32, "albert-small": 16, "albert-base-v2": 4},
    "cuda": {"albert-base-v2": 64},
}
LENGTH = 128  # tokens of a sequence
MASKED = 20  # of them
ROUNDS = 5
STEPS = 3  # of each library in a round
LIBRARIES = ("albert_edu", "transformers")


def bench(figures: Path, device: str = "auto") -> Path:
    """Time every size with both libraries; write ``figures/results/bench.json``.

    The record has a part for each kind of device, and another kind's part stays.

    A size has three ratios: "speed", their seconds over ours, the median of the rounds; "memory",
    ours over theirs; and "peak_share", our share of the FLOPs a second that this machine reaches in
    a product of large matrices. Behind them stand [ours, theirs]: the median seconds of a step in
    each round, and the peak of the memory in bytes.
    """
    device = pick_device(device)
    torch.set_num_threads(1)
    peak = matrix_peak(device)
    sizes = {}
    for name, sequences in SEQUENCES[device.type].items():
        sizes[name] = bench_size(name, sequences, device, peak)
    path = figures / "results" / "bench.json"
    parts = read_json(path, FileError) if path.exists() else {}
    parts[device.type] = {"matrix_peak": peak, "sizes": sizes, "provenance": here_and_now(device)}
    write_json(path, dict(sorted(parts.items())))
    return path


def bench_size(name: str, sequences: int, device: torch.device, peak: float) -> dict:
    """Return what the record says of a size, on a machine of so many FLOPs a second."""
    memory = [peak_memory(library, name, sequences, device) for library in LIBRARIES]
    steps = [step_of(library, name, sequences, device) for library in LIBRARIES]
    rounds = []
    for _ in range(ROUNDS):
        rounds.append([median(seconds_of(step, STEPS, device)) for step in steps])
    per_token = flops_per_token(AlbertConfig.named(name), LENGTH, MASKED / LENGTH, training=True)
    flops = per_token * sequences * LENGTH
    return {
        "speed": median(other / ours for ours, other in rounds),
        "memory": memory[0] / memory[1],
        "peak_share": flops / median(ours for ours, _ in rounds) / peak,
        "seconds": rounds,
        "peak_memory": memory,
    }


def step_of(library: str, name: str, sequences: int, device: torch.device) -> Callable[[], None]:
    """Return a function that does one whole training step; it has done two, to warm up."""
    torch.manual_seed(0)
    batch = random_batch(name, sequences).to(device)
    ours = AlbertForPretraining(AlbertConfig.named(name))
    model: torch.nn.Module = ours
    inputs: dict[str, Any] = {"batch": batch}
    if library == "transformers":
        model, inputs = theirs(ours, batch)
    model = model.train().to(device)
    card = device.type == "cuda"
    forward = compiled(model) if card else model
    optimizer = make_optimizer(model, TrainSettings(steps=1))

    def step() -> None:
        """Go forward and backward, and move the weights."""
        with torch.autocast(device.type, torch.bfloat16, enabled=card):
            loss = forward(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    step()
    step()
    return step


def theirs(model: AlbertForPretraining, batch: PretrainingBatch) -> tuple[torch.nn.Module, dict]:
    """Return the model of ``transformers`` with these weights, and the batch as it wants it."""
    from transformers import AlbertForPreTraining

    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, None, folder)
        same = AlbertForPreTraining.from_pretrained(folder)
    labels = torch.full_like(batch.token_ids, IGNORE)
    inputs = {
        "input_ids": batch.token_ids,
        "token_type_ids": batch.segment_ids,
        "attention_mask": batch.attention_mask,
        "labels": labels.scatter(1, batch.masked_positions, batch.masked_labels),
        "sentence_order_label": batch.order_labels,
    }
    return same, inputs


def random_batch(name: str, sequences: int) -> PretrainingBatch:
    """Return random tokens without padding, 20 masked of 128."""
    ids = torch.randint(5, AlbertConfig.named(name).vocab_size, (sequences, LENGTH))
    segments = (torch.arange(LENGTH) >= LENGTH // 2).long().expand_as(ids)
    positions = torch.rand(sequences, LENGTH).argsort(-1)[:, :MASKED]
    return PretrainingBatch(
        token_ids=ids,
        segment_ids=segments,
        attention_mask=torch.ones_like(ids),
        masked_positions=positions,
        masked_labels=ids.gather(1, positions),
        order_labels=torch.randint(2, (sequences,)),
    )


def seconds_of(call: Callable[[], object], times: int, device: torch.device) -> list[float]:
    """Return the seconds of each call: this process's own on a CPU, on a card the clock's.

    The clock of torch waits until the card has done its work.
    """
    clock = timer if device.type == "cuda" else time.process_time
    return timeit.repeat(call, timer=clock, number=1, repeat=times)


def matrix_peak(device: torch.device) -> float:
    """Return the FLOPs a second of the fastest of ten products of two large matrices."""
    card = device.type == "cuda"
    n = 8192 if card else 1024
    kind = torch.bfloat16 if card else torch.float32
    a = torch.ones(n, n, dtype=kind, device=device)
    return 2 * n**3 / min(seconds_of(lambda: a @ a, 10, device))


def peak_memory(*step: object) -> int:
    """Return the bytes that a model and its steps add at most to a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of, step)


def _peak_of(library: str, name: str, sequences: int, device: torch.device) -> int:
    """What ``step_of`` adds to this process's memory at most; Linux counts that of a CPU."""
    torch.set_num_threads(1)
    importlib.import_module("transformers.models.albert.modeling_albert")  # not a part of the step
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is held now

    before = _peak_so_far(device)
    step_of(library, name, sequences, device)
    return _peak_so_far(device) - before


def _peak_so_far(device: torch.device) -> int:
    """The most bytes that this process has held at a time."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found, "Linux says how much a process has held"
    return 1024 * int(found[1])
