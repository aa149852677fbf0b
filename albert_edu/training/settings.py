"""How to train: the settings of a run, its learning rate, its optimizer (notebook 07)."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from albert_edu.config import check_choices, check_numbers
from albert_edu.training.lamb import Lamb, parameter_groups


@dataclass(frozen=True)
class TrainSettings:
    """How to train a model; section 4.1 has the paper's values. A bad one is a ValueError."""

    steps: int
    learning_rate: float = 1e-3  # at the end of the warm-up
    warmup_steps: int = 0  # linear, then linear decay to 0 at the last step
    optimizer: Literal["lamb", "adamw"] = "adamw"
    weight_decay: float = 0.01  # not on biases and norms
    clip_norm: float = 1.0  # on the gradient of all parameters together; 0 means never
    accumulate: int = 1  # micro-batches of a batch, at most one per row: the same step, less memory
    precision: Literal["float32", "bfloat16"] = "float32"
    gradient_checkpointing: bool = False  # less memory, a third more time, the same step
    compile: bool = False  # torch.compile the model: pays on a GPU, seldom on a CPU
    checkpoint_every: int = 0  # steps; 0 here and below means only at the end
    log_every: int = 10
    evaluate_every: int = 0  # when there is a held-out stream, or something to observe
    seed: int = 0

    def __post_init__(self):
        check_numbers(self, 0, 10**9, "steps", "checkpoint_every", "log_every", "evaluate_every")
        check_numbers(self, 0, self.steps, "warmup_steps")
        check_numbers(self, 0.0, 3e38, "learning_rate", "clip_norm")  # the largest float32
        check_numbers(self, 0.0, 1.0, "weight_decay")
        check_numbers(self, 1, 100_000, "accumulate")
        check_numbers(self, 0, 2**32 - 1, "seed")
        check_choices(self, optimizer=("lamb", "adamw"), precision=("float32", "bfloat16"))
        check_choices(self, compile=(False, True), gradient_checkpointing=(False, True))

    def due(self, done: int, every: int) -> bool:
        """Whether something done every so many steps (0: never), and at the end, is due."""
        return done == self.steps or bool(every and done % every == 0)

    def trajectory(self) -> dict:
        """Return the settings that the weights depend on; others may change when a run resumes."""
        free = "compile gradient_checkpointing checkpoint_every log_every evaluate_every".split()
        return {name: value for name, value in vars(self).items() if name not in free}


def suited_to(device: torch.device) -> dict:
    """Return ``precision`` and ``compile`` for a device.

    On a GPU the model is compiled, and the precision is bfloat16 if the GPU computes in it.
    """
    gpu = device.type == "cuda"
    bfloat16 = gpu and torch.cuda.is_bf16_supported(including_emulation=False)
    return {"precision": "bfloat16" if bfloat16 else "float32", "compile": gpu}


def compiled(model: nn.Module) -> nn.Module:
    """Return the model with a compiled forward pass, over the same weights.

    The whole model is one graph, because a call of each block for itself keeps a fast GPU waiting.
    Without Triton or a C compiler torch warns, and the model runs as it is.
    """
    import torch._dynamo.config as dynamo

    dynamo.suppress_errors = True
    dynamo.recompile_limit = 64  # a sweep has many shapes; past the limit a model runs uncompiled
    return torch.compile(model)


def learning_rate(step: int, settings: TrainSettings) -> float:
    """Return the learning rate of a step, which counts from 0.

    It rises linearly over the warm-up and then falls linearly towards 0, which it
    would reach one step after the last.

    >>> settings = TrainSettings(steps=10, learning_rate=1.0, warmup_steps=2)
    >>> [round(learning_rate(step, settings), 3) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.125]
    """
    rise = (step + 1) / max(settings.warmup_steps, 1)
    fall = (settings.steps - step) / max(settings.steps - settings.warmup_steps, 1)
    return settings.learning_rate * min(rise, fall, 1.0)


def make_optimizer(model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Return LAMB or AdamW over the model's parameters; biases and norms do not decay."""
    groups = parameter_groups(model, settings.weight_decay)
    if settings.optimizer == "lamb":
        return Lamb(groups, lr=settings.learning_rate)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-6)  # it ignores "adapt"
