"""Cards of notebook 07: learning rates, clipping, losses of several workers or parts, LAMB."""

import copy
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from albert_course.checks.cards.nb04_gradients import small_batch, small_model
from albert_course.checks.engine.asking import need, part_of
from albert_course.checks.engine.card import Case, Cases, Draw, card
from albert_edu.training.settings import TrainSettings


def authors_rate(step: int, steps: int, warmup_steps: int, peak: float) -> float:
    """``authors_rate(step, steps, warmup_steps, peak)``: the learning rate of the authors' code in
    a step that counts from 0. The linear decay reaches 0 at ``steps`` and starts at step 0, but in
    the first ``warmup_steps`` steps the rate is ``peak * step / warmup_steps`` instead."""
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * (1 - step / steps)


def _authors_rate_cases(draw: Draw) -> Cases:
    W, steps, peak = draw.integer(20, 40), draw.integer(90, 200), 1 + draw.numpy.random()
    yield Case("rises during the warm-up", (W // 2, steps, W, peak), 2.0)
    yield Case("rises to the last step of the warm-up", (W - 1, steps, W, peak))
    yield Case("jumps onto the decay after the warm-up", (W, steps, W, peak), 2.0)
    yield Case("decays as if there were no warm-up", (80, steps, W, peak), 2.0)
    yield Case("needs no warm-up", (0, steps, 0, peak))


check_authors_rate = card("notebook 07.1", authors_rate, _authors_rate_cases)


def clip_together(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """``clip_together(gradients, limit) -> list``: the gradients of all tensors of a model, scaled
    by one common factor so that together, as one long vector, they have at most the norm
    ``limit``. Gradients that are short enough come back as they are."""
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * (limit / norm).clamp(max=1.0) for g in gradients]


def _clip_together_cases(draw: Draw) -> Cases:
    long = [draw.randn(3, 4), 0.1 * draw.randn(5), 3 * draw.randn(2)]

    yield Case("shortens all gradients by one factor", (long, 0.5), 3.0)
    yield Case("leaves short gradients as they are", (long, 50.0))


check_clip_together = card("notebook 07.2", clip_together, _clip_together_cases)


def loss_factors(counts: list[int]) -> list[float]:
    """``loss_factors(counts) -> list``: worker r has ``counts[r]`` masked positions, and its loss
    is the mean over them. Data parallel *averages* the gradients over the workers. Returned is the
    factor for each worker's loss that makes this average the gradient of the mean over all masked
    positions."""
    return [len(counts) * n / sum(counts) for n in counts]


def _loss_factors_cases(draw: Draw) -> Cases:
    unequal = [draw.integer(6, 9), draw.integer(1, 5), draw.integer(10, 30)]

    yield Case("weights workers by their masked positions", (unequal,), 3.0)
    yield Case("is 1 where all counts are equal", ([7] * 4,))
    yield Case("gives 0 to a worker without masked positions", ([0, *unequal],))


check_loss_factors = card("notebook 07.3", loss_factors, _loss_factors_cases)


def schedule(step: int, settings: TrainSettings) -> float:
    """``learning_rate(step, settings) -> float`` for steps 0 to N - 1; ``settings.steps`` is N,
    ``settings.warmup_steps`` is W, ``settings.learning_rate`` the peak. A straight line up, peak /
    W at step 0 and the peak at step W - 1; then one down, the peak at step W and 0 at step N, one
    after the last. W may be 0 (no way up) or N (no way down)."""
    N, W = settings.steps, settings.warmup_steps
    peak = settings.learning_rate
    up = (step + 1) / max(W, 1)
    down = (N - step) / max(N - W, 1)
    return peak * (up if step < W else down)


def _schedule_cases(draw: Draw) -> Cases:
    N, W, peak = draw.integer(14, 20), draw.integer(4, 6), 1 + draw.numpy.random()

    def rates(answer, steps, warmup):
        settings = TrainSettings(steps=N, learning_rate=peak, warmup_steps=warmup)
        return torch.tensor([float(answer(step, settings)) for step in steps], dtype=torch.double)

    def moves(answer, *inputs):
        return (rates(answer, *inputs) > 0).tolist()

    order = draw.numpy.permutation(N).tolist()
    yield Case("rises over the warm-up, then falls to the end", (range(N), W), 3.0, rates)
    yield Case("moves at the first step and at the last", ([0, N - 1], W), 2.0, moves)
    yield Case("depends on nothing but step and settings", (order, W), 1.0, rates)
    yield Case("starts at the peak without a warm-up", (range(N), 0), 1.0, rates)
    yield Case("only rises when all is warm-up", (range(N), N), 1.0, rates)


check_schedule = card("assignment 07.4", schedule, _schedule_cases)


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
        before, events = parameters_to_vector(model.parameters()).detach(), []
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
        return run(answer, model, batches)[2].count("step")

    def memory(answer, model, batches):
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
    yield Case("moves the weights as the whole batch would", (model, [parts]), 3.0, moved, 1e-4)
    yield Case("takes one step a batch", (model, [parts]), 1.0, steps)
    yield Case("keeps the memory of one part at a time", (model, [parts]), 1.0, memory)
    yield Case("returns the loss of the batch", (model, [parts]), 1.0, part_of(0, run))
    yield Case("goes on past a part without a masked token", (model, [others]), 1.0, moved, 1e-4)
    yield Case("forgets the batch before", (model, [parts, others]), 2.0, traces)


check_accumulation = card("assignment 07.5", accumulation, _accumulation_cases)


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
        return {name.replace("__", "."): draw.randn(*shape) for name, shape in shapes.items()}

    matrices = {"up__weight": (3, 4), "down__weight": (4, 2)}
    both, steps = tensors(**matrices), [tensors(**matrices) for _ in range(3)]
    both["down.weight"] *= 5  # so that the two ratios are far apart
    yield Case("takes three steps with two matrices", (both, steps, lr, decay), 3.0)
    yield Case("takes one step", (both, steps[:1], lr, decay))
    long = {name: 1000 * w for name, w in both.items()}
    yield Case("has no upper limit on the ratio", (long, steps, lr, 0.01))
    faint = [{name: g * 10.0 ** draw.integers(-6, -2, *g.shape) for name, g in steps[0].items()}]
    yield Case("adds 1e-6 to √v", (both, faint, lr, decay))
    shapes = dict(up__weight=(3, 4), up__bias=(4,), ffn__norm__weight=(4,), ffn__norm__bias=(4,))
    two = [tensors(**shapes) for _ in range(2)]
    yield Case("spares biases and norms", (tensors(**shapes), two, lr, decay), 2.0)
    shapes = {"scale": (4,), "normal__weight": (3, 4), "bias__table": (2, 3), "head__bias": (2, 3)}
    named = tensors(**shapes), [tensors(**shapes)], lr, decay
    yield Case("spares by name, and no other tensors", named)
    zero = {"up.weight": torch.zeros(3, 4), "down.weight": both["down.weight"]}
    still = {"up.weight": draw.randn(3, 4), "down.weight": torch.zeros(4, 2)}
    yield Case("takes 1 for the ratio where a length is 0", (zero, [still], lr, 0.0))


check_lamb = card("assignment 07.6", lamb, _lamb_cases)
