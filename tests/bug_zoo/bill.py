"""Answers to the exercises of notebook 10 on operations and on reversible layers, right and wrong."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from albert_edu.analysis.counting import flops_per_token
from albert_edu.checks import check_flops, check_reversible
from tests.bug_zoo.zoo import right, wrong


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


def flops(config, S, training, maps=8, ffn=4, mixing=4, layers=None, project=2.0, times=3):
    """What most wrong answers below have in common."""
    H, F, E = config.hidden_size, config.ffn_size, config.embedding_size
    a_layer = maps * H * H + ffn * H * F + mixing * S * H
    projection = project * E * H if E != H else 0
    return ((layers or config.num_layers) * a_layer + projection) * (times if training else 1)


@wrong(check_flops, "a multiply-add as one")
def multiply_adds(config, S, training):
    return flops(config, S, training) / 2


@wrong(check_flops, "leaving out the attention scores and the mixing")
def six_times_the_weights(config, S, training):
    return flops(config, S, training, mixing=0)


@wrong(check_flops, "leaving out the mixing")
def scores_alone(config, S, training):
    return flops(config, S, training, mixing=2)


@wrong(check_flops, "of all S tokens for one")
def quadratic_for_a_token(config, S, training):
    return flops(config, S, training, mixing=4 * S)


@wrong(check_flops, "H wide for each head")
def wide_heads(config, S, training):
    return flops(config, S, training, mixing=4 * config.num_heads)


@wrong(check_flops, "the whole sequence")
def of_the_sequence(config, S, training):
    return S * flops(config, S, training)


@wrong(check_flops, "the output map")
def no_output_map(config, S, training):
    return flops(config, S, training, maps=6)


@wrong(check_flops, "one of the two maps")
def half_a_feed_forward_block(config, S, training):
    return flops(config, S, training, ffn=2)


@wrong(check_flops, "taking F for 4H")
def always_four_times(config, S, training):
    return flops(config, S, training, maps=24, ffn=0)


@wrong(check_flops, "leaving out the projection")
def no_projection(config, S, training):
    return flops(config, S, training, project=0)


@wrong(check_flops, "there is no projection")
def always_a_projection(config, S, training):
    extra = 2 * config.hidden_size**2 if config.embedding_size == config.hidden_size else 0
    return flops(config, S, training) + extra * (3 if training else 1)


@wrong(check_flops, "because it is shared")
def shared_once(config, S, training):
    return flops(config, S, training, layers=1)


@wrong(check_flops, "saves parameters, not operations")
def as_many_as_there_are_blocks(config, S, training):
    return flops(config, S, training, layers=config.num_layers if config.share == "all" else 1)


@wrong(check_flops, "two products of each")
def backward_like_forward(config, S, training):
    return flops(config, S, training, times=2)


@wrong(check_flops, "not looking at training")
def forward_only(config, S, training):
    return flops(config, S, False)


@wrong(check_flops, "which only recomputing needs")
def recomputed(config, S, training):
    return flops(config, S, training, times=4)


@wrong(check_flops, "is the return missing?")
def printed(config, S, training):
    print(flops(config, S, training))


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


@wrong(check_reversible, "undoing the first coupling first")
def first_coupling_first(couplings, y1, y2):
    return inverse_by_loop(couplings[::-1], y1, y2)


@wrong(check_reversible, "undoing y1 first")
def y1_first(couplings, y1, y2):
    for F, G in reversed(couplings):
        y1 = y1 - F(y2)
        y2 = y2 - G(y1)
    return y1, y2


@wrong(check_reversible, "though F saw x2")
def both_at_once(couplings, y1, y2):
    for F, G in reversed(couplings):
        y1, y2 = y1 - F(y2), y2 - G(y1)
    return y1, y2


@wrong(check_reversible, "adding where the way back subtracts")
def added(couplings, y1, y2):
    for F, G in reversed(couplings):
        y2 = y2 + G(y1)
        y1 = y1 + F(y2)
    return y1, y2


@wrong(check_reversible, "exchanging F and G")
def exchanged(couplings, y1, y2):
    return inverse_by_loop([(G, F) for F, G in couplings], y1, y2)


@wrong(check_reversible, "exchanging the two halves")
def halves_exchanged(couplings, y1, y2):
    return inverse_by_loop(couplings, y1, y2)[::-1]


@wrong(check_reversible, "once more instead of back")
def forward_again(couplings, y1, y2):
    for F, G in couplings:
        y1 = y1 + F(y2)
        y2 = y2 + G(y1)
    return y1, y2


@wrong(check_reversible, "the last coupling only")
def last_coupling_only(couplings, y1, y2):
    return inverse_by_loop(couplings[-1:], y1, y2)


@wrong(check_reversible, "all but the first coupling")
def stops_too_early(couplings, y1, y2):
    return inverse_by_loop(couplings[1:], y1, y2)


@wrong(check_reversible, "searching or guessing")
def fixed_point(couplings, y1, y2):
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        x1 = y1
        for _ in range(20):
            x1 = y1 - F(y2)
        y1 = x1
    return y1, y2


@wrong(check_reversible, "in at_least_one, line")
def at_least_one(couplings, y1, y2):
    couplings[-1]
    return inverse_by_loop(couplings, y1, y2)


@wrong(check_reversible, "x1 and x2 are asked for")
def one_half(couplings, y1, y2):
    return inverse_by_loop(couplings, y1, y2)[0]


@wrong(check_reversible, "still to do")
def not_begun(couplings, y1, y2):
    raise NotImplementedError("Exercise 10.5")
