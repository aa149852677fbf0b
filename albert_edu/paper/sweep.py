"""Many small training runs, each done once: a run's settings name its result, so a sweep goes on where it was left.

A result that exists is not made again, and an interrupted run goes on from its checkpoints.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.paper.pool import run_all
from albert_edu.paper.provenance import commit, corpus_hash, device_name, now, today, write_json
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.masking import MASK_RATE
from albert_edu.text.prepare import PreparedText, default_vocabulary, prepare
from albert_edu.training.pretrain import NonFiniteLoss, pick_device
from albert_edu.training.progress import progress_bar
from albert_edu.training.settings import PretrainSettings, suited_to
from albert_edu.training.stages import Stage, TrainedStages, train_stages


class Trained(NamedTuple):
    """A trained model, its text, and the masked-token loss along the way, a mean over each tenth of a stage's steps."""

    model: AlbertForPretraining
    text: PreparedText
    curve: list[tuple[int, float]]
    seconds: float  # over all sittings, by the clock on the wall


Measure = Callable[[AlbertForPretraining, PreparedText, "Run"], dict]


@dataclasses.dataclass(frozen=True)
class Run:
    """One training and everything it depends on; ``config`` replaces fields of the preset.

    ``grown`` lists shallower depths with their steps, trained before: the model starts from the last of them (footnote 5).
    """

    row: str  # of the table it belongs to; says nothing about the training
    steps: int
    corpus: str = "stories"
    preset: str = "albert-tiny"
    config: tuple[tuple[str, object], ...] = ()
    grown: tuple[tuple[int, int], ...] = ()
    objective: str = "sop"
    negatives: str = "document"
    batch_size: int = 32
    sequence_length: int = 64
    optimizer: str = "adamw"
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    vocabulary: str = ""  # the corpus whose tokenizer is used; the run's own when empty
    vocab_size: int = 0  # the default of its corpus when 0
    seed: int = 0
    then: tuple[tuple[str, object], ...] = ()  # a last stage on the trained model: its steps, and the dropout it has

    def key(self, measure: Measure) -> str:
        """Names the result: the same settings and the same measurement have the same key on every machine."""
        chosen = {name: value for name, value in dataclasses.asdict(self).items() if value != DEFAULTS.get(name) and name != "row"}
        settings = [measure.settings] if hasattr(measure, "settings") else []
        # Without defaults, so that a new field leaves old results valid; not those of grown runs, which read batches repeatedly.
        told = json.dumps([measure.__name__, chosen, *settings, *(["each batch once"] if self.grown else [])], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def stream(self, text: PreparedText, held_out: bool = False, **changes) -> PretrainingStream:
        """Its batches, or those of the documents held out; ``changes`` ask for another objective, size or kind of negatives."""
        arguments = {name: getattr(self, name) for name in ("objective", "batch_size", "sequence_length", "negatives")} | changes
        part, seed = (text.held_out, self.seed + EVAL_SEED_OFFSET) if held_out else (text.train, self.seed)
        return PretrainingStream(part, text.tokenizer, seed=seed, **arguments)

    def text(self) -> PreparedText:
        """Its corpus in its pieces."""
        size = self.vocab_size or None
        return prepare(self.corpus, size, tokenizer=prepare(self.vocabulary, size).tokenizer if self.vocabulary else None)

    def model_config(self, vocab_size: int) -> AlbertConfig:
        """Its model at full depth."""
        sizes = {"vocab_size": vocab_size, "max_positions": self.sequence_length}
        return AlbertConfig.named(self.preset, **(sizes | dict(self.config)))

    def stages(self, config: AlbertConfig) -> tuple[tuple[int, int], ...]:
        """Depth and steps, the shallower depths first."""
        return *self.grown, (config.num_layers, self.steps)

    def operations(self) -> float:
        """What its training costs, shallower depths included (``flops_per_token``)."""
        config = self.model_config(self.vocab_size or default_vocabulary(self.vocabulary or self.corpus))
        length, at_rate = self.sequence_length, {"masked_rate": MASK_RATE, "training": True}
        return self.batch_size * length * sum(
            steps * flops_per_token(config.replace(num_layers=layers), length, **at_rate) for layers, steps in self.stages(config)
        )

    def train(self, folder: Path | None = None, device: str | None = None) -> Trained:
        """Train it, or go on with it; checkpoints lie in ``folder``."""
        text = self.text()
        config = self.model_config(len(text.tokenizer))
        stages = [Stage(layers, steps, self.learning_rate) for layers, steps in self.stages(config)]
        model, history, seconds = self._stages(text, config, stages, folder, device)
        if self.then:
            steps, dropout = (dict(self.then)[name] for name in ("steps", "dropout"))
            config = config.replace(hidden_dropout=dropout, attention_dropout=dropout)
            changed = AlbertForPretraining(config)
            changed.load_state_dict(model.state_dict())
            before = sum(stage.steps for stage in stages)
            last = Stage(config.num_layers, steps, self.learning_rate)
            model, later, more = self._stages(text, config, [last], folder and folder / "then", device, changed, before)
            history.records += [record | {"step": before + record["step"]} for record in later.records]
            seconds += more
        curve = [(step, round(loss, 4)) for step, loss in zip(*history.column("masked_token_loss"), strict=True)]
        return Trained(model.eval(), text, curve, seconds)

    def _stages(self, text, config, stages, folder, device, warm_start=None, skip=0) -> TrainedStages:
        return train_stages(
            config, stages, lambda stage, skip: self.stream(text, skip=skip),
            lambda stage: self.settings(stage.steps, device), folder, device, warm_start=warm_start, skip=skip,
        )  # fmt: skip

    def settings(self, steps: int, device: str | None = None) -> PretrainSettings:
        """Warm-up over the first tenth, then linear decay; on a card bfloat16 and compiled blocks."""
        return PretrainSettings(
            steps, self.learning_rate, warmup_steps=steps // 10, optimizer=self.optimizer, weight_decay=self.weight_decay,
            checkpoint_every=500, log_every=max(1, steps // 10), seed=self.seed, **suited_to(pick_device(device)),
        )  # fmt: skip


DEFAULTS = {field.name: field.default for field in dataclasses.fields(Run)}


def sweep(
    runs: Sequence[Run], measure: Measure, folder: Path, device: str | None = None, processes: int | None = None
) -> list[dict]:
    """Do what is not done yet, on as many processes as there are cores, and return every result in the order of ``runs``.

    ``ALBERT_EDU_PROCESSES`` says how many, on a machine that others use, too; a card takes one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cores = int(os.environ.get("ALBERT_EDU_PROCESSES", 0)) or os.cpu_count() or 1
    waiting = [run for run in runs if not result_file(folder, run, measure).exists()]
    for run in {(run.corpus, run.vocabulary): run for run in waiting}.values():
        run.text()  # once, not by every process
    processes = processes or (cores if pick_device(device).type == "cpu" else 1)
    with progress_bar(len(runs), "runs", initial=len(runs) - len(waiting)) as bar:
        run_all([(do_run, (run, measure, folder, device)) for run in waiting], processes, lambda _: bar.update())
    return [json.loads(result_file(folder, run, measure).read_text()) | {"row": run.row} for run in runs]


def do_run(run: Run, measure: Measure, folder: Path, device: str | None) -> None:
    """Train and measure one run, unless its result exists; checkpoints in ``folder`` let it go on where it was stopped."""
    result = result_file(folder, run, measure)
    if result.exists():
        return
    torch.set_num_threads(1)
    # A core's own time where we can have it: other programs on the machine do not count.
    clock = time.process_time if pick_device(device).type == "cpu" else time.perf_counter
    start, checkpoints = clock(), result.with_suffix(f".{pick_device(device).type}")  # a card's run is not a core's
    resumed, code = checkpoints.exists(), commit()  # of the code that was imported, whatever comes later
    try:
        model, text, curve, seconds = run.train(checkpoints, device)
    except NonFiniteLoss as error:
        raise NonFiniteLoss(f"{run.row}, seed {run.seed} ({checkpoints}): {error}") from error
    trained, start = seconds if resumed else clock() - start, clock()
    measured = measure(model, text, run) | {"training_curve": curve, "training_seconds": round(trained, 1)}
    origin = {"seconds": round(trained + clock() - start, 1), "device": device_name(pick_device(device)), "commit": code,
              "date": today(), "ended": now(), "torch": torch.__version__, "corpus_hash": corpus_hash(text)}  # fmt: skip
    write_json(result, {**dataclasses.asdict(run), **measured, **origin})
    shutil.rmtree(checkpoints)


def result_file(folder: Path, run: Run, measure: Measure) -> Path:
    """Where the result of a run lies in the folder of a sweep."""
    return folder / f"{run.key(measure)}.json"


def recorded_run(result: dict) -> Run:
    """The run that a recorded result is of."""
    settings = {field.name: result.get(field.name, field.default) for field in dataclasses.fields(Run)}
    tuples = {name: tuple(tuple(pair) if isinstance(pair, list) else pair for pair in value)
              for name, value in settings.items() if isinstance(value, list)}  # fmt: skip
    return Run(**settings | tuples)
