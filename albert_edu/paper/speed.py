"""How fast each published size trains, all on one device and in turns: Table 2's speedup column without its network.

Quick has an eighth of every width, so that it takes minutes; laptop and gpu have the published sizes. What is timed is a whole
step: forward, backward, optimizer. The optimizer's part, which sharing does relieve, shrinks with the batch, so a step has at
least the 4096 tokens that one of the paper's 512 chips had (4096 sequences of 512). At the published sizes that takes a core half
an hour: laptop times 256 of them, and counts forward and backward sixteen times, the optimizer once. On a CPU it is one
core's own time, so that other programs do not count. Dropout is the paper's: everywhere but in xxlarge.
"""

import statistics
import time

import torch

from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.paper.published import CONFIGS, TABLES
from albert_edu.text.batches import PretrainingBatch
from albert_edu.training.pretrain import pick_device
from albert_edu.training.settings import PretrainSettings, compile_blocks, make_optimizer

SIZES = {name: CONFIGS["1", name] for name in TABLES["1"].column("model")}
# profile -> divisor of the widths, rounds, steps timed in a round, sequences, their length, how often those make a step
PLANS = {"quick": (8, 5, 3, 32, 128, 1), "laptop": (1, 3, 1, 2, 128, 16), "gpu": (1, 5, 10, 32, 512, 1)}
PEAK = {"NVIDIA H200": 989e12, "NVIDIA H100": 989e12, "NVIDIA A100": 312e12}  # dense bfloat16, from the data sheets


def speeds(profile: str, device: str | None = None) -> list[dict]:
    """A result per size and round: tokens a second, and the same as a ratio to BERT-large's in that round."""
    divisor, rounds, *plan = PLANS[profile]
    device = pick_device(device)
    results, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    for seed in range(rounds):
        this = {name: _timed(_shrunk(config, divisor), device, *plan) for name, config in SIZES.items()}
        base = this["BERT-large"]["tokens_per_second"]
        results += [{"row": name, "seed": seed, "speed": round(found["tokens_per_second"] / base, 4), **found}
                    for name, found in this.items()]  # fmt: skip
    torch.set_num_threads(threads)
    return results


def _shrunk(config: AlbertConfig, divisor: int) -> AlbertConfig:
    return config.replace(vocab_size=config.vocab_size // divisor, embedding_size=config.embedding_size // divisor,
                          hidden_size=config.hidden_size // divisor, num_heads=max(1, config.num_heads // divisor))  # fmt: skip


def _timed(config: AlbertConfig, device: torch.device, steps: int, sequences: int, length: int, times: int) -> dict:
    """Train on random pieces for a warm-up step and ``steps`` timed ones; the median counts, as if of ``times`` as many tokens."""
    torch.manual_seed(0)
    card = device.type == "cuda"
    model = AlbertForPretraining(config).to(device)
    if card:
        compile_blocks(model)
    optimizer = make_optimizer(model, PretrainSettings(steps=1, optimizer="adamw"))
    batch = _random_batch(config.vocab_size, sequences, length).to(device)
    found = []
    for _ in range(steps + (3 if card else 1)):
        began = _now(card)
        with torch.autocast(device.type, torch.bfloat16, enabled=card):
            loss = model(batch).loss
        loss.backward()
        passed = _now(card)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        found.append((passed - began, _now(card) - passed))
    passes, update = (statistics.median(part[-steps:]) for part in zip(*found, strict=True))
    step = times * passes + update
    rate = times * sequences * length / step
    flops = rate * flops_per_token(config, length, batch.masked_labels.shape[1] / length, training=True)
    peak = next((value for name, value in PEAK.items() if card and name in torch.cuda.get_device_name(device)), None)
    return {"tokens_per_second": round(rate, 1), "model_flops_per_second": round(flops), "optimizer_share": round(update / step, 3),
            "seconds": round(sum(map(sum, found)), 1)} | ({"utilisation": round(flops / peak, 3)} if peak else {})  # fmt: skip


def _now(card: bool) -> float:
    """Seconds: the clock once the card has done its work, or this process's own time on a core."""
    if card:
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def _random_batch(vocab_size: int, sequences: int, length: int) -> PretrainingBatch:
    """Random pieces, 20 masked of 512 as in the authors' code."""
    ids = torch.randint(5, vocab_size, (sequences, length))
    masked = max(1, length * 20 // 512)
    positions = torch.rand(sequences, length).argsort(-1)[:, :masked]
    segments = (torch.arange(length) >= length // 2).long().expand(sequences, length)
    return PretrainingBatch(token_ids=ids, segment_ids=segments, attention_mask=torch.ones_like(ids), masked_positions=positions,
                            masked_labels=ids.gather(1, positions), order_labels=torch.randint(2, (sequences,)))  # fmt: skip
