"""The whole encoder: embeddings by hand, padding that moves nothing, and the start the original gives its weights."""

import pytest
import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch

B, S, V = 3, 9, 60
LENGTHS = torch.tensor([9, 6, 4])


def config(**changes) -> AlbertConfig:
    shape = dict(vocab_size=V, embedding_size=8, hidden_size=16, num_layers=3, num_heads=2, max_positions=16)
    return AlbertConfig(**(shape | changes))


def randomised(model):
    """Weights far from the small start, so that nothing in the model is idle or nearly linear."""
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith("norm.weight")), std=0.4)
    return model.eval()


@pytest.fixture
def batch() -> PretrainingBatch:
    """Three sequences of 9, 6 and 4 tokens; the last has one masked token and no order."""
    mask = (torch.arange(S) < LENGTHS[:, None]).long()
    return PretrainingBatch(
        token_ids=torch.randint(5, V, (B, S)) * mask, segment_ids=(torch.arange(S) >= 3).long() * mask, attention_mask=mask,
        masked_positions=torch.tensor([[1, 8], [4, 2], [3, 0]]), masked_labels=torch.tensor([[7, 9], [11, 13], [17, -100]]),
        order_labels=torch.tensor([0, 1, -100]),
    )  # fmt: skip


def padded(batch: PretrainingBatch, columns: int, garbage: bool = True) -> PretrainingBatch:
    """The same batch with more columns of padding; whatever stands in them should not matter."""
    def wider(x, high):
        return torch.cat([x, torch.randint(0, high, (len(x), columns)) if garbage else x.new_zeros(len(x), columns)], dim=1)

    return PretrainingBatch(
        wider(batch.token_ids, V), wider(batch.segment_ids, 2), torch.nn.functional.pad(batch.attention_mask, (0, columns)),
        batch.masked_positions, batch.masked_labels, batch.order_labels,
    )  # fmt: skip


@pytest.mark.parametrize("columns", [1, 5])
def test_columns_of_padding_move_no_output_and_no_loss(batch, columns):
    model, keep = randomised(AlbertForPretraining(config())), batch.attention_mask.bool()
    wider = padded(batch, columns)
    for short, long in zip(model(batch), model(wider), strict=True):
        torch.testing.assert_close(long, short, atol=1e-5, rtol=1e-5)
    for short, long in zip(
        model.albert(batch.token_ids, batch.segment_ids, batch.attention_mask, return_hidden_states=True).hidden_states,
        model.albert(wider.token_ids, wider.segment_ids, wider.attention_mask, return_hidden_states=True).hidden_states,
        strict=True,
    ):
        torch.testing.assert_close(long[:, :S][keep], short[keep], atol=1e-5, rtol=1e-5)


def test_without_a_mask_padding_would_move_the_outputs(batch):
    albert, wider = randomised(Albert(config())), padded(batch, 5)
    assert not torch.allclose(albert(wider.token_ids).pooled, albert(batch.token_ids).pooled, atol=1e-2)


def test_columns_of_padding_move_no_gradient(batch):
    model, gradients = randomised(AlbertForPretraining(config())), []
    for version in (batch, padded(batch, 4, garbage=False)):
        gradients.append(torch.autograd.grad(model(version).loss, list(model.parameters())))
    for short, long in zip(*gradients, strict=True):
        torch.testing.assert_close(long, short, atol=1e-5, rtol=1e-4)


