"""Read the files of GLUE, SQuAD and RACE as people have them; nothing here downloads (nb 11)."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.text.glue import GLUE as GLUE
from albert_edu.text.glue import TaskFileError
from albert_edu.text.glue import read_glue as read_glue
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import ChoiceExample, TaskData, as_data, with_special_tokens
from albert_edu.text.tokenizer import WORD_START, AlbertTokenizer, normalise


class SpanExample(NamedTuple):
    """A question about a context; ``answers`` is empty where it has none.

    ``start`` is the character at which the first answer begins.
    """

    id: str
    question: str
    context: str
    answers: tuple[str, ...]
    start: int = -1


class SpanData(NamedTuple):
    """Encoded questions, and what turns two positions back into text."""

    data: TaskData
    examples: list[SpanExample]
    characters: Int[Tensor, "N S 2"]  # start and end of each context token's characters; else 0
    skipped: int  # answers outside the window


def read_squad(path: str | Path) -> list[SpanExample]:
    """Read a SQuAD 1.1 or 2.0 file (JSON); in 1.1 every question has an answer.

    Raises TaskFileError, with the question, for missing parts, ids that occur twice, empty texts
    and answers that are not where the file says.
    """
    examples, ids = [], set()
    for article in _read_json(Path(path), "data")["data"]:
        try:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    examples.append(_span_example(question, paragraph["context"], path))
                    if examples[-1].id in ids:
                        raise TaskFileError(f"{path}: two questions have the id {question['id']}.")
                    ids.add(question["id"])
        except (KeyError, TypeError, AttributeError) as error:
            raise TaskFileError(
                f"{path} is not laid out like SQuAD (data, paragraphs, context, qas, id, question, "
                f"answers, text, answer_start): {error!r}."
            ) from error
    return examples


def _span_example(question: dict, context: str, path: str | Path) -> SpanExample:
    where = f"{path}: question {question['id']}"
    answers = [] if question.get("is_impossible") else question.get("answers", [])
    if not answers and not question.get("is_impossible"):
        raise TaskFileError(f"{where} has no answer and is not marked impossible.")
    if not context.strip() or not question["question"].strip():
        raise TaskFileError(f"{where} or its context is empty.")
    for answer in answers:
        start, text = answer["answer_start"], answer["text"]
        if not text or context[start : start + len(text)] != text:
            raise TaskFileError(f"{where}: the answer {text!r} is not at character {start}.")
    texts = tuple(answer["text"] for answer in answers)
    start = answers[0]["answer_start"] if answers else -1
    return SpanExample(question["id"], question["question"], context, texts, start)


def read_race(folder: str | Path) -> list[ChoiceExample]:
    """Read RACE's folder ``train``, ``dev`` or ``test``, or one level: each .txt is an article.

    An option takes the place of the blank "_" in a question, or follows the question, as in the
    authors' code. Raises TaskFileError for a folder or an article that is not RACE's.
    """
    paths = sorted(Path(folder).rglob("*.txt"))
    if not paths:
        raise TaskFileError(
            f"{folder} holds no .txt file; RACE has one for each article, in 'middle' and 'high'."
        )
    examples = []
    for path in paths:
        article = _read_json(path, "article", "questions", "options", "answers")
        parts = [article[key] for key in ("questions", "options", "answers")]
        if not all(isinstance(part, list) and len(part) == len(parts[0]) for part in parts):
            raise TaskFileError(f"{path}: its questions, options and answers do not match.")
        for question, options, answer in zip(*parts, strict=True):
            label = "ABCD".find(answer) if isinstance(answer, str) and len(answer) == 1 else -1
            if not isinstance(options, list) or len(options) != 4 or label < 0:
                raise TaskFileError(
                    f"{path}: {question!r} needs 4 options and an answer A to D; not {options!r}, "
                    f"{answer!r}."
                )
            choices = tuple(
                question.replace("_", option) if "_" in question else f"{question} {option}"
                for option in options
            )
            examples.append(ChoiceExample(article["article"], choices, label))
    return examples


def _read_json(path: Path, *keys: str) -> dict:
    if not path.is_file():
        raise TaskFileError(f"{path} does not exist or is no regular file.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise TaskFileError(f"{path} line {error.lineno} is not JSON: {error.msg}.") from error
    except UnicodeDecodeError as error:
        raise TaskFileError(f"{path} is not UTF-8: {error}.") from error
    for key in keys:
        if not isinstance(content, dict) or key not in content:
            raise TaskFileError(f"{path} has no {key!r}. Is it another data set's file?")
    return content


def tokens_with_offsets(
    text: str, tokenizer: AlbertTokenizer
) -> tuple[list[int], list[tuple[int, int]]]:
    """Token ids, and the characters [start, end) of the text that each token stands for.

    The tokenizer sees normalised text, so we go word by word (no token crosses a space). Where
    normalising changes the length of a word, each of its tokens stands for the whole word.
    """
    ids, characters, at = [], [], 0
    words = text.split()
    cleaned = [normalise(word) for word in words]
    surfaces = tokenizer.processor.encode(cleaned, out_type=str)
    for word, word_ids, pieces in zip(words, tokenizer.encode_many(words), surfaces, strict=True):
        at = text.index(word, at)
        lengths = [len(piece.replace(WORD_START, "")) for piece in pieces]
        if len(lengths) != len(word_ids):  # "<unk>" is one token and several pieces
            lengths = [0] * len(word_ids)
        exact, start = sum(lengths) == len(word), at
        for length in lengths:
            characters.append((start, start + length) if exact else (at, at + len(word)))
            start += length
        ids += word_ids
        at += len(word)
    return ids, characters


def encode_spans(
    examples: list[SpanExample], tokenizer: AlbertTokenizer, sequence_length: int
) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position.

    They are IGNORE without an answer. A question keeps 64 tokens, or a third of S if that is less.
    There is one window: what does not fit of the context is lost, and a question whose answer is
    lost is skipped and counted. A context is tokenised once, however many questions it has.
    """
    laid, kept, labels, spans = [], [], [], []
    context_tokens = cache(lambda context: tokens_with_offsets(context, tokenizer))
    questions = tokenizer.encode_many([example.question for example in examples])
    for example, question in zip(examples, questions, strict=True):
        question = question[: min(64, sequence_length // 3)]
        room, before = sequence_length - 3 - len(question), len(question) + 2
        if room < 1:
            raise ValueError(f"sequence_length {sequence_length} has no room for a context.")
        ids, characters = (part[:room] for part in context_tokens(example.context))
        label = (IGNORE, IGNORE)
        if example.answers:
            start, end = example.start, example.start + len(example.answers[0])
            inside = [i for i, (s, e) in enumerate(characters) if s < end and e > start]
            complete = inside and characters[inside[-1]][1] >= end
            if not complete or example.context[start:end] != example.answers[0]:
                continue
            label = (before + inside[0], before + inside[-1])
        laid.append(with_special_tokens(question, ids))
        kept.append(example)
        labels.append(label)
        after = sequence_length - before - len(characters)
        spans.append([(0, 0)] * before + characters + [(0, 0)] * after)
    data = as_data(laid, labels, sequence_length)
    return SpanData(data, kept, torch.tensor(spans), len(examples) - len(kept))
