"""LAMB: Adam's direction, with a step in proportion to each tensor's norm (You et al. 2019).

Built in notebook 07.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from albert_edu.config import check_between

LARGEST = 3e38  # a little below the largest float32


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
        self,
        params: Iterable,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ):
        check_between("lr", lr, 0.0, LARGEST)
        check_between("beta1", betas[0], 0.0, 0.999999)
        check_between("beta2", betas[1], 0.0, 0.999999)
        check_between("eps", eps, 0.0, LARGEST)
        check_between("weight_decay", weight_decay, 0.0, LARGEST)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "adapt": True,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override] # it calls no closure
        """Update all parameters that have gradients."""
        for group in self.param_groups:
            for w in group["params"]:
                if w.grad is not None:
                    self.update(w, group)

    def update(self, w: Tensor, group: dict) -> None:
        """Take one step with the tensor w, in place."""
        g = w.grad
        b1, b2 = group["betas"]
        state = self.state[w]
        if not state:
            state["m"] = torch.zeros_like(w)
            state["v"] = torch.zeros_like(w)
        m = state["m"]
        v = state["v"]
        m.lerp_(g, 1 - b1)
        v.mul_(b2).addcmul_(g, g, value=1 - b2)
        u = m / v.sqrt().add_(group["eps"])
        u.add_(w, alpha=group["weight_decay"])
        if group["adapt"]:
            u.mul_(trust_ratio(w, u))
        w.sub_(u, alpha=group["lr"])


def trust_ratio(w: Tensor, u: Tensor) -> Tensor:
    """Return |w| / |u|, or 1 where either norm is 0.

    It stays a tensor, because reading a number from a GPU makes the CPU wait.
    """
    w_norm = w.norm()
    u_norm = u.norm()
    both = (w_norm > 0) & (u_norm > 0)
    return torch.where(both, w_norm / u_norm, 1.0)


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
