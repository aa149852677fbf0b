"""Many small training runs, each done once: a run's settings name its result, so a sweep goes on where it was left.

Any number of processes, also on several machines with a common folder, may work on the same sweep: a lock keeps two from
taking the same run, and falls open when its holder dies.
"""

import dataclasses
import hashlib
import json
import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import torch
from filelock import FileLock, Timeout
from tqdm import tqdm

from albert_edu.analysis.counting import flops_per_token
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.paper.pair import end_with_parent
from albert_edu.paper.provenance import commit, corpus_hash, device_name, now, today, write_json
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.masking import MASK_RATE
from albert_edu.text.prepare import PreparedText, default_vocabulary, prepare
from albert_edu.training.pretrain import NonFiniteLoss, pick_device
from albert_edu.training.progress import progress_bar
from albert_edu.training.settings import PretrainSettings, suited_to
from albert_edu.training.stages import Stage, TrainedStages, train_stages

MADE = {"commit": commit(), "date": today(), "torch": torch.__version__}  # of the code that was imported, whatever comes later

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
        return prepare(self.corpus, tokenizer=prepare(self.vocabulary).tokenizer if self.vocabulary else None)

    def model_config(self, vocab_size: int) -> AlbertConfig:
        """Its model at full depth."""
        sizes = {"vocab_size": vocab_size, "max_positions": self.sequence_length}
        return AlbertConfig.named(self.preset, **(sizes | dict(self.config)))

    def stages(self, config: AlbertConfig) -> tuple[tuple[int, int], ...]:
        """Depth and steps, the shallower depths first."""
        return *self.grown, (config.num_layers, self.steps)

    def operations(self) -> float:
        """What its training costs, shallower depths included (``flops_per_token``)."""
        config = self.model_config(default_vocabulary(self.vocabulary or self.corpus))
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
    """Do what is not done yet, on as many processes as there are cores, and return every result in the order of ``runs``."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = int(os.environ.get("ALBERT_EDU_PROCESSES", 0))  # on a machine that others use, too
    processes = processes or asked or (os.cpu_count() or 1 if pick_device(device).type == "cpu" else 1)
    for run in {(run.corpus, run.vocabulary): run for run in runs}.values():
        run.text()  # once, not by every process
    with progress_bar(len(runs), "runs") as bar:
        while waiting := [run for run in runs if not _result(folder, run, measure).exists()]:
            bar.update(len(runs) - len(waiting) - bar.n)
            if free := [run for run in waiting if not _taken(_result(folder, run, measure))]:
                _do_all(free, measure, folder, device, min(processes, len(free)), bar)
            else:
                time.sleep(5)  # the rest is in the hands of somebody else
        bar.update(len(runs) - bar.n)
    return [json.loads(_result(folder, run, measure).read_text()) | {"row": run.row} for run in runs]


def _taken(result: Path) -> bool:
    """Whether another process works on it: asked here, since a pool of processes that find nothing to do costs seconds."""
    try:
        with FileLock(result.with_suffix(".lock"), timeout=0):
            return False
    except Timeout:
        return True


def _do_all(runs: list[Run], measure: Measure, folder: Path, device: str | None, processes: int, bar: tqdm) -> None:
    """Do those of the runs that nobody takes in the meantime."""
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare_process) as pool:
        try:
            for future in as_completed([pool.submit(_do, run, measure, folder, device) for run in runs]):
                bar.update(future.result())
        except BaseException:  # one failed, or it was interrupted: checkpoints are whole at any time, so nothing need finish
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise


def _do(run: Run, measure: Measure, folder: Path, device: str | None) -> bool:
    """Train and measure one run unless it is done or another process has it; say whether we did."""
    result = _result(folder, run, measure)
    try:
        with FileLock(result.with_suffix(".lock"), timeout=0):
            if result.exists():
                return False
            # A core's own time where we can have it: other programs on the machine do not count.
            clock = time.process_time if pick_device(device).type == "cpu" else time.perf_counter
            began, work = clock(), result.with_suffix(f".{pick_device(device).type}")  # a card's run is not a core's
            resumed = work.exists()
            model, text, curve, seconds = run.train(work, device)
            trained, began = seconds if resumed else clock() - began, clock()
            measured = measure(model, text, run) | {"training_curve": curve, "training_seconds": round(trained, 1)}
            made = {"seconds": round(trained + clock() - began, 1), "device": device_name(pick_device(device)), **MADE,
                    "ended": now(), "corpus_hash": corpus_hash(text)}  # fmt: skip
            write_json(result, {**dataclasses.asdict(run), **measured, **made})
            shutil.rmtree(work)
            return True
    except Timeout:
        return False
    except NonFiniteLoss as error:
        raise NonFiniteLoss(f"{run.row}, seed {run.seed} ({work}): {error}") from error


def _result(folder: Path, run: Run, measure: Measure) -> Path:
    return folder / f"{run.key(measure)}.json"


def _prepare_process() -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
