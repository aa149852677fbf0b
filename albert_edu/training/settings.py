"""How to train: the settings of a run, its learning rate, its optimizer (notebook 07)."""

from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import torch
from torch import nn

from albert_edu.config import check_between, check_one_of, check_whole, make_plain
from albert_edu.training.lamb import LARGEST, Lamb, parameter_groups

OptimizerName = Literal["lamb", "adamw"]
Precision = Literal["float32", "bfloat16"]
MAY_CHANGE = (  # when a run resumes, because the weights do not depend on these settings
    "compile",
    "gradient_checkpointing",
    "checkpoint_every",
    "log_every",
    "evaluate_every",
)


@dataclass(frozen=True)
class TrainSettings:
    """How to train a model; section 4.1 has the paper's values. A bad one is an InputError."""

    steps: int
    learning_rate: float = 1e-3  # at the end of the warm-up
    warmup_steps: int = 0  # linear; then linear decay, to 0 one step after the last
    optimizer: OptimizerName = "adamw"
    weight_decay: float = 0.01  # not on biases and norms
    clip_norm: float = 1.0  # on the gradient of all parameters together; 0 means never
    accumulate: int = 1  # micro-batches of a batch, at most one per row: the same step, less memory
    precision: Precision = "float32"
    gradient_checkpointing: bool = False  # less memory, a third more time, the same step
    compile: bool = False  # torch.compile the model: pays on a GPU, seldom on a CPU
    checkpoint_every: int = 0  # steps; 0 here and below means only at the end
    log_every: int = 10
    evaluate_every: int = 0  # when there is a held-out stream, or something to observe
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 0, 10**9)
        check_between("learning_rate", self.learning_rate, 0.0, LARGEST)
        check_whole("warmup_steps", self.warmup_steps, 0, self.steps)
        check_one_of("optimizer", self.optimizer, get_args(OptimizerName))
        check_between("weight_decay", self.weight_decay, 0.0, 1.0)
        check_between("clip_norm", self.clip_norm, 0.0, LARGEST)
        check_whole("accumulate", self.accumulate, 1, 100_000)
        check_one_of("precision", self.precision, get_args(Precision))
        check_one_of("gradient_checkpointing", self.gradient_checkpointing, (False, True))
        check_one_of("compile", self.compile, (False, True))
        check_whole("checkpoint_every", self.checkpoint_every, 0, 10**9)
        check_whole("log_every", self.log_every, 0, 10**9)
        check_whole("evaluate_every", self.evaluate_every, 0, 10**9)
        check_whole("seed", self.seed, 0, 2**32 - 1)
        make_plain(self)

    def is_due(self, done: int, every: int) -> bool:
        """Whether something must be done after ``done`` steps: every so many, and at the end.

        With ``every`` 0 it is only done at the end.
        """
        if done == self.steps:
            return True
        return every > 0 and done % every == 0

    def trajectory(self) -> dict[str, Any]:
        """Return the settings that the weights depend on, which are all but MAY_CHANGE."""
        return {name: value for name, value in vars(self).items() if name not in MAY_CHANGE}


def device_settings(device: torch.device) -> dict[str, Any]:
    """Return ``precision`` and ``compile`` for a device.

    On a GPU the model is compiled, and the precision is bfloat16 if the GPU computes in it.
    """
    if device.type != "cuda":
        return {"precision": "float32", "compile": False}
    bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    return {"precision": "bfloat16" if bfloat16 else "float32", "compile": True}


def compiled(model: nn.Module) -> nn.Module:
    """Return the model with a compiled forward pass, over the same weights.

    The whole model is one graph, because a call of each block for itself keeps a fast GPU waiting.
    Without Triton or a C compiler torch warns, and the model runs as it is.
    """
    import torch._dynamo.config as dynamo  # takes seconds

    dynamo.suppress_errors = True
    dynamo.recompile_limit = 64  # a sweep has many shapes; past the limit a model runs uncompiled
    return cast(nn.Module, torch.compile(model))


def learning_rate(step: int, settings: TrainSettings) -> float:
    """Return the learning rate of a step, which counts from 0.

    It rises linearly over the warm-up and then falls linearly towards 0, which it
    would reach one step after the last. Raises InputError for a step that the run does not have.

    >>> settings = TrainSettings(steps=10, learning_rate=1.0, warmup_steps=2)
    >>> [round(learning_rate(step, settings), 3) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.125]
    """
    steps = settings.steps
    check_whole("step", step, 0, steps - 1)
    warmup_steps = settings.warmup_steps
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (steps - step) / max(steps - warmup_steps, 1)
    return settings.learning_rate * min(rise, fall, 1.0)


def set_learning_rate(
    optimizer: torch.optim.Optimizer, step: int, settings: TrainSettings
) -> float:
    """Give an optimizer the learning rate of a step, for all parameters; return it."""
    rate = learning_rate(step, settings)
    for group in optimizer.param_groups:
        group["lr"] = rate
    return rate


def make_optimizer(model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Return LAMB or AdamW over the model's parameters; biases and norms do not decay."""
    groups = parameter_groups(model, settings.weight_decay)
    if settings.optimizer == "lamb":
        return Lamb(groups, lr=settings.learning_rate)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-6)  # it ignores "adapt"
