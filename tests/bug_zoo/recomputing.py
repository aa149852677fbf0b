"""Right answers to the exercises of notebook 10 in other styles."""

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from albert_edu.analysis.counting import flops_per_token
from albert_edu.analysis.memory import Recompute, rerun
from albert_edu.checks import (
    check_flops,
    check_gradient_checkpoint,
    check_recompute_with_dropout,
    check_reversible,
)
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


@right(check_gradient_checkpoint)
def by_torch(layers, x):
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False)
    return x


class WholeStack(torch.autograd.Function):
    """All layers in one Function, each weight once."""

    @staticmethod
    def forward(ctx, layers, x, *weights):
        ctx.layers, inputs = layers, []
        for layer in layers:
            inputs.append(x)
            x = layer(x)
        ctx.save_for_backward(*inputs, *weights)
        return x

    @staticmethod
    def backward(ctx, back):
        L = len(ctx.layers)
        inputs, weights = ctx.saved_tensors[:L], ctx.saved_tensors[L:]
        total = {id(weight): torch.zeros_like(weight) for weight in weights}
        for layer, x in zip(reversed(ctx.layers), reversed(inputs), strict=True):
            _, back, gradients = rerun(layer, x, back)
            for weight, gradient in zip(layer.parameters(), gradients, strict=True):
                total[id(weight)] += gradient
        return None, back, *total.values()


@right(check_gradient_checkpoint)
def one_function_for_all(layers, x):
    return WholeStack.apply(layers, x, *{weight: None for layer in layers for weight in layer.parameters()})


@right(check_recompute_with_dropout)
class SavedAndRestored(Recompute):
    """The state is saved as a tensor among the others and put back by hand."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.block = block
        ctx.save_for_backward(x, torch.random.get_rng_state())
        return block(x)

    @staticmethod
    def backward(ctx, back):
        x, state = ctx.saved_tensors
        now = torch.random.get_rng_state()
        torch.random.set_rng_state(state)
        _, gradient, of_weights = rerun(ctx.block, x, back)
        torch.random.set_rng_state(now)
        return None, gradient, *of_weights


@right(check_recompute_with_dropout)
class ByTorch:
    """No Function of its own: torch's checkpoint keeps the state by itself."""

    @staticmethod
    def apply(block, x, *weights):
        return checkpoint(block, x, use_reentrant=False)
