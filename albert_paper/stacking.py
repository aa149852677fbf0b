"""Models that start from the layers of another: deeper ones, and ones that share less (footnote 5).

A deep stack that starts from a trained shallow one is progressive stacking. A trained model and a
config go in, a model of that config comes out (section ``layers`` of the plan).
"""

from albert_edu.config import AlbertConfig
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining


def start_from(model: AlbertForPretraining, config: AlbertConfig) -> AlbertForPretraining:
    """Return a model of that config whose blocks start from those of ``model``, in the same order.

    Block i of N is a copy of block i * N_old // N, so that a shared layer stays as it is and is
    applied more often. At the same depth the numbers stay the same. Raises ValueError for a config
    with fewer blocks, which would have to leave weights out.
    """
    grown = AlbertForPretraining(config)
    grown.albert.tokenizer_fingerprint = model.albert.tokenizer_fingerprint
    grown.load_state_dict(model.state_dict(), strict=False)  # what is no block, and some that are
    for kind in ("attention", "ffn"):
        sources = getattr(model.albert.encoder, kind)
        blocks = getattr(grown.albert.encoder, kind)
        if len(blocks) < len(sources):
            raise InputError(f"{len(blocks)} {kind} blocks cannot hold what {len(sources)} held.")
        for i, block in enumerate(blocks):
            block.load_state_dict(sources[i * len(sources) // len(blocks)].state_dict())
    return grown
