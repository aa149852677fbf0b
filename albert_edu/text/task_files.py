"""Read the files of GLUE, SQuAD and RACE as they are published; nothing here downloads. Used in notebook 11."""

import csv
import json
import warnings
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import ChoiceExample, Example, TaskData, as_data, with_special_tokens
from albert_edu.text.tokenizer import WORD_START, AlbertTokenizer, normalise

BINARY = ("0", "1")
ENTAILED = ("entailment", "not_entailment")
# first text, second text, label, names of the classes in the order of their numbers (None: the label is a number)
GLUE = {
    "CoLA": (3, None, 1, BINARY),  # columns by position: it has no header
    "SST-2": ("sentence", None, "label", BINARY),
    "MRPC": ("#1 String", "#2 String", "Quality", BINARY),
    "QQP": ("question1", "question2", "is_duplicate", BINARY),
    "STS": ("sentence1", "sentence2", "score", None),
    "MNLI": ("sentence1", "sentence2", "gold_label", ("contradiction", "entailment", "neutral")),
    "QNLI": ("question", "sentence", "label", ENTAILED),
    "RTE": ("sentence1", "sentence2", "label", ENTAILED),
    "WNLI": ("sentence1", "sentence2", "label", BINARY),
}


class TaskFileError(ValueError):
    """A file of a task is not what its name promises; the message names the file, the line or question, and what is wrong."""


class SpanExample(NamedTuple):
    """A question about a context; ``answers`` is empty where it has none, else ``start`` is the character of the first."""

    id: str
    question: str
    context: str
    answers: tuple[str, ...]
    start: int = -1


class SpanData(NamedTuple):
    """Encoded questions, and what turns two positions back into text."""

    data: TaskData
    examples: list[SpanExample]
    characters: Int[Tensor, "N S 2"]  # first character and one past the last, of each context piece; 0 elsewhere
    skipped: int  # answers outside the window, or not where the file says


def read_glue(task: str, path: str | Path) -> list[Example]:
    """A GLUE file with labels (train.tsv or dev.tsv); quotes are text, not CSV quoting.

    Rows of QQP that are too short are left out with a warning (the published file has some); elsewhere they are an error.
    """
    if task not in GLUE:
        raise TaskFileError(f"there is no GLUE task {task!r}; there are {', '.join(GLUE)}.")
    path, columns, names = Path(path), GLUE[task][:3], GLUE[task][3]
    examples, short = [], 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if task != "CoLA":
            header = next(rows, [])
            if lacking := [name for name in columns if name is not None and name not in header]:
                raise TaskFileError(f"{path} line 1 has no column {lacking[0]!r} but {header}. Test files have no labels.")
            columns = [None if name is None else header.index(name) for name in columns]
        for row in rows:
            where = f"{path} line {rows.line_num}"
            if len(row) <= max(column for column in columns if column is not None):
                if task != "QQP":
                    raise TaskFileError(f"{where} has only {len(row)} columns, and {task} needs more. Is it another task's file?")
                short += 1
                continue
            first, second, label = (None if column is None else row[column] for column in columns)
            try:
                examples.append(Example(first, second, float(label) if names is None else names.index(label)))
            except ValueError:
                wanted = "a number" if names is None else " or ".join(names)
                raise TaskFileError(f"{where}: the label is {label!r}, where {task} has {wanted}.") from None
    if short:
        warnings.warn(f"{path}: {short} rows are too short and were left out.", stacklevel=2)
    return examples


