"""The training loop, the same on a laptop, on one GPU and on several (notebook 07).

Step t uses batch t of the stream and dropout seeded by (seed, t). On a CPU, a run that was killed
and started again therefore ends with the same bits as one that was not; a GPU adds up in any order.
Without dropout, W workers follow the path of one.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from albert_edu.batch import PretrainingBatch
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining, check_tokenizer
from albert_edu.progress import progress_bar
from albert_edu.text.batches import PretrainingStream
from albert_edu.training import checkpoint
from albert_edu.training.evaluate import Baselines, baselines, evaluate
from albert_edu.training.history import History, log_record
from albert_edu.training.settings import (
    TrainSettings,
    compiled,
    make_optimizer,
    set_learning_rate,
)
from albert_edu.training.step import (
    clear_gradients,
    clip_gradient,
    forward_backward,
    stop_if_not_finite,
)
from albert_edu.training.workers import Workers, pick_device, process_count


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

    ``device`` None is a GPU if there is one. ``held_out`` is scored every ``evaluate_every`` steps
    and gives the baselines. ``observe`` is called with the model as often, and what it returns goes
    into the records. Shows a progress bar titled ``describe`` unless that is None. Under torchrun
    every worker takes its share of each batch, and the main worker writes. ``build_optimizer``
    takes the place of ``make_optimizer``. Raises InputError (a stream of another tokenizer),
    NonFiniteLoss (the last good checkpoint stays) and CheckpointError (it belongs to another run,
    or another process, or the disk is full).
    """
    _check_streams(model, stream, held_out)
    device = pick_device(device)
    workers = Workers.join(device)
    model.to(device).train()
    optimizer = (build_optimizer or make_optimizer)(model, settings)
    run = run_settings(settings, stream, held_out)
    folder = Path(checkpoint_dir) if checkpoint_dir else None
    with _alone_in(folder, workers), _random_state_of_the_caller(device):
        state = checkpoint.resume(folder, model, optimizer, run)
        history = History(_baselines(stream, held_out), state.get("records", []))
        sums = _sums_since_the_last_record(state, workers, device)
        began = time.perf_counter() - state.get("seconds", 0.0)
        start = state.get("step", 0)
        wrapped = _wrapped(model, settings, workers)
        without_loss = _parts_without_a_loss(model, stream)
        # From now on the model learns the ids of this tokenizer.
        model.albert.tokenizer_fingerprint = stream.tokenizer.fingerprint
        with _progress(describe, start, settings, workers) as progress:
            for step, batch in _batches(stream, range(start, settings.steps), device):
                rate = set_learning_rate(optimizer, step, settings)
                sums += forward_backward(wrapped, batch, settings, step, workers)
                clear_gradients(without_loss)
                norm = clip_gradient(model, settings, step)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                progress.update()

                done = step + 1
                record: dict = {}
                if settings.is_due(done, settings.log_every):
                    record = log_record(done, rate, norm, began, sums, workers)
                    began = time.perf_counter()
                    progress.set_postfix({"MLM loss": record["masked_token_loss"]}, refresh=False)
                if settings.is_due(done, settings.evaluate_every):
                    record |= look(done, model, held_out, observe)
                if record:
                    history.records.append(record)
                if settings.is_due(done, settings.checkpoint_every):
                    workers.sum_on_main(sums)
                    state = run | {
                        "records": history.records,
                        "sums": sums.tolist(),  # these two since the last record
                        "seconds": time.perf_counter() - began,
                    }
                    save_step(folder, done, model, optimizer, state, workers)
        workers.barrier()
    return history


def _check_streams(
    model: AlbertForPretraining, stream: PretrainingStream, held_out: PretrainingStream | None
) -> None:
    """Raise InputError for streams that cannot be used, now and not after the last step.

    They are of another tokenizer, or a batch has fewer rows than there are workers.
    """
    if stream.batch_size < process_count():
        raise InputError(
            f"a batch of {stream.batch_size} rows is too small for {process_count()} workers: "
            "each needs a row."
        )
    check_tokenizer(model.albert, stream.tokenizer)
    if held_out and held_out.tokenizer.fingerprint != stream.tokenizer.fingerprint:
        raise InputError(
            "the held-out text was cut by another tokenizer than the text to learn from: the same "
            "ids mean other tokens. Take both from one prepare(...)."
        )


