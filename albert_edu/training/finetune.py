"""Fine-tune a model with a task head, and score it (notebook 11)."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
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
from albert_edu.text.task_files import SpanData
from albert_edu.text.tasks import TaskData
from albert_edu.training import checkpoint
from albert_edu.training.checkpoint import newest_checkpoint, read_state
from albert_edu.training.metrics import label_scores, majority_scores, squad_scores
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
    keep_best: str = ""  # a score, such as accuracy: end with the best weights on the dev examples
    evaluate_every: int = 50  # steps between two scores on the dev examples, and two checkpoints

    def __post_init__(self):
        check_numbers(self, 1, 1_000_000, "steps", "batch_size", "evaluate_every")
        check_numbers(self, 0.0, 0.99, "dropout")
        check_choices(self, frozen=(False, True))
        self.schedule()  # checks the rest

    def schedule(self) -> PretrainSettings:
        """Return what the optimizer and the learning rate of pre-training need to know."""
        return PretrainSettings(self.steps, self.learning_rate, self.warmup_steps, seed=self.seed)


def finetune(
    model: TaskModel,
    train: TaskData,
    test: TaskData | SpanData | None,
    settings: FinetuneSettings,
    checkpoint_dir: str | Path | None = None,
    dev: TaskData | SpanData | None = None,
    describe: str | None = None,
) -> dict[str, float]:
    """Train the model in place, on the device it is on, and return its scores on ``test``, if any.

    Step t sees rows and dropout that depend on (seed, t) only, so that the same call goes on from
    the newest checkpoint in ``checkpoint_dir`` bit for bit. ``frozen`` leaves every tensor of
    ``model.albert`` as it is. ``keep_best`` needs ``dev`` examples and a folder. ``describe`` is
    the title of a progress bar with the loss and the score of ``dev``. Raises RuntimeError when
    the loss is no longer finite, CheckpointError for a checkpoint of another run.
    """
    scores = [*baseline(train, dev)] if dev else []
    if settings.keep_best and (settings.keep_best not in scores or checkpoint_dir is None):
        raise ValueError(f"keep_best needs dev examples, --out and a score: {' or '.join(scores)}.")
    schedule, device = settings.schedule(), next(model.parameters()).device
    part = model.head if settings.frozen else model
    optimizer = make_optimizer(part, schedule)
    folder = Path(checkpoint_dir) if checkpoint_dir else None
    run = dataclasses.asdict(settings) | {"start": checkpoint.fingerprint(model.state_dict())}
    run["examples"] = checkpoint.fingerprint(vars(train))
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
                        f"the loss at step {step} is not finite; lower the learning rate."
                    )
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(part.parameters(), schedule.clip_norm)
                optimizer.step()
                if schedule.due(step + 1, settings.evaluate_every):
                    scores = task_scores(model, dev) if dev else {"": None}
                    score = scores[name := settings.keep_best or next(iter(scores))]
                    shown = f", held-out {name} {score:.3f}" if dev else ""
                    bar.set_postfix_str(f"loss {loss.item():.2f}{shown}", refresh=False)
                    if folder:
                        _save(folder, step + 1, model, optimizer, run, score, settings.keep_best)
                bar.update()
            bar.close()
            if settings.keep_best:
                checkpoint.load_checkpoint(newest_checkpoint(folder / "best"), model, optimizer)
    finally:
        model.albert.requires_grad_(True)
        model.eval()
    return task_scores(model, test) if test else {}


def batch_rows(count: int, batch_size: int, seed: int, step: int) -> Int[Tensor, "B"]:
    """Return the rows of that step: every example once per epoch, in an order of (seed, epoch)."""
    epoch, place = np.divmod(np.arange(step * batch_size, (step + 1) * batch_size), count)
    orders = {e: np.random.default_rng([seed, e]).permutation(count) for e in np.unique(epoch)}
    return torch.tensor([orders[e][p] for e, p in zip(epoch, place, strict=True)])


@contextmanager
def dropout_at(albert: nn.Module, rate: float) -> Iterator[None]:
    """Give every dropout of an ALBERT the same rate during a block, the attention weights' too."""
    names = {nn.Dropout: "p", SelfAttention: "attention_dropout"}
    places = [(module, names[type(module)]) for module in albert.modules() if type(module) in names]
    before = [getattr(*place) for place in places]
    try:
        for place in places:
            setattr(*place, rate)
        yield
    finally:
        for place, old in zip(places, before, strict=True):
            setattr(*place, old)


def predict(model: TaskModel, data: TaskData, batch_size: int = 128) -> Tensor:
    """Return the model's predictions for all rows, with dropout off."""
    device = next(model.parameters()).device
    batches = (data.rows(slice(at, at + batch_size)) for at in range(0, len(data), batch_size))
    with evaluation_mode(model):
        return torch.cat([model.predict(batch.to(device)).cpu() for batch in batches])


def answers_to(model: TaskModel, data: TaskData | SpanData) -> Tensor | list[str]:
    """Return the predictions for a task, for SQuAD the text of each question's likeliest span.

    The span is the best over all windows (notebook 11). It is empty where every window scores "no
    answer" higher, which does not count for a model whose training questions all had answers.
    """
    if isinstance(data, TaskData):
        return predict(model, data)
    best = [(-math.inf, "")] * len(data.examples)
    before = data.data.segment_ids.argmax(1).tolist()  # tokens in front of the context
    for row, (first, last, score, none) in enumerate(predict(model, data.data).tolist()):
        question, places = int(data.question_of[row]), data.characters[row]
        if none <= 0 or not data.unanswerable:
            start, end = places[int(first) - before[row], 0], places[int(last) - before[row], 1]
            text = data.examples[question].context[start:end]
            best[question] = max(best[question], (score, text))
    return [text for _, text in best]


def scores_of(answers: Tensor | Sequence[str], data: TaskData | SpanData) -> dict[str, float]:
    """Return the scores of answers by name: ``label_scores``, or those of SQuAD's script."""
    if isinstance(data, TaskData):
        return label_scores(answers, data.labels)
    return squad_scores(answers, [example.answers for example in data.examples])


def task_scores(model: TaskModel, data: TaskData | SpanData) -> dict[str, float]:
    """Return the scores of the model's answers."""
    return scores_of(answers_to(model, data), data)


def baseline(train: TaskData, data: TaskData | SpanData) -> dict[str, float]:
    """Return the scores of the commonest answer in ``train``, or for SQuAD of the empty one."""
    if isinstance(data, TaskData):
        return majority_scores(train.labels, data.labels)
    return scores_of([""] * len(data.examples), data)


def _save(folder: Path, step: int, model, optimizer, run: dict, score, keep_best: str) -> None:
    state = {"run": run, "dev_score": score}
    checkpoint.save_checkpoint(folder, step, model, None, optimizer, state)
    if keep_best:
        best = newest_checkpoint(folder / "best")
        if best is None or score > read_state(best)["dev_score"]:
            checkpoint.save_checkpoint(folder / "best", step, model, None, optimizer, state)
