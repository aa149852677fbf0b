"""The pair behind Figure 1: an ALBERT and its not-shared control, grown and trained the same way, side by side in time too.

A deep post-LN stack does not leave the unigram plateau in minutes from scratch; grown from a shallow one it does, as the
paper's footnote 5 has it. The control copies its layers at each growth and then trains them freely. Short sequences come
first, as in BERT: attention has few places to search there, and finds the neighbours of a [MASK] many times sooner.
"""

import json
import multiprocessing
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm.auto import tqdm

from albert_edu.analysis.similarity import layer_similarity
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import PreparedText, prepare
from albert_edu.training.evaluate import baselines, evaluate
from albert_edu.training.history import training_seconds
from albert_edu.training.pretrain import pick_device
from albert_edu.training.settings import PretrainSettings, suited_to
from albert_edu.training.stages import Stage, train_stages

MEMBERS = {"albert": "all", "control": "none"}  # name -> sharing
FOLDERS = {"control": "unshared"}  # where a member is shipped, if not under its name in the records


@dataclass(frozen=True)
class PairProfile:
    """How the pair is trained: on what, how wide, through which depths."""

    corpus: str
    preset: str
    stages: tuple[Stage, ...]
    batch_size: int = 16
    sequence_length: int = 128
    seed: int = 0

    def config(self, member: str, text: PreparedText) -> AlbertConfig:
        sizes = {"vocab_size": len(text.tokenizer), "max_positions": self.sequence_length}
        return AlbertConfig.named(self.preset, share=MEMBERS[member], **sizes)

    def train(self, member: str, folder: Path, device: str | None = None) -> None:
        """Train one member into ``folder/member``, or go on with it; on a card in bfloat16 with compiled blocks."""
        text = prepare(self.corpus)
        suited = suited_to(pick_device(device))

        def stream(stage: Stage, skip: int) -> PretrainingStream:
            length = stage.sequence_length or self.sequence_length
            rows = self.batch_size * self.sequence_length // length  # so that every step reads as many tokens
            return PretrainingStream(text.train, text.tokenizer, "sop", rows, length, seed=self.seed, skip=skip)

        def held_out(stage: Stage) -> PretrainingStream:
            length, seed = stage.sequence_length or self.sequence_length, self.seed + EVAL_SEED_OFFSET
            return PretrainingStream(text.held_out, text.tokenizer, "sop", 32, length, seed=seed)

        def settings(stage: Stage) -> PretrainSettings:
            return PretrainSettings(
                steps=stage.steps, learning_rate=stage.learning_rate, warmup_steps=stage.steps // 10, optimizer="lamb",
                checkpoint_every=100, log_every=10, evaluate_every=max(50, stage.steps // 10), seed=self.seed, **suited,
            )  # fmt: skip

        trained = train_stages(
            self.config(member, text), self.stages, stream, settings, folder / member, device, held_out
        )  # fmt: skip
        save_pretrained(trained.model, text.tokenizer, folder / member, native=True)

    @property
    def steps(self) -> int:
        return sum(stage.steps for stage in self.stages)


PAIRS = {
    # Minutes on two cores, one for each member.
    "quick": PairProfile("sotu", "albert-small", (Stage(2, 700, 1e-2), Stage(4, 200, 5e-3), Stage(12, 150, 3e-3))),
    # About an hour on two cores that do little else. In pilots of 1,500 steps (AdamW, 2 layers, one seed), 128 pieces ended at
    # 6.31 behind [MASK], where frequencies are at 6.33; with the first half of the steps on 32 pieces it was 6.19.
    "laptop": PairProfile(
        "sotu", "albert-small",
        (Stage(2, 1500, 1e-2, 32), Stage(2, 6000, 1e-2, 64), Stage(4, 3000, 5e-3), Stage(12, 2600, 3e-3)),
    ),
    # The published base size on one card. Depths as in Table 11, rates below the tables' own 3e-3; not tried yet.
    "gpu": PairProfile(
        "sotu+imdb", "albert-base-v2",
        (Stage(3, 2000, 3e-3, 64), Stage(3, 4000, 3e-3), Stage(6, 2000, 2e-3), Stage(12, 4000, 2e-3)), batch_size=128,
    ),
}  # fmt: skip
TEXTS = {"sotu": "the State of the Union addresses", "sotu+imdb": "the State of the Union addresses and IMDB film reviews"}


def train_pair(profile: PairProfile, folder: Path, device: str | None = None) -> None:
    """Train both members at once, each in a process of its own with half of the cores, and show how far they are.

    Two processes with a thread each do 1.4 times the work of one process with two threads at these widths. Interrupt it
    when you like; the same call goes on from the last checkpoint.
    """
    start = multiprocessing.get_context("spawn")
    for member in MEMBERS:
        (folder / member).mkdir(parents=True, exist_ok=True)
    workers = {
        member: start.Process(target=_train_member, args=(profile, member, folder, device), daemon=True) for member in MEMBERS
    }
    bars = {member: tqdm(total=profile.steps, desc=f"{member:8}", position=i) for i, member in enumerate(MEMBERS)}
    for worker in workers.values():
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers.values()):
            time.sleep(0.5)
            for member, bar in bars.items():
                _show(bar, folder / member)
            if any(worker.exitcode for worker in workers.values()):
                break
    finally:
        failed = {member: worker.exitcode for member, worker in workers.items() if worker.exitcode}  # before we end the others
        for worker in workers.values():
            worker.terminate()
            worker.join()
        for bar in bars.values():
            bar.close()
    for member, code in failed.items():
        if code < 0:
            raise RuntimeError(f"training {member} was killed by signal {-code}; 9 is most often the system, out of memory.")
        log = folder / member / "log.txt"
        last = (log.read_text().strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"training {member} failed: {last} (all of it: {log})")


