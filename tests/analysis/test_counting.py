"""Parameters, FLOPs and memory: formula against count, count against transformers, and both against the paper's sizes."""

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from albert_edu.analysis.counting import closed_form, count_parameters, flops_per_token, training_memory
from albert_edu.analysis.memory import saved_bytes
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from albert_edu.model.encoder import SharedEncoder

# Exact integers at V = 30,000: embeddings, projection, encoder, pooler, masked-token head, order head.
COMPONENTS = {
    "bert-base": (23_436_288, 0, 85_054_464, 590_592, 622_128, 1_538),
    "bert-large": (31_248_384, 0, 302_309_376, 1_049_600, 1_081_648, 2_050),
    "bert-xlarge": (62_496_768, 0, 1_208_598_528, 4_196_352, 4_230_448, 4_098),
    "albert-base": (3_906_048, 99_072, 7_087_872, 590_592, 128_688, 1_538),
    "albert-large": (3_906_048, 132_096, 12_596_224, 1_049_600, 161_456, 2_050),
    "albert-xlarge": (3_906_048, 264_192, 50_358_272, 4_196_352, 292_528, 4_098),
    "albert-xxlarge": (3_906_048, 528_384, 201_379_840, 16_781_312, 554_672, 8_194),
}
SUMS = {  # without pooler, with pooler, with heads
    "bert-base": (108_490_752, 109_081_344, 109_705_010),
    "bert-large": (333_557_760, 334_607_360, 335_691_058),
    "bert-xlarge": (1_271_095_296, 1_275_291_648, 1_279_526_194),
    "albert-base": (11_092_992, 11_683_584, 11_813_810),
    "albert-large": (16_634_368, 17_683_968, 17_847_474),
    "albert-xlarge": (54_528_512, 58_724_864, 59_021_490),
    "albert-xxlarge": (205_814_272, 222_595_584, 223_158_450),
}


def published(name: str) -> list[AlbertConfig]:
    return [AlbertConfig.named(name)] if name.startswith("bert") else [AlbertConfig.named(f"{name}-{v}") for v in ("v1", "v2")]


def components(count) -> tuple:
    return (count.embeddings, count.projection, count.encoder, count.pooler, count.masked_token_head, count.sentence_order_head)


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_published_size_counts_to_the_last_parameter(name):
    for config in published(name):
        count = count_parameters(config)
        assert components(count) == COMPONENTS[name]
        assert (count.without_pooler, count.total, count.with_heads) == SUMS[name]
        assert closed_form(config) == count


@pytest.mark.parametrize(("name", "printed"), [("bert-base", 108), ("bert-large", 334), ("albert-base", 12), ("albert-large", 18)])
def test_table_1_counts_bert_without_its_pooler_and_albert_with_it(name, printed):
    count = count_parameters(published(name)[0])
    assert round((count.without_pooler if name.startswith("bert") else count.total) / 1e6) == printed


@pytest.mark.parametrize(
    ("name", "everything"), [("bert-base", 110_106_428), ("bert-large", 336_226_108), ("bert-xlarge", 1_280_595_772)]
)
def test_bert_counts_at_its_own_vocabulary(name, everything):
    assert count_parameters(AlbertConfig.named(name, vocab_size=30_522)).with_heads == everything


@pytest.mark.parametrize(
    ("E", "share", "without_pooler", "printed"),
    [(64, "none", 87_057_408, 87), (128, "none", 89_059_584, 89), (256, "none", 93_063_936, 93), (768, "none", 108_490_752, 108),
     (64, "all", 9_090_816, 10), (128, "all", 11_092_992, 12), (256, "all", 15_097_344, 16), (768, "all", 30_524_160, 31),
     (768, "attention", 82_487_808, 83), (768, "ffn", 56_527_104, 57), (128, "attention", 63_056_640, 64),
     (128, "ffn", 37_095_936, None)],
)  # fmt: skip
def test_tables_3_and_4_count_exactly_and_round_to_the_print_in_its_two_conventions(E, share, without_pooler, printed):
    count = count_parameters(AlbertConfig.named("albert-base-v2", embedding_size=E, share=share))
    assert count.without_pooler == without_pooler
    assert count.total == without_pooler + 590_592
    if printed:  # the paper prints 38M where only the FFN is shared at E = 128; neither convention gives that
        assert round((count.without_pooler if share == "none" else count.total) / 1e6) == printed


