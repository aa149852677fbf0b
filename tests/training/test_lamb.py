"""LAMB: against pytorch_optimizer, against its formulas, and what it leaves alone."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_optimizer import Lamb as ReferenceLamb

from albert_edu.training.lamb import Lamb, parameter_groups, trust_ratio
from tests.support import tiny

numbers = st.lists(st.floats(0.01, 50) | st.floats(-50, -0.01), min_size=3, max_size=3)


def stepped(weights, gradients, dtype=torch.float64, **options) -> torch.Tensor:
    """The weights after one LAMB step per gradient."""
    w = torch.nn.Parameter(torch.as_tensor(weights, dtype=dtype))
    group = {"params": [w], **({"adapt": options.pop("adapt")} if "adapt" in options else {})}
    optimizer = Lamb([group], **options)
    for gradient in gradients:
        w.grad = torch.as_tensor(gradient, dtype=dtype)
        optimizer.step()
    return w.detach()


@pytest.mark.parametrize(
    "dtype, eps, tolerance", [(torch.float64, 1e-12, 1e-10), (torch.float32, 1e-6, 2e-6)]
)
def test_twenty_steps_equal_the_reference_implementation(dtype, eps, tolerance):
    # The reference adds eps to the ratio's denominator and clamps |w| at 10; a small eps and small
    # weights take both away. adam_debias=True takes away its division of the step by 1 - b1^t.
    start = [torch.randn(shape, dtype=dtype) * 0.3 for shape in ((4, 3), (5,), (2, 2, 2))]
    ours, theirs = ([torch.nn.Parameter(w.clone()) for w in start] for _ in range(2))
    one = Lamb(ours, lr=0.02, eps=eps, weight_decay=0.05)
    aligned = dict(weight_decouple=False, pre_norm=False, adam_debias=True)
    other = ReferenceLamb(theirs, lr=0.02, eps=eps, weight_decay=0.05, **aligned)
    for _ in range(20):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        one.step()
        other.step()
    for a, b, w in zip(ours, theirs, start, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=tolerance)
        assert (a - w).abs().max() > 0.05  # they went somewhere


def test_twelve_steps_follow_the_formulas_with_any_averages():
    start, gradients = np.array([0.5, -1.0, 2.0]), np.random.default_rng(0).normal(size=(12, 3))
    w, m, v, b1, b2, decay, eps, lr = start, 0.0, 0.0, 0.8, 0.95, 0.1, 1e-6, 0.05
    for g in gradients:
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        r = m / (np.sqrt(v) + eps) + decay * w
        w = w - lr * np.linalg.norm(w) / np.linalg.norm(r) * r
    options = dict(lr=lr, betas=(b1, b2), eps=eps, weight_decay=decay)
    np.testing.assert_allclose(stepped(start, gradients, **options), w, rtol=1e-12)


@given(numbers, numbers, st.floats(1e-4, 1e4))
def test_a_step_is_as_long_as_lr_times_the_weights_however_large_they_are(w, g, scale):
    # Which also says: the ratio has no upper limit (nor a lower one).
    before = torch.tensor(w, dtype=torch.float64) * scale
    after = stepped(before.tolist(), [g], lr=0.01)
    assert (after - before).norm().item() == pytest.approx(0.01 * before.norm().item(), rel=1e-9)


def test_the_ratio_is_1_where_a_norm_is_0():
    assert trust_ratio(torch.zeros(2), torch.ones(2)) == 1
    assert trust_ratio(torch.ones(2), torch.zeros(2)) == 1
    assert trust_ratio(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 2.0])) == 2.5
    # Weights at 0 can leave it, by Adam's step; weights without gradient or decay stay.
    after = stepped([0.0, 0.0], [[1.0, -1.0]], lr=0.01, eps=0.0)
    assert after.tolist() == pytest.approx([-0.01 * math.sqrt(10), 0.01 * math.sqrt(10)])
    assert stepped([1.0, 2.0], [[0.0, 0.0]], lr=0.01, weight_decay=0.0).tolist() == [1.0, 2.0]


def test_a_group_that_does_not_adapt_takes_adams_step():
    after = stepped([30.0, -40.0], [[1.0, 5.0]], lr=0.01, eps=0.0, weight_decay=0.0, adapt=False)
    assert after.tolist() == pytest.approx([30 - 0.01 * math.sqrt(10), -40 - 0.01 * math.sqrt(10)])


@pytest.mark.parametrize(("share", "embedding_size"), [("all", 8), ("none", 16)])
def test_every_parameter_is_in_one_group_once_and_the_tied_table_too(share, embedding_size):
    model = tiny(share=share, embedding_size=embedding_size)
    decaying, rest = parameter_groups(model, 0.04)
    decayed, plain = decaying.pop("params"), rest.pop("params")
    assert decaying == {"weight_decay": 0.04, "adapt": True}
    assert rest == {"weight_decay": 0.0, "adapt": False}
    assert sorted(map(id, decayed + plain)) == sorted(map(id, model.parameters()))
    assert sum(p is model.masked_token_head.decoder.weight for p in decayed) == 1
    # Matrices and tables are those with two dimensions; biases and norms have one.
    assert {p.ndim for p in decayed} == {2} and {p.ndim for p in plain} == {1}


def test_parameters_without_a_gradient_are_left_alone_and_get_no_state():
    idle, busy = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    busy.grad = torch.ones(2)
    optimizer = Lamb([idle, busy], lr=0.1)
    optimizer.step()
    assert idle.tolist() == [1, 1] and busy.tolist() != [1, 1] and list(optimizer.state) == [busy]


def test_a_decay_rate_of_1_is_refused_by_name():
    with pytest.raises(ValueError, match=r"beta2 must be a number from 0 to 0\.999999, got 1\.0"):
        Lamb([torch.nn.Parameter(torch.ones(1))], lr=0.1, betas=(0.9, 1.0))


def test_the_constants_are_the_originals_unless_told_otherwise_and_each_may_be_0():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    usual = dict(lr=0.1, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01, adapt=True)
    assert Lamb([w], lr=0.1).defaults == usual
    none = dict(lr=0.0, betas=(0.0, 0.0), eps=0.0, weight_decay=0.0)  # a warm-up begins at lr 0
    assert stepped([1.0, 2.0], [[3.0, 4.0]], **none).tolist() == [1.0, 2.0]
