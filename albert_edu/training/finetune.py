"""Fine-tune a model with a task head, and score it (notebook 11; ``paper/recipes.py``)."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from albert_edu.config import check_choices, check_numbers
from albert_edu.model.albert import evaluation_mode
from albert_edu.model.interchange import TaskModel
from albert_edu.model.layers import SelfAttention
from albert_edu.model.task_heads import AlbertForSpan
from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import SpanData
from albert_edu.text.tasks import TaskData
from albert_edu.training import checkpoint
from albert_edu.training.checkpoint import newest_checkpoint, read_state
from albert_edu.training.metrics import label_scores, squad_score
from albert_edu.training.progress import progress_bar
from albert_edu.training.settings import PretrainSettings, learning_rate, make_optimizer


@dataclass(frozen=True)
class FinetuneSettings:
    """How to fine-tune, with AdamW. Raises ValueError by field."""

    steps: int
    learning_rate: float = 5e-4  # for a model of the course; the paper's are 1e-5 to 5e-5
    batch_size: int = 32
    warmup_steps: int = 0  # linear, then linear decay to 0
    dropout: float = 0.0  # inside ALBERT; the head has its own
    seed: int = 0
    frozen: bool = False  # train the head alone
    keep_best: bool = False  # end with the weights that scored best on the dev examples
    evaluate_every: int = 50  # steps between two scores on the dev examples, and two checkpoints

    def __post_init__(self):
        check_numbers(self, 1, 1_000_000, "steps", "batch_size", "evaluate_every")
        check_numbers(self, 0.0, 0.99, "dropout")
        check_choices(self, frozen=(False, True), keep_best=(False, True))
        self.schedule()  # checks the rest

    def schedule(self) -> PretrainSettings:
        """Return what the optimizer and the learning rate of pre-training need to know."""
        return PretrainSettings(self.steps, self.learning_rate, self.warmup_steps, seed=self.seed)


def finetune(
    model: TaskModel, train: TaskData, test: TaskData, settings: FinetuneSettings,
    checkpoint_dir: str | Path | None = None, dev: TaskData | None = None,
    describe: str | None = None,
) -> dict[str, float]:  # fmt: skip
    """Train the model in place, on the device it is on, and return its scores on ``test``.

    Step t sees rows and dropout that depend on (seed, t) only, so that the same call goes on from
    the newest checkpoint in ``checkpoint_dir`` bit for bit. ``frozen`` leaves every tensor of
    ``model.albert`` as it is. ``keep_best`` needs ``dev`` examples and a folder. ``describe`` is
    the title of a progress bar with the loss and the dev score. Raises RuntimeError when the loss
    is no longer finite, CheckpointError for a checkpoint of another run.
    """
    if settings.keep_best and (dev is None or checkpoint_dir is None):
        raise ValueError("keep_best needs dev examples to score and a checkpoint_dir.")
    schedule, device = settings.schedule(), next(model.parameters()).device
    part = model.head if settings.frozen else model
    optimizer = make_optimizer(part, schedule)
    folder = Path(checkpoint_dir) if checkpoint_dir else None
    start = checkpoint.fingerprint(model.state_dict())
    examples = checkpoint.fingerprint(vars(train))
    run = dataclasses.asdict(settings) | {"start": start, "examples": examples}
    cuda = [device] if device.type == "cuda" else []
    model.albert.requires_grad_(not settings.frozen)
    model.train()
    model.albert.train(not settings.frozen)
    try:
        with (
            checkpoint.only_process(folder) if folder else nullcontext(),
            dropout_at(model.albert, settings.dropout),
            torch.random.fork_rng(devices=cuda),
        ):
            start = checkpoint.resume(folder, model, optimizer, {"run": run}).get("step", 0)
            bar = progress_bar(settings.steps, describe, start, leave=False)
            for step in range(start, settings.steps):
                torch.manual_seed(settings.seed * 1_000_003 + step)
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(step, schedule)
                rows = batch_rows(len(train), settings.batch_size, settings.seed, step)
                loss = model.loss(train.rows(rows).to(device))
                if not loss.isfinite():
                    raise RuntimeError(
                        f"the loss at step {step} is not finite; lower the learning rate or warm "
                        f"up for longer."
                    )
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(part.parameters(), schedule.clip_norm)
                optimizer.step()
                bar.update()
                if schedule.due(step + 1, settings.evaluate_every):
                    score = dev_score(model, dev) if dev else None
                    shown = "" if score is None else f", dev score {score:.3f}"
                    bar.set_postfix_str(f"loss {loss.item():.2f}{shown}", refresh=False)
                    if folder:
                        _save(folder, step + 1, model, optimizer, run, score, settings.keep_best)
            bar.close()
            if settings.keep_best:
                checkpoint.load_checkpoint(newest_checkpoint(folder / "best"), model, optimizer)
    finally:
        model.albert.requires_grad_(True)
        model.eval()
    return task_scores(model, test)


def batch_rows(count: int, batch_size: int, seed: int, step: int) -> Int[Tensor, "B"]:
    """Return the rows of that step: every example once per epoch, in an order of (seed, epoch)."""
    epoch, place = np.divmod(np.arange(step * batch_size, (step + 1) * batch_size), count)
    orders = {e: np.random.default_rng([seed, e]).permutation(count) for e in np.unique(epoch)}
    return torch.tensor([orders[e][p] for e, p in zip(epoch, place, strict=True)])


def set_dropout(albert: nn.Module, rate: float) -> None:
    """Give every dropout of an ALBERT the same rate, that of the attention weights too."""
    for module, name in _dropouts(albert):
        setattr(module, name, rate)


@contextmanager
def dropout_at(albert: nn.Module, rate: float) -> Iterator[None]:
    """Give every dropout of an ALBERT the same rate during a block."""
    before = [getattr(*place) for place in _dropouts(albert)]
    set_dropout(albert, rate)
    try:
        yield
    finally:
        for (module, name), old in zip(_dropouts(albert), before, strict=True):
            setattr(module, name, old)


def predict(model: TaskModel, data: TaskData, batch_size: int = 128) -> Tensor:
    """Return predictions for all rows, in the form of the labels, with dropout off."""
    device = next(model.parameters()).device
    batches = (data.rows(slice(at, at + batch_size)) for at in range(0, len(data), batch_size))
    with evaluation_mode(model):
        return torch.cat([model.predict(batch.to(device)).cpu() for batch in batches])


def task_scores(model: TaskModel, data: TaskData) -> dict[str, float]:
    """Return the scores of ``label_scores`` for the model's predictions."""
    return label_scores(predict(model, data), data.labels)


