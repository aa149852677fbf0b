"""A task by its name: its examples, encoded for a model, the head that answers them, and a folder.

The verbs ``finetune`` and ``predict`` of the command line are calls of this file.
"""

import dataclasses
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from albert_edu.model import interchange
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import TaskModel, Tokenizer
from albert_edu.model.task_heads import AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text import task_files, tasks
from albert_edu.training import finetune
from albert_edu.training.finetune import FinetuneSettings, predict
from albert_edu.training.metrics import majority_scores, score_report

BUILTIN_TASKS = {  # tasks made of text that comes with the library
    "sentiment-sentence": lambda: tasks.sentiment("sentence"),
    "sentiment-review": lambda: tasks.sentiment("review"),
    "same-address": tasks.same_address,
    "story-topic": tasks.story_topic,
    "story-gap": tasks.story_gap,
}


class ReadyTask(NamedTuple):
    """A model with a new head, and encoded examples to train and to test it on."""

    name: str
    model: TaskModel
    tokenizer: Tokenizer
    train: tasks.TaskData
    test: tasks.TaskData
    label_names: list[str] | None = None  # of the classes, in the order of their numbers
    spans: task_files.SpanData | None = None  # what SQuAD's scores need besides

    def finetune(
        self, settings: FinetuneSettings, out: Path | None = None, describe: str | None = None
    ) -> str:
        """Train the model in place, on the device it is on; return its scores as lines of text.

        ``out`` becomes a folder that ``predict_file`` and transformers read, with finetune.json
        (settings and scores) and predictions.json (for the test examples); the same call again goes
        on from its checkpoints. ``keep_best`` chooses by a tenth of the training examples, which
        then do not train. Raises what ``finetune`` raises.
        """
        train, dev = self.train, None
        if settings.keep_best:
            held_out = torch.arange(len(train)) % 10 == 9
            train, dev = _rows(train, ~held_out), _rows(train, held_out)
        folder = out and out / "checkpoints"
        scores = finetune.finetune(self.model, train, self.test, settings, folder, dev, describe)
        if self.spans:  # the accuracy of positions leaves skipped questions out, these count them
            scores, baseline = finetune.squad_scores(self.model, self.spans), {}
        else:
            baseline = majority_scores(self.train.labels, self.test.labels)
        predictions = predict(self.model, self.test)
        if out:
            interchange.save_task_model(self.model, self.tokenizer, out, self.label_names)
            record = {
                "task": self.name, "label_names": self.label_names, "scores": scores,
                "majority_baseline": baseline, "settings": dataclasses.asdict(settings),
                "sequence_length": self.test.token_ids.shape[-1],
            }  # fmt: skip
            _write_json(out / "finetune.json", record)
            _write_json(out / "predictions.json", self.answers(predictions))
        counts = f"{len(self.train)} examples to learn from, {len(self.test)} to be tested on"
        report = score_report(scores, baseline, predictions, self.label_names)
        return f"{self.name}: {counts}\n{report}"

    def answers(self, predictions: Tensor) -> list | dict:
        """Return predictions as people read them: names, numbers, or texts by question (SQuAD)."""
        if self.spans:
            ids = (example.id for example in self.spans.examples)
            return dict(zip(ids, finetune.squad_answers(self.model, self.spans), strict=True))
        if self.label_names:
            return [self.label_names[i] for i in predictions.tolist()]
        return predictions.tolist()


