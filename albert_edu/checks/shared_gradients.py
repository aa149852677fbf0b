"""Checks of notebook 04: whose gradient a shared weight gets."""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Sequence

import torch

from albert_edu import AlbertConfig, AlbertForPretraining
from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise
from albert_edu.model.albert import mean_loss
from albert_edu.text.batches import PretrainingBatch


@exercise("04.1")
def check_last_application(answer, trial: Trial) -> None:
    """``loss_with_last_only(model, batch) -> scalar``: the masked-token loss of an AlbertForPretraining whose layers are all
    shared, with a gradient in which only the last application of the block counts. What embeddings and head get is not asked."""
    model, batch = _model_and_batch(trial)
    L, before = model.config.num_layers, copy.deepcopy(model)
    got = trial.call(answer, model, batch, name="takes a model and a batch")
    trial.need("returns one number", isinstance(got, torch.Tensor) and got.numel() == 1, "return the loss, one number as a tensor",
               got=brief(got))  # fmt: skip
    seen = dataclasses.replace(batch, attention_mask=torch.ones_like(batch.attention_mask))
    real = trial.equal("is the masked-token loss", got, _loss(before, batch, L), {
        "adding the loss of the order": before(batch).loss,
        "leaving out the attention mask, so that padding is seen": _loss(before, seen, L),
        "applying the block once too often": _loss(before, batch, L + 1),
        "applying the block once too few": _loss(before, batch, L - 1),
    }, weight=2)  # fmt: skip
    gradient = trial.call(lambda: gradient_row(got, *model.albert.encoder.parameters()), name="lets autograd through")
    alone = [gradient_row(_loss(before, batch, L, [i]), *before.albert.encoder.parameters()) for i in range(L)]
    real |= trial.equal("lets the last application learn, and no other", gradient, alone[-1], {
        "letting all applications learn": sum(alone),
        "letting none learn: the last one must run outside no_grad": torch.zeros_like(alone[0]),
        "letting the last two learn": alone[-1] + alone[-2],
        "letting all but the last learn": sum(alone[:-1]),
        "dividing the whole gradient by L": sum(alone) / L,
    }, weight=3, atol=1e-4, reason="is the last application's input the state before it?")  # fmt: skip
    frozen = [name for name, weight in model.named_parameters() if not weight.requires_grad]
    moved = [name for name, weight in before.named_parameters() if not torch.equal(weight, model.get_parameter(name))]
    other = ["encoder.plan"] * (model.albert.encoder.plan != before.albert.encoder.plan)
    other += ["train() or eval()"] * (model.training != before.training)
    told = f"frozen: {frozen[:1]}, other numbers: {moved[:1]}, changed: {other}"
    left = not frozen + moved + other
    trial.true("leaves the model as it was", real and left, "not asked before loss or gradient is right" if left else told)


@exercise("04.6")
def check_shared_gradient(answer, trial: Trial) -> None:
    """``gradient_of_each(apply, W, x, L, loss) -> [L, *W.shape]``: from x, ``x = apply(W, x)`` is taken L times, then ``loss(x)``
    is a number. What gradient would each application, the first one first, have received if its W were a tensor of its own?"""
    L, H = int(trial.randint(3, 6, 1)), 4
    W, x, along = trial.randn(H, H) / 2, trial.randn(3, H), trial.randn(3, H)

    def apply(W, x):
        return x @ W

    def loss(x):
        return (along * x).sum() + x.square().sum()

    got = _stacked(trial.call(answer, apply, W, x, L, loss, name="takes apply, W, x, L and loss"))
    whole = isinstance(got, torch.Tensor) and got.shape == (L, H, H)
    trial.need("gives L gradients of W's shape", whole, f"you return {brief(got)}; one as large as W is asked for, L times")
    alone = _each(apply, W, x, L, loss)
    total, states = alone.sum(0), [walk(x, [lambda x: x @ W] * i) for i in range(L)]
    good = trial.equal("gives each application its own gradient", got, alone, {
        "giving the whole gradient to each; untie first: a copy of W for each application": total.expand_as(alone),
        "dividing the whole gradient by L": (total / L).expand_as(alone),
        "listing the last application first": alone.flip(0),
        "letting .grad pile up: each holds those before it too": alone.cumsum(0),
        "letting .grad pile up from the back: each holds those behind it too": alone.flip(0).cumsum(0).flip(0),
        "cutting the path between the applications (detach or .data)": torch.cat([torch.zeros(L - 1, H, H), alone[-1:]]),
        "taking the loss of each state instead of the last one": torch.cat([_each(apply, W, state, 1, loss) for state in states]),
        "applying once, to the first x": _each(apply, W, x, 1, loss).expand_as(alone),
    }, weight=3)  # fmt: skip
    trial.equal("adds up to the gradient of the shared W", got.sum(0), total, {
        "counting everything L times": L * total,
        "finding the last application's alone": alone[-1],
    }, weight=2, reason="the applications' gradients are the terms of a sum")  # fmt: skip
    once = _stacked(trial.call(answer, apply, W, x, 1, loss, name="survives one application"))
    trial.equal("is the whole gradient for one application", once, _each(apply, W, x, 1, loss), {
        "taking away the dimension of size 1, with squeeze()": _each(apply, W, x, 1, loss)[0],
    }, reason="L = 1: one row, and nothing to add up")  # fmt: skip
    b, bend = trial.randn(H), lambda b, x: torch.tanh(x + b)
    other = _stacked(trial.call(answer, bend, b, x, L, loss, name="survives a W of another shape"))
    reason = "a formula for y = xW holds for y = xW alone; let autograd do it" if good else ""
    trial.equal("is right for any function and any shape of W", other, _each(bend, b, x, L, loss), reason=reason)


