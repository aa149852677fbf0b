"""Cards of notebook 10: layers that run a second time for the backward pass.

Their known mistakes are edits in mistakes/10.txt.
"""

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from albert_course.checks.engine.asking import need, part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.edits import wrong_answer
from albert_course.checks.engine.making import make_check


class NotedLayer(nn.Module):
    """A layer that notes its number when it runs, and keeps far more than its input."""

    def __init__(self, H: int, number: int, log: list[int]):
        super().__init__()
        self.up, self.down = nn.Linear(H, 8 * H), nn.Linear(8 * H, H)
        self.number, self.log = number, log

    def forward(self, x: Tensor) -> Tensor:
        self.log.append(self.number)
        return x + self.down(torch.tanh(self.up(x)))


class Alive(TorchDispatchMode):
    """Knows the tensors that operations have made and that are still there, except the weights."""

    def __init__(self, weights: Sequence[Tensor]):
        super().__init__()
        self.storages: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()
        self.weights = {weight.untyped_storage() for weight in weights}

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        self.storages.update(leaf.untyped_storage() for leaf in tensors)
        return result

    def bytes(self) -> int:
        """The bytes of these tensors."""
        return sum(storage.nbytes() for storage in self.storages if storage not in self.weights)


class Step(NamedTuple):
    """What a training step was like."""

    held: int  # bytes, between the forward and the backward pass
    output: Tensor
    grad_x: Tensor | None
    grad_weights: Tensor  # of all layers, one after another


def step(
    run: Callable, layers: list[nn.Module], x: Tensor, grad_output: Tensor, trains_x: bool = True
) -> Step:
    """One training step through ``run(layers, x)``."""
    weights = list(dict.fromkeys(w for layer in layers for w in layer.parameters()))
    x = x.clone().requires_grad_(trains_x)
    with Alive(weights) as alive:
        torch.zeros(1)  # the first operation under a mode imports much of torch
        output = run(layers, x)
    held = alive.bytes()
    has_shape = isinstance(output, Tensor) and output.shape == x.shape
    need(has_shape, "one tensor of x's shape is asked for; is the return missing?")
    cure = "run the layers inside a Function that gets x and every weight, not under no_grad alone"
    need(output.requires_grad, f"the output needs no gradient: {cure}")
    output.backward(grad_output)
    grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    return Step(held, output.detach(), x.grad, torch.cat([grad.flatten() for grad in grads]))


class RecomputeWithDropout(torch.autograd.Function):
    """``Function.apply(block, x, *block.parameters()) -> block(x)``: a torch.autograd.Function that
    keeps x alone and runs the block a second time in its backward pass. The block may have dropout:
    the second run drops what the first one dropped, and the random numbers that the program draws
    after the backward pass are those that it would have drawn without a second run."""

    @staticmethod
    def forward(ctx, block: nn.Module, x: Tensor, *weights: Tensor) -> Tensor:
        ctx.block = block
        ctx.state = torch.get_rng_state()
        ctx.save_for_backward(x)
        return block(x)

    @staticmethod
    def backward(ctx, grad_output: Tensor):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.random.fork_rng(), torch.enable_grad():
            torch.set_rng_state(ctx.state)
            output = ctx.block(x)
        leaves = x, *ctx.block.parameters()
        return None, *torch.autograd.grad(output, leaves, grad_output)


def gradient_checkpoint(layers: Sequence[nn.Module], x: Tensor, function=RecomputeWithDropout):
    """``checkpointed(layers, x) -> output``: the modules in the list ``layers``, without dropout,
    one after another, from x[B,S,H]. For the backward pass only the input of each layer is kept;
    there each layer runs a second time, the last one first. Gradients reach x and all weights as
    without it, also when a layer is in the list twice or x needs no gradient."""
    for layer in layers:
        x = function.apply(layer, x, *layer.parameters())
    return x


