"""Answers to the exercise of notebook 07 on a batch in parts, right and wrong."""

import numpy as np
import torch

from albert_edu.checks import check_accumulation
from tests.bug_zoo.zoo import right, wrong


@right(check_accumulation)
def step_by_shares(model, parts, optimizer):
    optimizer.zero_grad()
    total, whole = 0.0, sum(part.num_masked for part in parts)
    for part in parts:
        loss = model(part).masked_token_loss * part.num_masked / whole
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@right(check_accumulation)
def step_by_sums_then_scaled(model, parts, optimizer):
    nats = torch.zeros(())
    for part in filter(lambda part: part.num_masked, parts):
        loss = model(part).masked_token_loss * part.num_masked
        loss.backward()
        nats += loss.detach()
    whole = sum(part.num_masked for part in parts)
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= whole
    optimizer.step()
    optimizer.zero_grad()
    return nats / whole


@right(check_accumulation)
def step_without_backward(model, parts, optimizer):
    params, losses = list(model.parameters()), []
    shares = np.array([part.num_masked for part in parts]) / sum(part.num_masked for part in parts)
    for p in params:
        p.grad = torch.zeros_like(p)
    for part, share in zip(parts, shares.tolist(), strict=True):
        loss = model(part).masked_token_loss
        for p, gradient in zip(params, torch.autograd.grad(loss, params, allow_unused=True), strict=True):
            if gradient is not None:
                p.grad += share * gradient
        losses.append(loss.item())
    optimizer.step()
    return float(shares @ losses)


def stepped(model, parts, optimizer, weight):
    """Accumulation with the weight of each part given; the sum of the weighted losses."""
    optimizer.zero_grad()
    total = 0.0
    for part, factor in zip(parts, weight, strict=True):
        loss = model(part).masked_token_loss
        (loss * factor).backward()
        total += loss.item() * factor
    optimizer.step()
    return total


def shares(parts):
    return [part.num_masked / sum(one.num_masked for one in parts) for part in parts]


@wrong(check_accumulation, "a mean of means")
def step_mean_of_means(model, parts, optimizer):
    return stepped(model, parts, optimizer, [1 / len(parts)] * len(parts))


@wrong(check_accumulation, "adding the parts' means up")
def step_sum_of_means(model, parts, optimizer):
    return stepped(model, parts, optimizer, [1] * len(parts))


@wrong(check_accumulation, "without dividing by the number of hidden pieces")
def step_sum_of_nats(model, parts, optimizer):
    return stepped(model, parts, optimizer, [part.num_masked for part in parts])


@wrong(check_accumulation, "by their sequences")
def step_by_rows(model, parts, optimizer):
    return stepped(model, parts, optimizer, [len(part) / sum(map(len, parts)) for part in parts])


@wrong(check_accumulation, "number of parts as well")
def step_divided_twice(model, parts, optimizer):
    return stepped(model, parts, optimizer, [share / len(parts) for share in shares(parts)])


@wrong(check_accumulation, "the first part counts three times")
def step_with_graphs_retained(model, parts, optimizer):
    optimizer.zero_grad()
    total = 0
    for part, share in zip(parts, shares(parts), strict=True):
        total = total + share * model(part).masked_token_loss
        total.backward(retain_graph=True)
    optimizer.step()
    return total


@wrong(check_accumulation, "the loss of the order in it")
def step_on_both_losses(model, parts, optimizer):
    optimizer.zero_grad()
    for part, share in zip(parts, shares(parts), strict=True):
        (share * model(part).loss).backward()
    optimizer.step()
    return sum(share * model(part).loss.item() for part, share in zip(parts, shares(parts), strict=True))


@wrong(check_accumulation, "as one piece")
def step_counting_empty_parts(model, parts, optimizer):
    counts = [max(part.num_masked, 1) for part in parts]
    return stepped(model, parts, optimizer, [count / sum(counts) for count in counts])


@wrong(check_accumulation, "only the last part's are left")
def step_clearing_in_the_loop(model, parts, optimizer):
    total = 0.0
    for part, share in zip(parts, shares(parts), strict=True):
        optimizer.zero_grad()
        loss = model(part).masked_token_loss * share
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@wrong(check_accumulation, "with the parts unweighted")
def step_clearing_in_the_loop_unweighted(model, parts, optimizer):
    for part in parts:
        optimizer.zero_grad()
        loss = model(part).masked_token_loss
        loss.backward()
    optimizer.step()
    return loss.item()


@wrong(check_accumulation, "with parts of equal weight")
def step_clearing_in_the_loop_of_equal_parts(model, parts, optimizer):
    for part in parts:
        optimizer.zero_grad()
        (model(part).masked_token_loss / len(parts)).backward()
    optimizer.step()
    return model(parts[-1]).masked_token_loss.item()


@wrong(check_accumulation, "stepping after each part")
def step_after_each_part(model, parts, optimizer):
    return sum(stepped(model, [part], optimizer, [share]) for part, share in zip(parts, shares(parts), strict=True))


@wrong(check_accumulation, "a batch of its own")
def step_as_in_three_batches(model, parts, optimizer):
    return sum(stepped(model, [part], optimizer, [1]) for part in parts) / len(parts)


@wrong(check_accumulation, "never stepping")
def step_forgotten(model, parts, optimizer):
    optimizer.zero_grad()
    return sum(model(part).masked_token_loss.item() * share for part, share in zip(parts, shares(parts), strict=True))


@wrong(check_accumulation, "clearing the gradients before the step")
def step_behind_the_clearing(model, parts, optimizer):
    for part, share in zip(parts, shares(parts), strict=True):
        (model(part).masked_token_loss * share).backward()
    optimizer.zero_grad()
    optimizer.step()
    return 0.0


@wrong(check_accumulation, "of the batch before are still there")
def step_never_clearing(model, parts, optimizer):
    total = 0.0
    for part, share in zip(parts, shares(parts), strict=True):
        loss = model(part).masked_token_loss * share
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@wrong(check_accumulation, "backward for each part before the next")
def step_with_one_backward(model, parts, optimizer):
    optimizer.zero_grad()
    loss = sum(model(part).masked_token_loss * share for part, share in zip(parts, shares(parts), strict=True))
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(check_accumulation, "optimizer.step() was called 3 times")
def step_with_the_whole_gradient_so_far(model, parts, optimizer):
    optimizer.zero_grad()
    total = 0.0
    for part, share in zip(parts, shares(parts), strict=True):
        loss = model(part).masked_token_loss * share
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


@wrong(check_accumulation, "averaging the parts' losses")
def step_returning_a_mean_of_means(model, parts, optimizer):
    losses = []
    optimizer.zero_grad()
    for part, share in zip(parts, shares(parts), strict=True):
        loss = model(part).masked_token_loss
        (loss * share).backward()
        losses.append(loss.item())
    optimizer.step()
    return sum(losses) / len(losses)


@wrong(check_accumulation, "last part's share")
def step_returning_the_last_loss(model, parts, optimizer):
    optimizer.zero_grad()
    for part, share in zip(parts, shares(parts), strict=True):
        loss = model(part).masked_token_loss * share
        loss.backward()
    optimizer.step()
    return loss.item()


@wrong(check_accumulation, "you return NoneType")
def step_returning_nothing(model, parts, optimizer):
    stepped(model, parts, optimizer, shares(parts))


@wrong(check_accumulation, "whole / part.num_masked")
def step_dividing_by_each_count(model, parts, optimizer):
    whole = sum(part.num_masked for part in parts)
    return stepped(model, parts, optimizer, [1 / (whole / part.num_masked) for part in parts])
