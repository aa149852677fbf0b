"""Cards of notebook 07: a step for a batch in parts, and LAMB.

Their known mistakes are edits in mistakes/07.txt.
"""

import copy
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from albert_course.checks.cards.nb04_gradients import small_batch, small_model
from albert_course.checks.engine.asking import need, part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def accumulation(model, parts, optimizer) -> float:
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


def _accumulation_cases(draw: Draw) -> Cases:
    model = small_model(draw, num_layers=1)
    sizes = (1,), (3, 0), (3, 3)
    parts = [small_batch(draw, *sizes[k]) for k in draw.numpy.permutation(3)]
    others = [small_batch(draw, *masked) for masked in ((3, 1), (0,), (2,))]

    def run(answer, model, batches, clear=False):
        """What is returned, how far the weights move, and what happened in which order."""
        before = parameters_to_vector(model.parameters()).detach()
        events = []
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
        return loss, parameters_to_vector(model.parameters()).detach() - before, events

    def steps(answer, model, batches):
        """How often the optimizer steps."""
        return run(answer, model, batches)[2].count("step")

    def memory(answer, model, batches):
        """Whether gradients are made, and each graph goes before the next one comes."""
        events = run(answer, model, batches)[2]
        return {
            "a gradient reaches the weights": "backward" in events,
            "one graph is held at a time": ("forward", "forward") not in pairwise(events),
        }

    def traces(answer, model, batches):
        """How much of the first batch is left in the second step."""
        twice = run(answer, copy.deepcopy(model), copy.deepcopy(batches))[1]
        need(bool(twice.any()), "the weights do not move at all")
        return (twice - run(answer, model, batches, clear=True)[1]).norm()

    moved = part_of(1, run)
    yield Case(
        "moves the weights as the whole batch would",
        inputs=(model, [parts]),
        weight=3.0,
        ask=moved,
        atol=1e-4,
    )
    yield Case("takes one step a batch", inputs=(model, [parts]), ask=steps)
    yield Case(
        "keeps the memory of one part at a time",
        inputs=(model, [parts]),
        ask=memory,
    )
    yield Case(
        "returns the loss of the batch",
        inputs=(model, [parts]),
        ask=part_of(0, run),
    )
    yield Case(
        "goes on past a part without a masked token",
        inputs=(model, [others]),
        ask=moved,
        atol=1e-4,
    )
    yield Case(
        "forgets the batch before",
        inputs=(model, [parts, others]),
        weight=2.0,
        ask=traces,
    )


check_accumulation = make_check("assignment 07.5", accumulation, _accumulation_cases)


def lamb(weights, gradients, lr, decay) -> dict[str, Tensor]:
    """``lamb(weights, gradients, lr, decay) -> weights``: LAMB as ALBERT's authors train with it,
    one step for each entry of the list ``gradients``. Weights, each entry and the result are dicts
    from name to tensor. For each tensor m ← 0.9 m + 0.1 g and v ← 0.999 v + 0.001 g², both from 0
    and not corrected for that; u = m / (√v + 1e-6) + decay·w; w ← w - lr·(|w| / |u|)·u. The ratio
    is 1 where |w| or |u| is 0. Tensors named ``*bias`` or ``*.norm.*`` get no decay and the ratio
    1, and no other tensors."""
    after = {}
    for name, w in weights.items():
        spared = name.endswith("bias") or ".norm." in name
        c = 0.0 if spared else decay
        w, m, v = w.double(), 0.0, 0.0
        for step, entry in enumerate(gradients):  # noqa: B007 - an edit uses step
            g = entry[name].double()
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g**2
            u = m / (v.sqrt() + 1e-6) + c * w
            ratio = w.norm() / u.norm() if w.any() and u.any() else 1.0
            w = w - lr * (1.0 if spared else ratio) * u
        after[name] = w
    return after


def _lamb_cases(draw: Draw) -> Cases:
    lr, decay = (0.1 + 0.1 * draw.numpy.random(2)).tolist()

    def tensors(**shapes):
        """Drawn tensors by name; two underscores stand for a point."""
        return {name.replace("__", "."): draw.randn(*shape) for name, shape in shapes.items()}

    matrices = {"up__weight": (3, 4), "down__weight": (4, 2)}
    both = tensors(**matrices)
    steps = [tensors(**matrices) for _ in range(3)]
    both["down.weight"] *= 5  # so that the two ratios are far apart
    yield Case(
        "takes three steps with two matrices",
        inputs=(both, steps, lr, decay),
        weight=3.0,
    )
    yield Case("takes one step", (both, steps[:1], lr, decay))
    long = {name: 1000 * w for name, w in both.items()}
    yield Case("has no upper limit on the ratio", (long, steps, lr, 0.01))
    faint = [{name: g * 10.0 ** draw.integers(-6, -2, *g.shape) for name, g in steps[0].items()}]
    yield Case("adds 1e-6 to √v", (both, faint, lr, decay))
    shapes = dict(up__weight=(3, 4), up__bias=(4,), ffn__norm__weight=(4,), ffn__norm__bias=(4,))
    two = [tensors(**shapes) for _ in range(2)]
    yield Case(
        "spares biases and norms",
        inputs=(tensors(**shapes), two, lr, decay),
        weight=2.0,
    )
    shapes = {"scale": (4,), "normal__weight": (3, 4), "bias__table": (2, 3), "head__bias": (2, 3)}
    named = tensors(**shapes), [tensors(**shapes)], lr, decay
    yield Case("spares by name, and no other tensors", named)
    zero = {"up.weight": torch.zeros(3, 4), "down.weight": both["down.weight"]}
    still = {"up.weight": draw.randn(3, 4), "down.weight": torch.zeros(4, 2)}
    yield Case("takes 1 for the ratio where a length is 0", (zero, [still], lr, 0.0))


check_lamb = make_check("assignment 07.6", lamb, _lamb_cases)
