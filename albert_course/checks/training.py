"""Card of notebook 07: one step of the optimizer on a batch in parts."""

import copy
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch.nn.utils import parameters_to_vector

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch
from albert_edu.text.masking import IGNORE


def accumulation(
    model: AlbertForPretraining, parts: Sequence[PretrainingBatch], optimizer: torch.optim.Optimizer
) -> float:
    """``step_in_parts(model, parts, optimizer) -> loss``: one step of the optimizer on the
    masked-token loss of a batch that comes as ``parts``, a list of PretrainingBatch: the mean over
    all masked tokens of all parts, which is also returned, as a number or a tensor of one.
    ``model(part).masked_token_loss`` is the mean over those of one part (0 if there are none),
    ``part.num_masked`` their number. One part after another, so that the memory for one is enough.
    Called for one batch after another."""
    whole = sum(part.num_masked for part in parts)
    total = 0.0
    optimizer.zero_grad()
    for part in parts:
        share = part.num_masked / whole
        loss = model(part).masked_token_loss
        (share * loss).backward()
        total += share * loss.item()
    optimizer.step()
    return total


def _parts(draw: Draw, counts: Sequence[int]) -> list[PretrainingBatch]:
    """Parts of one or two sequences of six tokens, with so many of them masked."""
    parts = []
    for n in counts:
        B = 1 if n < 3 else 2
        labels = torch.where(torch.arange(3 * B) < n, draw.integers(5, 12, 3 * B), IGNORE)
        places = torch.tensor([[1, 2, 4]]).expand(B, 3)
        ids, order = draw.integers(5, 12, B, 6), draw.integers(0, 2, B)
        parts.append(
            PretrainingBatch(ids, 0 * ids, torch.ones_like(ids), places, labels.view(B, 3), order)
        )
    return parts


def _batches(draw: Draw) -> Cases:
    model = AlbertForPretraining(
        AlbertConfig(
            vocab_size=12,
            embedding_size=4,
            hidden_size=8,
            num_layers=1,
            num_heads=2,
            max_positions=6,
        )
    )
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.4 * draw.randn(*weight.shape)
    parts = _parts(draw, draw.numpy.permutation([1, 3, 6]).tolist())
    others = _parts(draw, [4, 0, 2])

    def run(answer, model, batches, clear=False):
        """What is returned, how far the weights move, and what happened in which order."""
        start, events = copy.deepcopy(model), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        model.albert.embeddings.register_forward_hook(
            lambda *_: events.append("forward") if torch.is_grad_enabled() else None
        )
        model.masked_token_head.decoder.bias.register_hook(lambda _: events.append("backward"))
        optimizer.register_step_post_hook(lambda *_: events.append("step"))
        for parts in batches:
            loss = answer(model, parts, optimizer)
            if clear:
                model.zero_grad()
        before, after = (parameters_to_vector(m.parameters()).detach() for m in (start, model))
        return loss, after - before, events

    def movement(answer, model, batches):
        return run(answer, model, batches)[1]

    def steps(answer, model, batches):
        count = run(answer, model, batches)[2].count("step")
        need(count == 1, f"optimizer.step() was called {count} times")
        return True

    def memory(answer, model, batches):
        events = run(answer, model, batches)[2]
        need("backward" in events, "no gradient ever reached the weights")
        need(
            ("forward", "forward") not in pairwise(events),
            "the graphs of several parts are held "
            "at once: call backward for each part before the next one is computed",
        )
        return True

    def loss_of(answer, model, batches):
        return run(answer, model, batches)[0]

    def traces(answer, model, batches):
        """How much of the first batch is left in the second step."""
        twice = run(answer, copy.deepcopy(model), copy.deepcopy(batches))[1]
        need(bool(twice.any()), "the weights do not move at all")
        return (twice - run(answer, model, batches, clear=True)[1]).norm()

    yield Case("moves the weights as the whole batch would", (model, [parts]), 3.0, movement)
    yield Case("takes one step a batch", (model, [parts]), 1.0, steps)
    yield Case("keeps the memory of one part at a time", (model, [parts]), 1.0, memory)
    yield Case("returns the loss of the batch", (model, [parts]), 1.0, loss_of)
    yield Case("goes on past a part without a masked token", (model, [others]), 1.0, movement)
    yield Case("forgets the batch before", (model, [parts, others]), 2.0, traces)


check_accumulation = card(
    "07.5",
    accumulation,
    _batches,
    {
        "giving every part the same weight, a mean of means": "share = 1 / len(parts)",
        "adding the parts' means up": "share = 1",
        "adding nats up without dividing by the number of masked tokens": "share = part.num_masked",
        "weighting parts by their sequences instead of their masked tokens": "share = len(part) / sum(map(len, parts))",
        "counting a part without masked tokens as one token": "part.num_masked => max(part.num_masked, 1)",
        "clearing the gradients inside the loop, so that only the last part's are left": "share = part.num_masked / whole; optimizer.zero_grad()",
        "calling backward on a running sum: the first part counts three times then": (
            "(share * loss).backward() => total = total + share * loss",
            "total += share * loss.item() => total.backward(retain_graph=True)",
        ),
        "taking output.loss, which has the loss of the order in it": "loss = model(part).loss",
        "stepping after each part": (
            "share = part.num_masked / whole; optimizer.zero_grad()",
            "    optimizer.step()\n => ",
            "total += share * loss.item(); optimizer.step()",
        ),
        "stepping after each part with the gradients so far: optimizer.step() was called 3 times": (
            "    optimizer.step()\n => ",
            "total += share * loss.item(); optimizer.step()",
        ),
        "never stepping, or clearing the gradients before the step": "optimizer.step() => optimizer.zero_grad()\n    optimizer.step()",
        "gradients of the batch before are still there: zero_grad once a batch": "    optimizer.zero_grad()\n => ",
        "the graphs of several parts are held at once: call backward for each part before the next "
        "one is computed": (
            "(share * loss).backward() => total = total + share * loss",
            "total += 0",
            "optimizer.step() => total.backward()\n    optimizer.step()",
        ),
        "averaging the parts' losses in what is returned": "total += loss.item() / len(parts)",
        "returning the loss of the last part": "return loss.item()",
        "returning the last part's share of the loss": "return share * loss.item()",
        "dividing by whole / part.num_masked, which is 0 / 0 for a part without masked tokens": "share = 1 / (whole / part.num_masked)",
    },
)
