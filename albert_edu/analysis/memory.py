"""What autograd stores for the backward pass, and two ways to store less (notebook 10)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from albert_edu.model.encoder import SharedEncoder


def saved_bytes(run: Callable[[], object], model: nn.Module) -> int:
    """Return the bytes that autograd stores of ``run()`` for the backward pass.

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


class Reversible(torch.autograd.Function):
    """Apply y1 = x1 + F(x2), y2 = x2 + G(y1) layer by layer.

    The backward pass computes each layer's input from its output (Gomez et al. 2017).
    """

    @staticmethod
    def forward(
        ctx, stack: "ReversibleStack", x1: Tensor, x2: Tensor, *weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.stack = stack
        for F, G in stack.couplings:
            x1 = x1 + F(x2)
            x2 = x2 + G(x1)
        ctx.save_for_backward(x1, x2)
        return x1, x2

    @staticmethod
    def backward(ctx, back1: Tensor, back2: Tensor):
        """Return the gradients of x1, x2 and each weight, without any stored activation."""
        x1, x2 = ctx.saved_tensors
        total = dict.fromkeys(ctx.stack.parameters(), 0)
        for F, G in reversed(ctx.stack.couplings):
            output, gradient, of_G = rerun(G, x1, back2)
            x2, back1 = x2 - output, back1 + gradient
            output, gradient, of_F = rerun(F, x2, back1)
            x1, back2 = x1 - output, back2 + gradient
            weights = [*G.parameters(), *F.parameters()]
            for weight, more in zip(weights, of_G + of_F, strict=True):
                total[weight] = total[weight] + more
        return None, back1, back2, *total.values()


class ReversibleStack(nn.Module):
    """An encoder's attention blocks as F, its feed-forward blocks as G.

    Without dropout and padding (Gomez et al. 2017; notebook 10).
    """

    def __init__(self, encoder: SharedEncoder):
        super().__init__()
        self.encoder = encoder
        self.couplings = [(encoder.attention[i], encoder.ffn[j]) for i, j in encoder.plan]

    def forward(
        self, x1: Float[Tensor, "B S H"], x2: Float[Tensor, "B S H"]
    ) -> tuple[Tensor, Tensor]:
        return Reversible.apply(self, x1, x2, *self.parameters())

    @torch.no_grad()
    def inverse(
        self, y1: Float[Tensor, "B S H"], y2: Float[Tensor, "B S H"]
    ) -> tuple[Tensor, Tensor]:
        """Return the input (x1, x2) whose output is (y1, y2)."""
        for F, G in reversed(self.couplings):
            y2 = y2 - G(y1)
            y1 = y1 - F(y2)
        return y1, y2
