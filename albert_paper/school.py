"""Can a small model learn to read, and does it take pre-training?

A trained run goes in. A copy of it, and one that starts from random weights, go through a school of
shuffled stories: first of one sentence, then of two, three and four. Their marks come out, and how
they do in an exam on four shuffled sentences. Notebook 11 explains the school and reads the record.
"""

from copy import deepcopy
from pathlib import Path

import torch
from safetensors.torch import save_file

from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.model.task_heads import AlbertForSpan
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.prepare import PreparedText
from albert_edu.text.questions import all_story_questions, story_questions
from albert_edu.text.tasks import SpanExample, encode_spans
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training.finetune import answers_to, finetune
from albert_edu.training.settings import TrainSettings
from albert_paper.text_scores import scores
from albert_paper.training_run import Run

# Each class: the sentences of a story, the steps of a term, the learning rate.
CLASSES = (
    (1, 100, 1e-3),
    (2, 1000, 2e-3),
    (3, 1200, 1e-3),
    (4, 1000, 2e-3),
)
TERMS = 2  # of a class, at most
PASSED = 0.9  # of the answers are right
SHIPPED = ("eight heads", 31)  # row and seed of the pupil of notebook 11, the best in the exam


def school(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return ``scores``, and what became of both pupils under ``pre_trained`` and ``random``.

    Each has its ``marks``, a pair (sentences, share right) for each term, and ``exam``, the share
    of 500 questions about four shuffled sentences that it answers rightly.
    """
    record = scores(model, text, run)
    torch.manual_seed(run.seed)
    beginner = AlbertForPretraining(model.config).to(next(model.parameters()).device)
    for name, encoder in (("pre_trained", model.albert), ("random", beginner.albert)):
        pupil, marks = taught(encoder, text.tokenizer, run.seed)
        exam = share_right(pupil, text.tokenizer, shuffled_exam(), 4)
        record[name] = {"marks": marks, "exam": exam}
    return record


def keep_pupil(run, path: Path) -> list[tuple[int, float]]:
    """Pre-train the model of a run, send it to school, write its weights; return its marks.

    Notebook 11 loads the file that was made so. It takes about three minutes on one core.
    """
    trained = run.train()
    pupil, marks = taught(trained.model.albert, trained.text.tokenizer, run.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(pupil.state_dict(), path)
    return marks


def shuffled_exam() -> list[SpanExample]:
    """Return the questions of notebook 11 about four shuffled sentences of unseen stories."""
    _, unseen = hold_out(load_corpus("stories"))
    return story_questions(unseen, 500, seed=1, shuffled=True)


def taught(
    encoder: Albert, tokenizer: AlbertTokenizer, seed: int
) -> tuple[AlbertForSpan, list[tuple[int, float]]]:
    """Send a copy of an encoder, with a new span head, to school; return it with its marks."""
    torch.manual_seed(seed)  # of the head
    pupil = AlbertForSpan(deepcopy(encoder)).eval().to(next(encoder.parameters()).device)
    stories, unseen = hold_out(load_corpus("stories"))
    marks: list[tuple[int, float]] = []
    for sentences, steps, rate in CLASSES:
        asked = all_story_questions(unseen, 30, 1, sentences)
        for term in range(TERMS):
            seed_of_term = 10 * sentences + term  # each term asks about other stories
            count = 16 * steps // sentences  # of stories, so that no batch comes twice
            lessons = all_story_questions(stories, count, seed_of_term, sentences)
            data = encode_spans(lessons, tokenizer, length_for(sentences))
            # In order, so that the questions about a story stay in one batch.
            finetune(pupil, data, TrainSettings(steps, rate, 40, seed=term), in_order=True)
            marks.append((sentences, share_right(pupil, tokenizer, asked, sentences)))
            if marks[-1][1] > PASSED:
                break
        else:
            break
    return pupil, marks


def length_for(sentences: int) -> int:
    """Return the tokens of a row into which a question and so many sentences fit."""
    return 20 + 11 * sentences


def share_right(
    pupil: AlbertForSpan, tokenizer: AlbertTokenizer, asked: list[SpanExample], sentences: int
) -> float:
    """Return the share of questions whose answer is the expected word."""
    data = encode_spans(asked, tokenizer, length_for(sentences))
    said = answers_to(pupil, data)
    right = [answer == one.answers[0] for answer, one in zip(said, data.examples, strict=True)]
    return sum(right) / len(right)
