"""The two halves of a layer: attention by hand against fused attention, and where dropout sits.

Post-norm, heads and activations are compared with those of transformers in test_parity.py.
"""

import pytest
import torch
import torch.nn.functional as F

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import FeedForward, SelfAttention, attention_by_hand
from tests.support import randomised

B, S, H, A = 2, 7, 12, 4  # so that a head is 3 wide: no two of the sizes are equal
KEEP = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]]).bool()


def config(**changes) -> AlbertConfig:
    return AlbertConfig(hidden_size=H, num_layers=1, num_heads=A, **changes)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(B, S, H)


@pytest.mark.parametrize("keep", [None, KEEP], ids=["no padding", "padding"])
def test_attention_by_hand_gives_the_mix_and_the_weights_of_fused_attention(keep):
    q, k, v = torch.randn(3, B, A, S, H // A)
    mixed, weights = attention_by_hand(q, k, v, keep)
    mask = None if keep is None else keep[:, None, None]
    torch.testing.assert_close(mixed, F.scaled_dot_product_attention(q, k, v, mask))
    # With the identity for values attention gives its weights.
    plain = F.scaled_dot_product_attention(q, k, torch.eye(S).expand(B, A, S, S), mask)
    torch.testing.assert_close(weights, plain)


@pytest.mark.parametrize("keep", [None, KEEP], ids=["no padding", "padding"])
def test_the_fast_layer_equals_the_one_that_returns_weights_also_in_its_gradients(x, keep):
    attention = randomised(SelfAttention(config()))
    slow, weights = attention.forward_with_weights(x, keep)
    fast = attention(x, keep)
    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, A, S))
    direction = torch.randn_like(x)
    gradients = [
        torch.autograd.grad((output * direction).sum(), attention.parameters())
        for output in (fast, slow)
    ]
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("block", [SelfAttention, FeedForward])
def test_what_a_block_adds_is_dropped_at_the_configured_rate_and_scaled_up_in_training(block):
    module, x = randomised(block(config(hidden_dropout=0.25))), torch.randn(8, 50, H)
    module.norm = torch.nn.Identity()
    whole, branch = module(x) - x, module.train()(x) - x  # the residual is never dropped
    dropped = branch.abs() < 1e-6
    assert dropped.float().mean().item() == pytest.approx(0.25, abs=0.03)
    torch.testing.assert_close(branch[~dropped], whole[~dropped] / 0.75, atol=1e-4, rtol=1e-4)


def test_attention_dropout_is_on_in_training_and_off_in_evaluation(x):
    attention = randomised(SelfAttention(config(attention_dropout=0.5)))
    assert not torch.allclose(attention.train()(x, KEEP), attention(x, KEEP), atol=1e-3)
    slow, _ = attention.eval().forward_with_weights(x, KEEP)
    torch.testing.assert_close(attention(x, KEEP), slow, atol=1e-5, rtol=1e-5)


def test_attention_weights_are_dropped_at_the_configured_rate(monkeypatch):
    rates, fused = [], F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *given: rates.append(given[4]) or fused(*given)
    )
    shape = dict(hidden_size=12, num_layers=1, num_heads=4)
    attention = SelfAttention(AlbertConfig(**shape, attention_dropout=0.3, hidden_dropout=0.1))
    attention.train()(torch.randn(2, 7, 12))
    attention.eval()(torch.randn(2, 7, 12))
    assert rates == [0.3, 0.0]
