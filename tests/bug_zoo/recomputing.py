"""Answers to the exercise of notebook 10 on layers that run again instead of being kept, right and wrong."""

import warnings

import torch
from torch.utils.checkpoint import checkpoint

from albert_edu.analysis.memory import Recompute
from albert_edu.checks import check_gradient_checkpoint
from tests.bug_zoo.zoo import right, wrong


@right(check_gradient_checkpoint)
def one_function_a_layer(layers, x):
    for layer in layers:
        x = Recompute.apply(layer, x, *layer.parameters())
    return x


@right(check_gradient_checkpoint)
def by_torch(layers, x):
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False)
    return x


class WholeStack(torch.autograd.Function):
    """All layers in one Function, each weight once; subclasses do one thing wrong."""

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
            own = list(layer.parameters())
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                output = layer(x)
            back, *gradients = torch.autograd.grad(output, [x, *own], back)
            for weight, gradient in zip(own, gradients, strict=True):
                total[id(weight)] += gradient
        return None, back, *total.values()


@right(check_gradient_checkpoint)
def one_function_for_all(layers, x):
    return WholeStack.apply(layers, x, *{weight: None for layer in layers for weight in layer.parameters()})


@wrong(check_gradient_checkpoint, "the graph of the first run is still held")
def plain(layers, x):
    for layer in layers:
        x = layer(x)
    return x


@wrong(check_gradient_checkpoint, "nothing was recomputed")
def still_plain(layers, x):
    return torch.nn.Sequential(*layers)(x)


def after_each(function):
    """The layers one after another, each by that Function."""

    def run(layers, x):
        for layer in layers:
            x = function.apply(layer, x, *layer.parameters())
        return x

    return run


class NoEnableGrad(Recompute):
    """Runs the block again where autograd is off."""

    @staticmethod
    def backward(ctx, back):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        return None, *torch.autograd.grad(ctx.block(x), (x, *ctx.block.parameters()), back)


@wrong(check_gradient_checkpoint, "torch.enable_grad()")
def autograd_off(layers, x):
    return after_each(NoEnableGrad)(layers, x)


class NoWeights(Recompute):
    """Gives the weights no gradient."""

    @staticmethod
    def backward(ctx, back):
        gradients = Recompute.backward(ctx, back)
        return gradients[:2] + (None,) * (len(gradients) - 2)


@wrong(check_gradient_checkpoint, "giving the weights none")
def weights_forgotten(layers, x):
    return after_each(NoWeights)(layers, x)


class NoInput(Recompute):
    """Gives x no gradient."""

    @staticmethod
    def backward(ctx, back):
        return None, None, *Recompute.backward(ctx, back)[2:]


@wrong(check_gradient_checkpoint, "requires_grad_ missing")
def input_forgotten(layers, x):
    return after_each(NoInput)(layers, x)


class Ones(Recompute):
    """Forgets the gradient that comes in."""

    @staticmethod
    def backward(ctx, back):
        return Recompute.backward(ctx, torch.ones_like(back))


@wrong(check_gradient_checkpoint, "leaving out the gradient that comes in")
def ones_sent_back(layers, x):
    return after_each(Ones)(layers, x)


class HandedOn(Recompute):
    """Gives the gradient that comes in to the layer before."""

    @staticmethod
    def backward(ctx, back):
        return None, back, *Recompute.backward(ctx, back)[2:]


@wrong(check_gradient_checkpoint, "handing the incoming gradient on")
def handed_on(layers, x):
    return after_each(HandedOn)(layers, x)


class Twice(Recompute):
    """Lets backward() fill .grad and returns the gradients as well."""

    @staticmethod
    def backward(ctx, back):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            ctx.block(x).backward(back)
        return None, x.grad, *(weight.grad.clone() for weight in ctx.block.parameters())


@wrong(check_gradient_checkpoint, "counting them twice")
def counted_twice(layers, x):
    return after_each(Twice)(layers, x)


class GraphKept(torch.autograd.Function):
    """Keeps the graph of the first run on ctx, and runs the block again all the same."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.block, ctx.x = block, x.detach().requires_grad_()
        with torch.enable_grad():
            ctx.output = block(ctx.x)
        return ctx.output.detach()

    @staticmethod
    def backward(ctx, back):
        with torch.enable_grad():
            output = ctx.block(ctx.x)
        return None, *torch.autograd.grad(output, (ctx.x, *ctx.block.parameters()), back)


@wrong(check_gradient_checkpoint, "the graph of the first run is still held")
def graph_kept(layers, x):
    return after_each(GraphKept)(layers, x)


@wrong(check_gradient_checkpoint, "all layers run again before")
def the_stack_as_one(layers, x):
    stack = torch.nn.Sequential(*layers)
    return Recompute.apply(stack, x, *stack.parameters())


@wrong(check_gradient_checkpoint, "again and again")
def nothing_but_x(layers, x):
    def run(i, x):
        return checkpoint(lambda x: layers[i - 1](run(i - 1, x)), x, use_reentrant=False) if i else x

    return run(len(layers), x)


@wrong(check_gradient_checkpoint, "does every weight go into apply?")
def reentrant(layers, x):
    with warnings.catch_warnings(action="ignore"):  # it does warn
        for layer in layers:
            x = checkpoint(layer, x, use_reentrant=True)
    return x


@wrong(check_gradient_checkpoint, "not under no_grad alone")
def nothing_to_go_back_through(layers, x):
    with torch.no_grad():
        return plain(layers, x)


@wrong(check_gradient_checkpoint, "letting only the last layer learn")
def cut_between_layers(layers, x):
    for layer in layers:
        x = Recompute.apply(layer, x.detach().requires_grad_(), *layer.parameters())
    return x


@wrong(check_gradient_checkpoint, "leaving the last layer out")
def one_layer_less(layers, x):
    return one_function_a_layer(layers[:-1], x)


@wrong(check_gradient_checkpoint, "still to do")
def not_begun(layers, x):
    raise NotImplementedError("Exercise 10.4")