def make_ready(
    pretrained: AlbertForPretraining, tokenizer: Tokenizer, task: str,
    files: Sequence[str | Path] | None = None, sequence_length: int | None = None,
) -> ReadyTask:  # fmt: skip
    """Return the task with that name for that model, whose encoder becomes part of the new one.

    ``task`` is a name in ``BUILTIN_TASKS``, or with ``files`` (TRAIN, TEST) SQuAD, RACE or a task
    of GLUE. ``sequence_length`` is in tokens, the model's longest when left out. The head is
    drawn from torch's random state. Raises ValueError for a length that the model has not, for a
    task with files that needs none, for one without files that needs two, and for training examples
    of one class.
    """
    length = _length(pretrained, sequence_length)
    if task in BUILTIN_TASKS and files:
        raise ValueError(f"{task} needs no --data: its examples are at hand.")
    if task not in BUILTIN_TASKS and not files:
        raise ValueError(
            f"{task} is read from two files: give --data TRAIN TEST. Without files there are "
            f"{', '.join(BUILTIN_TASKS)}."
        )
    albert = pretrained.albert
    if task == "SQuAD":
        train, test = (
            task_files.encode_spans(task_files.read_squad(path), tokenizer, length)
            for path in files
        )
        model = AlbertForSpan(albert)
        return ReadyTask(task, model, tokenizer, train.data, test.data, None, test)
    if task == "RACE":
        train, test = (
            tasks.encode_choices(task_files.read_race(path), tokenizer, length) for path in files
        )
        return ReadyTask(task, AlbertForChoice(albert), tokenizer, train, test, list("ABCD"))
    if task in BUILTIN_TASKS:
        parts, names = BUILTIN_TASKS[task](), None
    else:
        parts = [task_files.read_glue(task, path) for path in files]
        names = task_files.GLUE[task][3] and list(task_files.GLUE[task][3])
    train, test = (tasks.encode_pairs(part, tokenizer, length) for part in parts)
    if train.labels.is_floating_point():
        return ReadyTask(task, AlbertForClassification(albert, 1), tokenizer, train, test)
    most = int(torch.cat([train.labels, test.labels]).max())
    names = names or [str(i) for i in range(most + 1)]
    _check_classes(task, train.labels, names)
    model = AlbertForClassification(albert, len(names))
    return ReadyTask(task, model, tokenizer, train, test, names)


def predict_file(folder: str | Path, file: str | Path, device: torch.device) -> Iterable[str]:
    """Return a fine-tuned folder's answer to each line of a file, or for SQuAD to each question.

    A line is a text, or two texts with a tab between them. For SQuAD the file is SQuAD's JSON, and
    an answer is the question's id, a tab and a text. Raises ValueError for a folder that
    ``finetune --out`` did not write, and for RACE, whose examples are folders.
    """
    if not (Path(folder) / "finetune.json").is_file():
        raise ValueError(f"{folder} has no finetune.json: 'finetune --out' writes such a folder.")
    record = json.loads((Path(folder) / "finetune.json").read_text())
    model, tokenizer, _ = interchange.load_task_model(folder)
    model.to(device)
    length, names = record["sequence_length"], record["label_names"]
    if isinstance(model, AlbertForSpan):
        spans = task_files.encode_spans(task_files.read_squad(file), tokenizer, length)
        answers = finetune.squad_answers(model, spans)
        return [f"{e.id}\t{a}" for e, a in zip(spans.examples, answers, strict=True)]
    if isinstance(model, AlbertForChoice):
        raise ValueError("predict reads lines of text; RACE's examples are folders of articles.")
    lines = [line.split("\t", 1) for line in Path(file).read_text(encoding="utf-8").splitlines()]
    examples = [tasks.Example(first, *(second or [None]), 0) for first, *second in lines]
    predictions = predict(model, tasks.encode_pairs(examples, tokenizer, length)).tolist()
    return [names[answer] if names else f"{answer:.3f}" for answer in predictions]


def _length(pretrained: AlbertForPretraining, sequence_length: int | None) -> int:
    most = pretrained.config.max_positions
    length = sequence_length or most
    if length > most:
        raise ValueError(
            f"a sequence length of {length} is more than the {most} positions of the model."
        )
    return length


def _check_classes(task: str, labels: Tensor, names: list[str]) -> None:
    """Refuse training examples of one class; warn, by name, of classes that they lack."""
    classes = set(labels.tolist())
    if len(classes) < 2:
        raise ValueError(
            f"all {len(labels)} training examples of {task} have the label "
            f"{names[classes.pop()]!r}: there is nothing to tell apart. Is the file sorted and cut?"
        )
    missing = [name for i, name in enumerate(names) if i not in classes]
    if missing:
        warnings.warn(
            f"no training example of {task} has the label {', '.join(missing)}; the model cannot "
            f"learn it.", stacklevel=3,
        )  # fmt: skip


def _rows(data: tasks.TaskData, chosen: Tensor) -> tasks.TaskData:
    return data.rows(chosen.nonzero()[:, 0])


def _write_json(path: Path, content) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
