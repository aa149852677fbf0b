"""Which block serves which layer, and whether a shared block is really one block."""

import inspect
import weakref
from bisect import bisect
from fractions import Fraction

import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.encoder import SharedEncoder
from albert_edu.model.sharing import layer_plan


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
@pytest.mark.parametrize("num_layers", [1, 2, 12, 18, 22, 27])  # from 18 on floats go wrong
def test_the_plan_cuts_the_stack_into_stretches_of_equal_length(num_layers, share):
    assert layer_plan(num_layers, share) == layer_plan(num_layers, share, 1)
    for num_groups in range(1, num_layers + 1):
        plan = layer_plan(num_layers, share, num_groups)
        assert len(plan) == num_layers
        ends = [Fraction(num_layers * (g + 1), num_groups) for g in range(num_groups)]
        for i, slot in enumerate(plan):
            group = bisect(ends, i)
            assert slot.attention == (group if share in ("all", "attention") else i)
            assert slot.ffn == (group if share in ("all", "ffn") else i)


@pytest.mark.parametrize("num_groups", [0, 5])
def test_a_number_of_groups_that_does_not_fit_is_refused(num_groups):
    with pytest.raises(ValueError, match=f"num_groups must .* from 1 to 4, got {num_groups}"):
        layer_plan(4, "all", num_groups)


def test_an_unknown_way_of_sharing_is_refused_with_those_that_exist():
    unchecked = inspect.unwrap(layer_plan)  # as users have it, without beartype
    with pytest.raises(ValueError, match="one of all, attention, ffn, none, got 'some'"):
        unchecked(4, "some")


def encoder_of(share: str = "all", num_groups: int = 1, num_layers: int = 4) -> SharedEncoder:
    shape = dict(hidden_size=16, num_heads=2, num_layers=num_layers)
    return SharedEncoder(AlbertConfig(**shape, share=share, num_groups=num_groups))


@pytest.mark.parametrize(
    ("share", "num_groups", "attention", "ffn"),
    [
        ("all", 1, 1, 1),
        ("all", 2, 2, 2),
        ("attention", 1, 1, 4),
        ("attention", 2, 2, 4),
        ("ffn", 1, 4, 1),
        ("none", 1, 4, 4),
    ],
)
def test_every_application_uses_the_blocks_of_the_plan(share, num_groups, attention, ffn):
    encoder = encoder_of(share, num_groups)
    assert (len(encoder.attention), len(encoder.ffn)) == (attention, ffn)
    called = []
    for half in ("attention", "ffn"):
        for number, block in enumerate(getattr(encoder, half)):
            call = half, number
            block.register_forward_hook(lambda *_, call=call: called.append(call))
    list(encoder.steps(torch.randn(1, 3, 16), beyond=2))
    plan = layer_plan(4, share, num_groups)
    expected = [*plan, plan[-1], plan[-1]]
    assert called == [call for slot in expected for call in slot._asdict().items()]


def test_inference_holds_a_few_states_and_not_one_for_each_layer():
    """Without gradients a layer's state must be free as soon as the next one is there."""
    states, most = [], {}
    for layers in (4, 24):
        encoder = encoder_of(num_layers=layers).eval()
        most[layers] = 0

        def remember(module, inputs, output, layers=layers):
            states.append(weakref.ref(output))
            most[layers] = max(most[layers], sum(state() is not None for state in states))

        encoder.ffn[0].register_forward_hook(remember)
        with torch.no_grad():
            encoder(torch.randn(1, 5, 16))
    assert most[24] == most[4] <= 3
