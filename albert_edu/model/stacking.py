"""Models that start from the layers of another: deeper ones, and ones that share less.

A deep stack that starts from a trained shallow one is progressive stacking (footnote 5).
"""

import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining


@torch.no_grad()
def start_from(model: AlbertForPretraining, config: AlbertConfig) -> AlbertForPretraining:
    """Return a model of that config whose layers start from those of ``model``, in the same order.

    Application i of L takes the blocks of application i * L_old // L. Where all layers share, the
    weights stay the same and are applied more often; a layer that does not share is a copy, and
    free afterwards. At the same depth the numbers stay the same. Raises ValueError for a config
    with fewer layers, or with fewer blocks, which would have to leave weights out.
    """
    grown = AlbertForPretraining(config)
    grown.vocabulary = model.vocabulary
    old, new, old_depth = model.albert.encoder, grown.albert.encoder, model.config.num_layers
    sizes = [(len(e.plan), len(e.attention), len(e.ffn)) for e in (old, new)]
    if any(size < before for before, size in zip(*sizes, strict=True)):
        raise ValueError(
            f"a model with {sizes[1]} layers, attention and feed-forward blocks cannot start from "
            f"one with {sizes[0]}: it has no place for all of the weights."
        )
    # This is all, where there are as many blocks as before: shared by all or within groups.
    grown.load_state_dict(model.state_dict(), strict=False)
    for kind in ("attention", "ffn"):
        blocks, sources = getattr(new, kind), getattr(old, kind)
        if len(blocks) > len(sources):
            for i, application in enumerate(new.plan):
                source = getattr(old.plan[i * old_depth // config.num_layers], kind)
                blocks[getattr(application, kind)].load_state_dict(sources[source].state_dict())
    return grown
