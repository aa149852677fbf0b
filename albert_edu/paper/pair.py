"""The pair behind Figure 1: an ALBERT and its unshared baseline, which are trained alike and at the same time.

A deep post-LN stack from scratch stays near the unigram baseline for longer than a lesson lasts. Stacked from a shallow
model it does not, which is the warm start of the paper's footnote 5. The unshared baseline copies its layers at each
stage and then trains them freely. On real text, short sequences come first, because attention then has few places to
search and finds the neighbours of a [MASK] many times sooner. Read in notebook 08.
"""

import json
import os
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from albert_edu.analysis.similarity import layer_similarity
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.paper.pool import run_all
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import PreparedText, prepare
from albert_edu.training.evaluate import baselines, evaluate
from albert_edu.training.history import training_seconds
from albert_edu.training.pretrain import pick_device
from albert_edu.training.progress import progress_bar
from albert_edu.training.settings import PretrainSettings, suited_to
from albert_edu.training.stages import Stage, train_stages

MEMBERS = {"albert": "all", "unshared": "none"}  # name -> sharing


@dataclass(frozen=True)
class PairProfile:
    """How the pair is trained: on which text, at which width, through which depths."""

    corpus: str
    preset: str
    stages: tuple[Stage, ...]
    batch_size: int = 16
    sequence_length: int = 128
    optimizer: str = "lamb"
    seed: int = 0

    def config(self, member: str, text: PreparedText) -> AlbertConfig:
        """Return the member's configuration at full depth."""
        sizes = {"vocab_size": len(text.tokenizer), "max_positions": self.sequence_length}
        sizes["num_layers"] = self.stages[-1].num_layers
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
                steps=stage.steps, learning_rate=stage.learning_rate, warmup_steps=stage.steps // 10,
                optimizer=self.optimizer, checkpoint_every=100, log_every=10,
                evaluate_every=max(50, stage.steps // 10), seed=self.seed, **suited,
            )  # fmt: skip

        place = folder / member
        config = self.config(member, text)
        trained = train_stages(config, self.stages, stream, settings, place, device, held_out)
        save_pretrained(trained.model, text.tokenizer, place, native=True)

    @property
    def steps(self) -> int:
        """Steps of all stages together."""
        return sum(stage.steps for stage in self.stages)


PAIRS = {
    # About a minute of a core for each member: the synthetic corpus has answers that so short a run can learn.
    "quick": PairProfile(
        "stories", "albert-tiny", (Stage(2, 400, 2e-3), Stage(4, 400, 2e-3), Stage(12, 400, 2e-3)),
        sequence_length=64, optimizer="adamw",
    ),
    # About an hour on two cores that do little else. In pilots of 1,500 steps (AdamW, 2 layers, one seed), sequences of 128
    # tokens ended at an MLM loss of 6.31 at [MASK], where the unigram baseline is 6.33; with 32 tokens in the first half of
    # the steps it was 6.19.
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
TEXTS = {
    "stories": "the synthetic corpus", "sotu": "the State of the Union addresses",
    "sotu+imdb": "the State of the Union addresses and IMDB film reviews",
}  # fmt: skip


def pair_jobs(profile: PairProfile, folder: Path, device: str | None = None) -> list[tuple]:
    """Return the training of both members as jobs for ``run_all``; the same jobs again go on where they stopped."""
    return [(train_member, (profile, member, folder, device)) for member in MEMBERS]


def train_member(profile: PairProfile, member: str, folder: Path, device: str | None) -> None:
    """Train one member in a process of its own; an error names the member."""
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    try:
        profile.train(member, folder, device)
    except Exception as error:
        raise RuntimeError(f"training {member} failed: {type(error).__name__}: {error}") from error


def train_pair(profile: PairProfile, folder: Path, device: str | None = None) -> None:
    """Train both members at once, each in a process of its own with half of the cores, and show how far they are.

    Two processes with a thread each do 1.4 times the work of one process with two threads at these widths. Interrupt it
    when you like: the same call goes on from the last checkpoint.
    """
    with watched({member: folder / member for member in MEMBERS}, len(MEMBERS) * profile.steps):
        run_all(pair_jobs(profile, folder, device), processes=len(MEMBERS))


@contextmanager
def watched(folders: Mapping[str, Path], steps: int):
    """Show how many of ``steps`` the runs have done that log to ``metrics.jsonl`` somewhere below their folders."""
    ended = threading.Event()

    def watch() -> None:
        with progress_bar(steps, "training steps") as bar:
            while not ended.wait(1.0):
                bar.update(sum(map(steps_logged, folders.values())) - bar.n)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def steps_logged(folder: Path) -> int:
    """Return the steps that the stages below a folder have logged so far."""
    return sum(max((record["step"] for record in _records(file)), default=0) for file in folder.rglob("metrics.jsonl"))


def seconds_of_pair(profile: PairProfile, folder: Path) -> float:
    """Return the seconds that a member spent training, over all calls it took."""
    tokens = profile.batch_size * profile.sequence_length
    return sum(training_seconds(_records(file), tokens) for file in folder.glob("layers-*/metrics.jsonl"))


def _records(file: Path) -> list[dict]:
    """The lines of a metrics file; the last one may just be being written."""
    lines = file.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


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
    """Return what to know before using a trained pair, as Markdown made from its record alone."""
    profile, made, baseline = record["profile"], record["provenance"], record["baselines"]
    stages = [Stage(*stage) for stage in profile["stages"]]
    depth, length = stages[-1].num_layers, profile["sequence_length"]
    lines = [
        f"# The {profile['name']} pair: an ALBERT and its unshared baseline",
        "",
        f"Two folders in the format of transformers, with tokenizer. `albert` applies one layer {depth} times. `unshared` has",
        f"{depth} layers of its own; each stage starts from copies of the stage before it. Both were trained alike, once,",
        f"on {TEXTS.get(profile['corpus'], profile['corpus'])}, with the MLM loss and the sentence-order loss, on",
        f"{profile['batch_size'] * length:,} tokens per step:",
        "",
        *(
            f"- {stage.steps:,} steps at {stage.num_layers} layers on sequences of {stage.sequence_length or length} "
            f"tokens (peak learning rate {stage.learning_rate:g})"
            for stage in stages
        ),
        "",
        "| held-out text | MLM loss | MLM loss at [MASK] | accuracy at [MASK] | order accuracy | parameters | minutes |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, member in record["members"].items():
        scores = member["scores"]
        lines.append(
            f"| {name} | {scores['masked_token_loss']:.3f} | {scores['mask_token_loss']:.3f} | "
            f"{scores['mask_token_accuracy']:.3f} | {scores['sentence_order_accuracy']:.3f} | "
            f"{record['parameters'][name]:,} | {member['training_seconds'] / 60:.0f} |"
        )
    lines += [
        f"| unigram baseline | {baseline['unigram']:.3f} | {baseline['unigram']:.3f} | | 0.500 (chance) | | |",
        f"| copy baseline | {baseline['copy']:.3f} | {baseline['unigram']:.3f} | | | | |",
        "",
        "The losses are in nats. The models are teaching material, no more.",
        f"Device: {made['device']}. Date: {made['date']}. Commit: {made['commit']}.",
        *([made["note"]] if "note" in made else []),
    ]
    return "\n".join(lines) + "\n"
