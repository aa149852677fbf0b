from functools import partial

import pytest
import torch
from torch import nn

from albert_edu.analysis.memory import saved_bytes
from albert_edu.config import AlbertConfig
from albert_edu.model.encoder import SharedEncoder


def encoder(num_layers: int = 3, share: str = "all") -> SharedEncoder:
    config = AlbertConfig(hidden_size=16, num_heads=2, num_layers=num_layers, share=share)
    return SharedEncoder(config).double()


def inputs(count: int = 1) -> list[torch.Tensor]:
    return [torch.randn(2, 5, 16, dtype=torch.float64, requires_grad=True) for _ in range(count)]


def test_saved_bytes_counts_a_storage_once_and_no_weights():
    (x,) = inputs()
    assert saved_bytes(lambda: x.exp(), nn.Identity()) == x.nbytes  # exp keeps its result
    two_views = saved_bytes(lambda: x * x.view(10, 16).view(2, 5, 16), nn.Identity())
    assert two_views == x.nbytes  # of one storage
    linear = nn.Linear(16, 16).double()
    assert saved_bytes(lambda: linear(x), linear) == x.nbytes


@pytest.mark.parametrize("share", ["all", "none"])
def test_saved_bytes_grow_with_the_applications_shared_or_not(share):
    (x,) = inputs()
    stacks = [encoder(L, share) for L in (1, 2, 4)]
    one, two, four = (saved_bytes(partial(stack, x), stack) for stack in stacks)
    assert four - two == 2 * (two - one) > 0