def one_by_one(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    """The layers without recomputing."""
    return nn.Sequential(*layers)(x)


def through(function: type) -> Callable:
    """The run of layers one after another, each through a Function's ``apply``."""
    need(hasattr(function, "apply"), "write a class with torch.autograd.Function as its base")
    return partial(gradient_checkpoint, function=function)


def keeps_little(run: Callable, layers, x: Tensor, grad_output: Tensor, most: int) -> bool:
    """True if a step holds less than the plain one, and at most so many bytes."""
    held = step(run, layers, x, grad_output).held
    plain = step(one_by_one, layers, x, grad_output).held
    need(held < 0.9 * plain, "the graph of the first run is still held")
    need(held <= most, f"{held} bytes are held, and {most} are enough")
    return True


def _gradient_checkpoint_cases(draw: Draw) -> Cases:
    L = draw.integer(3, 6)
    log: list[int] = []
    layers = [NotedLayer(6, number, log) for number in range(L)]
    x = draw.randn(2, 4, 6)
    grad_output = draw.randn(2, 4, 6)

    def memory(answer, layers, x, grad_output):
        """Whether a step keeps little more than the inputs of the layers."""
        most = (L + 2) * 4 * x.numel()  # an input for each layer, the output, and one to spare
        return keeps_little(answer, layers, x, grad_output, most)

    def order(answer, layers, x, grad_output):
        """The layers in the order in which they run."""
        step(answer, layers, x, grad_output)
        return layers[0].log

    output = part_of("output", step)
    grad_x = part_of("grad_x", step)
    grad_weights = part_of("grad_weights", step)
    inputs = (layers, x, grad_output)
    yield Case("gives the same output", inputs=inputs, weight=2.0, ask=output)
    yield Case("gives x its gradient", inputs=inputs, weight=2.0, ask=grad_x)
    yield Case("gives the weights their gradients", inputs=inputs, weight=2.0, ask=grad_weights)
    yield Case("keeps an input for each layer and no more", inputs=inputs, weight=5.0, ask=memory)
    yield Case(
        "runs each layer a second time, the last one first",
        inputs=inputs,
        weight=3.0,
        ask=order,
    )
    twice = [*layers[:2], layers[0]], x, grad_output, False
    yield Case(
        "adds up the gradients of a layer that is there twice",
        inputs=twice,
        ask=grad_weights,
    )


def checkpointed_with(edit: str, layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    """Checkpointing with a Function that is wrong by this edit."""
    return gradient_checkpoint(layers, x, wrong_answer(RecomputeWithDropout, edit))


check_gradient_checkpoint = make_check(
    "assignment 10.4", gradient_checkpoint, _gradient_checkpoint_cases
)


def _dropout_cases(draw: Draw) -> Cases:
    H = 5
    a, b = (nn.Sequential(NotedLayer(H, 0, []), nn.Dropout(0.5), nn.Linear(H, H)) for _ in range(2))
    x = draw.randn(30, 10, H)
    grad_output = draw.randn(30, 10, H)
    one = ([a], x, grad_output)
    three = ([a, b, a], x, grad_output)  # as in a shared encoder

    def run(answer, *inputs):
        """What a step through the function gives."""
        return step(through(answer), *inputs)

    def drawn_after(*inputs):
        """Random numbers that the program draws after a step."""
        run(*inputs)
        return torch.rand(3)

    def memory(answer, layers, x, grad_output):
        """Whether a step keeps little more than x and the state of the generator."""
        most = 3 * 4 * x.numel() + 2 * len(torch.get_rng_state())  # x, the output, one to spare
        return keeps_little(through(answer), layers, x, grad_output, most)

    gradients = part_of(slice(2, None), run)
    yield Case("gives the block's output", inputs=one, ask=part_of("output", run))
    yield Case(
        "gives the gradients of the first run's dropout",
        inputs=one,
        weight=3.0,
        ask=gradients,
    )
    yield Case("leaves the random numbers after it as they were", inputs=one, ask=drawn_after)
    yield Case("leaves them as they were after three applications", inputs=three, ask=drawn_after)
    yield Case("keeps x and no activations", inputs=one, weight=2.0, ask=memory)
    yield Case(
        "keeps three applications of two blocks apart",
        inputs=three,
        weight=2.0,
        ask=gradients,
    )


check_recompute_with_dropout = make_check("assignment 10.5", RecomputeWithDropout, _dropout_cases)
