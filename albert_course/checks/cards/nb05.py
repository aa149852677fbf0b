"""Cards of notebook 05: one die per word, a gradient in parts, a baseline without context."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import by_seed
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.text.masking import IGNORE
from albert_edu.text.tokenizer import MASK


def replace_by_word(
    rng: np.random.Generator,
    token_ids: np.ndarray,
    masked: np.ndarray,
    starts_word: np.ndarray,
    vocab_size: int,
) -> np.ndarray:
    """``replace_by_word(rng, token_ids, masked, starts_word, vocab_size) -> seen[B,S]``: as
    ``replace_masked``, but all tokens of a word share one die. ``starts_word[B,S]`` is True where
    a word begins, ``masked[B,S]`` at masked positions; random tokens are ids from 5 on."""
    word = np.cumsum(starts_word).reshape(starts_word.shape)
    dice = rng.random(word.max() + 1)[word]
    random_ids = rng.integers(MASK + 1, vocab_size, token_ids.shape)
    replaced = np.where(dice < 0.8, MASK, np.where(dice < 0.9, random_ids, token_ids))
    return np.where(masked, replaced, token_ids)


def _replace_by_word_cases(draw: Draw) -> Cases:
    starts, ids = draw.numpy.random((4000, 25)) < 0.6, draw.numpy.integers(5, 400, (4000, 25))
    words = np.cumsum(starts).reshape(ids.shape)
    masked = (draw.numpy.random(10**5 + 1) < 0.5)[words] & (ids % 9 > 0)
    both, first = masked[:, 1:] & masked[:, :-1], starts[:, 1:]
    above = (masked[1:] & masked[:-1])[:, :2]  # few, so their share is held to 3 * 0.03

    def shares(answer, *inputs):
        seen = answer(*inputs)
        fate = np.where(seen == MASK, 1, 2 * (seen == ids))
        new, V = seen[masked & (fate == 0)], inputs[-1]
        along, down = np.diff(fate) != 0, np.diff(fate[:, :2], axis=0)[above] != 0
        parts = (
            fate[masked] == 1,
            fate[masked] == 2,
            (fate[~masked] != 2).any(),
            ((new < MASK) | (new >= V)).any(),
            new / V,
            (seen[:, 1:] == seen[:, :-1])[both & ~first & (fate[:, 1:] == 0)],
            along[both & ~first],
            along[both & first],
            down / 3,
        )
        return torch.tensor([part.mean() for part in parts]).double()

    for name, V, chosen in (
        ("gives 80% [MASK], leaves 10%, changes nothing else", 400, slice(6)),
        ("draws no id but 5 where V is 6", 6, slice(6)),
        ("throws one die for each word", 400, slice(6, 9)),
    ):
        yield Case(
            name,
            (draw.numpy, ids, masked, starts, V),
            1.0,
            lambda answer, *inputs, at=chosen: shares(answer, *inputs)[at],
            0.03,
        )
    yield Case(
        "takes its chance from `rng`",
        (),
        1.0,
        lambda answer: by_seed(
            lambda seed: answer(
                np.random.default_rng(seed), ids.copy(), masked.copy(), starts.copy(), 400
            )
        ),
    )


check_replace_by_word = card("notebook 05.1", replace_by_word, _replace_by_word_cases)


def gradient_in_parts(head: torch.nn.Linear, parts: list[tuple]) -> Tensor:
    """``gradient_in_parts(head, parts) -> gradient[V,H]`` of the MLM loss of the whole batch with
    respect to ``head.weight``, one part after another. ``head(hidden[N,H])`` gives logits[N,V].
    ``parts`` is a list of (hidden[N,H], labels[N]); label -100 means nothing to predict."""
    total = sum((labels != IGNORE).sum() for _, labels in parts)
    head.zero_grad()
    for hidden, labels in parts:
        loss = F.cross_entropy(head(hidden), labels, reduction="sum")
        (loss / total).backward()
    return head.weight.grad


def _gradient_in_parts_cases(draw: Draw) -> Cases:
    parts = [(draw.randn(6, 4), draw.integers(0, 7, 6)) for _ in range(3)]
    for (_, labels), used in zip(parts, (1, 5, 3), strict=True):
        labels[used:] = IGNORE

    def order(answer, head, parts):
        events = []
        head.register_forward_hook(lambda *_: events.append("forward"))
        head.weight.register_hook(lambda gradient: events.append("backward"))
        answer(head, parts)
        return events

    inputs = torch.nn.Linear(4, 7), parts
    yield Case(
        "is the gradient of the global mean, also when called again",
        inputs,
        2.0,
        lambda answer, *inputs: [answer(*inputs) for _ in range(2)],
    )
    yield Case("runs forward and backward for one part after another", inputs, 1.0, order)


check_gradient_in_parts = card("notebook 05.2", gradient_in_parts, _gradient_in_parts_cases)


def copy_baseline(q: Tensor, to_mask: float, to_random: float) -> Tensor:
    """``copy_baseline(q, to_mask, to_random) -> loss`` in nats: the best MLM loss without context
    for V tokens with frequencies q[V]. A masked position shows [MASK] in a share ``to_mask``, one
    of the V tokens drawn evenly in a share ``to_random``, and the label otherwise."""
    unchanged = (1 - to_mask - to_random) * torch.eye(len(q))
    joint = q[:, None] * (unchanged + to_random / len(q))  # V label, V seen
    posterior = joint / joint.sum(0).clamp(min=1e-30)  # no 0 / 0 where nothing is visible
    visible = -torch.special.xlogy(joint, posterior).sum()
    return visible - to_mask * torch.special.xlogy(q, q).sum()


def _copy_baseline_cases(draw: Draw) -> Cases:
    for name, rates in (
        ("is the copy baseline of 80/10/10", (0.8, 0.1)),
        ("costs nothing at visible tokens without random ones", (0.8, 0.0)),
        ("is the unigram baseline if all show [MASK]", (1.0, 0.0)),
    ):
        yield Case(name, (draw.randn(12).softmax(0), *rates))


check_copy_baseline = card("notebook 05.3", copy_baseline, _copy_baseline_cases)
