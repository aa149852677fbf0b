"""A training step of ours beside one of ``transformers``: same shape, same batch, in turns.

On a CPU one core computes in float32, and only its own time counts. On a card the step is compiled
and computes in bfloat16. The record names machine and commit (notebook 10 quotes it).
"""

import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch

from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch
from albert_edu.training.settings import PretrainSettings, compile_blocks, make_optimizer
from albert_edu.training.workers import pick_device
from albert_paper.provenance import provenance, write_json

SIZES = {"albert-tiny": 32, "albert-mini": 32, "albert-small": 16, "albert-base-v2": 4}  # sequences
LENGTH, MASKED, ROUNDS, STEPS = 128, 20, 5, 3
LIBRARIES = ("albert_edu", "transformers")


def bench(figures: Path, device: str = "auto") -> Path:
    """Time every size with both libraries and write ``figures/results/bench.json``.

    A run has the median seconds of its steps, its share of the peak that this machine reaches in a
    product of large matrices, and the peak of its memory in bytes. Ours and theirs do the same
    useful FLOPs, so one count serves both.
    """
    device, runs = pick_device(device), []
    torch.set_num_threads(1)
    peak, began = matrix_peak(device), time.perf_counter()
    for name, sequences in SIZES.items():
        config = AlbertConfig.named(name)
        flops = flops_per_token(config, LENGTH, MASKED / LENGTH, training=True)
        steps = {library: step_of(library, name, device) for library in LIBRARIES}
        memory = {library: peak_memory(library, name, device) for library in LIBRARIES}
        for seed in range(ROUNDS):
            for library, step in steps.items():
                seconds = median(timed(step, device) for _ in range(STEPS))
                runs.append(
                    {
                        "row": f"{name}, {library}",
                        "seed": seed,
                        "seconds": round(seconds, 5),
                        "peak_share": round(flops * sequences * LENGTH / seconds / peak, 4),
                        "peak_memory": memory[library],
                    }
                )
    origin = provenance("bench", time.perf_counter() - began, list(range(ROUNDS)), device)
    path = figures / "results" / "bench.json"
    write_json(path, {"matrix_peak": peak, "runs": runs, "provenance": origin})
    return path


def step_of(library: str, name: str, device: torch.device) -> Callable[[], None]:
    """Return a function that does one whole training step, after two to warm up."""
    torch.manual_seed(0)
    config, batch = AlbertConfig.named(name), random_batch(name).to(device)
    card = device.type == "cuda"
    if library == "transformers":
        model, inputs = theirs(config, batch)
        model = model.to(device)
        forward = torch.compile(model) if card else model
    else:
        model, inputs = AlbertForPretraining(config).to(device), {"batch": batch}
        forward = model
        if card:
            compile_blocks(model)
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


def theirs(config: AlbertConfig, batch: PretrainingBatch) -> tuple[torch.nn.Module, dict]:
    """Return the model of ``transformers`` of the same shape, and the batch as it wants it."""
    import transformers

    shape = transformers.AlbertConfig(
        vocab_size=config.vocab_size,
        embedding_size=config.embedding_size,
        hidden_size=config.hidden_size,
        num_hidden_layers=config.num_layers,
        num_attention_heads=config.num_heads,
        intermediate_size=config.ffn_size,
        max_position_embeddings=config.max_positions,
        hidden_act="gelu_pytorch_tanh",
        hidden_dropout_prob=config.hidden_dropout,
        attention_probs_dropout_prob=config.attention_dropout,
    )
    labels = torch.full_like(batch.token_ids, -100)
    return transformers.AlbertForPreTraining(shape).train(), {
        "input_ids": batch.token_ids,
        "token_type_ids": batch.segment_ids,
        "attention_mask": batch.attention_mask,
        "labels": labels.scatter(1, batch.masked_positions, batch.masked_labels),
        "sentence_order_label": batch.order_labels,
    }


def random_batch(name: str) -> PretrainingBatch:
    """Return random tokens without padding, 20 masked of 128."""
    sequences, vocabulary = SIZES[name], AlbertConfig.named(name).vocab_size
    ids = torch.randint(5, vocabulary, (sequences, LENGTH))
    positions = torch.rand(sequences, LENGTH).argsort(-1)[:, :MASKED]
    return PretrainingBatch(
        token_ids=ids,
        segment_ids=(torch.arange(LENGTH) >= LENGTH // 2).long().expand_as(ids),
        attention_mask=torch.ones_like(ids),
        masked_positions=positions,
        masked_labels=ids.gather(1, positions),
        order_labels=torch.randint(2, (sequences,)),
    )


def timed(call: Callable[[], object], device: torch.device) -> float:
    """Return seconds: this process's own on a CPU, the clock's once a card has done its work."""
    if device.type == "cpu":
        began = time.process_time()
        call()
        return time.process_time() - began
    torch.cuda.synchronize(device)
    began = time.perf_counter()
    call()
    torch.cuda.synchronize(device)
    return time.perf_counter() - began


def matrix_peak(device: torch.device) -> float:
    """Return the FLOPs a second of the fastest of ten products of two large matrices."""
    n, kind = (8192, torch.bfloat16) if device.type == "cuda" else (1024, torch.float32)
    a = torch.ones(n, n, dtype=kind, device=device)
    return 2 * n**3 / min(timed(lambda: a @ a, device) for _ in range(10))


def peak_memory(library: str, name: str, device: torch.device) -> int:
    """Return the bytes that a model and its steps add at most; on a CPU in a fresh process."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step_of(library, name, device)
        return torch.cuda.max_memory_allocated(device) - before
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_resident_peak, (library, name))


def _resident_peak(library: str, name: str) -> int:
    """What ``step_of`` adds to this process's largest resident memory (Linux counts in KiB)."""
    from resource import RUSAGE_SELF, getrusage

    import transformers  # noqa: F401

    torch.set_num_threads(1)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    step_of(library, name, torch.device("cpu"))
    return 1024 * (getrusage(RUSAGE_SELF).ru_maxrss - before)
