"""Scores of the benchmarks, as their own scripts and scikit-learn compute them."""

import collections
import re
import string

import numpy as np
import pytest
import torch

from albert_edu.training.metrics import f1, label_scores, squad_scores


def test_the_scores_are_those_of_scikit_learn():
    metrics, rng = pytest.importorskip("sklearn.metrics"), np.random.default_rng(0)
    for labels, predictions in [(rng.integers(0, 2, 50), rng.integers(0, 2, 50)) for _ in range(5)]:
        scores = label_scores(torch.from_numpy(predictions), torch.from_numpy(labels))
        names = {"accuracy": "accuracy_score", "f1": "f1_score", "matthews": "matthews_corrcoef"}
        theirs = {name: getattr(metrics, names[name])(labels, predictions) for name in names}
        assert scores == pytest.approx(theirs)
    assert f1(np.zeros(50), np.zeros(50)) == 0


def published_score(answer: str, gold: list[str]) -> tuple[float, float]:
    """The rules of SQuAD 2.0's evaluation script for one question, written down again."""

    def tokens(text: str) -> list[str]:
        text = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    def overlap(ours: list[str], theirs: list[str]) -> float:
        same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
        if not same:
            return float(ours == theirs)
        precision, recall = same / len(ours), same / len(theirs)
        return 2 * precision * recall / (precision + recall)

    truths = [tokens(text) for text in gold if tokens(text)] or [[]]
    return float(tokens(answer) in truths), max(overlap(tokens(answer), truth) for truth in truths)


def test_squad_scores_are_the_means_of_the_published_rules():
    rng = np.random.default_rng(0)
    words = ["the", "A", "an", "oven", "Oven's", "1,859", "...", "old", ""]
    texts = [" ".join(rng.choice(words, rng.integers(4))) for _ in range(400)]
    questions = [(texts[i], texts[-i : -i + i % 4]) for i in range(4, 300)]
    # What normalises to nothing does not count, unless nothing else is left.
    questions += [("the", ["...", "oven"]), ("", ["the"])]
    for part in (*([question] for question in questions), questions):
        exact, f1 = np.mean([published_score(*question) for question in part], 0)
        expected = pytest.approx({"exact_match": exact, "f1": f1})
        assert squad_scores(*zip(*part, strict=True)) == expected
