"""What autograd stores for the backward pass, and how to store less (notebook 10)."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def saved_bytes(run: Callable[[], object], model: nn.Module) -> int:
    """Return the bytes that autograd stores in ``run()`` for backward.

    The model's weights are not counted, since they are there in any case.
    """
    kept = set()  # of storages, because two views of one tensor are stored once

    def pack(tensor: Tensor) -> Tensor:
        kept.add(tensor.untyped_storage())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run()
    weights = {weight.untyped_storage() for weight in model.parameters()}
    return sum(storage.nbytes() for storage in kept - weights)


def rerun(block: nn.Module, x: Tensor, back: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """Run a block again and go back through it at once.

    ``back`` is the upstream gradient. Returns the block's output, the gradient of x,
    and those of the block's weights.
    """
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        # FlopCounterMode cannot hook a module whose input is a leaf; a view is no leaf.
        output = block(x.view_as(x))
    gradient, *of_weights = torch.autograd.grad(output, (x, *block.parameters()), back)
    return output.detach(), gradient, tuple(of_weights)


class Recompute(torch.autograd.Function):
    """Gradient checkpointing for blocks without dropout (Chen et al. 2016).

    ``Recompute.apply(block, x, *block.parameters())`` is block(x) and stores x alone.
    """

    @staticmethod
    def forward(ctx, block: nn.Module, x: Tensor, *weights: Tensor) -> Tensor:
        ctx.block = block
        ctx.save_for_backward(x)
        return block(x)  # Autograd does not look inside a Function.

    @staticmethod
    def backward(ctx, back: Tensor):
        _, gradient, of_weights = rerun(ctx.block, *ctx.saved_tensors, back)
        return None, gradient, *of_weights