@pytest.mark.parametrize(
    ("groups", "total"),
    [(1, 11_683_584), (2, 18_771_456), (3, 25_859_328), (4, 32_947_200), (6, 47_122_944), (12, 89_650_176)],
)
def test_groups_of_albert_base_count_exactly(groups, total):
    assert count_parameters(AlbertConfig.named("albert-base-v2", num_groups=groups)).total == total


@st.composite
def configs(draw, shares=("all", "attention", "ffn", "none")):
    heads, layers = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    hidden = heads * draw(st.integers(1, 6))
    return AlbertConfig(
        vocab_size=draw(st.integers(1, 50)), hidden_size=hidden, embedding_size=draw(st.sampled_from([hidden, 5, 8])),
        num_layers=layers, num_heads=heads, ffn_size=draw(st.integers(1, 20)), max_positions=draw(st.integers(1, 20)),
        num_segments=draw(st.integers(1, 3)), share=draw(st.sampled_from(shares)), num_groups=draw(st.integers(1, layers)),
    )  # fmt: skip


@given(configs())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_closed_form_counts_what_is_there(config):
    assert closed_form(config) == count_parameters(config)


@given(configs(shares=["all", "none"]))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_transformers_own_models_count_the_same(config):
    bert = config.share == "none" and not config.factorised
    shape = dict(vocab_size=config.vocab_size, hidden_size=config.hidden_size, num_hidden_layers=config.num_layers,
                 num_attention_heads=config.num_heads, intermediate_size=config.ffn_size, type_vocab_size=config.num_segments,
                 max_position_embeddings=config.max_positions)  # fmt: skip
    if bert:
        theirs = transformers.BertForPreTraining(transformers.BertConfig(**shape))
    else:
        groups = config.num_layers if config.share == "none" else config.num_groups
        shape |= dict(embedding_size=config.embedding_size, num_hidden_groups=groups)
        theirs = transformers.AlbertForPreTraining(transformers.AlbertConfig(**shape))
    # parameters() names a tied weight once. Where E equals H, ALBERT of transformers has a projection and ours has none.
    extra = config.hidden_size * (config.hidden_size + 1) if not bert and not config.factorised else 0
    assert count_parameters(config).with_heads == sum(p.numel() for p in theirs.parameters()) - extra


# Millions of FLOPs per token: in the layers, of these in attention at S = 512, in the projection, in all at S = 512 and
# at S = 128, and in the masked-token head for one masked token.
FLOPS = {
    "bert-base": (169.9, 18.9, 0.00, 188.7, 174.6, 47.3),
    "bert-large": (604.0, 50.3, 0.00, 654.3, 616.6, 63.5),
    "bert-xlarge": (2415.9, 100.7, 0.00, 2516.6, 2441.1, 131.3),
    "albert-base": (169.9, 18.9, 0.20, 188.9, 174.8, 7.9),
    "albert-large": (604.0, 50.3, 0.26, 654.6, 616.8, 7.9),
    "albert-xlarge": (2415.9, 100.7, 0.52, 2517.1, 2441.6, 8.2),
    "albert-xxlarge": (4831.8, 100.7, 1.05, 4933.6, 4858.1, 8.7),
}


def millions(config: AlbertConfig, length: int, **more) -> float:
    return flops_per_token(config, length, **more) / 1e6


@pytest.mark.parametrize("name", FLOPS)
def test_FLOPs_of_every_published_size(name):
    config = published(name)[-1]
    linear, attention, projection, at_512, at_128, head = FLOPS[name]
    at_zero_layers = 2 * millions(config, 512) - millions(config.replace(num_layers=2 * config.num_layers), 512)
    assert round(at_zero_layers, 2) == projection
    assert round(millions(config, 512) - millions(config, 0), 1) == attention
    assert round(millions(config, 0) - at_zero_layers, 1) == linear
    assert (round(millions(config, 512), 1), round(millions(config, 128), 1)) == (at_512, at_128)
    assert round(millions(config, 512, masked_rate=1.0) - millions(config, 512), 1) == head


