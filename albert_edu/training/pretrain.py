"""The training loop: the same on a laptop, on one card and on several. Read in notebook 07.

Step t uses batch t of the stream and dropout seeded by (seed, t), so on a CPU a run that was killed and started again ends with
the very bits of one that was not (a card adds up in any order), and (without dropout) W workers follow one worker's path.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import nn
from tqdm.auto import tqdm

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch, PretrainingStream
from albert_edu.text.masking import IGNORE
from albert_edu.training.checkpoint import (
    CheckpointError,
    differing,
    load_checkpoint,
    newest_checkpoint,
    read_state,
    save_checkpoint,
)
from albert_edu.training.evaluate import baselines, evaluate, scores, tally, widest_float
from albert_edu.training.history import History
from albert_edu.training.settings import PretrainSettings, compile_blocks, learning_rate, make_optimizer
from albert_edu.training.workers import Workers


class NonFiniteLoss(RuntimeError):
    """Training ran into NaN or infinity; the message names the step and the first tensor: on a card when the next record is due."""


def pick_device(name: str | torch.device | None = "auto") -> torch.device:
    """``auto`` takes a CUDA card if there is one, else the CPU; Apple's MPS must be asked for, as it is not repeatable."""
    if isinstance(name, torch.device):
        return name
    if name in (None, "auto"):
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"there is no CUDA card that torch {torch.__version__} can use here; leave --device out for the CPU.")
    rank = int(os.environ.get("LOCAL_RANK", 0))
    if name == "cuda" and rank >= (cards := torch.cuda.device_count()):
        raise ValueError(f"worker {rank} has no card: there are {cards}. Start as many workers as cards, or give --device cpu.")
    return torch.device("cuda", rank) if name == "cuda" else torch.device(name)


def pretrain(
    model: AlbertForPretraining, stream: PretrainingStream, settings: PretrainSettings, checkpoint_dir: str | Path | None = None,
    device: str | torch.device | None = None, held_out: PretrainingStream | None = None, metrics_file: str | Path | None = None,
    describe: str | None = "pretrain", origin: str = "",
) -> History:  # fmt: skip
    """Train the model in place; go on from the newest whole checkpoint in ``checkpoint_dir`` if it holds one.

    Writes one JSON line a logged step to ``metrics_file``; shows a progress bar titled ``describe`` unless that is None.
    ``origin`` names what the model started from; a checkpoint of another origin is refused. Under torchrun every worker
    takes its share of each batch, and one of them writes.
    Raises NonFiniteLoss (the last good checkpoint stays) and CheckpointError (of another run, or the disk is full).
    """
    if len(stream.tokenizer) > model.config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(stream.tokenizer)} pieces, but the model's vocab_size is {model.config.vocab_size}: build "
            f"the model with vocab_size={len(stream.tokenizer)}."
        )
    device = pick_device(device)
    workers = Workers.join(device)
    model.to(device).train()
    optimizer = make_optimizer(model, settings)
    history = History(baselines(stream.corpus, (held_out or stream).corpus, len(stream.tokenizer)))
    sums = torch.zeros(8, dtype=widest_float(device), device=device)  # tally of the steps since the last record
    identity = {"start": {"origin": origin}, "settings": settings.trajectory(), "stream": stream.settings}
    told = _resume(model, optimizer, identity, checkpoint_dir, history, sums)
    start = told["step"]
    sums *= workers.is_main  # a checkpoint holds the tally of all workers; the first one goes on with it
    metrics_file = Path(metrics_file) if metrics_file and workers.is_main else None
    if metrics_file:
        history.rewrite(metrics_file)
    if settings.compile:
        compile_blocks(model)
    wrapped = workers.wrap(model)
    # Without an order objective nothing teaches the pooler and its head. Their gradient is made of zeros and must be none:
    # LAMB would turn decay alone into a full step.
    idle = [model.albert.pooler, model.sentence_order_head] if stream.objective == "none" else []
    watch_every = 1 if device.type == "cpu" else settings.log_every  # looking at a card's numbers makes it wait
    quiet = {} if workers.is_main and describe else {"disable": True}  # where not quiet, TQDM_DISABLE can still make it so
    progress = tqdm(total=settings.steps, initial=start, desc=describe, leave=False, **quiet)
    tokens, clock = told["tokens"], time.perf_counter() - told["elapsed"]

    def due(done: int, every: int) -> bool:
        return done == settings.steps or bool(every and done % every == 0)

    # The caller's random state is put back at the end: dropout reseeds the global generator at every step.
    with progress, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        for step, batch in _batches(stream, start, settings.steps, device):
            rate = learning_rate(step, settings)
            for group in optimizer.param_groups:
                group["lr"] = rate
            sums += _forward_backward(wrapped, batch, settings, step, workers)
            for module in idle:
                module.zero_grad(set_to_none=True)
            norm = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
            if due(step + 1, watch_every):  # before clipping, which would spread one NaN over all gradients
                _stop_if_not_finite(model, norm, step)
            nn.utils.clip_grads_with_norm_(model.parameters(), settings.clip_norm, norm)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            tokens += batch.token_ids.numel()
            progress.update()

            done, record = step + 1, {}
            if due(done, settings.log_every):
                workers.all_reduce(sums)
                speed = tokens / (time.perf_counter() - clock)
                record = {"step": done, "learning_rate": rate, "gradient_norm": norm.item(), "tokens_per_second": speed}
                record |= scores(sums)
                progress.set_postfix_str(_short(record), refresh=False)
                sums.zero_()
                tokens, clock = 0, time.perf_counter()
            paused = time.perf_counter()
            if held_out and due(done, settings.evaluate_every):
                measured = evaluate(model, held_out, settings.evaluate_batches, device)
                record |= {"step": done} | {f"held_out_{name}": value for name, value in measured.items()}
            if record:
                history.add(record, metrics_file)
            if due(done, settings.checkpoint_every):  # the step itself may have ruined the weights, and what is kept must be good
                _stop_if_not_finite(model, nn.utils.get_total_norm(list(model.parameters())), step)
                workers.all_reduce(sums)
                sums *= workers.is_main
                if checkpoint_dir and workers.is_main:
                    state = identity | {"records": history.records, "sums": sums.tolist()}
                    state |= {"tokens": tokens, "elapsed": paused - clock}
                    save_checkpoint(checkpoint_dir, done, model, stream.tokenizer, optimizer, state)
            clock += time.perf_counter() - paused  # neither is training
    workers.barrier()
    return history


