"""Answers to the exercises of notebook 10 on operations and on reversible layers, right and wrong."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from albert_edu.analysis.counting import flops_per_token
from albert_edu.checks import check_flops, check_reversible
from tests.bug_zoo.zoo import right


@right(check_flops)
def flops_of_the_library(config, S, training):
    return flops_per_token(config, S, training=training)


@right(check_flops)
def flops_of_products(config, S, training):
    E, H, F, A = config.embedding_size, config.hidden_size, config.ffn_size, config.num_heads
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        if E != H:
            torch.empty(S, E) @ torch.empty(E, H)
        for _ in range(config.num_layers):
            for inner, outer in ((H, 3 * H), (H, H), (H, F), (F, H)):
                torch.empty(S, inner) @ torch.empty(inner, outer)
            weights = torch.empty(A, S, H // A) @ torch.empty(A, H // A, S)
            weights @ torch.empty(A, S, H // A)
    return counter.get_total_flops() / S * (3 if training else 1)


@right(check_flops)
def flops_head_by_head(config, S, training):
    H, F, E = config.hidden_size, config.ffn_size, config.embedding_size
    width, count = H // config.num_heads, 0
    for _ in range(config.num_layers):
        for _ in range(config.num_heads):
            count += 3 * H * width + S * width + S * width
        count += H * H + H * F + F * H
    count += E * H if E != H else 0
    return torch.tensor(2 * (3 * count if training else count))


@right(check_reversible)
def inverse_by_loop(couplings, y1, y2):
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return y1, y2


@right(check_reversible)
def inverse_by_recursion(couplings, y1, y2):
    if not couplings:
        return [y1, y2]
    *before, (F, G) = couplings
    x2 = y2.double() - G(y1)
    return inverse_by_recursion(before, (y1 - F(x2.float())).float(), x2.float())


@right(check_reversible)
def inverse_in_place(couplings, y1, y2):
    while couplings:
        F, G = couplings.pop()
        y2 -= G(y1)
        y1 -= F(y2)
    return torch.stack([y1, y2])
