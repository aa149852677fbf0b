"""Cards of notebook 11: the same story with other verbs, and the loss of a span.

Their known mistakes are edits in mistakes/11.txt.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import gradients
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.batch import IGNORE


def span_loss(start: Tensor, end: Tensor, context: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """``span_loss(start[B,S], end[B,S], context[B,S], first[B], last[B]) -> loss``: the mean of the
    two cross-entropies, of the first and of the last position of the answer. ``context`` is True on
    tokens that may answer; the others get no probability. Rows whose ``first`` and ``last`` are
    -100 have no answer and do not count; at least one row has one. The loss trains a model, so
    gradients must reach ``start`` and ``end``."""
    scores = torch.stack((start, end)).masked_fill(~context, -math.inf)  # 2 B S
    labels = torch.stack((first, last))
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def _span_loss_cases(draw: Draw) -> Cases:
    B = 5
    S = 9
    start = draw.randn(B, S)
    end = draw.randn(B, S)
    first = draw.integers(3, 5, B)
    last = first + draw.integers(1, 3, B)
    everyone = torch.ones(B, S).bool()
    context = (torch.arange(S) > 2).expand(B, S)
    some = [label.where(torch.arange(B) < 3, IGNORE) for label in (first, last)]
    yield Case(
        "is the mean of the two losses",
        inputs=(start, end, everyone, first - 3, last - 3),
        weight=2.0,
    )
    yield Case("lets only the context answer", (start - 500, end - 500, context, first, last))
    yield Case("leaves out questions without an answer", (start, end, context, *some))
    yield Case(
        "lets start and end learn",
        inputs=(start, end, context, *some),
        weight=2.0,
        ask=gradients,
        atol=1e-4,
    )


check_span_loss = make_check("notebook 11.2", span_loss, _span_loss_cases)


def with_verbs(sentences: list[str], verbs: list[str]) -> list[str]:
    """``with_verbs(sentences, verbs) -> sentences``: the same sentences with other verbs. The verb
    is the second word of a sentence. Sentence i gets verb i, and all other words stay. The two
    lists are as long as each other, and stay as they are."""
    told = []
    for sentence, verb in zip(sentences, verbs, strict=True):
        words = sentence.split()
        words[1] = verb
        told.append(" ".join(words))
    return told


def _with_verbs_cases(draw: Draw) -> Cases:
    kate = "kate bought the moon in town."
    leo = "leo opened the box with care."
    again = "anna showed the bag before anna showed the box."

    yield Case("exchanges one verb", ([kate], ["opened"]))
    yield Case("gives each sentence its own verb", ([kate, leo], ["sold", "kept"]), weight=2.0)
    yield Case("leaves the same word alone elsewhere", ([again], ["hid"]))
    yield Case("leaves a sentence with its old verb as it was", ([leo, kate], ["opened", "sold"]))


check_with_verbs = make_check("notebook 11.1", with_verbs, _with_verbs_cases, pure=True)
