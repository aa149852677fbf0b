"""Two variants of LAMB for one question: what closed the feed-forward block of a model?

LAMB moves biases and norms by the plain learning rate, without a trust ratio and without a bias
correction. Each variant changes one of these two things (section ``cause`` of the plan).
"""

import torch
from torch import Tensor, nn

from albert_edu.errors import InputError
from albert_edu.training.lamb import Lamb, parameter_groups, trust_ratio
from albert_edu.training.settings import TrainSettings, make_optimizer

SLOWER = 0.1  # the rate of biases and norms, as a share of that of matrices


class SlowVectorsLamb(Lamb):
    """LAMB whose biases and norms have a tenth of the learning rate."""

    def update(self, w: Tensor, group: dict) -> None:
        """Take one step with the tensor w, in place."""
        if not group["adapt"]:
            group = group | {"lr": SLOWER * group["lr"]}
        super().update(w, group)


class CorrectedLamb(Lamb):
    """LAMB with Adam's bias correction: m / (1 - b1^t) and v / (1 - b2^t) at step t."""

    def update(self, w: Tensor, group: dict) -> None:
        """Take one step with the tensor w, in place."""
        state = self.state[w]
        b1, b2 = group["betas"]
        if not state:
            state["m"] = torch.zeros_like(w)
            state["v"] = torch.zeros_like(w)
            state["step"] = torch.zeros(())  # a tensor, so that a checkpoint holds it
        state["step"] += 1
        t = int(state["step"])
        state["m"].lerp_(w.grad, 1 - b1)
        state["v"].mul_(b2).addcmul_(w.grad, w.grad, value=1 - b2)
        m = state["m"] / (1 - b1**t)
        v = state["v"] / (1 - b2**t)
        u = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * w
        ratio = trust_ratio(w, u) if group["adapt"] else 1.0
        w.sub_(ratio * u, alpha=group["lr"])


VARIANTS = {"lamb, slow vectors": SlowVectorsLamb, "lamb, bias correction": CorrectedLamb}


def build_optimizer(name: str, model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Return a variant by its name, or the optimizer of the settings by theirs.

    Raises InputError for a name that is none of them.
    """
    if name in ("lamb", "adamw"):
        return make_optimizer(model, settings)
    if name not in VARIANTS:
        raise InputError(f"there is no optimizer {name!r}; there are {', '.join(VARIANTS)}.")
    groups = parameter_groups(model, settings.weight_decay)
    return VARIANTS[name](groups, lr=settings.learning_rate)
