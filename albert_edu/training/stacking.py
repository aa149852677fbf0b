"""Progressive stacking: deeper models from shallower ones (paper: footnote 5, appendix A.1)."""

import torch

from albert_edu.model.albert import AlbertForPretraining


@torch.no_grad()
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
    deep = AlbertForPretraining(model.config.replace(num_layers=num_layers))
    old, new = model.albert.encoder, deep.albert.encoder
    outside = {key: value for key, value in model.state_dict().items() if ".encoder." not in key}
    deep.load_state_dict(outside, strict=False)
    for kind in ("attention", "ffn"):
        blocks, sources = getattr(new, kind), getattr(old, kind)
        for i, application in enumerate(new.plan):
            block = getattr(application, kind)
            source = getattr(old.plan[i * old_depth // num_layers], kind)
            # With as many blocks as before there are groups: each keeps its own blocks, wherever
            # the borders of the groups lie in the deeper stack.
            number = block if len(blocks) == len(sources) else source
            blocks[block].load_state_dict(sources[number].state_dict())
    return deep
