"""One training run and everything it depends on: stages, text, optimizer, what is watched.

A ``Run`` is a row of the plan with a seed; ``train`` makes a model of it. How one model is trained
is explained in notebook 07.
"""

import dataclasses
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.masking import MASK_RATE, MAX_NGRAM
from albert_edu.text.prepare import PreparedText, prepare
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings, device_settings
from albert_edu.training.workers import pick_device
from albert_paper.lamb_variants import build_optimizer
from albert_paper.provenance import name_of
from albert_paper.stacking import start_from
from albert_paper.stages import Stage, leave_stage, take_up_stage

Measure = Callable[[AlbertForPretraining, PreparedText, "Run"], dict]


class Trained(NamedTuple):
    """A trained model, the text of its run, and the records of all its stages and sittings."""

    model: AlbertForPretraining
    text: PreparedText
    records: list[dict]  # their steps are those of the whole run

    @property
    def curve(self) -> list[tuple[int, float]]:
        """The mean training MLM loss of each tenth of each stage, with its last step."""
        losses = [record for record in self.records if "masked_token_loss" in record]
        return [(record["step"], record["masked_token_loss"]) for record in losses]

    @property
    def watched(self) -> list[dict]:
        """What was watched while it trained, with the steps."""
        found = [record for record in self.records if "watched" in record]
        return [{"step": record["step"]} | record["watched"] for record in found]

    def total(self, clock: str) -> float:
        """Return the seconds of a clock, "seconds" on the wall or "cpu_seconds" of the process."""
        return sum(record.get(clock, 0.0) for record in self.records)


