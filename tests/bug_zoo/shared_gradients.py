"""Answers to the exercises of notebook 04 on the gradient of a shared weight, right and wrong."""


import torch

from albert_edu.checks import check_last_application, check_shared_gradient
from albert_edu.model.albert import mean_loss
from tests.bug_zoo.zoo import right


def read(model, x, batch):
    """The masked-token loss of last states."""
    slots = batch.masked_positions.unsqueeze(-1).expand(-1, -1, x.shape[-1])
    return mean_loss(model.masked_token_head(x.gather(1, slots)), batch.masked_labels)


def states(model, batch):
    """What goes into the first layer, and what each of them makes of it."""
    x = model.albert.embeddings(batch.token_ids, batch.segment_ids)
    return [x, *model.albert.encoder.steps(x, batch.attention_mask.bool())]


def applied(model, x, batch):
    encoder = model.albert.encoder
    return encoder.ffn[0](encoder.attention[0](x, batch.attention_mask.bool()))


@right(check_last_application)
def last_outside_no_grad(model, batch):
    with torch.no_grad():
        before = states(model, batch)[-2]
    return read(model, applied(model, before, batch), batch)


@right(check_last_application)
def last_behind_a_detach(model, batch):
    return read(model, applied(model, states(model, batch)[-2].detach(), batch), batch)


@right(check_last_application)
def last_by_switching_requires_grad(model, batch):
    encoder, x = model.albert.encoder, model.albert.embeddings(batch.token_ids, batch.segment_ids)
    for i in range(model.config.num_layers):
        encoder.requires_grad_(i == model.config.num_layers - 1)
        x = applied(model, x, batch)
    return read(model, x, batch)


@right(check_shared_gradient)
def each_by_untying(apply, W, x, L, loss):
    copies = [W.clone().requires_grad_() for _ in range(L)]
    for copied in copies:
        x = apply(copied, x)
    loss(x).backward()
    return [copied.grad for copied in copies]


@right(check_shared_gradient)
def each_by_freezing_the_others(apply, W, x, L, loss):
    W = W.clone().requires_grad_()
    rows = []
    for one in range(L):
        y = x
        for i in range(L):
            y = apply(W if i == one else W.detach(), y)
        rows += torch.autograd.grad(loss(y), W)
    return torch.stack(rows)


@right(check_shared_gradient)
def each_from_behind(apply, W, x, L, loss):
    states = [x.double()]
    for _ in range(L):
        states.append(apply(W.double(), states[-1]))
    back, rows = torch.autograd.functional.jacobian(loss, states.pop()), []
    for state in reversed(states):
        _, (row, back) = torch.autograd.functional.vjp(apply, (W.double(), state), back)
        rows.insert(0, row)
    return torch.stack(rows)
