"""The benchmarks' scores under their names, each beside the majority baseline (notebook 11)."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from albert_edu.errors import InputError


def matthews(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Return Matthews' correlation of classes 0 and 1 (CoLA), and 0 if either side is constant.

    It is Pearson's correlation of the class numbers.
    """
    if np.ptp(predictions) == 0 or np.ptp(labels) == 0:
        return 0.0
    return float(np.corrcoef(predictions, labels)[0, 1])


def f1(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Return the F1 score of class 1 (MRPC, QQP): twice the hits over all that are 1 on a side."""
    said = predictions == 1
    right = labels == 1
    hits = (said & right).sum()
    return float(2 * hits / max(said.sum() + right.sum(), 1))


def label_scores(predictions: Tensor, labels: Tensor, classes: int = 2) -> dict[str, float]:
    """Return the accuracy of predicted classes, and of two ``classes`` also f1 and matthews.

    ``classes`` is the number that the model knows, because a test may lack some of them.
    """
    said = predictions.numpy()
    right = labels.numpy()
    if said.shape != right.shape or said.dtype.kind == "f":
        raise InputError(
            f"a head's predict must give labels, and gave {said.dtype} of {said.shape}."
        )
    scores = {"accuracy": float((said == right).mean())}
    if classes == 2:
        scores["f1"] = f1(said, right)
        scores["matthews"] = matthews(said, right)
    return scores


def squad_scores(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return SQuAD's ``exact_match`` and ``f1``, means over all questions.

    The score of a question is the best over its gold answers. As in the official script, gold
    answers of which nothing is left by ``answer_words`` do not count, and a question without others
    wants the empty answer.
    """
    exact = 0
    overlap = 0.0
    for answer, texts in zip(answers, gold, strict=True):
        wanted = [text for text in texts if answer_words(text)] or [""]
        exact += answer_words(answer) in map(answer_words, wanted)
        overlap += max(word_f1(answer, text) for text in wanted)
    return {"exact_match": exact / len(answers), "f1": overlap / len(answers)}


def answer_words(text: str) -> list[str]:
    """Return what SQuAD compares: lower case, no punctuation, no articles.

    >>> answer_words("The Senate's chamber, (1859)")
    ['senates', 'chamber', '1859']
    """
    plain = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def word_f1(answer: str, wanted: str) -> float:
    """Return the harmonic mean of the shares of common words in two texts.

    If a text has no words, the score is 1 where neither has, else 0.

    >>> round(word_f1("the old chamber", "old Senate chamber"), 2)
    0.8
    """
    ours = answer_words(answer)
    theirs = answer_words(wanted)
    if not ours or not theirs:
        return float(ours == theirs)
    common = Counter(ours) & Counter(theirs)  # as often as in the text that has it less often
    return 2 * common.total() / (len(ours) + len(theirs))