def walk(x: torch.Tensor, blocks: Iterable[Callable[[torch.Tensor], torch.Tensor]]) -> torch.Tensor:
    for block in blocks:
        x = block(x)
    return x


def untied_gradients(run: Callable[[list[torch.Tensor]], torch.Tensor], weight: torch.Tensor, L: int) -> torch.Tensor:
    """What each of L applications receives when each has a copy of the weight; ``run`` makes a number of the copies."""
    copies = [weight.detach().clone().requires_grad_() for _ in range(L)]
    return torch.stack(torch.autograd.grad(run(copies), copies))


def _each(apply: Callable, weight: torch.Tensor, x: torch.Tensor, L: int, loss: Callable) -> torch.Tensor:
    return untied_gradients(lambda weights: loss(walk(x, [lambda x, w=w: apply(w, x) for w in weights])), weight, L)


def gradient_row(value: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    """The gradients in one row, zeros where none arrives."""
    found = torch.autograd.grad(value, weights, allow_unused=True) if value.requires_grad else [None] * len(weights)
    return torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for w, g in zip(weights, found, strict=True)])


def _stacked(answered):
    """One tensor out of a list of gradients; anything else as it is."""
    if isinstance(answered, list | tuple) and answered and all(isinstance(part, torch.Tensor) for part in answered):
        return torch.stack(answered).detach() if len({part.shape for part in answered}) == 1 else answered
    return answered


def _model_and_batch(trial: Trial) -> tuple[AlbertForPretraining, PretrainingBatch]:
    sizes = dict(vocab_size=30, embedding_size=6, hidden_size=8, num_heads=2, max_positions=8)
    model = AlbertForPretraining(AlbertConfig(**sizes, num_layers=int(trial.randint(3, 6, 1))))
    with torch.no_grad():
        for weight in model.parameters():
            weight += (1.2 if weight.ndim > 1 else 0.3) * trial.randn(*weight.shape)  # far from a start, where all is nearly linear
    mask = torch.tensor([[1] * 6 + [0], [1] * 4 + [0] * 3])
    places, labels = torch.tensor([[1, 4, 5], [2, 3, 0]]), trial.randint(5, 30, 2, 3)
    labels[1, 2] = -100
    return model, PretrainingBatch(trial.randint(5, 30, 2, 7), torch.zeros_like(mask), mask, places, labels, trial.randint(0, 2, 2))


def _loss(model: AlbertForPretraining, batch: PretrainingBatch, layers: int, learning: Sequence[int] = ()) -> torch.Tensor:
    """The masked-token loss behind so many applications; those not in ``learning`` see a frozen block."""
    x, keep = model.albert.embeddings(batch.token_ids, batch.segment_ids), batch.attention_mask.bool()
    attention, ffn = model.albert.encoder.attention[0], model.albert.encoder.ffn[0]
    frozen_attention, frozen_ffn = (copy.deepcopy(block).requires_grad_(False) for block in (attention, ffn))
    for i in range(layers):
        x = ffn(attention(x, keep)) if i in learning else frozen_ffn(frozen_attention(x, keep))
    slots = batch.masked_positions[..., None].expand(-1, -1, x.shape[-1])
    return mean_loss(model.masked_token_head(x.gather(1, slots)), batch.masked_labels)
