"""How to train: the settings of a run, its learning rate at each step, its optimizer. Read in notebook 07."""

import dataclasses
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from albert_edu.training.lamb import Lamb, parameter_groups


@dataclass(frozen=True)
class PretrainSettings:
    """How to train. The paper's values (batch 4096) stand in section 2.1 of the paper and in notebook 07."""

    steps: int
    learning_rate: float = 1e-3
    warmup_steps: int = 0  # linear, then linear decay to 0 at the last step
    optimizer: Literal["lamb", "adamw"] = "adamw"
    weight_decay: float = 0.01  # not on biases and norms
    clip_norm: float = 1.0  # on the gradient of all parameters together
    accumulate: int = 1  # cut each batch into this many parts, one after another: same step, less memory
    precision: Literal["float32", "bfloat16"] = "float32"
    compile: bool = False  # torch.compile the blocks: pays on a card, seldom on a CPU
    checkpoint_every: int = 0  # steps; 0 means only at the end
    log_every: int = 10
    evaluate_every: int = 0  # steps; 0 means only at the end (when there is a held-out stream)
    evaluate_batches: int = 16
    seed: int = 0

    def __post_init__(self):
        least_of = {"steps": 0, "checkpoint_every": 0, "evaluate_every": 0, "clip_norm": 0}
        for name, least in (least_of | {"accumulate": 1, "log_every": 1, "evaluate_batches": 1}).items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}.")
        if not 0 <= self.warmup_steps <= self.steps:
            raise ValueError(f"warmup_steps {self.warmup_steps} must lie between 0 and steps {self.steps}.")
        if self.optimizer not in ("lamb", "adamw") or self.precision not in ("float32", "bfloat16"):
            raise ValueError(f"optimizer is lamb or adamw, precision float32 or bfloat16; got {self.optimizer}, {self.precision}.")

    def trajectory(self) -> dict:
        """The settings that the weights depend on; the others may change when a run goes on."""
        free = ("compile", "checkpoint_every", "log_every", "evaluate_every", "evaluate_batches")
        return {key: value for key, value in dataclasses.asdict(self).items() if key not in free}


def suited_to(device: torch.device) -> dict:
    """``precision`` and ``compile`` for a device: on a card compiled blocks, and bfloat16 if it computes in it."""
    card = device.type == "cuda"
    halved = card and torch.cuda.is_bf16_supported(including_emulation=False)
    return {"precision": "bfloat16" if halved else "float32", "compile": card}


def compile_blocks(model: nn.Module) -> None:
    """Compile a model's blocks; where Triton or a C compiler is missing torch says so and runs them as they are."""
    import torch._dynamo.config as dynamo

    dynamo.suppress_errors = True
    dynamo.recompile_limit = 64  # a sweep has many shapes in one process; past the limit a block runs uncompiled
    for block in (*model.albert.encoder.attention, *model.albert.encoder.ffn):
        block.compile()


def learning_rate(step: int, settings: PretrainSettings) -> float:
    """Linear over the warm-up, then linear towards 0, which it would reach one step after the last; ``step`` counts from 0.

    >>> settings = PretrainSettings(steps=10, learning_rate=1.0, warmup_steps=2)
    >>> [round(learning_rate(step, settings), 3) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.125]
    """
    rise = (step + 1) / max(settings.warmup_steps, 1)
    fall = (settings.steps - step) / max(settings.steps - settings.warmup_steps, 1)
    return settings.learning_rate * min(rise, fall, 1.0)


def make_optimizer(model: nn.Module, settings: PretrainSettings) -> torch.optim.Optimizer:
    groups = parameter_groups(model, settings.weight_decay)
    if settings.optimizer == "lamb":
        return Lamb(groups, lr=settings.learning_rate)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-6)  # it passes over "adapt"
