"""One training step as the cards of notebook 10 look at it: what is held, and what is learnt."""

import weakref
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from albert_course.checks.asking import need
from albert_course.checks.engine import Draw


class NotedLayer(nn.Module):
    """A layer that notes its number when it runs, and keeps far more than its input."""

    def __init__(self, draw: Draw, H: int, number: int, log: list[int]):
        super().__init__()
        self.up, self.down = nn.Linear(H, 8 * H), nn.Linear(8 * H, H)
        self.number, self.log = number, log
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(draw.randn(*weight.shape) / 3)

    def forward(self, x: Tensor) -> Tensor:
        self.log.append(self.number)
        return x + self.down(torch.tanh(self.up(x)))


class Alive(TorchDispatchMode):
    """Knows the tensors that operations have made and that are still there, except the weights."""

    def __init__(self, weights: Sequence[Tensor]):
        super().__init__()
        self.storages = weakref.WeakSet()
        self.weights = {weight.untyped_storage() for weight in weights}

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        self.storages.update(leaf.untyped_storage() for leaf in tensors)
        return result

    def bytes(self) -> int:
        """The bytes of these tensors."""
        return sum(storage.nbytes() for storage in self.storages if storage not in self.weights)


class Step:
    """One training step through ``run(layers, x)``: what came out, was held, was learnt."""

    def __init__(
        self,
        run: Callable,
        layers: Sequence[nn.Module],
        x: Tensor,
        along: Tensor,
        trains_x: bool = True,
    ):
        weights = list(dict.fromkeys(w for layer in layers for w in layer.parameters()))
        x = x.clone().requires_grad_(trains_x)
        with Alive(weights) as alive:
            torch.zeros(1)  # the first operation under a mode imports much of torch
            output = run(layers, x)
        self.kept = alive.bytes()
        whole = isinstance(output, Tensor) and output.shape == x.shape
        need(whole, "one tensor of x's shape is asked for; is the return missing?")
        need(
            output.requires_grad,
            "the output needs no gradient: run the layers inside a Function "
            "that gets x and every weight, not under no_grad alone",
        )
        output.backward(along)
        self.output, self.of_x = output.detach(), x.grad
        grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
        self.of_weights = torch.cat([grad.flatten() for grad in grads])
