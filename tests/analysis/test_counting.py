"""Parameters, FLOPs and memory: formula against count, count against transformers and torch."""

from functools import partial

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from albert_edu.analysis.counting import (
    count_parameters,
    flops_per_token,
    saved_bytes,
    training_memory,
)
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.encoder import SharedEncoder
from albert_edu.model.formats import to_transformers

# Exact integers at V = 30,000: embeddings, projection, encoder, pooler, the two heads.
COMPONENTS = {
    "bert-base": (23_436_288, 0, 85_054_464, 590_592, 622_128, 1_538),
    "bert-large": (31_248_384, 0, 302_309_376, 1_049_600, 1_081_648, 2_050),
    "bert-xlarge": (62_496_768, 0, 1_208_598_528, 4_196_352, 4_230_448, 4_098),
    "albert-base": (3_906_048, 99_072, 7_087_872, 590_592, 128_688, 1_538),
    "albert-large": (3_906_048, 132_096, 12_596_224, 1_049_600, 161_456, 2_050),
    "albert-xlarge": (3_906_048, 264_192, 50_358_272, 4_196_352, 292_528, 4_098),
    "albert-xxlarge": (3_906_048, 528_384, 201_379_840, 16_781_312, 554_672, 8_194),
}


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_published_size_counts_to_the_last_parameter(name):
    counts = COMPONENTS[name]
    for version in ("",) if name.startswith("bert") else ("-v1", "-v2"):
        count = count_parameters(AlbertConfig.named(f"{name}{version}"))
        assert count == counts
        totals = sum(counts[:3]), sum(counts[:4]), sum(counts)
        assert (count.without_pooler, count.total, count.with_heads) == totals


@st.composite
def configs(draw, shares=("all", "attention", "ffn", "none")):
    heads = draw(st.integers(1, 3))
    layers = draw(st.integers(1, 5))
    hidden = heads * draw(st.integers(1, 6))
    sizes = {
        "vocab_size": st.integers(1, 50),
        "embedding_size": st.sampled_from([hidden, 5, 8]),
        "ffn_size": st.integers(1, 20),
        "max_positions": st.integers(1, 20),
        "num_segments": st.integers(1, 3),
        "num_groups": st.integers(1, layers),
    }
    return AlbertConfig(
        hidden_size=hidden,
        num_layers=layers,
        num_heads=heads,
        share=draw(st.sampled_from(shares)),
        **{name: draw(size) for name, size in sizes.items()},
    )


@given(configs(shares=["all", "none"]))
@settings(max_examples=8)
def test_transformers_own_models_count_the_same(config):
    settings = transformers.AutoConfig.for_model(**to_transformers(config))
    theirs = transformers.AutoModelForPreTraining.from_config(settings)
    # parameters() names a tied weight once. Where E equals H, ALBERT of transformers has a
    # projection and ours has none.
    count = sum(
        p.numel()
        for name, p in theirs.named_parameters()
        if config.has_projection or "embedding_hidden_mapping_in" not in name
    )
    assert count_parameters(config).with_heads == count


def test_the_FLOPs_of_albert_base_are_those_of_bert_base_but_for_the_projection():
    """189 million per token at 512 tokens; training costs three times as much."""
    bert, albert = (
        flops_per_token(AlbertConfig.named(name), 512) for name in ("bert-base", "albert-base-v2")
    )
    assert albert == bert + 2 * 128 * 768 and round(albert / 1e6, 1) == 188.9
    assert flops_per_token(AlbertConfig.named("bert-base"), 512, training=True) == 3 * bert


@given(configs())
@settings(max_examples=10)
def test_FLOPs_are_what_pytorch_counts_in_one_forward_pass(config):
    S = config.max_positions
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model = AlbertForPretraining(config)
        model.masked_token_head(model.albert(torch.zeros(2, S, dtype=torch.long)).last_hidden)
    pooler = 2 * 2 * config.hidden_size**2
    assert counter.get_total_flops() - pooler == 2 * S * flops_per_token(config, S, masked_rate=1.0)


def test_training_holds_16_bytes_a_parameter_and_sharing_saves_no_activation():
    one, eight, unshared = (
        training_memory(AlbertConfig.named("albert-base-v2", share=share), size, 512, 20)
        for share, size in (("all", 1), ("all", 8), ("none", 8))
    )
    state = one.weights + one.gradients + one.optimizer
    assert state == eight.total - eight.activations - eight.logits == 16 * 11_813_810
    assert (eight.activations, eight.logits) == (8 * one.activations, 8 * one.logits)
    assert (unshared.activations, unshared.logits) == (eight.activations, eight.logits)
    assert one.logits == 2 * 4 * 20 * 30_000 and round(one.activations / 1e6) == 302


@pytest.mark.parametrize(("heads", "length"), [(2, 32), (4, 64)])
def test_the_activation_formula_is_within_15_percent_of_what_autograd_keeps(heads, length):
    config = AlbertConfig(50, 8, hidden_size=64, num_layers=1, num_heads=heads)

    def kept(num_layers: int) -> int:
        encoder = SharedEncoder(config.replace(num_layers=num_layers))
        x = torch.randn(2, length, 64, requires_grad=True)
        return saved_bytes(lambda: encoder(x), encoder)

    formula = training_memory(config, 2, length, 4).activations
    assert abs(formula / (kept(3) - kept(2)) - 1) < 0.15


def inputs() -> torch.Tensor:
    return torch.randn(2, 5, 16, dtype=torch.float64, requires_grad=True)


def test_saved_bytes_counts_a_storage_once_and_no_weights():
    x = inputs()
    assert saved_bytes(lambda: x.exp(), nn.Identity()) == x.nbytes  # exp keeps its result
    two_views = saved_bytes(lambda: x * x.view(10, 16).view(2, 5, 16), nn.Identity())
    assert two_views == x.nbytes  # of one storage
    linear = nn.Linear(16, 16).double()
    assert saved_bytes(lambda: linear(x), linear) == x.nbytes


@pytest.mark.parametrize("share", ["all", "none"])
def test_saved_bytes_grow_with_the_applications_shared_or_not(share):
    x, sizes = inputs(), {"hidden_size": 16, "num_heads": 2, "share": share}
    stacks = [SharedEncoder(AlbertConfig(num_layers=L, **sizes)).double() for L in (1, 2, 4)]
    one, two, four = (saved_bytes(partial(stack, x), stack) for stack in stacks)
    assert four - two == 2 * (two - one) > 0
