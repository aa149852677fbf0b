"""LAMB: Adam's direction, with a step in proportion to each tensor's norm (You et al. 2019).

Built in notebook 07.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from albert_edu.config import check_numbers


class Lamb(torch.optim.Optimizer):
    """LAMB as the authors' ALBERT uses it.

    For each tensor w with gradient g:  m <- b1 m + (1-b1) g,  v <- b2 v + (1-b2) g^2,
    u = m / (sqrt(v) + eps) + decay * w,  w <- w - lr * (|w| / |u|) * u.
    The trust ratio |w| / |u| is 1 where a norm is 0 and for groups with
    ``adapt=False`` (``parameter_groups`` puts biases and norms there). There is no
    bias correction, which the LAMB paper has, and no upper limit on the ratio. A tensor
    shared by L layers has one ratio, where BERT has L ratios.
    """

    def __init__(
        self, params: Iterable, lr: float, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01
    ):
        beta1, beta2 = betas
        check_numbers(locals(), 0.0, 3e38, "lr", "eps", "weight_decay")
        check_numbers(locals(), 0.0, 0.999999, "beta1", "beta2")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        super().__init__(params, defaults | {"adapt": True})

    @torch.no_grad()
    def step(self) -> None:
        """Update all parameters that have gradients."""
        for group in self.param_groups:
            for w in group["params"]:
                if w.grad is not None:
                    self.update(w, group)

    def update(self, w: Tensor, group: dict) -> None:
        """Take one step with the tensor w, in place."""
        state, (b1, b2) = self.state[w], group["betas"]
        if not state:
            state["m"], state["v"] = torch.zeros_like(w), torch.zeros_like(w)
        m, v = state["m"], state["v"]
        m.lerp_(w.grad, 1 - b1)
        v.mul_(b2).addcmul_(w.grad, w.grad, value=1 - b2)
        u = (m / v.sqrt().add_(group["eps"])).add_(w, alpha=group["weight_decay"])
        ratio = trust_ratio(w, u) if group["adapt"] else 1.0
        w.sub_(u.mul_(ratio), alpha=group["lr"])


def trust_ratio(w: Tensor, u: Tensor) -> Tensor:
    """Return |w| / |u|, or 1 where either norm is 0.

    It stays a tensor, because reading a number from a GPU makes the CPU wait.
    """
    w_norm, u_norm = w.norm(), u.norm()
    return torch.where((w_norm > 0) & (u_norm > 0), w_norm / u_norm, 1.0)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Put matrices and tables into a group that decays and adapts.

    The second group is the rest: biases and norms, which have one dimension. They
    neither decay nor adapt.
    """
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay, "adapt": True},
        {"params": vectors, "weight_decay": 0.0, "adapt": False},
    ]
