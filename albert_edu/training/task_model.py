"""The verbs ``finetune`` and ``predict`` of the command line, from a task's name to files on disk.

``make_ready`` reads the examples of a task (two files, or a built-in task), encodes them, and puts
the right head on a pre-trained encoder. ``ReadyTask.finetune`` trains this model and writes it with
finetune.json and predictions.json. ``predict_file`` reads that folder again and answers new lines.
The training loop is in ``finetune``, the readers of files are in ``text``.
"""

import dataclasses
import json
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from albert_edu.config import check_numbers
from albert_edu.errors import FileError, blame, read_json, read_text
from albert_edu.model import interchange
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import TaskModel, Tokenizer
from albert_edu.model.task_heads import AlbertForChoice, AlbertForClassification, AlbertForSpan
from albert_edu.text import tasks
from albert_edu.text.glue import GLUE, TaskFileError, read_glue, task_name
from albert_edu.text.task_files import LETTERS, SpanData, encode_spans, read_race, read_squad
from albert_edu.text.tasks import Example, TaskData, encode_choices, encode_pairs
from albert_edu.training.finetune import FinetuneSettings, answers_to, baseline, finetune, scores_of
from albert_edu.training.metrics import score_report

BUILTIN_TASKS = {  # tasks made of text that comes with the library
    "sentiment-sentence": lambda: tasks.sentiment("sentence"),
    "sentiment-review": lambda: tasks.sentiment("review"),
    "story-topic": tasks.story_topic,
    "story-gap": tasks.story_gap,
}
READERS = {"SQuAD": (read_squad, encode_spans), "RACE": (read_race, encode_choices)}
TABLES = (".tsv", ".csv", ".jsonl", ".parquet")
SHORTEST = 8  # tokens of a sequence: three special ones and some of each text
WATCHED = 256  # test examples that are scored while the model trains


class ReadyTask(NamedTuple):
    """A model with a new head, and encoded examples to train and to test it on."""

    name: str
    model: TaskModel
    tokenizer: Tokenizer
    train: TaskData
    dev: TaskData | SpanData  # some test examples, or training examples that were held out
    test: TaskData | SpanData
    label_names: list[str] | None = None  # of the classes, in the order of their numbers

    def finetune(
        self, settings: FinetuneSettings, out: Path | None = None, describe: str | None = None
    ) -> str:
        """Train the model in place, on the device it is on; return its scores as lines of text.

        ``out`` becomes a folder that ``predict_file`` and transformers read, with finetune.json
        (settings and scores) and predictions.json (for the test examples); the same call again goes
        on from its checkpoints. ``settings.keep_best`` may be "usual": the score that the task is
        known by, such as Matthews' correlation for CoLA. Raises what ``finetune`` raises.
        """
        if settings.keep_best == "usual":
            usual = {"SQuAD": "f1"} | {task: table["score"] for task, table in GLUE.items()}
            settings = dataclasses.replace(settings, keep_best=usual.get(self.name, "accuracy"))
        checkpoints = out and out / "checkpoints"
        finetune(self.model, self.train, None, settings, checkpoints, self.dev, describe)
        predictions = answers_to(self.model, self.test)
        scores, answers = scores_of(predictions, self.test), _named(predictions, self.label_names)
        guess = baseline(self.train, self.test)
        if out:
            self._save(out, settings, scores, guess, answers)
        counts = f"{len(self.train)} rows to learn from, {len(answers)} examples to be tested on"
        return f"{self.name}: {counts}\n{score_report(scores, guess, answers)}"

    def _save(self, out: Path, settings, scores: dict, baseline: dict, answers: list) -> None:
        interchange.save_task_model(self.model, self.tokenizer, out, self.label_names)
        encoded = getattr(self.test, "data", self.test)
        record = {
            "task": self.name,
            "label_names": self.label_names,
            "scores": scores,
            "majority_baseline": baseline,
            "settings": dataclasses.asdict(settings),
            "sequence_length": encoded.token_ids.shape[-1],
            "pairs": bool(encoded.segment_ids.any()),
            "unanswerable": getattr(self.test, "unanswerable", None),
        }
        if isinstance(self.test, SpanData):  # as SQuAD's official script reads them
            answers = {e.id: answer for e, answer in zip(self.test.examples, answers, strict=True)}
        for name, content in (("finetune", record), ("predictions", answers)):
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            (out / f"{name}.json").write_text(text, encoding="utf-8")


