"""Read the files of SQuAD and RACE, and encode questions about a context (notebook 11)."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from albert_edu.errors import blame, read_file, read_json
from albert_edu.text.files import text_files
from albert_edu.text.glue import TaskFileError, nonempty
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.masking import IGNORE
from albert_edu.text.tasks import ChoiceExample, TaskData, Tokenizer, as_data, with_special_tokens
from albert_edu.text.tokenizer import WORD_START, AlbertTokenizer, normalise

SQUAD = "SQuAD is JSON with data, paragraphs, context, qas, id, question, answers, answer_start."
RACE = "RACE is JSON with an article, and 4 options and an answer A to D for each of its questions."
LETTERS = ["A", "B", "C", "D"]
WithOffsets = tuple[list[int], list[tuple[int, int]]]
STRIDE = 128  # tokens from one window to the next, as in the authors' code


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
    """Encoded questions, in N windows over their contexts, and what turns positions into text."""

    data: TaskData
    examples: list[SpanExample]
    question_of: Int[Tensor, "N"]  # the number in ``examples`` of each window's question
    characters: list[Int[np.ndarray, "T 2"]]  # start and end of each window's context tokens
    unanswerable: bool  # whether a question may have no answer, as in SQuAD 2.0


def read_squad(path: str | Path, labelled: bool = True) -> list[SpanExample]:
    """Read a SQuAD 1.1 or 2.0 file: the published JSON, or the Hub's parquet, a question a row.

    In 1.1 every question has an answer; in parquet one without answers is taken for unanswerable.
    Without ``labelled`` no question needs one. Raises TaskFileError, with the question, for missing
    parts, ids that occur twice, empty texts and answers that are not where the file says.
    """
    path, examples = Path(path), {}
    with blame(path, TaskFileError, SQUAD):
        rows = _rows(path)
        for article in rows if not rows or "question" in rows[0] else rows[0]["data"]:
            for paragraph in article.get("paragraphs", [article]):
                for question in paragraph.get("qas", [paragraph]):
                    example = _span_example(question, paragraph["context"], labelled)
                    if examples.setdefault(example.id, example) is not example:
                        raise ValueError(f"two questions have the id {example.id}")
    return nonempty(list(examples.values()), path)


def _span_example(question: dict, context: str, labelled: bool) -> SpanExample:
    name, impossible = f"question {question['id']}", question.get("is_impossible")
    answers = [] if impossible else question.get("answers", [])
    if isinstance(answers, dict):  # as on the Hub
        pairs = zip(answers["text"], answers["answer_start"], strict=True)
        answers = [{"text": text, "answer_start": start} for text, start in pairs]
        impossible = not answers
    if labelled and not answers and not impossible:
        raise ValueError(f"{name} has no answer and is not marked impossible")
    if question["id"] is None or not context.strip() or not question["question"].strip():
        raise ValueError(f"{name} or its context is empty")
    texts = tuple(answer["text"] for answer in answers)
    starts = [answer["answer_start"] for answer in answers]
    for start, text in zip(starts, texts, strict=True):
        if not text or context[start : start + len(text)] != text:
            raise ValueError(f"{name}: the answer {text!r} is not at character {start}")
    return SpanExample(question["id"], question["question"], context, texts, *starts[:1])


def read_race(folder: str | Path, labelled: bool = True) -> list[ChoiceExample]:
    """Read RACE's folder ``train``, ``dev`` or ``test``, one level of it, or one article (.txt).

    A .parquet file of the Hub has a question in each row, and is read as well.

    An option takes the place of the blank "_" in a question, or follows the question, as in the
    authors' code. Without ``labelled`` all labels are 0. Raises TaskFileError with the article.
    """
    examples = []
    for path, article in ((file, row) for file in text_files(folder) for row in _rows(file)):
        with blame(path, TaskFileError, RACE):
            if "question" in article:  # as on the Hub
                columns = {"questions": "question", "options": "options", "answers": "answer"}
                article |= {key: [article.get(column)] for key, column in columns.items()}
            text, questions, options = (article[key] for key in ("article", "questions", "options"))
            if not text.strip():
                raise ValueError("the article is empty")
            answers = article["answers"] if labelled else "A" * len(questions)
            for question, four, answer in zip(questions, options, answers, strict=True):
                if not isinstance(four, list) or len(four) != 4 or answer not in LETTERS:
                    raise ValueError(f"{question!r} has the options {four} and answer {answer!r}")
                pattern = question if "_" in question else f"{question} _"
                choices = tuple(pattern.replace("_", option) for option in four)
                examples.append(ChoiceExample(text, choices, LETTERS.index(answer)))
    return nonempty(examples, folder)


def _rows(path: Path) -> list[dict]:
    """Return the rows of a table of the Hub, or the one object of a JSON file."""
    from pyarrow.parquet import read_table

    if path.suffix != ".parquet":
        return [read_json(path, TaskFileError)]
    return read_file(path, lambda file: read_table(file).to_pylist(), TaskFileError, None)


@lru_cache(1 << 16)
def _word_with_offsets(word: str, tokenizer: AlbertTokenizer) -> WithOffsets:
    ids = tokenizer.encode(word)
    surfaces = tokenizer.processor.encode(normalise(word), out_type=str)
    ends = np.cumsum([len(surface.replace(WORD_START, "")) for surface in surfaces]).tolist()
    if len(ids) == len(ends) and ends[-1:] == [len(word)]:
        return ids, list(zip([0, *ends[:-1]], ends, strict=True))
    return ids, [(0, len(word))] * len(ids)


def tokens_with_offsets(text: str, tokenizer: Tokenizer) -> WithOffsets:
    """Return token ids, and the characters [start, end) of the text that each token stands for.

    The tokenizer sees normalised text, so we go word by word (no token crosses a space). Where
    normalising changes the length of a word, each of its tokens stands for the whole word.
    """
    if isinstance(tokenizer, HubTokenizer):
        return tokenizer.encode_with_offsets(text)
    ids, characters = [], []
    for word in re.finditer(r"\S+", text):
        of_word, places = _word_with_offsets(word[0], tokenizer)
        ids += of_word
        characters += [(word.start() + start, word.start() + end) for start, end in places]
    return ids, characters


def encode_spans(
    examples: list[SpanExample], tokenizer: Tokenizer, sequence_length: int
) -> SpanData:
    """[CLS] question [SEP] context [SEP]; labels [N,2] are the answer's first and last position.

    A question keeps 64 tokens, or a third of S if that is less. A longer context becomes several
    windows, which begin ``STRIDE`` tokens, or half of a window if that is less, after the one
    before. The labels are IGNORE in windows that do not hold the whole answer, as in the authors'
    code. Notebook 11.
    """
    laid, labels, question_of, characters = [], [], [], []
    context_tokens = cache(lambda context: tokens_with_offsets(context, tokenizer))
    questions = tokenizer.encode_many([example.question for example in examples])
    for number, (example, question) in enumerate(zip(examples, questions, strict=True)):
        question = question[: min(64, sequence_length // 3)]
        room, before = sequence_length - 3 - len(question), len(question) + 2
        ids, places = context_tokens(example.context)
        places, stride = np.array(places).reshape(-1, 2), min(STRIDE, room // 2)
        end = example.start + len(example.answers[0]) if example.answers else -1
        answer = np.flatnonzero((places[:, 0] < end) & (places[:, 1] > example.start))
        for begin in range(0, max(len(ids) - room, 0) + stride, stride):
            window = ids[begin : begin + room]
            inside = len(answer) and begin <= answer[0] and answer[-1] < begin + len(window)
            laid.append(with_special_tokens(question, window, tokenizer.cls_id, tokenizer.sep_id))
            labels.append([before - begin + answer[i] if inside else IGNORE for i in (0, -1)])
            question_of.append(number)
            characters.append(places[begin : begin + room])
    data, number = as_data(laid, labels, sequence_length), torch.tensor(question_of)
    return SpanData(data, examples, number, characters, not all(e.answers for e in examples))