def run_settings(
    settings: TrainSettings, stream: PretrainingStream, held_out: PretrainingStream | None
) -> dict[str, dict]:
    """Return everything that must be the same when a run resumes, but for the model's config."""
    return {
        "settings": settings.trajectory(),
        "stream": stream.settings,
        "held_out": {"held_out": held_out.corpus.fingerprint if held_out else None},
    }


def look(
    done: int,
    model: AlbertForPretraining,
    held_out: PretrainingStream | None,
    observe: Callable[[AlbertForPretraining], dict] | None,
) -> dict:
    """Return the scores on held-out text, under the names of a record, and what is observed."""
    record: dict = {}
    if held_out:
        for name, value in evaluate(model, held_out).items():
            record[f"held_out_{name}"] = value
    if observe:
        record |= observe(model)
    return {"step": done} | record if record else {}


def save_step(
    folder: Path | None,
    done: int,
    model: AlbertForPretraining,
    optimizer: torch.optim.Optimizer,
    state: dict,
    workers: Workers,
) -> None:
    """Write a checkpoint, if there is a folder; without one too, the weights must be finite."""
    norm = nn.utils.get_total_norm(model.parameters())
    stop_if_not_finite(model, norm, done - 1)
    if folder and workers.rank == 0:
        checkpoint.save_checkpoint(folder, done, model, optimizer, state)


def _alone_in(folder: Path | None, workers: Workers) -> AbstractContextManager:
    """Hold the lock of the checkpoints, which only the main worker writes."""
    if folder is None or workers.rank != 0:
        return nullcontext()
    return checkpoint.only_process(folder)


def _random_state_of_the_caller(device: torch.device) -> AbstractContextManager:
    """Give the caller's random state back at the end: dropout reseeds the global generator."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def _baselines(stream: PretrainingStream, held_out: PretrainingStream | None) -> Baselines:
    """Return the baselines on held-out text, or without it on the text that is learnt from."""
    unseen = held_out or stream
    return baselines(stream.corpus, unseen.corpus, len(stream.tokenizer))


def _sums_since_the_last_record(
    state: dict, workers: Workers, device: torch.device
) -> Float[Tensor, "2 3"]:
    """Return the score sums that a checkpoint holds; the main worker goes on with them."""
    sums = torch.zeros(2, 3, dtype=torch.float64, device=device)
    if workers.rank == 0 and "sums" in state:
        sums += torch.tensor(state["sums"], dtype=torch.float64, device=device)
    return sums


def _wrapped(model: AlbertForPretraining, settings: TrainSettings, workers: Workers) -> nn.Module:
    """Return the model as the loop calls it: it may recompute, be compiled, and share gradients."""
    model.albert.encoder.gradient_checkpointing = settings.gradient_checkpointing
    if settings.compile:
        return workers.wrap(compiled(model))
    return workers.wrap(model)


def _progress(describe: str | None, start: int, settings: TrainSettings, workers: Workers) -> tqdm:
    """Return the progress bar, which only the main worker shows."""
    title = describe if workers.rank == 0 else None
    return progress_bar(title, total=settings.steps, initial=start)


def _parts_without_a_loss(
    model: AlbertForPretraining, stream: PretrainingStream
) -> list[nn.Module]:
    """Return what only the sentence-order loss teaches, if there is none."""
    if stream.objective != "none":
        return []
    return [model.albert.pooler, model.sentence_order_head]


def _batches(
    stream: PretrainingStream, steps: range, device: torch.device
) -> Iterator[tuple[int, PretrainingBatch]]:
    """Yield the batches of these steps on the device; for a GPU threads build eight ahead."""
    ahead = 0 if device.type == "cpu" else 8

    def build(step: int) -> PretrainingBatch:
        """Return a batch, for a CUDA GPU in memory that it fetches from by itself."""
        batch = stream.batch(step)
        return batch.pin_memory() if device.type == "cuda" else batch

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(build, step) for step in steps[:ahead]]
        for step in steps:
            if step + ahead in steps:
                futures.append(pool.submit(build, step + ahead))
            batch = futures.pop(0).result()
            yield step, batch.to(device)
