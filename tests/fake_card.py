"""A GPU for a machine that has none: tensors carry a mark, and two that differ do not meet.

The numbers stay in the CPU's memory. ``FakeCard`` looks at each call of a torch function: ``.to``
sets or takes the mark, a result has the mark of its arguments, and a call that gets a tensor with
the mark and one without it is an error, as on a GPU.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

CARD = torch.device("cuda")
# These may get one tensor of each kind, and what they write into stays where it is.
CROSSING = {Tensor.copy_, Tensor.__deepcopy__, torch._has_compatible_shallow_copy_type}
TO_NUMPY = {Tensor.numpy, Tensor.__array__}
# A CPU's single number may meet a GPU's tensor, but not here.
STRICT = {torch.cat, torch.stack}


class WrongDevice(RuntimeError):
    """A tensor of the CPU met one of the card."""


def on_card(tensor: Tensor) -> bool:
    """Whether the tensor has the mark."""
    return getattr(tensor, "_on_card", False)


def move(tensors: Any, to_card: bool) -> Any:
    """Set or take the mark of every tensor in the structure, and return it."""
    for tensor in tree_leaves(tensors):
        if isinstance(tensor, Tensor):
            tensor._on_card = to_card  # type: ignore[attr-defined]
    return tensors


def move_model(model: nn.Module) -> None:
    """Do what ``model.to("cuda")`` does: the same parameters and buffers, now on the card."""
    move([*model.parameters(), *model.buffers()], to_card=True)


class FakeCard(TorchFunctionMode):
    """Within it a machine seems to have a GPU, for whoever asks for one by name."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        here = any(map(on_card, tensors))
        if func == Tensor.device.__get__:
            return CARD if here else func(*args)
        if func in TO_NUMPY and here:
            raise WrongDevice(f"{func.__name__}: write .cpu() first")
        if func in (Tensor.to, Tensor.cpu, Tensor.cuda):
            return self._moved(func, args, kwargs)
        if func == Tensor.data.__set__:
            move(args[0], on_card(args[1]))  # as the parameters of ``module.to``
            return func(*args)
        if func in CROSSING:
            here = on_card(args[0])
        else:
            self._meet(func, args, tensors)
        if kwargs.get("device") is not None:
            here = torch.device(kwargs["device"]).type == CARD.type
            if here:
                kwargs["device"] = "cpu"
        result = func(*args, **kwargs)
        return move(result, to_card=True) if here else result

    def _moved(self, func, args, kwargs):
        """A copy with the other mark, or the tensor itself where it has it already."""
        asked = [*args[1:], *kwargs.values()]
        goal = on_card(args[0])
        if func is not Tensor.to:
            goal = func is Tensor.cuda
        for one in asked if func is Tensor.to else ():
            if isinstance(one, str | torch.device):
                goal = torch.device(one).type == CARD.type
            elif isinstance(one, Tensor):
                goal = on_card(one)
        kinds = [one for one in asked if isinstance(one, torch.dtype | Tensor)]
        result = args[0].to(*kinds) if kinds else args[0]
        if result is args[0] and goal != on_card(args[0]):
            result = args[0].clone()
        return move(result, goal)

    def _meet(self, func, args, tensors):
        """Raise WrongDevice where a tensor of the CPU meets one of the card."""
        if not any(map(on_card, tensors)):
            return
        if func is Tensor.__getitem__ and on_card(args[0]):
            return  # the indices of a GPU's tensor may be the CPU's
        for tensor in tensors:
            if not on_card(tensor) and (tensor.dim() > 0 or func in STRICT):
                name = getattr(func, "__name__", str(func))
                raise WrongDevice(f"{name} got a tensor on the card and one on the CPU")
