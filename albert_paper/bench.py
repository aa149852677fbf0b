"""A training step of ours beside one of ``transformers``: same weights, same batch, in turns.

On a CPU one core computes in float32, and only its own time counts. On a card the step is compiled
and computes in bfloat16. The record names machine and commit (notebook 10 quotes it).
"""

import importlib
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch

from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.errors import FileError, read_json
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.text.batches import PretrainingBatch
from albert_edu.training.settings import PretrainSettings, compiled, make_optimizer
from albert_edu.training.workers import pick_device
from albert_paper.provenance import provenance, write_json

SEQUENCES = {  # of a batch, for each size; on a card enough to fill it
    "cpu": {"albert-tiny": 32, "albert-mini": 32, "albert-small": 16, "albert-base-v2": 4},
    "cuda": {"albert-base-v2": 64},
}
LENGTH, MASKED, ROUNDS, STEPS = 128, 20, 5, 3
LIBRARIES = ("albert_edu", "transformers")


def bench(figures: Path, device: str = "auto") -> Path:
    """Time every size with both libraries; write ``figures/results/bench.json``.

    The record has a part for each kind of device, and another kind's part stays.

    A run has the median seconds of its steps, its share of the FLOPs a second that this machine
    reaches in a product of large matrices, and the peak of its memory in bytes. Both libraries do
    the same useful FLOPs, so one count serves both.
    """
    device, runs, began = pick_device(device), [], time.perf_counter()
    torch.set_num_threads(1)
    peak = matrix_peak(device)
    for name, sequences in SEQUENCES[device.type].items():
        per_token = flops_per_token(AlbertConfig.named(name), LENGTH, MASKED / LENGTH, True)
        memory = {library: peak_memory(library, name, sequences, device) for library in LIBRARIES}
        steps = {library: step_of(library, name, sequences, device) for library in LIBRARIES}
        for seed in range(ROUNDS):
            for library, step in steps.items():
                seconds = median(timed(step, device) for _ in range(STEPS))
                share = round(per_token * sequences * LENGTH / seconds / peak, 4)
                measured = {"peak_share": share, "peak_memory": memory[library]}
                run = {"row": f"{name}, {library}", "seed": seed, "seconds": round(seconds, 5)}
                runs.append(run | measured)
    origin = provenance("bench", time.perf_counter() - began, list(range(ROUNDS)), device)
    path = figures / "results" / "bench.json"
    parts = read_json(path, FileError) if path.exists() else {}
    parts[device.type] = {"matrix_peak": peak, "runs": runs, "provenance": origin}
    write_json(path, dict(sorted(parts.items())))
    return path


def ratios(runs: list[dict]) -> dict[str, tuple[float, float, float]]:
    """Return for each size: speed, memory and share of the peak.

    Speed is their seconds over ours, the median of the rounds; memory is ours over theirs; the
    share is our own.
    """
    found = {}
    for name in dict.fromkeys(run["row"].split(", ")[0] for run in runs):
        ours, other = ([run for run in runs if run["row"] == f"{name}, {x}"] for x in LIBRARIES)
        speed = median(b["seconds"] / a["seconds"] for a, b in zip(ours, other, strict=True))
        memory = ours[0]["peak_memory"] / other[0]["peak_memory"]
        found[name] = speed, memory, median(run["peak_share"] for run in ours)
    return found


def step_of(library: str, name: str, sequences: int, device: torch.device) -> Callable[[], None]:
    """Return a function that does one whole training step; it has done two, to warm up."""
    torch.manual_seed(0)
    batch, card = random_batch(name, sequences).to(device), device.type == "cuda"
    model, inputs = AlbertForPretraining(AlbertConfig.named(name)), {"batch": batch}
    if library == "transformers":
        model, inputs = theirs(model, batch)
    model = model.train().to(device)
    forward = compiled(model) if card else model
    optimizer = make_optimizer(model, PretrainSettings(steps=1))

    def step() -> None:
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
    labels = torch.full_like(batch.token_ids, -100)
    return same, {
        "input_ids": batch.token_ids,
        "token_type_ids": batch.segment_ids,
        "attention_mask": batch.attention_mask,
        "labels": labels.scatter(1, batch.masked_positions, batch.masked_labels),
        "sentence_order_label": batch.order_labels,
    }


def random_batch(name: str, sequences: int) -> PretrainingBatch:
    """Return random tokens without padding, 20 masked of 128."""
    ids = torch.randint(5, AlbertConfig.named(name).vocab_size, (sequences, LENGTH))
    segments = (torch.arange(LENGTH) >= LENGTH // 2).long().expand_as(ids)
    positions = torch.rand(sequences, LENGTH).argsort(-1)[:, :MASKED]
    order, labels = torch.randint(2, (sequences,)), ids.gather(1, positions)
    return PretrainingBatch(ids, segments, torch.ones_like(ids), positions, labels, order)


def timed(call: Callable[[], object], device: torch.device) -> float:
    """Return seconds: this process's own on a CPU, the clock's once a card has done its work."""
    card = device.type == "cuda"
    wait, clock = (torch.cuda.synchronize, time.perf_counter) if card else (int, time.process_time)
    wait()
    began = clock()
    call()
    wait()
    return clock() - began


def matrix_peak(device: torch.device) -> float:
    """Return the FLOPs a second of the fastest of ten products of two large matrices."""
    n, kind = (8192, torch.bfloat16) if device.type == "cuda" else (1024, torch.float32)
    a = torch.ones(n, n, dtype=kind, device=device)
    return 2 * n**3 / min(timed(lambda: a @ a, device) for _ in range(10))


def peak_memory(library: str, name: str, sequences: int, device: torch.device) -> int:
    """Return the bytes that a model and its steps add at most; on a CPU in a fresh process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step_of(library, name, sequences, device)
        return torch.cuda.max_memory_allocated(device) - before
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_resident_peak, (library, name, sequences))


def _resident_peak(library: str, name: str, sequences: int) -> int:
    """What ``step_of`` adds to this process's resident memory at most, as Linux counts it."""
    torch.set_num_threads(1)
    importlib.import_module("transformers.models.albert.modeling_albert")  # not a part of the step
    before = _kibibytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    step_of(library, name, sequences, torch.device("cpu"))
    return 1024 * (_kibibytes("VmHWM") - before)


def _kibibytes(name: str) -> int:
    return int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1])