def _train_member(profile: PairProfile, member: str, folder: Path, device: str | None) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    log = (folder / member / "log.txt").open("a", buffering=1)
    sys.stdout = sys.stderr = log
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    profile.train(member, folder, device)


def end_with_parent() -> None:
    """A killed parent cannot end its children; trained on, they would write into the folder of the next call."""
    multiprocessing.parent_process().join()
    os._exit(1)


def seconds_of_pair(profile: PairProfile, folder: Path) -> float:
    """Seconds that a member spent training, over all calls it took."""
    stages = [[*map(json.loads, file.read_text().splitlines())] for file in folder.glob("layers-*/metrics.jsonl")]
    return sum(training_seconds(records, profile.batch_size * profile.sequence_length) for records in stages)


def _show(bar: tqdm, folder: Path) -> None:
    done, last = 0, ""
    for metrics in sorted(folder.glob("layers-*/metrics.jsonl")):
        lines = metrics.read_text().splitlines()
        if lines:
            record = _last_whole_record(lines)
            done += record.get("step", 0)
            last = f"{metrics.parent.name}, masked-token loss {record.get('masked_token_loss', 0):.2f}"
    bar.set_postfix_str(last, refresh=False)
    bar.update(done - bar.n)
    bar.refresh()


def _last_whole_record(lines: list[str]) -> dict:
    for line in reversed(lines):
        try:
            return json.loads(line)
        except ValueError:  # being written at this moment
            continue
    return {}


def measure_pair(profile: PairProfile, models: dict[str, AlbertForPretraining]) -> dict:
    """Scores on held-out text, layer by layer distances, and the same distances of both stacks before any training."""
    text = prepare(profile.corpus)
    seed = profile.seed + EVAL_SEED_OFFSET
    held_out = PretrainingStream(text.held_out, text.tokenizer, "sop", 32, profile.sequence_length, seed=seed)
    batch = held_out.batch(0)
    floor = baselines(text.train, text.held_out, len(text.tokenizer))
    record = {"baselines": floor._asdict(), "members": {}}
    for member, model in models.items():
        torch.manual_seed(profile.seed)
        untrained = AlbertForPretraining(model.config)
        scores = evaluate(model, held_out, 32)
        record["members"][member] = {
            "scores": {name: round(value, 4) for name, value in scores.items()},
            "verdict": floor.verdict(scores["masked_token_loss"]),
            "similarity": layer_similarity(model, batch).as_lists(),
            "similarity_untrained": layer_similarity(untrained, batch).as_lists(),
        }
    return record


def model_card(record: dict) -> str:
    """What to know before using the trained pair, from its record (figures/results/figure1_PROFILE.json) alone."""
    profile, made, floor = record["profile"], record["provenance"], record["baselines"]
    stages = [Stage(*stage) for stage in profile["stages"]]
    depth, length = stages[-1].num_layers, profile["sequence_length"]
    road = ", ".join(
        f"{stage.steps:,} steps at {stage.num_layers} layers on {stage.sequence_length or length} pieces (peak rate "
        f"{stage.learning_rate:g})"
        for stage in stages
    )
    scores = [member["scores"] for member in record["members"].values()]
    better = " and ".join(f"{floor['unigram'] - found['mask_token_loss']:.2f}" for found in scores)
    order = " and ".join(f"{found['sentence_order_accuracy']:.0%}" for found in scores)
    lines = [
        f"# The {profile['name']} pair: an ALBERT and its unshared baseline",
        "",
        f"Two folders in the format of transformers, with tokenizer: `albert` (one layer, applied {depth} times) and `unshared`",
        f"({depth} layers of its own, grown as copies). Trained alike on {TEXTS.get(profile['corpus'], profile['corpus'])},",
        "on masked tokens and order, with LAMB:",
        f"{road}; {profile['batch_size'] * length:,} pieces a step, one run each.",
        "",
        "| held-out text | masked-token loss | behind [MASK] | accuracy there | order accuracy | parameters | minutes |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, member in record["members"].items():
        scores = member["scores"]
        lines.append(
            f"| {FOLDERS.get(name, name)} | {scores['masked_token_loss']:.3f} | {scores['mask_token_loss']:.3f} | "
            f"{scores['mask_token_accuracy']:.3f} | {scores['sentence_order_accuracy']:.3f} | {record['parameters'][name]:,} | "
            f"{member['training_seconds'] / 60:.0f} |"
        )
    lines += [
        f"| frequencies alone | {floor['unigram']:.3f} | {floor['unigram']:.3f} | | 0.500 (a coin) | | |",
        f"| and copying what stands in the slot | {floor['copy']:.3f} | {floor['unigram']:.3f} | | | | |",
        "",
        *(f"{FOLDERS.get(name, name)}: {member['verdict']}." for name, member in record["members"].items()),
        "",
        f"Behind [MASK], where a model must read, they are {better} nats better than frequencies. Whether two runs of",
        f"sentences are in order they tell in {order} of pairs, a coin in 50%. They are teaching material, no more.",
        f"Device: {made['device']}. Date: {made['date']}. Commit: {made['commit']}.",
        *([made["note"]] if "note" in made else []),
    ]
    return "\n".join(lines) + "\n"
