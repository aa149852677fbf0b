"""A task by its name: its examples, encoded for a model, and the head that answers them. What ``finetune`` needs, put together."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text import task_files, tasks
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training.finetune import FinetuneSettings, TaskModel, finetune, squad_scores

BUILTIN_TASKS = {  # tasks made of text that comes with the library
    "sentiment-sentence": lambda: tasks.sentiment("sentence"),
    "sentiment-review": lambda: tasks.sentiment("review"),
    "same-address": tasks.same_address,
    "story-topic": tasks.story_topic,
    "story-gap": tasks.story_gap,
}


class ReadyTask(NamedTuple):
    """A model with a new head, and encoded examples to train and to test it on; ``spans`` is what SQuAD's scores need besides."""

    model: TaskModel
    train: tasks.TaskData
    test: tasks.TaskData
    spans: task_files.SpanData | None = None

    def scores(self, settings: FinetuneSettings) -> dict[str, float]:
        """Train the model in place, on the device it is on; its scores on ``test``, for SQuAD between texts as well."""
        scores = finetune(self.model, self.train, self.test, settings)
        return scores | (squad_scores(self.model, self.spans) if self.spans else {})


def make_ready(
    pretrained: AlbertForPretraining, tokenizer: AlbertTokenizer, task: str, files: Sequence[str | Path] | None = None,
    sequence_length: int | None = None,
) -> ReadyTask:  # fmt: skip
    """The task with that name for that model, whose encoder becomes part of the new one.

    ``task`` is a name in ``BUILTIN_TASKS``, or with ``files`` (TRAIN, TEST) SQuAD, RACE or a task of GLUE.
    ``sequence_length`` is in tokens, the longest that the model has when left out. The head is drawn from torch's random
    state. Raises ValueError for a length that the model has not, for a task with files that needs none, and for one
    without files that needs two.
    """
    most = pretrained.config.max_positions
    length = sequence_length or most
    if length > most:
        raise ValueError(f"a sequence length of {length} is more than the {most} positions of the model.")
    if task in BUILTIN_TASKS and files:
        raise ValueError(f"{task} needs no --data: its examples are at hand.")
    if task not in BUILTIN_TASKS and not files:
        raise ValueError(f"{task} is read from two files: give --data TRAIN TEST. Without files there are "
                         f"{', '.join(BUILTIN_TASKS)}.")  # fmt: skip
    if task == "SQuAD":
        train, test = (task_files.encode_spans(task_files.read_squad(path), tokenizer, length) for path in files)
        return ReadyTask(AlbertForSpan(pretrained.albert), train.data, test.data, test)
    if task == "RACE":
        train, test = (tasks.encode_choices(task_files.read_race(path), tokenizer, length) for path in files)
        return ReadyTask(AlbertForChoice(pretrained.albert), train, test)
    parts = BUILTIN_TASKS[task]() if task in BUILTIN_TASKS else [task_files.read_glue(task, path) for path in files]
    train, test = (tasks.encode_pairs(part, tokenizer, length) for part in parts)
    outputs = 1 if train.labels.is_floating_point() else int(train.labels.max()) + 1
    return ReadyTask(AlbertForClassification(pretrained.albert, outputs), train, test)
