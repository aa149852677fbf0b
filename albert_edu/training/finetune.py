"""Fine-tune a model with a task head, ask it, and score it (notebook 11)."""

import math
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from albert_edu.batch import TaskData
from albert_edu.config import check_one_of, check_whole
from albert_edu.errors import InputError, RunError
from albert_edu.model.albert import AlbertForPretraining, check_tokenizer, evaluation_mode
from albert_edu.model.task_heads import AlbertForClassification, AlbertForSpan, TaskModel
from albert_edu.progress import progress_bar
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import Example, SpanData, SpanExample, encode_pairs, encode_spans
from albert_edu.training.metrics import label_scores, squad_scores
from albert_edu.training.settings import TrainSettings, make_optimizer, set_learning_rate
from albert_edu.training.step import clip_gradient
from albert_edu.training.workers import torchrun_number

Task = TaskData | SpanData
PREDICT_ROWS = 128  # that are asked at once, so that memory holds them


class TaskSetup(NamedTuple):
    """What fine-tuning needs: a model with the head of the task, and both parts encoded."""

    model: TaskModel
    train: Task
    test: Task


def set_up_task(
    pretrained: AlbertForPretraining, tokenizer: Tokenizer, train: TaskRows, test: TaskRows, S: int
) -> TaskSetup:
    """Put the head that the rows need on an encoder, and encode the rows, cut to S tokens.

    The head is drawn from torch's random state. Raises InputError for a length that the model has
    not, and for another tokenizer than its own.
    """
    check_whole("sequence_length", S, 8, pretrained.config.max_positions)
    check_tokenizer(pretrained.albert, tokenizer)
    if train.form == "span":
        asked = encode_spans(cast(list[SpanExample], train.examples), tokenizer, S)
        unseen = encode_spans(cast(list[SpanExample], test.examples), tokenizer, S)
        unseen = unseen._replace(unanswerable=asked.unanswerable)
        return TaskSetup(AlbertForSpan(pretrained.albert), asked, unseen)
    labels = len(train.class_names) or 1
    return TaskSetup(
        model=AlbertForClassification(pretrained.albert, labels),
        train=encode_pairs(cast(list[Example], train.examples), tokenizer, S),
        test=encode_pairs(cast(list[Example], test.examples), tokenizer, S),
    )


