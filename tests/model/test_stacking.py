"""Deeper models from shallower ones: what is the same, what is copied, what is free afterwards."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.stacking import start_from
from tests.support import randomised, same_bits, tiny


def deeper(model: AlbertForPretraining, num_layers: int) -> AlbertForPretraining:
    return start_from(model, model.config.replace(num_layers=num_layers))


def model_of(**changes) -> AlbertForPretraining:
    """A model in which every number is its own, so that a block out of place would show."""
    return randomised(tiny(**changes))


def apart(*models: AlbertForPretraining) -> bool:
    """Whether no two parameters, of one model or of two, lie in the same memory."""
    places = [parameter.data_ptr() for model in models for parameter in model.parameters()]
    return len(set(places)) == len(places)


def test_a_shared_model_keeps_its_weights_and_applies_them_more_often():
    model = model_of()
    deep = deeper(model, 5)
    assert deep.config == model.config.replace(num_layers=5) and same_bits(model, deep)
    x, keep = torch.randn(2, 6, 16), torch.ones(2, 6, dtype=torch.bool)
    with torch.no_grad():
        *_, longer = model.albert.encoder.steps(x, keep, beyond=3)
        assert torch.equal(deep.eval().albert.encoder(x, keep), longer)


@pytest.mark.parametrize(
    "old, new, sources",
    [(2, 4, [0, 0, 1, 1]), (2, 3, [0, 0, 1]), (3, 4, [0, 0, 1, 2]), (2, 2, [0, 1])],
)
@pytest.mark.parametrize("share", ["none", "attention", "ffn"])
def test_layer_i_starts_as_a_copy_of_layer_i_times_L_old_over_L_new(share, old, new, sources):
    model = model_of(share=share, num_layers=old)
    deep = deeper(model, new)
    for i, source in enumerate(sources):
        for kind in ("attention", "ffn"):
            ours, theirs = (getattr(m.albert.encoder, kind) for m in (deep, model))
            shared = len(theirs) == 1
            assert same_bits(ours[0 if shared else i], theirs[0 if shared else source])
    for part in ("albert.embeddings", "albert.pooler", "masked_token_head", "sentence_order_head"):
        assert same_bits(deep.get_submodule(part), model.get_submodule(part))
    assert deep.masked_token_head.decoder.weight is deep.albert.embeddings.word.weight
    assert apart(deep, model)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
@example(4, 1, 1)  # of 5 layers in 4 groups application 2 is in group 0, of 6 in group 1
def test_each_group_starts_from_the_group_of_its_number(groups, more, still_more):
    model = model_of(num_groups=groups, num_layers=groups + more)
    deep = deeper(model, groups + more + still_more)
    assert same_bits(deep.albert.encoder, model.albert.encoder)


@pytest.mark.parametrize("changes", [{"num_layers": 1}, {"share": "all"}, {"share": "ffn"}])
def test_a_config_that_has_no_place_for_all_weights_is_refused(changes):
    model = tiny(share="none")
    with pytest.raises(ValueError, match=r"with \([12], [12], [12]\) .* from one with \(2, 2, 2\)"):
        start_from(model, model.config.replace(**changes))


@pytest.mark.parametrize(
    "changes",
    [{"num_layers": 3}, {"num_layers": 4, "num_groups": 2}, {"share": "ffn"}, {"share": "none"}],
    ids=str,
)
def test_an_unshared_copy_gives_the_same_numbers_and_its_layers_are_free_of_each_other(changes):
    model = model_of(**changes)
    model.vocabulary = "of the model"
    free = start_from(model, model.config.replace(share="none")).eval()
    assert free.config == model.config.replace(share="none") and free.vocabulary == "of the model"
    layers, ids = model.config.num_layers, torch.randint(1, 190, (2, 6))
    assert len(free.albert.encoder.attention) == len(free.albert.encoder.ffn) == layers
    assert torch.equal(free.albert(ids).pooled, model.albert(ids).pooled) and apart(free, model)
