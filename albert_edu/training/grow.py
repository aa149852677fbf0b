"""Deeper models from shallower ones, as the paper warm-starts its deep ones (footnote 5, appendix A.1)."""

import torch

from albert_edu.model.albert import AlbertForPretraining


@torch.no_grad()
def grow(model: AlbertForPretraining, num_layers: int) -> AlbertForPretraining:
    """A model of ``num_layers`` layers that starts from this one's weights.

    Application i of the new stack takes the blocks of application i * L_old // L_new: where everything is shared the
    weights stay the same and are only applied more often, where nothing is shared each layer is copied and then free.
    """
    if num_layers < model.config.num_layers:
        raise ValueError(f"grow makes a model deeper: {num_layers} layers are fewer than {model.config.num_layers}.")
    deep = AlbertForPretraining(model.config.replace(num_layers=num_layers))
    old, new = model.albert.encoder, deep.albert.encoder
    deep.load_state_dict({k: v for k, v in model.state_dict().items() if ".encoder." not in k}, strict=False)
    for i, slot in enumerate(new.plan):
        source = old.plan[i * len(old.plan) // num_layers]
        new.attention[slot.attention].load_state_dict(old.attention[source.attention].state_dict())
        new.ffn[slot.ffn].load_state_dict(old.ffn[source.ffn].state_dict())
    return deep