def dev_score(model: TaskModel, dev: TaskData) -> float:
    """Return the first of the task's scores, by which the best weights are chosen."""
    return next(iter(task_scores(model, dev).values()))


def squad_answers(model: AlbertForSpan, spans: SpanData) -> list[str]:
    """Return the text of each predicted answer, empty where the model finds none."""
    answers = []
    for example, characters, (first, last) in zip(
        spans.examples, spans.characters, predict(model, spans.data), strict=True
    ):
        if first == IGNORE:
            answers.append("")
        else:
            answers.append(example.context[characters[first, 0] : characters[last, 1]])
    return answers


def squad_scores(model: AlbertForSpan, spans: SpanData) -> dict[str, float]:
    """Return SQuAD's ``exact_match`` and ``f1`` over all questions; a skipped question counts 0."""
    pairs = zip(squad_answers(model, spans), spans.examples, strict=True)
    points = np.array([squad_score(answer, example.answers) for answer, example in pairs])
    exact, overlap = points.reshape(-1, 2).sum(0) / (len(spans.examples) + spans.skipped)
    return {"exact_match": float(exact), "f1": float(overlap)}


def _dropouts(albert: nn.Module) -> list[tuple[nn.Module, str]]:
    names = {nn.Dropout: "p", SelfAttention: "attention_dropout"}
    return [(module, names[type(module)]) for module in albert.modules() if type(module) in names]


def _save(folder: Path, step: int, model, optimizer, run: dict, score, keep_best: bool) -> None:
    state = {"run": run, "dev_score": score}
    checkpoint.save_checkpoint(folder, step, model, None, optimizer, state)
    if keep_best:
        best = newest_checkpoint(folder / "best")
        if best is None or score > read_state(best)["dev_score"]:
            checkpoint.save_checkpoint(folder / "best", step, model, None, optimizer, state)
