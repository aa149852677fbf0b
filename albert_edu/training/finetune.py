"""Fine-tune a model with a task head, ask it, and score it (notebook 11)."""

import math
import os

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.config import check_choices, check_numbers
from albert_edu.errors import RunError
from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan, TaskModel
from albert_edu.progress import progress_bar
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import SpanData, SpanExample, TaskData, encode_pairs, encode_spans
from albert_edu.training.metrics import label_scores, squad_scores
from albert_edu.training.settings import TrainSettings, learning_rate, make_optimizer
from albert_edu.training.step import clip_gradient

Task = TaskData | SpanData


def make_ready(
    pretrained: AlbertForPretraining, tokenizer: Tokenizer, train: TaskRows, test: TaskRows, S: int
) -> tuple[TaskModel, Task, Task]:
    """Put the head that the rows need on an encoder; return this model and both parts encoded.

    Rows are cut to S tokens. The head is drawn from torch's random state. Raises ValueError for a
    length that the model has not.
    """
    check_numbers({"sequence_length": S}, 8, pretrained.config.max_positions, "sequence_length")
    spans = isinstance(train.examples[0], SpanExample)
    encode = encode_spans if spans else encode_pairs
    data, unseen = (encode(part.examples, tokenizer, S) for part in (train, test))
    if spans:
        unseen = unseen._replace(unanswerable=data.unanswerable)
        return AlbertForSpan(pretrained.albert), data, unseen
    labels = len(train.class_names) or 1
    return AlbertForClassification(pretrained.albert, labels), data, unseen


def finetune(
    model: TaskModel, train: Task, settings: TrainSettings, batch_size: int = 32, describe=None
) -> None:
    """Train the model in place, on the device it is on.

    It is the loop of ``pretrain`` on one process, in float32 and whole batches. Step t sees rows
    and dropout that depend on (seed, t) only; the encoder's dropout is that of its config.
    ``checkpoint_every`` and ``gradient_checkpointing`` have no effect. ``describe`` is the title of
    a progress bar. Raises NonFiniteLoss, ValueError for another precision, for ``accumulate`` and
    for ``compile``, and RuntimeError under torchrun with several workers.
    """
    check_numbers(locals(), 1, 1_000_000, "batch_size")
    check_choices(settings, precision=("float32",), accumulate=(1,), compile=(False,))
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        raise RunError("fine-tuning is the work of one process: start it without torchrun.")
    rows = train.data if isinstance(train, SpanData) else train
    device, optimizer = next(model.parameters()).device, make_optimizer(model, settings)
    cuda = [device] if device.type == "cuda" else []
    model.train()
    with torch.random.fork_rng(cuda), progress_bar(describe, total=settings.steps) as bar:
        for step in range(settings.steps):
            torch.manual_seed(settings.seed * 1_000_003 + step)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, settings)
            chosen = batch_rows(len(rows), batch_size, settings.seed, step)
            loss = model.loss(rows.rows(chosen).to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            clip_gradient(model, settings, step)
            optimizer.step()
            bar.set_postfix({"loss": loss.item()}, refresh=False)
            bar.update()
    model.eval()


def batch_rows(count: int, batch_size: int, seed: int, step: int) -> Int[Tensor, "B"]:
    """Return the rows of that step: every example once per epoch, in an order of (seed, epoch)."""
    epoch, place = np.divmod(np.arange(step * batch_size, (step + 1) * batch_size), count)
    orders = {e: np.random.default_rng([seed, e]).permutation(count) for e in np.unique(epoch)}
    return torch.tensor([orders[e][p] for e, p in zip(epoch, place, strict=True)])


def predict(model: TaskModel, data: TaskData, batch_size: int = 128) -> Tensor:
    """Return the model's predictions for all rows, with dropout off."""
    device = next(model.parameters()).device
    batches = (data.rows(slice(at, at + batch_size)) for at in range(0, len(data), batch_size))
    with evaluation_mode(model):
        return torch.cat([model.predict(batch.to(device)).cpu() for batch in batches])


def answers_to(model: TaskModel, data: Task) -> Tensor | list[str]:
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


def answer(model: AlbertForSpan, tokenizer: Tokenizer, question: str, context: str) -> str:
    """Return the model's answer to a question of one's own: its likeliest span of the context.

    Raises ValueError for a context without a token.
    """
    example = SpanExample(question, context, ())
    data = encode_spans([example], tokenizer, model.albert.config.max_positions)
    return answers_to(model, data._replace(unanswerable=False))[0]


def task_scores(model: TaskModel, data: Task, answers=None) -> dict[str, float]:
    """Return the scores on a task: ``label_scores``, or those of SQuAD's script.

    Scored are the model's answers unless others are given.
    """
    answers = answers_to(model, data) if answers is None else answers
    if isinstance(data, SpanData):
        return squad_scores(answers, [example.answers for example in data.examples])
    return label_scores(answers, data.labels, model.head.out_features)


def majority(model: TaskModel, train: Task, test: Task) -> dict[str, float]:
    """Return the scores of the commonest answer in training, for questions of the empty one."""
    if isinstance(test, SpanData):
        return task_scores(model, test, [""] * len(test.examples))
    return task_scores(model, test, train.labels.mode().values.expand(test.labels.shape))
