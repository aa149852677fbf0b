"""The training loop, the same on a laptop, on one GPU and on several (notebook 07).

Step t uses batch t of the stream and dropout seeded by (seed, t). On a CPU, a run that was killed
and started again therefore ends with the same bits as one that was not; a GPU adds up in any order.
Without dropout, W workers follow the path of one.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import nn

from albert_edu.model.albert import AlbertForPretraining, check_vocabulary
from albert_edu.progress import progress_bar
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import checkpoint
from albert_edu.training.evaluate import baselines, evaluate, scores
from albert_edu.training.history import History
from albert_edu.training.settings import TrainSettings, compiled, learning_rate, make_optimizer
from albert_edu.training.step import clip_gradient, forward_backward, stop_if_not_finite
from albert_edu.training.workers import Workers, pick_device

ZERO = [[0.0] * 3] * 2  # an empty ``tally``


def pretrain(
    model: AlbertForPretraining,
    stream: PretrainingStream,
    settings: TrainSettings,
    checkpoint_dir: str | Path | None = None,
    device: str | torch.device | None = None,
    held_out: PretrainingStream | None = None,
    describe: str | None = "pretrain",
    observe: Callable[[AlbertForPretraining], dict] | None = None,
    build_optimizer: Callable[..., torch.optim.Optimizer] | None = None,
) -> History:
    """Train the model in place; go on from the newest whole checkpoint in ``checkpoint_dir``.

    Shows a progress bar titled ``describe`` unless that is None. Under torchrun every worker takes
    its share of each batch, and the main worker writes. ``observe`` is called with the model every
    ``evaluate_every`` steps, and what it returns goes into the records. ``build_optimizer`` takes
    the place of ``make_optimizer``. Raises NonFiniteLoss (the last good checkpoint stays) and
    CheckpointError (it belongs to another run, or another process, or the disk is full).
    """
    check_vocabulary(model, stream)
    model.vocabulary = stream.tokenizer.fingerprint
    device = pick_device(device)
    workers = Workers.join(device)
    model.to(device).train()
    optimizer = (build_optimizer or make_optimizer)(model, settings)
    held_out_text = {"held_out": held_out and held_out.corpus.fingerprint}
    run = {"settings": settings.trajectory(), "stream": stream.settings, "held_out": held_out_text}
    folder = Path(checkpoint_dir) if checkpoint_dir else None
    alone = checkpoint.only_process(folder) if folder and workers.rank == 0 else nullcontext()
    cuda = [device] if device.type == "cuda" else []
    # The caller's random state comes back at the end: dropout reseeds the global generator.
    with alone, torch.random.fork_rng(devices=cuda):
        state = checkpoint.resume(folder, model, optimizer, run)
        start = state.get("step", 0)
        unseen = (held_out or stream).corpus
        guessers = baselines(stream.corpus, unseen, len(stream.tokenizer))
        history = History(guessers, state.get("records", []))
        # What was counted since the last record. The main worker goes on with a checkpoint's.
        sums = torch.tensor(state.get("sums", ZERO), dtype=torch.float64, device=device)
        if workers.rank != 0:
            sums.zero_()
        began = time.perf_counter()
        model.albert.encoder.recompute = settings.gradient_checkpointing
        wrapped = workers.wrap(compiled(model) if settings.compile else model)
        untaught = (model.albert.pooler, model.sentence_order_head)
        idle = untaught if stream.objective == "none" else ()
        shown = describe if workers.rank == 0 else None
        with progress_bar(shown, total=settings.steps, initial=start) as progress:
            for step, batch in _batches(stream, range(start, settings.steps), device):
                rate = learning_rate(step, settings)
                for group in optimizer.param_groups:
                    group["lr"] = rate
                sums += forward_backward(wrapped, batch, settings, step, workers)
                norm = clip_gradient(model, settings, step, idle)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                progress.update()

                done = step + 1
                record = {}
                if settings.due(done, settings.log_every):
                    workers.all_reduce(sums)
                    record = {"step": done, "learning_rate": rate, "gradient_norm": norm.item()}
                    record |= {"seconds": time.perf_counter() - began} | scores(sums)
                    sums.zero_()
                    began = time.perf_counter()
                    progress.set_postfix({"MLM loss": record["masked_token_loss"]}, refresh=False)
                if held_out and settings.due(done, settings.evaluate_every):
                    found = evaluate(model, held_out).items()
                    record |= {"step": done} | {f"held_out_{name}": value for name, value in found}
                if observe and settings.due(done, settings.evaluate_every):
                    record |= {"step": done} | observe(model)
                if record:
                    history.records.append(record)
                if settings.due(done, settings.checkpoint_every):
                    stop_if_not_finite(model, nn.utils.get_total_norm(model.parameters()), step)
                    workers.all_reduce(sums)
                    if workers.rank != 0:  # so that nothing counts twice later
                        sums.zero_()
                    state = run | {"records": history.records, "sums": sums.tolist()}
                    if folder and workers.rank == 0:
                        checkpoint.save_checkpoint(folder, done, model, optimizer, state)
        workers.barrier()
    return history


def _batches(stream: PretrainingStream, steps: range, device: torch.device) -> Iterator[tuple]:
    """Yield the batches of these steps on the device; for a GPU threads build eight ahead."""
    ahead = 0 if device.type == "cpu" else 8

    def build(step: int):
        """Return a batch, for a CUDA GPU in memory that it fetches from by itself."""
        batch = stream.batch(step)
        return batch.pin_memory() if device.type == "cuda" else batch

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(build, step) for step in steps[:ahead]]
        for step in steps:
            if step + ahead in steps:
                futures.append(pool.submit(build, step + ahead))
            yield step, futures.pop(0).result().to(device)
