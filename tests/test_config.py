"""A config either describes a model that can be built, or says what does not fit and what would."""

import dataclasses

import jaxtyping
import numpy as np
import pytest

from albert_edu.config import (
    PRESETS,
    AlbertConfig,
    check_between,
    check_one_of,
    check_whole,
    whole_from_environment,
)
from albert_edu.errors import InputError
from albert_edu.training.settings import TrainSettings


@pytest.mark.parametrize(
    ("size", "layers", "heads", "v1_dropout"),
    [
        ("base", 12, 12, 0.1),
        ("large", 24, 16, 0.1),
        ("xlarge", 24, 16, 0.1),
        ("xxlarge", 12, 64, 0),
    ],
)
def test_albert_presets_have_the_released_heads_and_dropout(size, layers, heads, v1_dropout):
    """Their widths are in the exact counts of test_counting.py, as are those of BERT."""
    for version, dropout in (("v1", v1_dropout), ("v2", 0.0)):
        config = AlbertConfig.named(f"albert-{size}-{version}")
        assert (config.num_layers, config.num_heads) == (layers, heads)
        assert (config.hidden_dropout, config.attention_dropout) == (dropout, dropout)
        assert (config.activation, config.init_std) == ("gelu_tanh", 0.02)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_built_and_changed_by_field(name):
    changes = dict(num_layers=1, vocab_size=77)
    assert AlbertConfig.named(name, **changes) == AlbertConfig.named(name).replace(**changes)


def test_an_unknown_preset_is_answered_with_those_that_there_are():
    with pytest.raises(
        ValueError, match=r"preset must be one of albert-b.*, got 'bert_large'"
    ) as error:
        AlbertConfig.named("bert_large")
    assert all(name in str(error.value) for name in PRESETS)


def test_a_width_that_cannot_be_split_over_the_heads_is_refused_with_both():
    with pytest.raises(ValueError, match="multiple of num_heads, got 100 for 12 heads"):
        AlbertConfig(hidden_size=100, num_heads=12)


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
    assert (wider.embedding_size, wider.ffn_size, wider.has_projection) == (384, 4 * 384, False)
    assert AlbertConfig.named(name, hidden_size=384, embedding_size=96).embedding_size == 96
    assert AlbertConfig.named("albert-base-v2", hidden_size=384).embedding_size == 128


def test_without_sharing_there_are_no_groups_to_tell_apart():
    assert AlbertConfig(share="none", num_groups=3) == AlbertConfig(share="none")
    assert AlbertConfig(num_groups=3).replace(share="none") == AlbertConfig(share="none")


def test_a_feed_forward_width_of_0_stands_for_four_times_the_layers_width():
    assert AlbertConfig(hidden_size=48, num_heads=4) == AlbertConfig(
        hidden_size=48, num_heads=4, ffn_size=192
    )


@pytest.mark.parametrize("value", [0, 5, 1000, np.int64(7)])
def test_a_whole_number_within_its_limits_passes(value):
    check_whole("steps", value, 0, 1000)
    check_between("steps", value, 0.0, 1000.0)


def test_numbers_of_numpy_become_pythons_because_files_hold_no_others(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # readers have no such check
    for settings in (
        AlbertConfig(vocab_size=np.int64(190), hidden_dropout=np.float32(0.5)),
        TrainSettings(steps=np.int32(4), learning_rate=np.float32(0.5), seed=np.uint8(1)),
    ):
        assert all(type(value) in (int, float, str, bool) for value in vars(settings).values())
        assert 0.5 in vars(settings).values()


@pytest.mark.parametrize("value", [-1, 1001, 10**400, 2.0, True, None, "5", float("nan")])
def test_what_is_no_whole_number_within_the_limits_is_refused_with_its_name_and_the_limits(value):
    with pytest.raises(InputError) as caught:
        check_whole("steps", value, 0, 1000)
    assert str(caught.value) == f"steps must be a whole number from 0 to 1,000, got {value!r}."


@pytest.mark.parametrize(
    "value", [-0.1, 1.5, 10**400, float("nan"), float("inf"), False, None, "1"]
)
def test_what_is_no_number_within_the_limits_is_refused_with_its_name_and_the_limits(value):
    with pytest.raises(InputError) as caught:
        check_between("rate", value, 0.0, 1.0)
    assert str(caught.value) == f"rate must be a number from 0 to 1, got {value!r}."


@pytest.mark.parametrize("value", ["sgd", None, ["lamb"], 0])
def test_what_is_not_among_the_choices_is_refused_with_all_of_them(value):
    check_one_of("optimizer", "lamb", ("lamb", "adamw"))
    with pytest.raises(InputError) as caught:
        check_one_of("optimizer", value, {"lamb": 1, "adamw": 2})
    assert str(caught.value) == f"optimizer must be one of lamb, adamw, got {value!r}."


def test_a_number_of_the_environment_is_read_or_refused_by_name(monkeypatch):
    monkeypatch.delenv("ALBERT_EDU_PROCESSES", raising=False)
    assert whole_from_environment("ALBERT_EDU_PROCESSES", 3) == 3
    for said, value in (("", 3), ("4", 4)):
        monkeypatch.setenv("ALBERT_EDU_PROCESSES", said)
        assert whole_from_environment("ALBERT_EDU_PROCESSES", 3) == value
    for said in ("two", "-1", "1.5"):
        monkeypatch.setenv("ALBERT_EDU_PROCESSES", said)
        with pytest.raises(InputError, match=f"ALBERT_EDU_PROCESSES={said}, which is no whole"):
            whole_from_environment("ALBERT_EDU_PROCESSES", 3)
