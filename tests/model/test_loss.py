"""What the two losses are means of, and what must never move them.

That they and their gradients are those of transformers, whatever is padded or without label, is in
test_parity.py; that parts of a batch add up to the whole, in test_pretrain.py.
"""

from dataclasses import replace

import pytest
import torch

from albert_edu.model.albert import AlbertForPretraining, loss_sum, mean_loss
from tests.model.batches import V, masked_batch
from tests.support import randomised, tiny


@pytest.fixture
def model() -> AlbertForPretraining:
    return randomised(tiny(vocab_size=V))


batch = pytest.fixture(masked_batch)


def test_the_decoder_runs_on_masked_positions_only(model, batch):
    seen = []
    decoder = model.masked_token_head.decoder
    decoder.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[:-1].numel()))
    assert model(batch).masked_token_logits.shape == (3, 4, V) and seen == [3 * 4]


def test_without_masked_tokens_the_loss_is_0_and_so_is_every_gradient(model, batch):
    labels = dict(masked_labels=torch.full((3, 4), -100), order_labels=torch.full((3,), -100))
    output = model(replace(batch, **labels))
    assert (output.loss, output.masked_token_loss, output.sentence_order_loss) == (0, 0, 0)
    for gradient in torch.autograd.grad(output.loss, list(model.parameters())):
        assert (gradient == 0).all()
    one = model(batch.rows(slice(1, 2)))  # a single label of each kind
    torch.testing.assert_close(one.loss, one.masked_token_loss_sum + one.sentence_order_loss_sum)


def test_half_precision_logits_are_summed_and_averaged_in_float32():
    logits, labels = torch.randn(40, 100, V).bfloat16(), torch.randint(0, V, (40, 100))
    total, loss = loss_sum(logits, labels), mean_loss(logits, labels)
    assert total.dtype == loss.dtype == torch.float32
    torch.testing.assert_close(loss, mean_loss(logits.float(), labels))
    torch.testing.assert_close(total / 4000, loss)
    assert mean_loss(logits, torch.full_like(labels, -100)) == 0
    one = logits[0, :1], labels[0, :1]
    assert mean_loss(*one) == loss_sum(*one)
