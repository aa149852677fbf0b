"""The two halves of a layer: attention against slower attention, post-norm, and where dropout sits."""

import math

import pytest
import torch
import torch.nn.functional as F

from albert_edu.config import AlbertConfig
from albert_edu.model.layers import FeedForward, SelfAttention, attention_by_hand, gelu

B, S, H, A = 2, 7, 12, 4  # so that a head is 3 wide: no two of the sizes are equal
KEEP = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]]).bool()


def config(**changes) -> AlbertConfig:
    return AlbertConfig(vocab_size=50, embedding_size=8, hidden_size=H, num_layers=1, num_heads=A, **changes)


def randomised(module):
    """Weights far from the small start, so that softmax and GELU leave their linear range and no bias or gain is idle."""
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return module


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(B, S, H)


@pytest.mark.parametrize("keep", [None, KEEP], ids=["no padding", "padding"])
def test_attention_by_hand_equals_fused_attention_and_a_loop_over_single_tokens(keep):
    q, k, v = torch.randn(3, B, A, S, H // A)
    mixed, weights = attention_by_hand(q, k, v, keep)
    torch.testing.assert_close(mixed, F.scaled_dot_product_attention(q, k, v, None if keep is None else keep[:, None, None]))
    for b, a, i in [(0, 0, 0), (1, 2, 3), (1, 3, 6)]:
        seen = [j for j in range(S) if keep is None or keep[b, j]]
        powers = {j: math.exp(sum(float(q[b, a, i, d] * k[b, a, j, d]) for d in range(H // A)) / math.sqrt(H // A)) for j in seen}
        expected = torch.tensor([powers.get(j, 0.0) / sum(powers.values()) for j in range(S)])
        torch.testing.assert_close(weights[b, a, i], expected)
        torch.testing.assert_close(mixed[b, a, i], sum(expected[j] * v[b, a, j] for j in range(S)))


@pytest.mark.parametrize("keep", [None, KEEP], ids=["no padding", "padding"])
def test_the_fast_layer_equals_the_one_that_returns_weights_also_in_its_gradients(x, keep):
    attention = randomised(SelfAttention(config()))
    slow, weights = attention.forward_with_weights(x, keep)
    fast = attention(x, keep)
    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, A, S))
    direction = torch.randn_like(x)
    gradients = [torch.autograd.grad((output * direction).sum(), attention.parameters()) for output in (fast, slow)]
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)


def test_padding_gets_no_attention_and_its_content_reaches_no_other_token(x):
    attention = randomised(SelfAttention(config()))
    output, weights = attention.forward_with_weights(x, KEEP)
    assert (weights.transpose(1, 3)[~KEEP] == 0).all()
    noise = torch.where(KEEP[:, :, None], x, 100 * torch.randn_like(x))
    torch.testing.assert_close(attention(noise, KEEP)[KEEP], output[KEEP], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(attention(noise)[KEEP], output[KEEP], atol=1e-2)  # without the mask it does


def test_head_a_is_columns_aD_to_aD_plus_D_of_query_key_and_value(x):
    attention = randomised(SelfAttention(config()))
    heads = []
    for a in range(A):
        columns = slice(a * H // A, (a + 1) * H // A)
        q, k, v = (linear(x)[..., columns] for linear in (attention.query, attention.key, attention.value))
        heads.append((q @ k.mT / math.sqrt(H // A)).softmax(-1) @ v)
    torch.testing.assert_close(attention(x), attention.norm(x + attention.output(torch.cat(heads, -1))), atol=1e-5, rtol=1e-5)


def test_a_layer_does_not_know_where_a_token_stands(x):
    attention, ffn, order = randomised(SelfAttention(config())), randomised(FeedForward(config())), torch.randperm(S)
    torch.testing.assert_close(ffn(attention(x[:, order])), ffn(attention(x))[:, order], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("block", [SelfAttention, FeedForward])
def test_the_norm_comes_last_so_that_rows_have_mean_0_and_variance_1_at_unit_gain(block, x):
    output = block(config())(5 * x + 3)
    torch.testing.assert_close(output.mean(-1), torch.zeros(B, S), atol=1e-6, rtol=0)
    torch.testing.assert_close(output.var(-1, correction=0), torch.ones(B, S))


def silenced(block, **changes):
    """A block whose branch adds nothing to its input."""
    module = block(config(**changes))
    last = module.output if block is SelfAttention else module.down
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.zeros_(last.bias)
    return module


@pytest.mark.parametrize("block", [SelfAttention, FeedForward])
def test_dropout_falls_on_the_branch_and_never_on_the_residual(block, x):
    quiet = silenced(block, hidden_dropout=0.5).train()
    torch.testing.assert_close(quiet(x), F.layer_norm(x, (H,)), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("block", [SelfAttention, FeedForward])
def test_hidden_dropout_is_applied_in_training_and_only_there(block, x):
    module = randomised(block(config(hidden_dropout=0.5)))
    assert not torch.allclose(module.train()(x), module(x), atol=1e-3)
    assert torch.equal(module.eval()(x), module(x))


def test_the_feed_forward_output_is_dropped_at_the_configured_rate_and_scaled_up():
    module = randomised(FeedForward(config(hidden_dropout=0.25))).train()
    module.norm = torch.nn.Identity()
    x = torch.randn(8, 50, H)
    branch, kept_whole = module(x) - x, module.down(module.activation(module.up(x)))
    dropped = branch.abs() < 1e-6
    assert abs(dropped.float().mean().item() - 0.25) < 0.03
    torch.testing.assert_close(branch[~dropped], kept_whole[~dropped] / 0.75, atol=1e-4, rtol=1e-4)


def test_attention_dropout_is_on_in_training_and_off_in_evaluation(x):
    attention = randomised(SelfAttention(config(attention_dropout=0.5)))
    assert not torch.allclose(attention.train()(x, KEEP), attention(x, KEEP), atol=1e-3)
    torch.testing.assert_close(attention.eval()(x, KEEP), attention.forward_with_weights(x, KEEP)[0], atol=1e-5, rtol=1e-5)


def test_both_gelus_are_their_formulas_and_differ_by_less_than_5e_4():
    x = torch.linspace(-6, 6, 1001)
    by_tanh, by_erf = (gelu(config(activation=name))(x) for name in ("gelu_tanh", "gelu_erf"))
    torch.testing.assert_close(by_tanh, 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
    torch.testing.assert_close(by_erf, 0.5 * x * (1 + torch.erf(x / math.sqrt(2))))
    assert 1e-4 < (by_tanh - by_erf).abs().max() < 5e-4


def test_the_feed_forward_uses_the_activation_of_the_config(x):
    for name, approximate in (("gelu_tanh", "tanh"), ("gelu_erf", "none")):
        ffn = randomised(FeedForward(config(activation=name, ffn_size=24)))
        inner = F.gelu(F.linear(x, ffn.up.weight, ffn.up.bias), approximate=approximate)
        assert inner.shape[-1] == 24
        expected = F.layer_norm(x + F.linear(inner, ffn.down.weight, ffn.down.bias), (H,), ffn.norm.weight, ffn.norm.bias)
        torch.testing.assert_close(ffn(x), expected, atol=1e-5, rtol=1e-5)
