"""A config either describes a model that can be built, or says what does not fit and what would."""

import dataclasses
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from albert_edu.config import PRESETS, AlbertConfig

BERTS = [("bert-base", 12, 768), ("bert-large", 24, 1024), ("bert-xlarge", 24, 2048)]


@pytest.mark.parametrize(
    ("size", "layers", "hidden", "heads", "v1_dropout"),
    [("base", 12, 768, 12, 0.1), ("large", 24, 1024, 16, 0.1), ("xlarge", 24, 2048, 16, 0.1), ("xxlarge", 12, 4096, 64, 0.0)],
)
def test_albert_presets_are_table_1_with_the_released_heads_and_dropout(size, layers, hidden, heads, v1_dropout):
    for version, dropout in (("v1", v1_dropout), ("v2", 0.0)):
        config = AlbertConfig.named(f"albert-{size}-{version}")
        assert (config.num_layers, config.hidden_size, config.num_heads) == (layers, hidden, heads)
        assert (config.embedding_size, config.ffn_size, config.vocab_size) == (128, 4 * hidden, 30_000)
        assert (config.hidden_dropout, config.attention_dropout) == (dropout, dropout)
        assert (config.share, config.num_groups, config.factorised, config.activation) == ("all", 1, True, "gelu_tanh")
        assert config.init_std == 0.02


@pytest.mark.parametrize(("name", "layers", "hidden"), BERTS)
def test_bert_presets_are_the_corner_without_factorisation_and_sharing(name, layers, hidden):
    config = AlbertConfig.named(name)
    assert (config.num_layers, config.hidden_size, config.embedding_size, config.vocab_size) == (layers, hidden, hidden, 30_000)
    assert (config.share, config.factorised) == ("none", False)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_built_and_changed_by_field(name):
    assert AlbertConfig.named(name, num_layers=1, vocab_size=77) == AlbertConfig.named(name).replace(num_layers=1, vocab_size=77)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("albert-bse-v2", "albert-base-v2"), ("bert_large", "bert-large"), ("albert-xxlarg-v1", "albert-xxlarge-v1")],
)
def test_an_unknown_preset_is_answered_with_the_nearest(typed, meant):
    with pytest.raises(ValueError, match=f"no preset '{typed}'. Did you mean '{meant}'?") as error:
        AlbertConfig.named(typed)
    assert all(name in str(error.value) for name in PRESETS)


def test_a_name_like_no_preset_is_not_answered_with_a_wild_guess():
    with pytest.raises(ValueError, match=r"no preset 'zzz'\. Presets: albert-base-v1,"):
        AlbertConfig.named("zzz")


def test_a_hidden_size_that_cannot_be_split_is_answered_with_the_nearest_sizes():
    message = "hidden_size 770 cannot be split over 12 heads (770 / 12 = 64.17). Nearest sizes that can: 768, 780."
    with pytest.raises(ValueError, match=re.escape(message)):
        AlbertConfig(hidden_size=770, num_heads=12)


@given(st.integers(1, 300), st.integers(1, 40))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_sizes_it_proposes_work_and_none_lies_nearer(hidden, heads):
    assume(hidden % heads)
    with pytest.raises(ValueError, match="Nearest sizes that can") as error:
        AlbertConfig(hidden_size=hidden, num_heads=heads)
    proposed = [int(size) for size in str(error.value).split("can:")[1].strip(" .").split(",")]
    between = [size for size in range(1, hidden + heads + 1) if size % heads == 0]
    assert proposed == [size for size in between if hidden - heads < size < hidden + heads]
    for size in proposed:
        AlbertConfig(hidden_size=size, num_heads=heads)


def test_replacing_the_hidden_size_keeps_the_feed_forward_four_times_as_wide():
    config = AlbertConfig.named("albert-base-v2")
    assert config.replace(hidden_size=1536).ffn_size == 4 * 1536
    assert config.replace(num_layers=3).ffn_size == config.ffn_size == 4 * 768
    assert config.hidden_size == 768  # the original is left alone


def test_a_feed_forward_width_of_ones_own_survives_a_change_of_hidden_size():
    assert AlbertConfig(hidden_size=48, ffn_size=100).replace(hidden_size=96).ffn_size == 100
    assert AlbertConfig(hidden_size=48).replace(hidden_size=96, ffn_size=100).ffn_size == 100


def test_a_config_cannot_be_changed_behind_the_back_of_a_model():
    with pytest.raises(dataclasses.FrozenInstanceError):
        AlbertConfig().num_layers = 3


@pytest.mark.parametrize("name", ["bert-mini", "bert-base"])
def test_a_bert_of_another_width_is_still_a_bert(name):
    wider = AlbertConfig.named(name).replace(hidden_size=384)
    assert wider == AlbertConfig.named(name, hidden_size=384)
    assert (wider.embedding_size, wider.ffn_size, wider.factorised) == (384, 4 * 384, False)
    assert AlbertConfig.named(name, hidden_size=384, embedding_size=96).embedding_size == 96
    assert AlbertConfig.named("albert-base-v2", hidden_size=384).embedding_size == 128


def test_without_sharing_there_are_no_groups_to_tell_apart():
    assert AlbertConfig(share="none", num_groups=3) == AlbertConfig(share="none")
    assert AlbertConfig(num_groups=3).replace(share="none") == AlbertConfig(share="none")