def _forward_backward(
    model: nn.Module, batch: PretrainingBatch, settings: PretrainSettings, step: int, workers: Workers
) -> torch.Tensor:
    """Accumulate the gradient of the whole batch's loss, part by part; return the tally of this worker's rows.

    Each part's mean is weighted by its share of the batch's masked pieces and pairs, so that the sum is the global mean
    and not a mean of means. DDP averages over workers, hence the factor.
    """
    masked, pairs = _count(batch.masked_labels).clamp(min=1), _count(batch.order_labels).clamp(min=1)
    total = torch.zeros(8, dtype=widest_float(batch.token_ids.device), device=batch.token_ids.device)
    torch.manual_seed((settings.seed * 1_000_003 + step) * 1009 + workers.rank)  # dropout; torch's dropout knows no other generator
    parts = workers.micro_batches(settings.accumulate)
    for rows in parts:
        part = batch.rows(rows)
        sending = nullcontext() if workers.world_size == 1 or rows is parts[-1] else model.no_sync()  # once, with the last part
        # A cast kept for all applications of a block would add up their gradients in bfloat16.
        halved = {"dtype": torch.bfloat16, "enabled": settings.precision == "bfloat16", "cache_enabled": False}
        with sending, torch.autocast(part.token_ids.device.type, **halved):
            output = model(part)
            loss = output.masked_token_loss * (_count(part.masked_labels) / masked)
            loss = loss + output.sentence_order_loss * (_count(part.order_labels) / pairs)
        (loss * workers.world_size).backward()
        total += tally(part, output)
    return total


def _batches(stream: PretrainingStream, start: int, stop: int, device: torch.device) -> Iterator[tuple[int, PretrainingBatch]]:
    """Batches start..stop-1 on the device; for a card they are built ahead by threads, so that it never waits."""
    if device.type == "cpu":
        yield from ((step, stream.batch(step)) for step in range(start, stop))
        return

    def ready(step: int) -> PretrainingBatch:
        return stream.batch(step).pinned() if device.type == "cuda" else stream.batch(step)

    ahead = 8
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(ready, step) for step in range(start, min(start + ahead, stop))]
        for step in range(start, stop):
            batch = waiting.pop(0).result()
            if step + ahead < stop:
                waiting.append(pool.submit(ready, step + ahead))
            yield step, batch.to(device)


def _count(labels: torch.Tensor) -> torch.Tensor:
    return (labels != IGNORE).sum()


def _resume(model, optimizer, identity, checkpoint_dir, history, sums) -> dict:
    """Go back to the newest whole checkpoint, if there is one of this very run; return its step, and what the clock showed."""
    path, told = newest_checkpoint(checkpoint_dir) if checkpoint_dir else None, {"step": 0, "tokens": 0, "elapsed": 0.0}
    if path is None:
        return told
    state = read_state(path)
    if changes := "; ".join(filter(None, (differing(state[part], identity[part]) for part in identity))):
        raise CheckpointError(f"{path} belongs to another run: {changes}. Give the same settings to go on, or another folder.")
    load_checkpoint(path, model, optimizer)
    history.records[:] = state["records"]
    sums.copy_(torch.tensor(state["sums"], dtype=torch.float64))
    return told | state


def _stop_if_not_finite(model: nn.Module, norm: torch.Tensor, step: int) -> None:
    if norm.isfinite():
        return
    for what in ("data", "grad"):
        for name, parameter in model.named_parameters():
            tensor = getattr(parameter, what)
            if tensor is not None and not tensor.isfinite().all():
                kind, verb = ("weights", "are") if what == "data" else ("gradient", "is")
                raise NonFiniteLoss(
                    f"training stopped at step {step}, counted from 0: the {kind} of {name} {verb} not finite. Earlier checkpoints "
                    f"are untouched. Usual causes: a learning rate too high, or no warm-up."
                )
    raise NonFiniteLoss(f"training stopped at step {step}: the norm of gradient or weights overflows. Lower the learning rate.")


def _short(record: dict) -> str:
    """The part of a record that fits a progress bar."""
    parts = [f"masked {record['masked_token_loss']:.2f} ({record['masked_token_accuracy']:.0%})"]
    if "sentence_order_accuracy" in record:
        parts.append(f"order {record['sentence_order_loss']:.2f} ({record['sentence_order_accuracy']:.0%})")
    return ", ".join([*parts, f"{record['tokens_per_second']:,.0f} tokens/s"])
