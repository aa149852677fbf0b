"""Which weights each layer application uses (section 3.1, Table 4; notebook 04)."""

from typing import NamedTuple, get_args

from albert_edu.config import Sharing, check_one_of, check_whole


class LayerSlot(NamedTuple):
    """Which blocks one layer application uses: their indices in the encoder, from 0."""

    attention: int
    ffn: int


def layer_plan(num_layers: int, share: Sharing, num_groups: int = 1) -> tuple[LayerSlot, ...]:
    """Return which attention and which feed-forward block each layer application uses.

    >>> [tuple(slot) for slot in layer_plan(4, "attention")]
    [(0, 0), (0, 1), (0, 2), (0, 3)]
    >>> [tuple(slot) for slot in layer_plan(4, "all", num_groups=2)]
    [(0, 0), (0, 0), (1, 1), (1, 1)]

    Application i belongs to group i * G // L. The arithmetic is of integers, because
    the floats of the authors' code, int(i / L * G), and of transformers,
    int(i / (L / G)), are off by one for some depths. Raises InputError for no layer,
    and for more groups than layers. Lan et al. 2019, sections 3.1 and 4.5; built in notebook 04.
    """
    check_one_of("share", share, get_args(Sharing))
    check_whole("num_layers", num_layers, 1, 1_000_000)
    check_whole("num_groups", num_groups, 1, num_layers)
    slots = []
    for i in range(num_layers):
        group = i * num_groups // num_layers
        attention = group if share in ("all", "attention") else i
        ffn = group if share in ("all", "ffn") else i
        slots.append(LayerSlot(attention, ffn))
    return tuple(slots)
