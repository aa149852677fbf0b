"""Which block serves which layer, and whether a shared block is really one block."""

import importlib.util
import weakref
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model import sharing
from albert_edu.model.encoder import SharedEncoder
from albert_edu.model.sharing import layer_plan

SHARES = ("all", "attention", "ffn", "none")


def groups(num_layers: int, num_groups: int) -> list[int]:
    return [slot.attention for slot in layer_plan(num_layers, "all", num_groups)]


def slow_group(i: int, num_layers: int, num_groups: int) -> int:
    """Cut the stack of L layers into G stretches of length L/G, exactly, and see into which one layer i falls."""
    stretch = Fraction(num_layers, num_groups)
    return next(g for g in range(num_groups) if g * stretch <= i < (g + 1) * stretch)


depth_and_groups = st.integers(1, 60).flatmap(lambda depth: st.tuples(st.just(depth), st.integers(1, depth)))


@given(depth_and_groups, st.sampled_from(SHARES))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_plan_is_the_slow_plan(size, share):
    num_layers, num_groups = size
    plan = layer_plan(num_layers, share, num_groups)
    assert len(plan) == num_layers
    for i, slot in enumerate(plan):
        group = slow_group(i, num_layers, num_groups)
        assert slot.attention == (group if share in ("all", "attention") else i)
        assert slot.ffn == (group if share in ("all", "ffn") else i)


@given(depth_and_groups)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_groups_are_consecutive_all_used_and_differ_by_at_most_one_layer(size):
    used = groups(*size)
    assert used == sorted(used)
    assert set(used) == set(range(size[1]))
    lengths = [used.count(group) for group in set(used)]
    assert max(lengths) - min(lengths) <= 1


def test_as_many_groups_as_layers_is_no_sharing_and_one_group_is_one_layer():
    for depth in range(1, 49):
        assert layer_plan(depth, "all", depth) == layer_plan(depth, "none")
        assert groups(depth, 1) == [0] * depth


@pytest.mark.parametrize("depth", [22, 23, 26, 39])
def test_the_authors_float_form_puts_some_layers_of_these_depths_elsewhere(depth):
    assert [int(i / depth * depth) for i in range(depth)] != groups(depth, depth)


@pytest.mark.parametrize("depth", [12, 24])
def test_at_the_published_depths_all_three_forms_agree(depth):
    for num_groups in (g for g in range(1, depth + 1) if depth % g == 0):
        assert [int(i / depth * num_groups) for i in range(depth)] == groups(depth, num_groups)
        assert [int(i / (depth / num_groups)) for i in range(depth)] == groups(depth, num_groups)


@pytest.mark.parametrize("num_groups", [0, 5])
def test_a_number_of_groups_that_does_not_fit_is_refused(num_groups):
    with pytest.raises(ValueError, match=f"{num_groups} groups of 4 layers"):
        layer_plan(4, "all", num_groups)


def test_an_unknown_way_of_sharing_is_refused_with_those_that_exist():
    spec = importlib.util.spec_from_file_location("unchecked_sharing", sharing.__file__)
    unchecked = importlib.util.module_from_spec(spec)  # as users have it: beartype would speak first
    spec.loader.exec_module(unchecked)
    with pytest.raises(ValueError, match="one of all, attention, ffn, none, got 'some'"):
        unchecked.layer_plan(4, "some")


def config(share: str, num_groups: int = 1, num_layers: int = 4) -> AlbertConfig:
    return AlbertConfig(vocab_size=50, embedding_size=8, hidden_size=16, num_layers=num_layers, num_heads=2, share=share,
                        num_groups=num_groups)  # fmt: skip


def randomised(encoder: SharedEncoder) -> SharedEncoder:
    for name, parameter in encoder.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=0.4)
    return encoder


sharings = pytest.mark.parametrize(
    ("share", "num_groups", "attention_blocks", "ffn_blocks"),
    [("all", 1, 1, 1), ("all", 2, 2, 2), ("attention", 1, 1, 4), ("attention", 2, 2, 4), ("ffn", 1, 4, 1), ("none", 1, 4, 4)],
)


@sharings
def test_every_application_uses_the_blocks_of_the_plan(share, num_groups, attention_blocks, ffn_blocks):
    encoder = SharedEncoder(config(share, num_groups))
    assert (len(encoder.attention), len(encoder.ffn)) == (attention_blocks, ffn_blocks)
    called = []
    for half in ("attention", "ffn"):
        for number, block in enumerate(getattr(encoder, half)):
            block.register_forward_hook(lambda *_, half=half, number=number: called.append((half, number)))
    list(encoder.steps(torch.randn(1, 3, 16), beyond=2))
    plan = layer_plan(4, share, num_groups)
    expected = [*plan, plan[-1], plan[-1]]
    assert called == [call for slot in expected for call in (("attention", slot.attention), ("ffn", slot.ffn))]


@sharings
def test_the_gradient_of_a_shared_block_is_the_sum_over_an_untied_copy(share, num_groups, attention_blocks, ffn_blocks):
    shared, untied = randomised(SharedEncoder(config(share, num_groups))), SharedEncoder(config("none"))
    for i, slot in enumerate(shared.plan):
        untied.attention[i].load_state_dict(shared.attention[slot.attention].state_dict())
        untied.ffn[i].load_state_dict(shared.ffn[slot.ffn].state_dict())
    x, direction = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    torch.testing.assert_close(shared(x), untied(x))
    for encoder in (shared, untied):
        (encoder(x) * direction).sum().backward()
    for half in ("attention", "ffn"):
        for number, block in enumerate(getattr(shared, half)):
            copies = [getattr(untied, half)[i] for i, slot in enumerate(shared.plan) if getattr(slot, half) == number]
            for name, parameter in block.named_parameters():
                summed = sum(copy.get_parameter(name).grad for copy in copies)
                torch.testing.assert_close(parameter.grad, summed, atol=1e-4, rtol=1e-4)


def test_the_encoder_returns_its_last_step():
    encoder, x = randomised(SharedEncoder(config("all"))), torch.randn(2, 5, 16)
    steps = list(encoder.steps(x))
    assert torch.equal(encoder(x), steps[-1])
    assert not torch.allclose(steps[-2], steps[-1], atol=1e-2)


def test_inference_holds_a_few_states_and_not_one_for_each_layer():
    """Without gradients a state of an earlier layer must be free as soon as the next one is there."""
    states, most = [], {}
    for layers in (4, 24):
        encoder = SharedEncoder(AlbertConfig(50, 8, 16, layers, 2)).eval()
        most[layers] = 0

        def remember(module, inputs, output, layers=layers):
            states.append(weakref.ref(output))
            most[layers] = max(most[layers], sum(state() is not None for state in states))

        encoder.ffn[0].register_forward_hook(remember)
        with torch.no_grad():
            encoder(torch.randn(1, 5, 16))
    assert most[24] == most[4] <= 3