def make_ready(
    pretrained: AlbertForPretraining,
    tokenizer: Tokenizer,
    task: str,
    files: Sequence[str | Path] | None = None,
    sequence_length: int | None = None,
    hold_out: bool = False,
) -> ReadyTask:
    """Return the task with that name for that model, whose encoder becomes part of the new one.

    ``task`` is a name in ``BUILTIN_TASKS``, or with ``files`` (TRAIN, TEST) SQuAD, RACE or a task
    of GLUE, as ``task_name`` understands it. ``sequence_length`` is in tokens, the model's longest
    when left out. ``hold_out`` keeps a tenth of the training examples as ``dev``. The head is drawn
    from torch's random state. Raises ValueError for a length that the model has not, for a task
    with files that needs none, for one without files that needs two, and for training examples of
    one class.
    """
    task, albert, most = task_name(task), pretrained.albert, pretrained.config.max_positions
    sequence_length = most if sequence_length is None else sequence_length
    check_numbers(locals(), SHORTEST, most, "sequence_length")
    if bool(files) == (task in BUILTIN_TASKS):
        raise ValueError(
            f"{task} needs {'no ' if files else ''}--data TRAIN TEST. Without files there are "
            f"{', '.join(BUILTIN_TASKS)}."
        )
    train, test = (_read(task, path) for path in files) if files else BUILTIN_TASKS[task]()
    dev = test[:: len(test) // WATCHED + 1]
    if hold_out and task in READERS:  # questions on one text are neighbours, and stay together
        train, dev = train[: -(len(train) // 10 + 1)], train[-(len(train) // 10 + 1) :]
    elif hold_out:
        train, dev = [e for i, e in enumerate(train) if i % 10], train[::10]
    encode = partial(_encode, task, tokenizer=tokenizer, length=sequence_length)
    train, dev, test = map(encode, (train, dev, test))
    if task == "SQuAD":
        dev, test = (part._replace(unanswerable=train.unanswerable) for part in (dev, test))
        return ReadyTask(task, AlbertForSpan(albert), tokenizer, train.data, dev, test)
    parts = (train, dev, test)
    if task == "RACE":
        return ReadyTask(task, AlbertForChoice(albert), tokenizer, *parts, LETTERS)
    if train.labels.is_floating_point():
        return ReadyTask(task, AlbertForClassification(albert, 1), tokenizer, *parts)
    classes = int(max(part.labels.max() for part in parts)) + 1
    names = GLUE[task]["classes"] if task in GLUE else [str(i) for i in range(classes)]
    _check_classes(task, train.labels, names)
    return ReadyTask(task, AlbertForClassification(albert, len(names)), tokenizer, *parts, names)


def predict_file(folder: str | Path, file: str | Path, device: torch.device) -> Iterable[str]:
    """Return a fine-tuned folder's answer to each line of a file, or to each question.

    For SQuAD and RACE the file has their layout, and an answer is the question's id or the letter,
    a tab and a text. For GLUE it is a table of the task (.tsv, .csv, .jsonl, .parquet), whose
    labels are not read. Any other file has a text in each line, or two with a tab between them.
    Raises FileError for a folder that ``finetune --out`` did not write, and TaskFileError.
    """
    record = read_json(Path(folder) / "finetune.json", FileError)
    with blame(Path(folder) / "finetune.json", FileError, "'finetune --out' writes it."):
        task, texts, length = record["task"], 1 + record["pairs"], int(record["sequence_length"])
        unanswerable, label_names = record["unanswerable"], record["label_names"]
    model, tokenizer, _ = interchange.load_with_tokenizer(folder, interchange.load_task_model)
    if task in READERS or (task in GLUE and Path(file).suffix in TABLES):
        examples = _read(task, file, labelled=False)
    else:
        examples = _read_lines(file, texts)
    data = _encode(task, examples, tokenizer, length)
    if isinstance(data, SpanData):
        data = data._replace(unanswerable=unanswerable)
    answers = _named(answers_to(model.to(device), data), label_names)
    answered = list(zip(examples, answers, strict=True))
    if task == "SQuAD":
        # An answer may go over several lines of its context.
        return [f"{e.id}\t{' '.join(answer.split())}" for e, answer in answered]
    if task == "RACE":
        return [f"{letter}\t{e.choices[LETTERS.index(letter)]}" for e, letter in answered]
    return [answer if isinstance(answer, str) else f"{answer:.3f}" for answer in answers]


def _read(task: str, path: str | Path, labelled: bool = True) -> list:
    read = READERS[task][0] if task in READERS else partial(read_glue, task)
    return read(path, labelled=labelled)


def _read_lines(file: str | Path, texts: int) -> list[Example]:
    lines = read_text(Path(file), TaskFileError).removesuffix("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) != texts or not all(map(str.strip, row)):
            wanted = "one text" if texts == 1 else "two texts with a tab between them"
            raise TaskFileError(f"{file} line {number} has {row!r:.80}, and not {wanted}.")
    return [Example(*[*row, None][:2], 0) for row in rows]


def _encode(task: str, examples: list, tokenizer: Tokenizer, length: int) -> TaskData | SpanData:
    return READERS.get(task, (None, encode_pairs))[1](examples, tokenizer, length)


def _named(predictions: Tensor | list[str], names: list[str] | None) -> list:
    """Return predictions as people read them: texts (SQuAD), names of classes, or numbers."""
    answers = predictions if isinstance(predictions, list) else predictions.tolist()
    return [names[answer] for answer in answers] if names else answers


def _check_classes(task: str, labels: Tensor, names: list[str]) -> None:
    """Refuse training examples of one class; warn, by name, of classes that they lack."""
    classes = set(_named(labels, names))
    if len(classes) < 2:
        raise ValueError(
            f"all {len(labels)} training examples of {task} have the label {classes.pop()!r}: "
            f"there is nothing to tell apart. Is the file sorted and cut?"
        )
    if missing := ", ".join(name for name in names if name not in classes):
        message = f"no training example of {task} has the label {missing}"
        warnings.warn(f"{message}; the model cannot learn it.", stacklevel=3)