def read_squad(path: str | Path) -> list[SpanExample]:
    """A SQuAD 1.1 or 2.0 file (JSON); in 1.1 every question has an answer."""
    found = []
    for article in _read_json(Path(path), "data")["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = [] if question.get("is_impossible") else question.get("answers", [])
                if not answers and not question.get("is_impossible"):
                    raise TaskFileError(f"{path}: question {question['id']} has no answer and is not marked impossible.")
                start = answers[0]["answer_start"] if answers else -1
                texts = tuple(answer["text"] for answer in answers)
                found.append(SpanExample(question["id"], question["question"], paragraph["context"], texts, start))
    return found


def read_race(folder: str | Path) -> list[ChoiceExample]:
    """RACE's folder ``train``, ``dev`` or ``test``, or one level of it: each .txt is JSON, an article with its questions.

    An option takes the place of the blank "_" in a question, or stands after the question, as in the original.
    """
    paths = sorted(Path(folder).rglob("*.txt"))
    if not paths:
        raise TaskFileError(f"{folder} holds no .txt file; RACE has one for each article, in 'middle' and 'high'.")
    found = []
    for path in paths:
        article = _read_json(path, "article", "questions", "options", "answers")
        asked, offered, right = article["questions"], article["options"], article["answers"]
        if not len(asked) == len(offered) == len(right):
            raise TaskFileError(f"{path} has {len(asked)} questions, {len(offered)} lists of options and {len(right)} answers.")
        for question, options, answer in zip(asked, offered, right, strict=True):
            label = "ABCD".find(answer)
            if len(options) != 4 or len(answer) != 1 or label < 0:
                raise TaskFileError(f"{path}: {question!r} needs 4 options and an answer A to D; not {len(options)}, {answer!r}.")
            filled = [question.replace("_", option) if "_" in question else f"{question} {option}" for option in options]
            found.append(ChoiceExample(article["article"], tuple(filled), label))
    return found


def _read_json(path: Path, *keys: str) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise TaskFileError(f"{path} line {error.lineno} is not JSON: {error.msg}.") from error
    for key in keys:
        if not isinstance(content, dict) or key not in content:
            raise TaskFileError(f"{path} has no {key!r}. Is it another data set's file?")
    return content


def tokens_with_offsets(text: str, tokenizer: AlbertTokenizer | HubTokenizer) -> tuple[list[int], list[tuple[int, int]]]:
    """Piece ids, and the characters [from, to) of the text that each piece stands for.

    The tokenizer sees normalised text, so we go word by word (no piece crosses a space); where normalising changes the
    length of a word, each of its pieces stands for the whole word.
    """
    if isinstance(tokenizer, HubTokenizer):
        return tokenizer.encode_with_offsets(text)
    ids, characters, at = [], [], 0
    for word in text.split():
        at = text.index(word, at)
        surfaces = tokenizer.processor.encode(normalise(word), out_type=str)
        lengths = [len(surface.replace(WORD_START, "")) for surface in surfaces]
        exact, begin = sum(lengths) == len(word), at
        for length in lengths:
            characters.append((begin, begin + length) if exact else (at, at + len(word)))
            begin += length
        ids += tokenizer.encode(word)
        at += len(word)
    return ids, characters


def encode_spans(examples: list[SpanExample], tokenizer: AlbertTokenizer | HubTokenizer, sequence_length: int) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position, IGNORE without an answer.

    A question keeps 64 pieces, or a third of S if that is less. There is one window and no stride: what does not fit of the
    context is lost, and an answer in there is skipped and counted.
    """
    laid, kept, labels, spans = [], [], [], []
    for example in examples:
        question = tokenizer.encode(example.question)[: min(64, sequence_length // 3)]
        ids, characters = tokens_with_offsets(example.context, tokenizer)
        room = sequence_length - 3 - len(question)
        ids, characters, before = ids[:room], characters[:room], len(question) + 2
        label = (IGNORE, IGNORE)
        if example.answers:
            begin, end = example.start, example.start + len(example.answers[0])
            inside = [i for i, (b, e) in enumerate(characters) if b < end and e > begin]
            if not inside or characters[inside[-1]][1] < end or example.context[begin:end] != example.answers[0]:
                continue
            label = (before + inside[0], before + inside[-1])
        laid.append(with_special_tokens(question, ids, tokenizer.cls_id, tokenizer.sep_id))
        kept.append(example)
        labels.append(label)
        spans.append([(0, 0)] * before + characters + [(0, 0)] * (sequence_length - before - len(characters)))
    return SpanData(as_data(laid, labels, sequence_length), kept, torch.tensor(spans), len(examples) - len(kept))
