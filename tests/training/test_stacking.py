"""Deeper models from shallower ones: what is the same, what is copied, what is free afterwards."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.training.stages import stack_layers

quick = settings(max_examples=25, deadline=None, derandomize=True)


def tiny(**changes) -> AlbertForPretraining:
    """A small model in which every number is its own, so that a block out of place would show."""
    sizes = dict(vocab_size=30, embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, max_positions=16)
    model = AlbertForPretraining(AlbertConfig(**{**sizes, **changes}))
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    return model.eval()


def outputs(model: AlbertForPretraining) -> list[torch.Tensor]:
    ids = torch.arange(12).view(2, 6)
    with torch.no_grad():
        hidden, pooled, _ = model.eval().albert(ids, ids % 2, (ids < 10).long())
        return [hidden, pooled, model.masked_token_head(hidden), model.sentence_order_head(pooled)]


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return all(torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
@pytest.mark.parametrize("embedding_size", [8, 16])
def test_growing_to_the_same_depth_changes_no_output(share, embedding_size):
    model = tiny(share=share, embedding_size=embedding_size, num_layers=3)
    for before, after in zip(outputs(model), outputs(stack_layers(model, 3)), strict=True):
        assert torch.equal(before, after)


def test_a_shared_model_keeps_its_weights_and_applies_them_more_often():
    model = tiny()
    deep = stack_layers(model, 5)
    assert deep.config == model.config.replace(num_layers=5) and same(model, deep)
    x, keep = torch.randn(2, 6, 16), torch.ones(2, 6, dtype=torch.bool)
    with torch.no_grad():
        *_, longer = model.albert.encoder.steps(x, keep, beyond=3)
        assert torch.equal(deep.eval().albert.encoder(x, keep), longer)
    assert not torch.equal(outputs(model)[0], outputs(deep)[0])


@pytest.mark.parametrize("old, new, sources", [(2, 4, [0, 0, 1, 1]), (2, 3, [0, 0, 1]), (3, 4, [0, 0, 1, 2]), (1, 3, [0, 0, 0])])
@pytest.mark.parametrize("share", ["none", "attention", "ffn"])
def test_layer_i_starts_as_a_copy_of_layer_i_times_L_old_over_L_new(share, old, new, sources):
    model = tiny(share=share, num_layers=old)
    deep = stack_layers(model, new)
    for i, source in enumerate(sources):
        for kind in ("attention", "ffn"):
            ours, theirs = (getattr(m.albert.encoder, kind) for m in (deep, model))
            shared = len(theirs) == 1
            assert same(ours[0 if shared else i], theirs[0 if shared else source])
    assert [same(deep.albert.embeddings, model.albert.embeddings), same(deep.albert.pooler, model.albert.pooler)] == [True] * 2
    assert same(deep.masked_token_head, model.masked_token_head) and same(deep.sentence_order_head, model.sentence_order_head)


@quick
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
@example(4, 1, 1)  # 5 layers in 4 groups become 6 in 4: application 2 of the new stack is in group 1, of the old in group 0
def test_each_group_starts_from_the_group_of_its_number(groups, more, still_more):
    model = tiny(num_groups=groups, num_layers=groups + more)
    deep = stack_layers(model, groups + more + still_more)
    assert same(deep.albert.encoder, model.albert.encoder)


def test_copies_are_independent_of_each_other_and_of_the_shallow_model():
    model = tiny(share="none")
    deep = stack_layers(model, 4)
    before = outputs(model)
    with torch.no_grad():
        for p in deep.albert.encoder.ffn[0].parameters():
            p.add_(1.0)
        deep.albert.embeddings.word.weight.add_(1.0)
    assert not same(deep.albert.encoder.ffn[0], deep.albert.encoder.ffn[1])
    assert same(deep.albert.encoder.ffn[1], model.albert.encoder.ffn[0])
    assert all(torch.equal(a, b) for a, b in zip(before, outputs(model), strict=True))


def test_the_grown_decoder_is_tied_to_the_grown_table():
    deep = stack_layers(tiny(), 4)
    assert deep.masked_token_head.decoder.weight is deep.albert.embeddings.word.weight
    assert all(p.requires_grad for p in deep.parameters())


def test_a_shallower_depth_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="1 layers are fewer than 2"):
        stack_layers(tiny(), 1)
