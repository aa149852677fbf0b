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
