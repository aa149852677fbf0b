"""Fine-tune a model with a task head, and score it. Used in notebook 11; the paper's settings are in ``paper/recipes.py``."""

import re
import string
from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from albert_edu.model.layers import SelfAttention
from albert_edu.model.task_heads import AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text.masking import IGNORE
from albert_edu.text.task_files import SpanData
from albert_edu.text.tasks import TaskData
from albert_edu.training.settings import PretrainSettings, learning_rate, make_optimizer

TaskModel = AlbertForClassification | AlbertForChoice | AlbertForSpan


@dataclass(frozen=True)
class FinetuneSettings:
    """AdamW with a linear warm-up and a linear decay. ``dropout`` is ALBERT's; the head's is told to the head."""

    steps: int
    learning_rate: float = 5e-4  # for a model of the course; the paper's are 1e-5 to 5e-5
    batch_size: int = 32
    warmup_steps: int = 0
    dropout: float = 0.0
    seed: int = 0
    frozen: bool = False  # train the head alone

    def __post_init__(self):
        if self.batch_size < 1 or not 0 <= self.dropout < 1:
            raise ValueError(f"batch_size must be at least 1 and dropout in [0, 1), got {self.batch_size} and {self.dropout}.")
        self.schedule()  # checks the rest

    def schedule(self) -> PretrainSettings:
        """What the optimizer and the learning rate of pre-training need to know."""
        return PretrainSettings(self.steps, self.learning_rate, self.warmup_steps, seed=self.seed)


def finetune(model: TaskModel, train: TaskData, test: TaskData, settings: FinetuneSettings) -> dict[str, float]:
    """Train the model in place, on the device it is on, and return its scores on ``test``.

    Step t sees rows and dropout that depend on (seed, t) only. ``frozen`` leaves every tensor of ``model.albert`` as it is.
    Raises RuntimeError when the loss is no longer finite.
    """
    schedule = settings.schedule()
    set_dropout(model.albert, settings.dropout)
    part = model.head if settings.frozen else model
    optimizer, device = make_optimizer(part, schedule), next(model.parameters()).device
    model.albert.requires_grad_(not settings.frozen)
    model.train()
    model.albert.train(not settings.frozen)
    try:
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            for step in range(settings.steps):
                torch.manual_seed(settings.seed * 1_000_003 + step)
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(step, schedule)
                loss = model.loss(train.rows(batch_rows(len(train), settings.batch_size, settings.seed, step)).to(device))
                if not loss.isfinite():
                    raise RuntimeError(f"the loss at step {step} is not finite; lower the learning rate or warm up for longer.")
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(part.parameters(), schedule.clip_norm)
                optimizer.step()
    finally:
        model.albert.requires_grad_(True)
        model.eval()
    return task_scores(model, test)


def batch_rows(count: int, batch_size: int, seed: int, step: int) -> Int[Tensor, "B"]:
    """The rows of that step: every example once in an epoch, in an order that depends on (seed, epoch)."""
    epoch, place = np.divmod(np.arange(step * batch_size, (step + 1) * batch_size), count)
    orders = {e: np.random.default_rng([seed, e]).permutation(count) for e in np.unique(epoch).tolist()}
    return torch.tensor([orders[e][p] for e, p in zip(epoch.tolist(), place.tolist(), strict=True)])


def set_dropout(albert: nn.Module, rate: float) -> None:
    """Give every dropout of an ALBERT the same rate, those of the attention weights too."""
    for module in albert.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
        if isinstance(module, SelfAttention):
            module.attention_dropout = rate


@torch.no_grad()
def predict(model: TaskModel, data: TaskData, batch_size: int = 128) -> Tensor:
    """Predictions for all rows, in the form of the labels, with dropout off."""
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    parts = [model.predict(data.rows(slice(at, at + batch_size)).to(device)).cpu() for at in range(0, len(data), batch_size)]
    model.train(was_training)
    return torch.cat(parts)


def task_scores(model: TaskModel, data: TaskData) -> dict[str, float]:
    """``accuracy`` (of spans: both ends right) and ``correlation`` of predictions and labels, where these are numbers.

    For two classes the correlation is Matthews', CoLA's score; for a regression it is Pearson's, STS's. It is 0 if all
    predictions are equal.
    """
    predictions = predict(model, data)
    scores = {}
    if not data.labels.is_floating_point():
        scores["accuracy"] = (predictions == data.labels).view(len(data), -1).all(1).double().mean().item()
    if data.labels.ndim == 1 and (data.labels.is_floating_point() or int(data.labels.max()) <= 1):
        varied = predictions.unique().numel() > 1 and data.labels.unique().numel() > 1
        scores["correlation"] = float(np.corrcoef(predictions.numpy(), data.labels.numpy())[0, 1]) if varied else 0.0
    return scores


def squad_scores(model: AlbertForSpan, spans: SpanData) -> dict[str, float]:
    """SQuAD's ``exact_match`` and ``f1`` between texts, each the best over the given answers; a skipped question counts 0."""
    exact, overlap = 0.0, 0.0
    for example, characters, (first, last) in zip(spans.examples, spans.characters, predict(model, spans.data), strict=True):
        found = "" if first == IGNORE else example.context[characters[first, 0] : characters[last, 1]]
        wanted = example.answers or ("",)
        exact += max(float(answer_words(found) == answer_words(answer)) for answer in wanted)
        overlap += max(word_f1(found, answer) for answer in wanted)
    count = len(spans.examples) + spans.skipped
    return {"exact_match": exact / count, "f1": overlap / count}


def answer_words(text: str) -> list[str]:
    """What SQuAD compares: lower case, no punctuation, no articles.

    >>> answer_words("The Senate's chamber, (1859)")
    ['senates', 'chamber', '1859']
    """
    plain = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def word_f1(found: str, wanted: str) -> float:
    """Harmonic mean of the shares of common words in both; without words on one side, whether both are empty.

    >>> round(word_f1("the old chamber", "old Senate chamber"), 2)
    0.8
    """
    a, b = answer_words(found), answer_words(wanted)
    if not a or not b:
        return float(a == b)
    common = sum((Counter(a) & Counter(b)).values())
    return 2 * common / (len(a) + len(b))