def test_the_deeper_xxlarge_costs_twice_its_layers():
    config = AlbertConfig.named("albert-xxlarge-v2", num_layers=24)
    assert (round(millions(config, 512), 1), round(millions(config, 128), 1)) == (9866.1, 9715.1)


def test_sharing_saves_no_operation_and_training_costs_three_times_the_forward_pass():
    config = AlbertConfig.named("albert-base-v2")
    for share in ("all", "attention", "ffn", "none"):
        for groups in (1, 4):
            assert flops_per_token(config.replace(share=share, num_groups=groups), 512) == flops_per_token(config, 512)
    for rate in (0.0, 0.15):
        assert flops_per_token(config, 512, rate, training=True) == 3 * flops_per_token(config, 512, rate)


def test_FLOPs_are_what_pytorch_counts_in_one_forward_pass():
    """An odd feed-forward width, so that a formula that takes F = 4H for granted is found out."""
    config = AlbertConfig(vocab_size=50, embedding_size=12, hidden_size=16, num_layers=3, num_heads=2, ffn_size=40)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        Albert(config)(torch.zeros(2, 32, dtype=torch.long))
    pooler = 2 * 2 * config.hidden_size**2
    assert counter.get_total_flops() - pooler == 2 * 32 * flops_per_token(config, 32)


# One sequence of 512 tokens in float32: megabytes kept for the backward pass, with fused attention.
ACTIVATIONS = {
    "bert-base": 302, "albert-base": 302, "bert-large": 805, "albert-large": 805, "albert-xlarge": 1611, "albert-xxlarge": 1611,
}  # fmt: skip
STATE = {  # 16 bytes a parameter, in MB
    "bert-base": 1755, "bert-large": 5371, "bert-xlarge": 20472, "albert-base": 189, "albert-large": 286, "albert-xlarge": 944,
    "albert-xxlarge": 3571,
}  # fmt: skip


@pytest.mark.parametrize("name", STATE)
def test_training_memory_of_every_published_size(name):
    config = published(name)[-1]
    memory = training_memory(config, batch_size=1, sequence_length=512, max_predictions=20)
    assert memory.weights + memory.gradients + memory.optimizer == 16 * SUMS[name][2]
    assert round((memory.weights + memory.gradients + memory.optimizer) / 1e6) == STATE[name]
    assert memory.total == memory.weights + memory.gradients + memory.optimizer + memory.activations + memory.logits
    if name in ACTIVATIONS:
        assert round(memory.activations / 1e6) == ACTIVATIONS[name]


def test_sharing_saves_state_but_not_one_byte_of_activations():
    shared, separate = (training_memory(AlbertConfig.named("albert-base-v2", share=s), 8, 512, 20) for s in ("all", "none"))
    assert shared.activations == separate.activations
    assert shared.logits == separate.logits
    assert shared.optimizer < separate.optimizer / 7


def test_activations_and_logits_grow_with_the_batch_and_weights_do_not():
    config = AlbertConfig.named("albert-tiny")
    one, eight = (training_memory(config, size, 128, 20) for size in (1, 8))
    assert (eight.activations, eight.logits) == (8 * one.activations, 8 * one.logits)
    assert eight.weights == one.weights


@pytest.mark.parametrize(("heads", "length"), [(2, 32), (4, 64)])
def test_the_activation_formula_is_within_15_percent_of_what_autograd_keeps_for_a_layer(heads, length):
    config = AlbertConfig(vocab_size=50, embedding_size=8, hidden_size=64, num_layers=1, num_heads=heads)

    def kept(num_layers: int) -> int:
        encoder, x = SharedEncoder(config.replace(num_layers=num_layers)), torch.randn(2, length, 64, requires_grad=True)
        return saved_bytes(lambda: encoder(x), encoder)

    formula = training_memory(config, 2, length, 4).activations
    assert abs(formula / (kept(3) - kept(2)) - 1) < 0.15
