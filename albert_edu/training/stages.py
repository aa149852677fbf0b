"""The driver of training in stages: shallow models before deep ones, short sequences before long.

A run from scratch at one depth has one stage, and progressive stacking (the paper's footnote 5) has
several. They all read batch t of the text at step t of the whole run.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.training.history import History
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings


class Stage(NamedTuple):
    """One depth on the way to the last: train this many steps with this peak learning rate."""

    num_layers: int
    steps: int
    learning_rate: float
    sequence_length: int = 0  # 0 means as long as the model allows


def train_stages(
    config: AlbertConfig,
    stages: Sequence[Stage],
    stream: Callable[[Stage, int], PretrainingStream],
    settings: Callable[[Stage], PretrainSettings],
    folder: str | Path | None = None,
    device: str | torch.device | None = None,
    warm_start: AlbertForPretraining | None = None,
    skip: int = 0,
    describe: str | None = None,
) -> tuple[AlbertForPretraining, History]:
    """Train the first stage from scratch or ``warm_start``, and each other from the one before it.

    Returns the model at full depth, and its history, whose steps count over all stages.
    ``stream(stage, skip)`` gives a stage's batches without the first ``skip``, which earlier stages
    have read; ``settings(stage)`` says how to train on them. With a ``folder`` for the checkpoints
    the same call again goes on where it stopped. Raises what ``pretrain`` and ``stack_layers``
    raise.
    """
    torch.manual_seed(settings(stages[0]).seed)
    model, records, steps = warm_start, [], 0
    for number, stage in enumerate(stages, 1):
        deep = config.replace(num_layers=stage.num_layers)
        model = stack_layers(model, stage.num_layers) if model else AlbertForPretraining(deep)
        history = pretrain(
            model,
            stream(stage, skip + steps),
            settings(stage),
            folder and Path(folder) / f"stage-{number}",
            device,
            describe=describe and f"{describe}, {stage.num_layers} layers",
        )
        records += [record | {"step": steps + record["step"]} for record in history.records]
        steps += stage.steps
    return model, History(history.baselines, records)


def stack_layers(model: AlbertForPretraining, num_layers: int) -> AlbertForPretraining:
    """Return a model of ``num_layers`` layers that starts from this model's weights.

    Application i of the new stack takes the blocks of application i * L_old // L_new. Where all
    layers share, the weights stay the same and are applied more often. Where nothing is shared,
    each layer is copied and then free. Raises ValueError for fewer layers than the model has.
    """
    old_depth = model.config.num_layers
    if num_layers < old_depth:
        raise ValueError(
            f"stack_layers makes a model deeper: {num_layers} layers are fewer than {old_depth}."
        )
    return _with_layers_of(model, model.config.replace(num_layers=num_layers))


def unshare(model: AlbertForPretraining) -> AlbertForPretraining:
    """Return a model that gives the same numbers, in which each layer has weights of its own.

    They start as copies of the shared ones; training may then take them apart (notebook 04).
    """
    return _with_layers_of(model, model.config.replace(share="none"))


@torch.no_grad()
def _with_layers_of(model: AlbertForPretraining, config: AlbertConfig) -> AlbertForPretraining:
    """Return a model of that config, whose layers start from those of a model in the same order."""
    deep = AlbertForPretraining(config)
    old_depth, num_layers = model.config.num_layers, config.num_layers
    deep.vocabulary = model.vocabulary
    old, new = model.albert.encoder, deep.albert.encoder
    # This is all, where there are as many blocks as before: shared by all or within groups.
    deep.load_state_dict(model.state_dict(), strict=False)
    for kind in ("attention", "ffn"):
        blocks, sources = getattr(new, kind), getattr(old, kind)
        if len(blocks) > len(sources):
            for i, application in enumerate(new.plan):
                source = old.plan[i * old_depth // num_layers]
                block, copied = getattr(application, kind), getattr(source, kind)
                blocks[block].load_state_dict(sources[copied].state_dict())
    return deep
