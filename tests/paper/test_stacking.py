"""Deeper models from shallower ones: what is the same, what is copied, what is free afterwards."""

import pytest
import torch

from albert_edu.model.albert import AlbertForPretraining
from albert_paper.stacking import start_from
from tests.support import randomised, same_bits, tiny


def model_of(**changes) -> AlbertForPretraining:
    """A model in which every number is its own, so that a block out of place would show."""
    return randomised(tiny(**changes))


def apart(*models: AlbertForPretraining) -> bool:
    """Whether no two parameters, of one model or of two, lie in the same memory."""
    places = [parameter.data_ptr() for model in models for parameter in model.parameters()]
    return len(set(places)) == len(places)


# Of 5 layers in 4 groups application 2 is in group 0, of 6 in group 1.
@pytest.mark.parametrize(("groups", "old", "new"), [(1, 2, 5), (4, 5, 6), (3, 3, 8)])
def test_shared_layers_keep_their_weights_and_are_applied_more_often(groups, old, new):
    model = model_of(num_groups=groups, num_layers=old)
    deep = start_from(model, model.config.replace(num_layers=new))
    assert deep.config.num_layers == len(deep.albert.encoder.plan) == new
    assert same_bits(model, deep)
    assert apart(model, deep)


@pytest.mark.parametrize(
    "old, new, sources",
    [(2, 4, [0, 0, 1, 1]), (2, 3, [0, 0, 1]), (3, 4, [0, 0, 1, 2]), (2, 2, [0, 1])],
)
@pytest.mark.parametrize("share", ["none", "attention", "ffn"])
def test_layer_i_starts_as_a_copy_of_layer_i_times_L_old_over_L_new(share, old, new, sources):
    model = model_of(share=share, num_layers=old)
    deep = start_from(model, model.config.replace(num_layers=new))
    for i, source in enumerate(sources):
        for kind in ("attention", "ffn"):
            ours = getattr(deep.albert.encoder, kind)
            theirs = getattr(model.albert.encoder, kind)
            if len(theirs) == 1:  # shared
                assert same_bits(ours[0], theirs[0])
            else:
                assert same_bits(ours[i], theirs[source])
    for part in ("albert.embeddings", "albert.pooler", "masked_token_head", "sentence_order_head"):
        assert same_bits(deep.get_submodule(part), model.get_submodule(part))
    assert deep.masked_token_head.decoder.weight is deep.albert.embeddings.word.weight
    assert apart(deep, model)


@pytest.mark.parametrize("changes", [{"num_layers": 1}, {"share": "all"}, {"share": "ffn"}])
def test_a_config_that_has_no_place_for_all_weights_is_refused(changes):
    model = tiny(share="none")
    with pytest.raises(ValueError, match=r"^1 \w+ blocks cannot hold what 2"):
        start_from(model, model.config.replace(**changes))


@pytest.mark.parametrize(
    "changes",
    [{"num_layers": 3}, {"num_layers": 4, "num_groups": 2}, {"share": "ffn"}, {"share": "none"}],
    ids=str,
)
def test_an_unshared_copy_gives_the_same_numbers_and_its_layers_are_free_of_each_other(changes):
    model = model_of(**changes)
    model.albert.tokenizer_fingerprint = "of the model"
    free = start_from(model, model.config.replace(share="none")).eval()
    assert free.config == model.config.replace(share="none")
    assert free.albert.tokenizer_fingerprint == "of the model"
    encoder = free.albert.encoder
    assert len(encoder.attention) == len(encoder.ffn) == model.config.num_layers
    ids = torch.randint(1, 190, (2, 6))
    assert torch.equal(free.albert(ids).pooled, model.albert(ids).pooled)
    assert apart(free, model)
