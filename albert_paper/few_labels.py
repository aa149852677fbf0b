"""What pre-training is worth where labels are few: a task of two sentences, made from stories.

Is a stage of the story missing between the two sentences? A trained run goes in; the accuracies of
copies of it that were fine-tuned on 50 and on 200 examples come out (section ``labels`` of the
plan).
"""

import dataclasses
from copy import deepcopy
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import torch

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.corpora import hold_out, load_corpus
from albert_edu.text.prepare import PreparedText
from albert_edu.text.tasks import Example, encode_pairs
from albert_edu.training.finetune import finetune, task_scores
from albert_edu.training.settings import TrainSettings
from albert_paper.text_scores import scores

if TYPE_CHECKING:
    from datasets import Dataset

    from albert_paper.training_run import Run

EXAMPLES = 4000  # a quarter of them test
LABEL_COUNTS = (50, 200)  # to learn the task from
FINETUNE_SETTINGS = TrainSettings(steps=200, learning_rate=1e-3, warmup_steps=40)


def few_labels(model: AlbertForPretraining, text: PreparedText, run: "Run") -> dict:
    """Return ``scores``, and the accuracies on ``story_gap`` after learning it from few labels.

    These stand under ``labels_50`` and ``labels_200``. Notebook 09 reads the record.
    """
    device = next(model.parameters()).device
    record = scores(model, text, run)
    train_examples, test_examples = story_gap(run.corpus, EXAMPLES, run.seed)
    train = encode_pairs(train_examples, text.tokenizer, run.sequence_length)
    test = encode_pairs(test_examples, text.tokenizer, run.sequence_length)
    settings = dataclasses.replace(FINETUNE_SETTINGS, seed=run.seed)
    # Most of ``train`` is not used, but drawing fewer would draw other test pairs than recorded.
    for labels in LABEL_COUNTS:
        torch.manual_seed(run.seed)  # of the head
        task = AlbertForClassification(deepcopy(model.albert), 2).to(device)
        finetune(task, train.rows(slice(labels)), settings)
        record[f"labels_{labels}"] = {"accuracy": task_scores(task, test)["accuracy"]}
    return record


def story_gap(corpus: str, examples: int, seed: int) -> tuple[list[Example], list[Example]]:
    """Do two sentences of a story follow each other (0), or is one between them left out (1)?

    It takes both sentences, and it is not sentence order, because no pair is ever swapped. Half of
    the labels are 0, on average. Stories are drawn with replacement; those of the test are what
    ``prepare(corpus)`` holds out.
    """
    train, test = hold_out(load_corpus(corpus))
    rng = np.random.default_rng(seed)
    test_size = examples // 4
    train_examples = [gap_example(train, rng) for _ in range(examples - test_size)]
    test_examples = [gap_example(test, rng) for _ in range(test_size)]
    return train_examples, test_examples


def gap_example(stories: "Dataset", rng: np.random.Generator) -> Example:
    """Draw a story, a label, and two of its sentences that have this label."""
    sentences = stories[int(rng.integers(len(stories)))]["sentences"]
    label = int(rng.integers(2))
    every = combinations(range(len(sentences)), 2)
    pairs = [(i, j) for i, j in every if (j > i + 1) == label]
    i, j = pairs[rng.integers(len(pairs))]
    return Example(sentences[i], sentences[j], label)
