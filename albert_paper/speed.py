"""How fast each published size trains: Table 2's speedup column without its network.

All sizes take turns on one device. Quick has an eighth of every width, so that it takes minutes;
laptop and gpu have the published sizes. What is timed is a whole step: forward, backward,
optimizer. The optimizer's part, which sharing does relieve, shrinks with the batch, so a step has
at least the 4096 tokens that one of the paper's 512 chips had (4096 sequences of 512). At the
published sizes that takes a core half an hour: laptop times 256 of them, and counts forward and
backward sixteen times, the optimizer once. On a CPU it is one core's own time, so that other
programs do not count. Dropout is that of the released v1 models: everywhere but in xxlarge.
"""

import statistics
import time
from typing import NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch
from albert_edu.training.settings import PretrainSettings, compile_blocks, make_optimizer
from albert_edu.training.workers import pick_device
from albert_paper.published import CONFIGS, TABLES


class Timing(NamedTuple):
    """What a profile times; ``repeats`` of the sequences make a step of 4096 tokens."""

    divisor: int  # of every width
    rounds: int
    steps: int  # in a round
    sequences: int
    length: int
    repeats: int


SIZES = {name: CONFIGS["1", name] for name in TABLES["1"].column("model")}
PLANS = {
    "quick": Timing(8, 5, 3, 32, 128, 1),
    "laptop": Timing(1, 3, 1, 2, 128, 16),
    "gpu": Timing(1, 5, 10, 32, 512, 1),
}


def speeds(profile: str, device: str | None = None) -> list[dict]:
    """Return a result per size and round: tokens a second, also as a ratio to BERT-large's."""
    plan, device = PLANS[profile], pick_device(device)
    results, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    for seed in range(plan.rounds):
        timed = {
            name: _timed(_shrunk(config, plan.divisor), device, plan)
            for name, config in SIZES.items()
        }
        base = timed["BERT-large"]["tokens_per_second"]
        for name, measured in timed.items():
            speed = round(measured["tokens_per_second"] / base, 4)
            results.append({"row": name, "seed": seed, "speed": speed, **measured})
    torch.set_num_threads(threads)
    return results


def _shrunk(config: AlbertConfig, divisor: int) -> AlbertConfig:
    names = ("vocab_size", "embedding_size", "hidden_size", "num_heads")
    return config.replace(**{name: max(1, getattr(config, name) // divisor) for name in names})


def _timed(config: AlbertConfig, device: torch.device, plan: Timing) -> dict:
    """Train on random tokens; after the warm-up the median step counts."""
    torch.manual_seed(0)
    card = device.type == "cuda"
    model = AlbertForPretraining(config).to(device)
    if card:
        compile_blocks(model)
    optimizer = make_optimizer(model, PretrainSettings(steps=1, optimizer="adamw"))
    batch = _random_batch(config.vocab_size, plan.sequences, plan.length).to(device)
    seconds = []
    for _ in range(plan.steps + (3 if card else 1)):
        began = _now(card)
        with torch.autocast(device.type, torch.bfloat16, enabled=card):
            loss = model(batch).loss
        loss.backward()
        passed = _now(card)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append((passed - began, _now(card) - passed))
    passes, update = (statistics.median(part) for part in zip(*seconds[-plan.steps :], strict=True))
    step = plan.repeats * passes + update
    rate = plan.repeats * plan.sequences * plan.length / step
    return {
        "tokens_per_second": round(rate, 1),
        "optimizer_share": round(update / step, 3),
        "seconds": round(sum(map(sum, seconds)), 1),
    }


def _now(card: bool) -> float:
    """Seconds: the clock once the card has done its work, or this process's own time on a core."""
    if card:
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def _random_batch(vocab_size: int, sequences: int, length: int) -> PretrainingBatch:
    """Random tokens, 20 masked of 512 as in the authors' code."""
    ids = torch.randint(5, vocab_size, (sequences, length))
    masked = max(1, length * 20 // 512)
    positions = torch.rand(sequences, length).argsort(-1)[:, :masked]
    return PretrainingBatch(
        token_ids=ids,
        segment_ids=(torch.arange(length) >= length // 2).long().expand_as(ids),
        attention_mask=torch.ones_like(ids),
        masked_positions=positions,
        masked_labels=ids.gather(1, positions),
        order_labels=torch.randint(2, (sequences,)),
    )
