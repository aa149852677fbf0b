"""Rows of a task and a pre-trained encoder become a model with the head that the rows need.

The command line's ``finetune`` reads the rows (``text.task_rows``) and trains the model
(``finetune``). Notebook 11 shows the heads.
"""

from typing import NamedTuple

from albert_edu.config import check_numbers
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import (
    AlbertForChoice,
    AlbertForClassification,
    AlbertForSpan,
    TaskModel,
)
from albert_edu.text.spans import SpanData, encode_spans
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import (
    Example,
    SpanExample,
    TaskData,
    Tokenizer,
    encode_choices,
    encode_pairs,
)
from albert_edu.training.metrics import majority_scores, squad_scores

SHORTEST = 8  # tokens of a sequence: three special ones and some of each text


class ReadyTask(NamedTuple):
    """A model with a new head, and encoded examples to train and to test it on."""

    model: TaskModel
    train: TaskData | SpanData
    test: TaskData | SpanData
    class_names: list[str]


def make_ready(
    pretrained: AlbertForPretraining,
    tokenizer: Tokenizer,
    train: TaskRows,
    test: TaskRows,
    sequence_length: int | None = None,
) -> ReadyTask:
    """Put the head that the rows need on an encoder, and encode the rows.

    ``sequence_length`` is in tokens, the model's longest when left out. The head is drawn from
    torch's random state. Raises ValueError for a length that the model has not.
    """
    albert, most = pretrained.albert, pretrained.config.max_positions
    sequence_length = most if sequence_length is None else sequence_length
    check_numbers(locals(), SHORTEST, most, "sequence_length")
    kind, names = type(train.examples[0]), train.class_names
    encode = {Example: encode_pairs, SpanExample: encode_spans}.get(kind, encode_choices)
    data, unseen = (encode(part.examples, tokenizer, sequence_length) for part in (train, test))
    if kind is SpanExample:
        unseen = unseen._replace(unanswerable=data.unanswerable)
        return ReadyTask(AlbertForSpan(albert), data, unseen, names)
    if kind is Example:
        return ReadyTask(AlbertForClassification(albert, len(names) or 1), data, unseen, names)
    return ReadyTask(AlbertForChoice(albert), data, unseen, names)


def majority(ready: ReadyTask) -> dict[str, float]:
    """Return the scores of the commonest answer in training, for questions of the empty one."""
    if isinstance(ready.test, SpanData):
        gold = [example.answers for example in ready.test.examples]
        return squad_scores([""] * len(gold), gold)
    classes = len(ready.class_names)
    return majority_scores(ready.train.labels, ready.test.labels, classes)
