"""Cards of notebook 10: layers that run a second time for the backward pass."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from albert_course.checks.asking import need
from albert_course.checks.engine import Case, Cases, Draw, card, wrong_answer
from albert_course.checks.steps import NotedLayer, Step


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
    def backward(ctx, back: Tensor):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.random.fork_rng(), torch.enable_grad():
            torch.set_rng_state(ctx.state)
            output = ctx.block(x)
        leaves = x, *ctx.block.parameters()
        return None, *torch.autograd.grad(output, leaves, back)


def gradient_checkpoint(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    """``checkpointed(layers, x) -> output``: the modules in the list ``layers``, without dropout,
    one after another, from x[B,S,H]. For the backward pass only the input of each layer is kept;
    there each layer runs a second time, the last one first. Gradients reach x and all weights as
    without it, also when a layer is in the list twice or x needs no gradient."""
    for layer in layers:
        x = RecomputeWithDropout.apply(layer, x, *layer.parameters())
    return x


def _one_by_one(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x


def _stacks(draw: Draw) -> Cases:
    L, log = draw.integer(3, 6), []
    layers = [NotedLayer(draw, 6, number, log) for number in range(L)]
    x, along = draw.randn(2, 4, 6), draw.randn(2, 4, 6)

    def output(*inputs):
        return Step(*inputs).output

    def of_x(*inputs):
        return Step(*inputs).of_x

    def of_weights(*inputs):
        return Step(*inputs).of_weights

    def memory(answer, layers, x, along):
        kept, plain = (Step(run, layers, x, along).kept for run in (answer, _one_by_one))
        need(kept < 0.9 * plain, "the graph of the first run is still held")
        most = (L + 2) * 4 * x.numel()  # an input for each layer, the output, and one to spare
        need(kept <= most, f"{kept} bytes are held: more than an input for each layer")
        return True

    def order(answer, layers, x, along):
        Step(answer, layers, x, along)
        runs, again = layers[0].log[:L], layers[0].log[L:]
        need(again != [], "the layers ran once: nothing was recomputed")
        need(
            len(again) < L * (L + 1) // 2,
            "each layer's input is found from x again and again; keep the inputs instead",
        )
        need(
            again != runs,
            "all layers run again before the first one is gone back through, so "
            "that everything is held at once after all",
        )
        return runs + again

    yield Case("gives the same output", (layers, x, along), 2.0, output)
    yield Case("gives x its gradient", (layers, x, along), 2.0, of_x)
    yield Case("gives the weights their gradients", (layers, x, along), 2.0, of_weights)
    yield Case("keeps an input for each layer and no more", (layers, x, along), 5.0, memory)
    yield Case("runs each layer a second time, the last one first", (layers, x, along), 3.0, order)
    yield Case(
        "adds up the gradients of a layer that is in the list twice, where x needs none",
        ([*layers[:2], layers[0]], x, along, False),
        1.0,
        of_weights,
    )


def _by(*edit: str) -> Callable:
    """Checkpointing with a Function that is wrong by this edit."""

    def checkpointed(layers, x):
        function = wrong_answer(RecomputeWithDropout, edit)
        for layer in layers:
            x = function.apply(layer, x, *layer.parameters())
        return x

    return checkpointed


def _as_one(layers, x):
    stack = nn.Sequential(*layers)
    return RecomputeWithDropout.apply(stack, x, *stack.parameters())


def _from_x(layers, x):
    def run(i, x):
        if i == 0:
            return x
        return checkpoint(lambda x: layers[i - 1](run(i - 1, x)), x, use_reentrant=False)

    return run(len(layers), x)


def _unless_x_learns(layers, x):
    return gradient_checkpoint(layers, x) if x.requires_grad else _one_by_one(layers, x).detach()


GRADIENTS = "return None, *torch.autograd.grad(output, leaves, back) => "
FROM_WEIGHTS = "*torch.autograd.grad(output, leaves[1:], back)"
check_gradient_checkpoint = card(
    "10.4",
    gradient_checkpoint,
    _stacks,
    {
        "the graph of the first run is still held": _one_by_one,
        "the graph of the first run is still held, though each layer runs again": _by(
            "return block(x) => with torch.enable_grad():\n            ctx.output = block(x.detach()"
            ".requires_grad_())\n        return ctx.output.detach()"
        ),
        "the second run has no graph: in backward autograd is off; run layers under "
        "torch.enable_grad()": _by(
            "torch.random.fork_rng(), torch.enable_grad() => torch.random.fork_rng()"
        ),
        "giving the weights none: hand them to apply, and return a gradient for each": _by(
            GRADIENTS + "weightless = [None] * (len(leaves) - 1)\n"
            "        return None, *torch.autograd.grad(output, x, back), *weightless"
        ),
        "giving x none: is requires_grad_ missing on the input that you run again?": _by(
            GRADIENTS + "return None, None, " + FROM_WEIGHTS
        ),
        "leaving out the gradient that comes in: each layer is asked as if its output were the loss": _by(
            "leaves, back) => leaves, torch.ones_like(back))"
        ),
        "handing the incoming gradient on unchanged": _by(
            GRADIENTS + "return None, back, " + FROM_WEIGHTS
        ),
        "counting them twice: .grad gets them both from you and from autograd": _by(
            GRADIENTS + "output.backward(back)\n"
            "        return None, x.grad, *(weight.grad.clone() for weight in leaves[1:])"
        ),
        "all layers run again before the first one is gone back through": _as_one,
        "each layer's input is found from x again and again; keep the inputs instead": _from_x,
        "the output needs no gradient where x needs none: does every weight go into apply?": _unless_x_learns,
        "the output needs no gradient: not under no_grad alone": lambda layers, x: _one_by_one(
            layers, x
        ).detach(),
        "letting only the last layer learn: is there a detach() between the layers?": "apply(layer, x, => apply(layer, x.detach().requires_grad_(),",
        "leaving the last layer out": "in layers => in layers[:-1]",
    },
)


def _blocks(draw: Draw) -> Cases:
    H = 5
    blocks = [
        nn.Sequential(NotedLayer(draw, H, 0, []), nn.Dropout(0.5), nn.Linear(H, H))
        for _ in range(2)
    ]
    for block in blocks:
        with torch.no_grad():
            block[2].weight.copy_(draw.randn(H, H))
    x, along = draw.randn(30, 10, H), draw.randn(30, 10, H)
    once, thrice = blocks[:1], [blocks[0], blocks[1], blocks[0]]  # as in a shared encoder

    def run(answer, layers, x, along):
        need(hasattr(answer, "apply"), "write a class with torch.autograd.Function as its base")

        def apply(layers, x):
            for block in layers:
                x = answer.apply(block, x, *block.parameters())
            return x

        return Step(apply, layers, x, along)

    def output(*inputs):
        return run(*inputs).output

    def learnt(*inputs):
        step = run(*inputs)
        return torch.cat([step.of_x.flatten(), step.of_weights])

    def drawn_after(*inputs):
        run(*inputs)
        return torch.rand(3)

    def memory(answer, layers, x, along):
        kept, plain = run(answer, layers, x, along).kept, Step(_one_by_one, layers, x, along).kept
        need(kept < 0.9 * plain, "the first run's graph is held")
        most = 3 * 4 * x.numel() + 2 * len(torch.get_rng_state())  # x, the output, one to spare
        need(kept <= most, f"{kept} bytes are held: more than x and a state")
        return True

    yield Case("gives the block's output", (once, x, along), 1.0, output)
    yield Case("gives the gradients of the first run's dropout", (once, x, along), 3.0, learnt)
    yield Case(
        "leaves the random numbers after it as they were", (once, x, along), 1.0, drawn_after
    )
    yield Case(
        "leaves them as they were after three applications", (thrice, x, along), 1.0, drawn_after
    )
    yield Case("keeps x and no activations", (once, x, along), 2.0, memory)
    yield Case("keeps three applications of two blocks apart", (thrice, x, along), 2.0, learnt)


class _NeverAgain:
    """Not recomputing gives the right dropout, too."""

    @staticmethod
    def apply(block, x, *weights):
        return block(x)


SET, RUN = "torch.set_rng_state(ctx.state) => ", "return block(x) => "
check_recompute_with_dropout = card(
    "10.1",
    RecomputeWithDropout,
    _blocks,
    {
        "drawing another dropout in the second run: bring the state of the random numbers back": SET,
        "drawing another dropout in the second run, and the program notices: torch.random.fork_rng()": (
            SET,
            "torch.random.fork_rng(), => ",
        ),
        "the program draws numbers that it has had: set the state inside torch.random.fork_rng() only": "torch.random.fork_rng(), => ",
        "the first run draws what the program would draw next: seed nothing": (
            "ctx.state = torch.get_rng_state() => torch.manual_seed(0)",
            SET + "torch.manual_seed(0)",
        ),
        "each application needs a state of its own: keep it on ctx, not on the class or the block": (
            "ctx.state = => block.state =",
            SET + "torch.set_rng_state(ctx.block.state)",
        ),
        "dropping nothing in the second run": "output = ctx.block(x) => output = ctx.block.eval()(x)\n            ctx.block.train()",
        "dropping nothing in the first run": RUN
        + "output = block.eval()(x)\n        block.train()\n        return output",
        "the first run's graph is held": _NeverAgain,
        "write a class with torch.autograd.Function as its base": lambda block, x: block(x),
    },
)
