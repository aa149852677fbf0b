"""Deeper models from shallower ones, as the paper warm-starts its deep ones (footnote 5, appendix A.1)."""

import torch

from albert_edu.model.albert import AlbertForPretraining


@torch.no_grad()
def stack_layers(model: AlbertForPretraining, num_layers: int) -> AlbertForPretraining:
    """A model of ``num_layers`` layers that starts from this one's weights.

    Application i of the new stack takes the blocks of application i * L_old // L_new: where everything is shared the
    weights stay the same and are only applied more often, where nothing is shared each layer is copied and then free.
    """
    if num_layers < model.config.num_layers:
        raise ValueError(f"stack_layers makes a model deeper: {num_layers} layers are fewer than {model.config.num_layers}.")
    deep = AlbertForPretraining(model.config.replace(num_layers=num_layers))
    old, new = model.albert.encoder, deep.albert.encoder
    deep.load_state_dict({k: v for k, v in model.state_dict().items() if ".encoder." not in k}, strict=False)
    for half in ("attention", "ffn"):
        ours, theirs = getattr(new, half), getattr(old, half)
        for i, slot in enumerate(new.plan):
            block, source = getattr(slot, half), getattr(old.plan[i * len(old.plan) // num_layers], half)
            # As many blocks as before: groups, and each keeps its own, wherever the deeper stack draws their borders.
            ours[block].load_state_dict(theirs[block if len(ours) == len(theirs) else source].state_dict())
    return deep
