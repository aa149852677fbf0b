"""Answers to the exercises of notebook 04 on the gradient of a shared weight, right and wrong."""

import copy

import torch

from albert_edu.checks import check_last_application, check_shared_gradient
from albert_edu.model.albert import mean_loss
from tests.bug_zoo.zoo import right, wrong


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


@wrong(check_last_application, "letting all applications learn")
def all_learn(model, batch):
    return model(batch).masked_token_loss


@wrong(check_last_application, "outside no_grad")
def none_learns(model, batch):
    with torch.no_grad():
        x = states(model, batch)[-1]
    return read(model, x, batch)


@wrong(check_last_application, "letting the last two learn")
def two_learn(model, batch):
    x = states(model, batch)[-3].detach()
    return read(model, applied(model, applied(model, x, batch), batch), batch)


@wrong(check_last_application, "once too often")
def one_more(model, batch):
    return read(model, applied(model, states(model, batch)[-1].detach(), batch), batch)


@wrong(check_last_application, "once too few")
def one_less(model, batch):
    return read(model, applied(model, states(model, batch)[-3].detach(), batch), batch)


@wrong(check_last_application, "so that padding is seen")
def last_without_mask(model, batch):
    *_, before, _ = model.albert.encoder.steps(model.albert.embeddings(batch.token_ids, batch.segment_ids))
    return read(model, model.albert.encoder.ffn[0](model.albert.encoder.attention[0](before.detach())), batch)


@wrong(check_last_application, "dividing the whole gradient by L")
def mean_learns(model, batch):
    loss, L = model(batch).masked_token_loss, model.config.num_layers
    return loss / L + (loss - loss / L).detach()


@wrong(check_last_application, "letting all but the last learn")
def all_but_the_last(model, batch):
    last = copy.deepcopy(model.albert.encoder).requires_grad_(False)
    x = states(model, batch)[-2]
    return read(model, last.ffn[0](last.attention[0](x, batch.attention_mask.bool())), batch)


@wrong(check_last_application, "frozen: ['albert.embeddings")
def last_and_frozen_for_good(model, batch):
    model.albert.embeddings.requires_grad_(False)
    return last_behind_a_detach(model, batch)


@wrong(check_last_application, "changed: ['encoder.plan']")
def last_behind_a_shorter_plan(model, batch):
    model.albert.encoder.plan = model.albert.encoder.plan[:-1]
    return read(model, applied(model, states(model, batch)[-1].detach(), batch), batch)


@wrong(check_last_application, "return the loss, one number")
def last_logits(model, batch):
    return model(batch).masked_token_logits


@wrong(check_last_application, "adding the loss of the order")
def last_with_order(model, batch):
    return last_behind_a_detach(model, batch) + model(batch).sentence_order_loss.detach()


@wrong(check_last_application, "still to do")
def last_not_begun(model, batch):
    raise NotImplementedError("Exercise 04.1")


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


def whole(apply, W, x, L, loss):
    """What autograd gives for the one shared weight."""
    W = W.clone().requires_grad_()
    for _ in range(L):
        x = apply(W, x)
    return torch.autograd.grad(loss(x), W)[0]


@wrong(check_shared_gradient, "giving the whole gradient to each")
def each_the_whole(apply, W, x, L, loss):
    return torch.stack([whole(apply, W, x, L, loss)] * L)


@wrong(check_shared_gradient, "dividing the whole gradient by L")
def each_an_equal_share(apply, W, x, L, loss):
    return torch.stack([whole(apply, W, x, L, loss) / L] * L)


@wrong(check_shared_gradient, "listing the last application first")
def each_backwards(apply, W, x, L, loss):
    return each_by_untying(apply, W, x, L, loss)[::-1]


@wrong(check_shared_gradient, "each holds those before it too")
def each_piled_up(apply, W, x, L, loss):
    W, rows = W.clone().requires_grad_(), []
    for one in range(L):
        y = x
        for i in range(L):
            y = apply(W if i == one else W.detach(), y)
        loss(y).backward()
        rows.append(W.grad.clone())
    return torch.stack(rows)


@wrong(check_shared_gradient, "each holds those behind it too")
def each_with_a_tail(apply, W, x, L, loss):
    return torch.stack(each_by_untying(apply, W, x, L, loss)).flip(0).cumsum(0).flip(0)


@wrong(check_shared_gradient, "cutting the path between the applications")
def each_cut_off(apply, W, x, L, loss):
    copies = [W.clone().requires_grad_() for _ in range(L)]
    for copied in copies:
        x = apply(copied, x.detach())
    found = torch.autograd.grad(loss(x), copies, allow_unused=True)
    return torch.stack([torch.zeros_like(W) if gradient is None else gradient for gradient in found])


@wrong(check_shared_gradient, "taking the loss of each state")
def each_state_read(apply, W, x, L, loss):
    W, rows = W.clone().requires_grad_(), []
    for _ in range(L):
        x = apply(W, x.detach())
        rows += torch.autograd.grad(loss(x), W, retain_graph=True)
    return torch.stack(rows)


@wrong(check_shared_gradient, "applying once, to the first x")
def each_from_the_first_x(apply, W, x, L, loss):
    return torch.stack([whole(apply, W, x, 1, loss)] * L)


@wrong(check_shared_gradient, "let autograd do it")
def each_by_outer_products(apply, W, x, L, loss):
    states = [x]
    for _ in range(L):
        states.append(apply(W, states[-1]))
    last = states.pop().requires_grad_()
    (back,) = torch.autograd.grad(loss(last), last)
    rows = []
    for state in reversed(states):
        rows.insert(0, state.T @ back)
        back = back @ W.T if W.ndim == 2 else back
    return torch.stack(rows)


@wrong(check_shared_gradient, "squeeze()")
def each_squeezed(apply, W, x, L, loss):
    return torch.stack(each_by_untying(apply, W, x, L, loss)).squeeze()


@wrong(check_shared_gradient, "one as large as W is asked for, L times")
def the_sum_alone(apply, W, x, L, loss):
    return whole(apply, W, x, L, loss)


@wrong(check_shared_gradient, "in each_of_a_list, line")
def each_of_a_list(apply, W, x, L, loss):
    copies = [W.requires_grad_()] * L
    for copied in copies:
        x = apply(copied, x)
    return copies.grad