@dataclasses.dataclass(frozen=True)
class Run:
    """One training and everything it depends on; ``config`` replaces fields of the preset.

    ``grown`` lists stages that come before: a depth and its steps, and perhaps a learning rate, a
    sequence length, a mask rate and a longest n-gram of their own. A shallower one is stacked
    (footnote 5). ``then`` is a last stage on the trained model: its steps, and the dropout or the
    corpus it has. ``watch`` names a function of measures.py that is called every ``watch_every``
    steps; it may not look at later stages, because runs that branch have it in common.
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
    mask_rate: float = MASK_RATE
    max_ngram: int = MAX_NGRAM
    weight_decay: float = 0.01  # not on biases and norms
    vocabulary: str = ""  # the corpus whose tokenizer is used; the run's own when empty
    vocab_size: int = 0  # the default of its corpus when 0
    seed: int = 0
    then: tuple[tuple[str, object], ...] = ()
    watch: str = ""
    watch_every: int = 0

    def key(self, measure: Measure) -> str:
        """Return the name of the result, the same on every machine for the same settings."""
        return name_of([measure.__name__, dataclasses.asdict(self) | {"row": ""}])

    def stage_key(self, number: int) -> str:
        """Return the name of its first stages, which a run that goes on otherwise may share."""
        settings = dataclasses.asdict(self)
        for name in ("row", "steps", "learning_rate", "grown", "then"):  # the stages say these
            del settings[name]
        settings["config"] = [pair for pair in self.config if pair[0] != "num_layers"]
        return name_of([settings, self.stages()[:number]])

    def stream(self, text: PreparedText, held_out: bool = False, **changes) -> PretrainingStream:
        """Return its batches, or those of the documents held out.

        ``changes`` are arguments of PretrainingStream. Unless they say otherwise the masks are the
        paper's, so that runs which trained with others are compared on the same gaps.
        """
        names = ("objective", "batch_size", "sequence_length", "negatives")
        arguments = {name: getattr(self, name) for name in names} | changes
        part = text.held_out if held_out else text.train
        seed = self.seed + EVAL_SEED_OFFSET if held_out else self.seed
        return PretrainingStream(part, text.tokenizer, seed=seed, **arguments)

    def text(self, corpus: str = "") -> PreparedText:
        """Return its corpus, tokenized, or that of a stage with the same tokenizer."""
        size = self.vocab_size or None
        vocabulary = self.vocabulary or (self.corpus if corpus else "")
        tokenizer = prepare(vocabulary, size).tokenizer if vocabulary else None
        return prepare(corpus or self.corpus, size, tokenizer=tokenizer)

    def model_config(self, vocab_size: int) -> AlbertConfig:
        """Return the configuration of its model at full depth."""
        sizes = {"vocab_size": vocab_size, "max_positions": self.sequence_length}
        return AlbertConfig.named(self.preset, **(sizes | dict(self.config)))

    def stages(self) -> list[Stage]:
        """Return its stages: the shallower depths first, and last the one with its own dropout."""
        depth = self.model_config(1000).num_layers  # of any vocabulary
        stages = [self.stage(*stage) for stage in (*self.grown, (depth, self.steps))]
        if self.then:
            last: dict[str, Any] = dict(self.then)
            stage = self.stage(depth, last["steps"])
            own = {"dropout": last.get("dropout"), "corpus": last.get("corpus", "")}
            stages.append(stage._replace(**own))
        return stages

    def stage(
        self,
        depth: int,
        steps: int,
        rate: float | None = None,
        length: int | None = None,
        mask_rate: float | None = None,
        max_ngram: int | None = None,
    ) -> Stage:
        """Return a stage; what is left out is that of the run."""
        return Stage(
            depth,
            steps,
            self.learning_rate if rate is None else rate,
            self.sequence_length if length is None else length,
            self.mask_rate if mask_rate is None else mask_rate,
            self.max_ngram if max_ngram is None else max_ngram,
        )

    def train(
        self,
        folder: Path | None = None,
        device: torch.device | None = None,
        describe: str = "",
        finished: Path | None = None,
    ) -> Trained:
        """Train it, or go on with it; checkpoints lie in ``folder``.

        Each stage starts from the one before it. Step t of the whole run reads batch t, and as many
        tokens at whatever length. Stages that other runs left in ``finished`` are taken up.
        """
        text = self.text()
        model: AlbertForPretraining | None = None
        records: list[dict] = []
        done = 0
        build = partial(build_optimizer, self.optimizer)
        torch.manual_seed(self.seed)
        for number, stage in enumerate(self.stages(), 1):
            config = self.model_config(len(text.tokenizer)).replace(num_layers=stage.num_layers)
            dropout = stage.dropout
            if dropout is not None:
                config = config.replace(hidden_dropout=dropout, attention_dropout=dropout)
            model = start_from(model, config) if model else AlbertForPretraining(config)
            rows = self.batch_size * self.sequence_length // stage.sequence_length
            read = self.text(stage.corpus) if stage.corpus else text
            stream = self.stream(
                read,
                batch_size=rows,
                sequence_length=stage.sequence_length,
                skip=done,
                mask_rate=stage.mask_rate,
                max_ngram=stage.max_ngram,
            )
            settings = self.settings(stage, device)
            checkpoints = folder / f"stage-{number}" if folder else None
            others = finished / self.stage_key(number) if finished else None
            if others and checkpoints:
                take_up_stage(others, checkpoints)
            told = f"{describe}, {stage.num_layers} layers" if describe else None
            history = pretrain(
                model,
                stream,
                settings,
                checkpoints,
                device,
                describe=told,
                observe=self.observer(text),
                build_optimizer=build,
            )
            if others and checkpoints:
                leave_stage(checkpoints, others)
            records += [record | {"step": done + record["step"]} for record in history.records]
            done += stage.steps
        assert model is not None, "a run has a stage"
        return Trained(model.eval(), text, records)

    def observer(self, text: PreparedText) -> Callable[[AlbertForPretraining], dict]:
        """Return what ``pretrain`` calls now and then while this run trains.

        It counts the CPU seconds of this process since it was called last, without its own.
        """
        from albert_paper import measures  # which need a Run

        began = time.process_time()

        def observe(model: AlbertForPretraining) -> dict:
            """Return the CPU seconds, and what is watched."""
            nonlocal began
            found = {"cpu_seconds": time.process_time() - began}
            if self.watch:
                found["watched"] = getattr(measures, self.watch)(model, text, self)
            began = time.process_time()
            return found

        return observe

    def settings(self, stage: Stage, device: torch.device | None = None) -> TrainSettings:
        """Return how a stage is trained: a warm-up, then linear decay."""
        tenth = max(1, stage.steps // 10)
        every = self.watch_every or tenth
        warmup_steps = int(self.warmup * stage.steps)
        return TrainSettings(
            steps=stage.steps,
            learning_rate=stage.learning_rate,
            warmup_steps=warmup_steps,
            optimizer="adamw" if self.optimizer == "adamw" else "lamb",
            weight_decay=self.weight_decay,
            # When CPU seconds are counted, so that a run which goes on from there counts all.
            checkpoint_every=every * max(1, 500 // every),
            log_every=tenth,
            evaluate_every=every,
            seed=self.seed,
            **device_settings(pick_device(device)),
        )
