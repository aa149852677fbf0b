"""Many small training runs, each done once, since a run's settings name its result.

A result that exists is not made again, and an interrupted run goes on from its checkpoints.
"""

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.errors import RunError
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.progress import progress_bar
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import PreparedText, prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, device_settings
from albert_edu.training.workers import pick_device
from albert_paper.pool import run_all
from albert_paper.provenance import here_and_now, write_json
from albert_paper.published import frozen
from albert_paper.stacking import start_from

Measure = Callable[[AlbertForPretraining, PreparedText, "Run"], dict]


class Stage(NamedTuple):
    """A part of a run: a depth, its steps, peak learning rate, tokens of a sequence, dropout."""

    num_layers: int
    steps: int
    learning_rate: float
    sequence_length: int
    dropout: float | None = None  # None means that of the run


@dataclasses.dataclass(frozen=True)
class Run:
    """One training and everything it depends on; ``config`` replaces fields of the preset.

    ``grown`` lists stages that come before: a depth and its steps, and perhaps a learning rate and
    a sequence length of their own. A shallower one is stacked (footnote 5). ``then`` is a
    last stage on the trained model: its steps, and the dropout it has.
    """

    row: str  # of the table it belongs to; says nothing about the training
    steps: int
    corpus: str = "stories"
    preset: str = "albert-tiny"
    config: tuple[tuple[str, object], ...] = ()
    grown: tuple[tuple, ...] = ()
    objective: str = "sop"
    negatives: str = "document"
    batch_size: int = 32
    sequence_length: int = 64
    optimizer: str = "adamw"
    learning_rate: float = 2e-3
    warmup: float = 0.1  # share of a stage's steps
    vocabulary: str = ""  # the corpus whose tokenizer is used; the run's own when empty
    vocab_size: int = 0  # the default of its corpus when 0
    seed: int = 0
    then: tuple[tuple[str, object], ...] = ()

    def key(self, measure: Measure) -> str:
        """Return the name of the result, the same on every machine for the same settings."""
        settings = dataclasses.asdict(self) | {"row": ""}
        identity = json.dumps([measure.__name__, settings], sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def stream(self, text: PreparedText, held_out: bool = False, **changes) -> PretrainingStream:
        """Return its batches, or those of the documents held out.

        ``changes`` ask for another objective, size or kind of negatives.
        """
        names = ("objective", "batch_size", "sequence_length", "negatives")
        arguments = {name: getattr(self, name) for name in names} | changes
        part, offset = (text.held_out, EVAL_SEED_OFFSET) if held_out else (text.train, 0)
        return PretrainingStream(part, text.tokenizer, seed=self.seed + offset, **arguments)

    def text(self) -> PreparedText:
        """Return its corpus, tokenized."""
        size = self.vocab_size or None
        tokenizer = prepare(self.vocabulary, size).tokenizer if self.vocabulary else None
        return prepare(self.corpus, size, tokenizer=tokenizer)

    def model_config(self, vocab_size: int) -> AlbertConfig:
        """Return the configuration of its model at full depth."""
        sizes = {"vocab_size": vocab_size, "max_positions": self.sequence_length}
        return AlbertConfig.named(self.preset, **(sizes | dict(self.config)))

    def stages(self) -> list[Stage]:
        """Return its stages: the shallower depths first, and last the one with its own dropout."""
        depth = AlbertConfig.named(self.preset, **dict(self.config)).num_layers
        usual = (self.learning_rate, self.sequence_length)
        stages = []
        for layers, steps, *own in (*self.grown, (depth, self.steps)):
            rate, length = (*own, *usual[len(own) :])  # what it leaves out is that of the run
            stages.append(Stage(layers, steps, rate, length))
        if then := dict(self.then):
            stages.append(Stage(depth, then["steps"], *usual, then["dropout"]))
        return stages

    def train(
        self, folder: Path | None = None, device: torch.device | None = None, describe: str = ""
    ) -> tuple[AlbertForPretraining, PreparedText, list[tuple[int, float]], float]:
        """Train it, or go on with it; checkpoints lie in ``folder``.

        Each stage starts from the one before it. Step t of the whole run reads batch t, and as many
        tokens at whatever length. Returns the model, its text, the mean MLM loss of each tenth of
        each stage, and the seconds by the clock on the wall, over all sittings.
        """
        text = self.text()
        model, curve = None, []
        seconds, done = 0.0, 0
        torch.manual_seed(self.seed)
        for number, stage in enumerate(self.stages(), 1):
            config = self.model_config(len(text.tokenizer)).replace(num_layers=stage.num_layers)
            dropout = stage.dropout
            if dropout is not None:
                config = config.replace(hidden_dropout=dropout, attention_dropout=dropout)
            model = start_from(model, config) if model else AlbertForPretraining(config)
            rows = self.batch_size * self.sequence_length // stage.sequence_length
            shape = {"batch_size": rows, "sequence_length": stage.sequence_length}
            stream = self.stream(text, skip=done, **shape)
            settings = self.settings(stage, device)
            place = folder and folder / f"stage-{number}"
            bar = f"{describe}, {stage.num_layers} layers" if describe else None
            records = pretrain(model, stream, settings, place, device, describe=bar).records
            curve += [(done + record["step"], record["masked_token_loss"]) for record in records]
            seconds += sum(record["seconds"] for record in records)
            done += stage.steps
        return model.eval(), text, curve, seconds

    def settings(self, stage: Stage, device: torch.device | None = None) -> TrainSettings:
        """Return how a stage is trained: a warm-up, then linear decay."""
        return TrainSettings(
            stage.steps,
            stage.learning_rate,
            warmup_steps=int(self.warmup * stage.steps),
            optimizer=self.optimizer,
            checkpoint_every=500,
            log_every=max(1, stage.steps // 10),
            seed=self.seed,
            **device_settings(pick_device(device)),
        )


def sweep(
    runs: Sequence[Run], measure: Measure, folder: Path, device: torch.device | None = None
) -> list[dict]:
    """Do what is not done yet and return every result in the order of ``runs``.

    It takes as many processes as there are cores, or as ``ALBERT_EDU_PROCESSES`` says on a machine
    that others use, too; a card takes one unless told so. Raises what training raises.
    """
    cores = os.cpu_count() if pick_device(device).type == "cpu" else 1
    processes = int(os.environ.get("ALBERT_EDU_PROCESSES", 0)) or cores
    waiting = [run for run in runs if not result_file(folder, run, measure).exists()]
    for run in {(run.corpus, run.vocabulary, run.vocab_size): run for run in waiting}.values():
        run.text()  # once, not by every process
    jobs = [partial(do_run, run, measure, folder, device) for run in waiting]
    with progress_bar("runs", total=len(runs), initial=len(runs) - len(waiting)) as bar:
        run_all(jobs, processes, lambda _: bar.update())
    return results(runs, measure, folder)


def do_run(
    run: Run,
    measure: Measure,
    folder: Path,
    device: torch.device | None,
    keep: Path | None = None,
    describe: str = "",
) -> None:
    """Train and measure one run, unless its result exists, with checkpoints in ``folder``.

    It takes one thread, so that the number of cores changes no result. What is measured is rounded
    to four digits. The trained model is saved in ``keep``. RuntimeError names the run that fails,
    and why.
    """
    result, device = result_file(folder, run, measure), pick_device(device)
    if result.exists():
        return
    torch.set_num_threads(1)
    checkpoints = result.with_suffix(f".{device.type}")  # a GPU's are not a core's
    origin = here_and_now(device)  # of the code that was imported
    try:
        model, text, curve, seconds = run.train(checkpoints, device, describe)
    except Exception as error:
        failed = f"training {run.row}, seed {run.seed} ({checkpoints}) failed"
        raise RunError(f"{failed}: {type(error).__name__}: {error}") from error
    if keep:
        save_pretrained(model, text.tokenizer, keep)
    found = measure(model, text, run) | {"training_curve": curve, "training_seconds": seconds}
    kept = json.loads(json.dumps(found), parse_float=lambda digits: round(float(digits), 4))
    write_json(result, vars(run) | kept | {"corpus_hash": text.train.fingerprint} | origin)
    shutil.rmtree(checkpoints)


def result_file(folder: Path, run: Run, measure: Measure) -> Path:
    """Return where the result of a run lies in the folder of a sweep."""
    return folder / f"{run.key(measure)}.json"


def results(runs: Sequence[Run], measure: Measure, folder: Path) -> list[dict]:
    """Return the results of those runs that are done, each under its own row: some share one."""
    done = [(run.row, result_file(folder, run, measure)) for run in runs]
    return [json.loads(path.read_text()) | {"row": row} for row, path in done if path.exists()]


def recorded_run(result: dict) -> Run:
    """Return the run that a recorded result is of."""
    names = Run.__annotations__.keys() & result.keys()
    return Run(**{name: frozen(result[name]) for name in names})