def finetune(
    model: TaskModel,
    train: Task,
    settings: TrainSettings,
    batch_size: int = 32,
    describe: str | None = None,
    in_order: bool = False,
) -> None:
    """Train the model in place, on the device it is on.

    It is the loop of ``pretrain`` on one process, in float32 and whole batches. Step t sees rows
    and dropout that depend on (seed, t) only; the encoder's dropout is that of its config.
    ``checkpoint_every`` and ``gradient_checkpointing`` have no effect. ``describe`` is the title of
    a progress bar. With ``in_order`` a batch is the next ``batch_size`` rows, so that neighbours
    are seen together (notebook 11). Raises NonFiniteLoss, InputError for another precision, for
    ``accumulate`` and for ``compile``, and RunError under torchrun with several workers.
    """
    check_whole("batch_size", batch_size, 1, 1_000_000)
    check_one_of("precision", settings.precision, ["float32"])
    check_one_of("accumulate", settings.accumulate, [1])
    check_one_of("compile", settings.compile, [False])
    if torchrun_number("WORLD_SIZE", 1) > 1:
        raise RunError(
            "fine-tuning is the work of one process: start it without torchrun, or unset "
            "WORLD_SIZE."
        )
    data = train.data if isinstance(train, SpanData) else train
    optimizer = make_optimizer(model, settings)
    device = next(model.parameters()).device
    cuda = [device] if device.type == "cuda" else []
    model.train()
    with torch.random.fork_rng(cuda), progress_bar(describe, total=settings.steps) as bar:
        for step in range(settings.steps):
            # The factor lets no two (seed, step) share a state, up to 1,000,003 steps.
            torch.manual_seed(settings.seed * 1_000_003 + step)
            set_learning_rate(optimizer, step, settings)
            if in_order:
                chosen = (torch.arange(batch_size) + step * batch_size) % len(data)
            else:
                chosen = batch_rows(len(data), batch_size, settings.seed, step)
            loss = model.loss(data.rows(chosen).to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            clip_gradient(model, settings, step)
            optimizer.step()
            if settings.is_due(step + 1, settings.log_every):  # a GPU waits when asked
                bar.set_postfix({"loss": loss.item()}, refresh=False)
            bar.update()
    model.eval()


def batch_rows(count: int, batch_size: int, seed: int, step: int) -> Int[Tensor, "B"]:
    """Return the rows of that step: every example once per epoch, in an order of (seed, epoch)."""
    rows: list[int] = []
    place = step * batch_size  # of the next row, counted over all epochs
    end = place + batch_size
    while place < end:
        epoch = place // count
        order = np.random.default_rng([seed, epoch]).permutation(count)
        begin = place - epoch * count
        taken = order[begin : begin + end - place]
        rows.extend(taken.tolist())
        place += len(taken)
    return torch.tensor(rows)


def predict(model: TaskModel, data: TaskData) -> Tensor:
    """Return the model's predictions for all rows, with dropout off."""
    device = next(model.parameters()).device
    predictions = []
    with evaluation_mode(model):
        for begin in range(0, len(data), PREDICT_ROWS):
            batch = data.rows(slice(begin, begin + PREDICT_ROWS)).to(device)
            predictions.append(model.predict(batch).cpu())
    return torch.cat(predictions)


def answers_to(model: TaskModel, data: Task) -> Tensor | list[str]:
    """Return the predictions for a task, for SQuAD the text of each question's likeliest span."""
    return predict(model, data) if isinstance(data, TaskData) else span_answers(model, data)


def span_answers(model: TaskModel, spans: SpanData) -> list[str]:
    """Return the text of each question's likeliest span, the best over all windows (notebook 11).

    It is empty where every window scores "no answer" higher, which does not count for a model whose
    training questions all had answers.
    """
    texts = [""] * len(spans.examples)
    best_scores = [-math.inf] * len(spans.examples)
    before = spans.data.segment_ids.argmax(1).tolist()  # tokens in front of the context
    predictions = predict(model, spans.data).tolist()
    for window, (first, last, score, no_answer) in enumerate(predictions):
        question = int(spans.question_of[window])
        has_answer = no_answer <= 0 or not spans.unanswerable
        if has_answer and score > best_scores[question]:
            characters = spans.characters[window]
            start, _ = characters[int(first) - before[window]]
            _, end = characters[int(last) - before[window]]
            best_scores[question] = score
            texts[question] = spans.examples[question].context[start:end]
    return texts


def answer(model: AlbertForSpan, tokenizer: Tokenizer, question: str, context: str) -> str:
    """Return the model's answer to a question of one's own: its likeliest span of the context.

    Raises InputError for a context without a token.
    """
    example = SpanExample(question, context, ())
    spans = encode_spans([example], tokenizer, model.albert.config.max_positions)
    return span_answers(model, spans._replace(unanswerable=False))[0]


def task_scores(
    model: TaskModel, data: Task, answers: Tensor | list[str] | None = None
) -> dict[str, float]:
    """Return the scores on a task: ``label_scores``, or those of SQuAD's script.

    Scored are the model's answers unless others are given.
    """
    answers = answers_to(model, data) if answers is None else answers
    if isinstance(data, SpanData) and not isinstance(answers, Tensor):
        return squad_scores(answers, [example.answers for example in data.examples])
    if isinstance(data, TaskData) and isinstance(answers, Tensor):
        classes = model.head.out_features if isinstance(model.head, nn.Linear) else 0
        return label_scores(answers, data.labels, classes)
    raise InputError(
        "answers must be texts for questions about a context, else a tensor of labels."
    )


def majority(model: TaskModel, train: Task, test: Task) -> dict[str, float]:
    """Return the scores of the commonest answer in training, for questions of the empty one."""
    if isinstance(test, SpanData):
        return task_scores(model, test, [""] * len(test.examples))
    if isinstance(train, SpanData):
        raise InputError("the rows to test are of another kind than the rows to learn from.")
    commonest = train.labels.mode().values
    return task_scores(model, test, commonest.expand(test.labels.shape))