def test_a_row_s_outputs_do_not_depend_on_its_neighbours(batch):
    albert = randomised(Albert(config()))
    together = albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
    for b, length in enumerate(LENGTHS):
        alone = albert(batch.token_ids[b : b + 1, :length], batch.segment_ids[b : b + 1, :length])
        torch.testing.assert_close(together.last_hidden[b, :length], alone.last_hidden[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(together.pooled[b], alone.pooled[0], atol=1e-5, rtol=1e-5)


def test_every_token_sees_every_other_in_both_directions(batch):
    albert, ids = randomised(Albert(config(num_layers=1))), batch.token_ids[:1].clone()
    for changed in (0, S - 1):
        other = ids.clone()
        other[0, changed] = (ids[0, changed] + 1) % V
        moved = (albert(ids).last_hidden - albert(other).last_hidden)[0].norm(dim=-1)
        assert (moved > 1e-4).all()


def test_an_all_ones_mask_is_no_mask_and_missing_segments_are_segment_0(batch):
    albert, ids = randomised(Albert(config())), batch.token_ids
    plain = albert(ids)
    for other in (albert(ids, torch.zeros_like(ids)), albert(ids, None, torch.ones_like(ids))):
        torch.testing.assert_close(other.last_hidden, plain.last_hidden, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(albert(ids, batch.segment_ids).last_hidden, plain.last_hidden, atol=1e-2)


def test_hidden_states_are_the_embeddings_and_every_layer_up_to_the_last(batch):
    albert = randomised(Albert(config(num_layers=4)))
    output = albert(batch.token_ids, batch.segment_ids, batch.attention_mask, return_hidden_states=True)
    states = output.hidden_states
    assert isinstance(states, tuple) and len(states) == 5
    assert torch.equal(states[0], albert.embeddings(batch.token_ids, batch.segment_ids))
    without = albert(batch.token_ids, batch.segment_ids, batch.attention_mask)
    assert without.hidden_states is None
    assert torch.equal(without.last_hidden, states[-1]) and output.last_hidden is states[-1]


def test_pooling_is_one_tanh_layer_on_the_first_token(batch):
    albert = randomised(Albert(config()))
    output = albert(batch.token_ids)
    expected = torch.tanh(output.last_hidden[:, 0] @ albert.pooler.weight.T + albert.pooler.bias)
    torch.testing.assert_close(output.pooled, expected)


@pytest.mark.parametrize("embedding_size", [8, 16])
def test_embeddings_are_summed_and_normed_at_width_e_and_only_then_projected(batch, embedding_size):
    embeddings = randomised(Albert(config(embedding_size=embedding_size))).embeddings
    output = embeddings(batch.token_ids, batch.segment_ids)
    for b, s in [(0, 0), (0, 8), (1, 4)]:
        rows = embeddings.word.weight[batch.token_ids[b, s]], embeddings.segment.weight[batch.segment_ids[b, s]]
        x = sum(rows) + embeddings.position.weight[s]
        x = (x - x.mean()) / x.std(correction=0) * embeddings.norm.weight + embeddings.norm.bias
        if embedding_size == 8:
            x = embeddings.project.weight @ x + embeddings.project.bias
        torch.testing.assert_close(output[b, s], x, atol=1e-5, rtol=1e-5)


def test_a_sequence_longer_than_max_positions_is_refused_with_both_numbers():
    albert = Albert(config(max_positions=12))
    assert albert(torch.ones(1, 12, dtype=torch.long)).last_hidden.shape == (1, 12, 16)
    with pytest.raises(ValueError, match=r"a sequence of 13 tokens, but max_positions is 12.*max_positions=13"):
        albert(torch.ones(1, 13, dtype=torch.long))


@pytest.mark.parametrize(("embedding_size", "share", "std"), [(32, "all", 0.02), (64, "none", 0.05)])
def test_the_start_is_a_normal_cut_at_two_deviations_with_zero_biases_and_unit_norms(embedding_size, share, std):
    model = AlbertForPretraining(config(vocab_size=300, embedding_size=embedding_size, hidden_size=64, share=share, init_std=std,
                                        max_positions=256, num_segments=64))  # fmt: skip
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            assert parameter.abs().max() <= 2 * std, name
            if parameter.numel() > 1000:  # enough of them to say something about the mean and the deviation
                assert abs(parameter.mean()) < 0.1 * std, name
                assert abs(parameter.std() / (0.88 * std) - 1) < 0.05, name  # 0.88: what the cut leaves of the deviation


def test_the_padding_row_is_an_ordinary_row_of_the_table():
    """It starts as the others do and learns where it stands unmasked; transformers zeroes it and cuts its gradient."""
    albert = Albert(config())
    assert (albert.embeddings.word.weight[0] != 0).all()
    albert(torch.zeros(1, 3, dtype=torch.long)).pooled.sum().backward()
    assert (albert.embeddings.word.weight.grad[0] != 0).all()


def test_the_decoder_is_the_embedding_table_itself():
    model = AlbertForPretraining(config())
    assert model.masked_token_head.decoder.weight is model.albert.embeddings.word.weight
    assert sum(parameter.shape[0] == V for parameter in model.parameters()) == 2  # the table once, and the decoder's bias


def test_the_same_seed_gives_the_same_model_whose_encoder_is_that_of_albert_alone():
    models = []
    for kind in (Albert, AlbertForPretraining, AlbertForPretraining):
        torch.manual_seed(3)
        models.append(kind(config()))
    alone, first, second = models
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, second.get_parameter(name)), name
    for name, parameter in alone.named_parameters():
        assert torch.equal(parameter, first.albert.get_parameter(name)), name


def test_embedding_dropout_falls_before_the_projection_and_only_in_training(batch):
    albert = randomised(Albert(config(hidden_dropout=0.5)))
    embeddings, seen = albert.embeddings, []
    embeddings.project.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    embeddings(batch.token_ids, batch.segment_ids)
    embeddings.train()(batch.token_ids, batch.segment_ids)
    whole, dropped = seen
    zeros = dropped == 0
    assert 0.3 < zeros.float().mean() < 0.7
    torch.testing.assert_close(dropped[~zeros], 2 * whole[~zeros])


def test_every_norm_takes_the_eps_of_the_config_and_both_models_keep_the_config():
    """An eps of 1 shows in any output; the real one, 1e-12, hides behind rounding."""
    model = AlbertForPretraining(config(layer_norm_eps=1.0, share="none"))
    norms = [module for module in model.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert len(norms) == 1 + 2 * 3 + 1 and {norm.eps for norm in norms} == {1.0}
    assert model.config is model.albert.config and model.config.layer_norm_eps == 1.0
