"""The whole encoder: padding that moves nothing, and the start the original gives its weights.

That embeddings, layers, pooler and heads compute what they should is in test_parity.py.
"""

import dataclasses
import re

import pytest
import torch

from albert_edu.batch import PretrainingBatch
from albert_edu.config import AlbertConfig
from albert_edu.model.albert import Albert
from tests.model.batches import V, masked_batch
from tests.support import randomised, same_bits, tiny


def albert_of(**changes) -> Albert:
    return randomised(tiny(**({"vocab_size": V, "num_layers": 3} | changes)).albert)


batch = pytest.fixture(masked_batch)


def padded(batch: PretrainingBatch, columns: int) -> PretrainingBatch:
    """The same batch with more columns of padding; whatever stands in them should not matter."""

    def wider(x: torch.Tensor, high: int) -> torch.Tensor:
        return torch.cat([x, torch.randint(0, high, (len(x), columns))], dim=1)

    return dataclasses.replace(
        batch,
        token_ids=wider(batch.token_ids, V),
        segment_ids=wider(batch.segment_ids, 2),
        attention_mask=torch.nn.functional.pad(batch.attention_mask, (0, columns)),
    )


@pytest.mark.parametrize("columns", [1, 5])
def test_columns_of_padding_move_no_output_and_no_loss(batch, columns):
    model, wider = randomised(tiny(vocab_size=V)), padded(batch, columns)
    torch.testing.assert_close(model(wider), model(batch), atol=1e-5, rtol=1e-5)
    unmasked = dataclasses.replace(wider, attention_mask=torch.ones_like(wider.attention_mask))
    assert not torch.isclose(model(unmasked).loss, model(batch).loss, atol=1e-2)


def test_an_all_ones_mask_is_no_mask_and_missing_segments_are_segment_0(batch):
    albert, ids = albert_of(), batch.token_ids
    plain = albert(ids)
    for other in (albert(ids, torch.zeros_like(ids)), albert(ids, None, torch.ones_like(ids))):
        torch.testing.assert_close(other.last_hidden, plain.last_hidden, atol=1e-5, rtol=1e-5)
    segmented = albert(ids, batch.segment_ids)
    assert not torch.allclose(segmented.last_hidden, plain.last_hidden, atol=1e-2)


def test_a_sequence_longer_than_max_positions_is_refused_with_both_numbers():
    albert = albert_of(max_positions=12)
    assert albert(torch.ones(1, 12, dtype=torch.long)).last_hidden.shape == (1, 12, 16)
    with pytest.raises(ValueError, match=r"of 13 tokens, but max_positions is 12.*positions=13"):
        albert(torch.ones(1, 13, dtype=torch.long))


@pytest.mark.parametrize(("E", "share", "std"), [(32, "all", 0.02), (64, "none", 0.05)])
def test_the_start_is_a_normal_cut_at_two_deviations_with_zero_biases_and_unit_norms(E, share, std):
    sizes = dict(hidden_size=64, vocab_size=300, max_positions=256, num_segments=64)
    model = tiny(embedding_size=E, share=share, init_std=std, **sizes)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            assert (parameter == float("norm.weight" in name)).all(), name
        else:
            assert parameter.abs().max() <= 2 * std, name
            if parameter.numel() > 1000:  # enough to say something about mean and deviation
                assert abs(parameter.mean()) < 0.1 * std, name
                # 0.88 is what the cut leaves of the deviation.
                assert parameter.std().item() == pytest.approx(0.88 * std, rel=0.05), name


def test_the_padding_row_is_an_ordinary_row_of_the_table():
    """It starts as the others do and learns; transformers zeroes it and cuts its gradient."""
    albert = albert_of()
    assert (albert.embeddings.word.weight[0] != 0).all()
    albert(torch.zeros(1, 3, dtype=torch.long)).pooled.sum().backward()
    assert (albert.embeddings.word.weight.grad[0] != 0).all()


def test_the_same_seed_gives_the_same_model_whose_encoder_is_that_of_albert_alone():
    first, second = tiny(3), tiny(3)
    torch.manual_seed(3)
    assert same_bits(first, second) and same_bits(Albert(first.config), first.albert)


def test_embedding_dropout_falls_before_the_projection_and_only_in_training(batch):
    embeddings, seen = albert_of(hidden_dropout=0.5).embeddings, []
    embeddings.project.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    embeddings(batch.token_ids, batch.segment_ids)
    embeddings.train()(batch.token_ids, batch.segment_ids)
    whole, dropped = seen
    zeros = dropped == 0
    assert 0.3 < zeros.float().mean() < 0.7
    torch.testing.assert_close(dropped[~zeros], 2 * whole[~zeros])


@pytest.mark.parametrize("shape", [(1, 0), (0, 4), (0, 0)])
def test_ids_without_a_token_are_refused_with_their_shape(shape):
    model = Albert(AlbertConfig.named("albert-tiny", vocab_size=20))
    with pytest.raises(ValueError, match=re.escape(f"no token in ids of shape {shape}")):
        model(torch.zeros(shape).long())
