"""LAMB: by hand, against pytorch_optimizer, against the textbook, and what it leaves alone."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_optimizer import Lamb as ReferenceLamb

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.training import lamb
from albert_edu.training.lamb import Lamb, parameter_groups, trust_ratio

quick = settings(max_examples=25, deadline=None, derandomize=True)
numbers = st.lists(st.floats(0.01, 50) | st.floats(-50, -0.01), min_size=3, max_size=3)


def stepped(weights, gradients, dtype=torch.float64, **options) -> torch.Tensor:
    """The weights after one LAMB step per gradient."""
    w = torch.nn.Parameter(torch.tensor(weights, dtype=dtype))
    group = {"params": [w], **({"adapt": options.pop("adapt")} if "adapt" in options else {})}
    optimizer = Lamb([group], **options)
    for gradient in gradients:
        w.grad = torch.as_tensor(gradient, dtype=dtype)
        optimizer.step()
    return w.detach()


def tiny(**changes) -> AlbertForPretraining:
    return AlbertForPretraining(AlbertConfig(**{
        "vocab_size": 40, "embedding_size": 8, "hidden_size": 16, "num_layers": 4, "num_heads": 2, "max_positions": 16, **changes,
    }))  # fmt: skip


def test_one_step_by_hand():
    # w = (3, 4), g = (1, -2): m = g/10, v = g^2/1000, so m / sqrt(v) = +-sqrt(10); decay adds (0.3, 0.4).
    u = (math.sqrt(10) + 0.3, -math.sqrt(10) + 0.4)
    length = 5 / math.hypot(*u)  # |w| = 5
    expected = [3 - 0.01 * length * u[0], 4 - 0.01 * length * u[1]]
    after = stepped([3.0, 4.0], [[1.0, -2.0]], lr=0.01, eps=0.0, weight_decay=0.1)
    torch.testing.assert_close(after, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=0)
    assert after.tolist() == pytest.approx([2.96091505, 4.03118279], abs=1e-8)  # the same on a pocket calculator


@pytest.mark.parametrize("dtype, eps, tolerance", [(torch.float64, 1e-12, 1e-10), (torch.float32, 1e-6, 2e-6)])
def test_twenty_steps_equal_the_reference_implementation(dtype, eps, tolerance):
    # The reference adds eps to the ratio's denominator and clamps |w| at 10; a small eps and small weights take both away.
    # adam_debias=True takes away its division of the step by 1 - b1^t.
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


def test_bias_correction_gives_the_textbook_form():
    w, gradients, b1, b2, decay, eps, lr = [0.5, -1.0, 2.0], torch.randn(12, 3).tolist(), 0.8, 0.95, 0.1, 1e-6, 0.05
    m, v, now = [0.0] * 3, [0.0] * 3, list(w)
    for t, gradient in enumerate(gradients, start=1):
        m = [b1 * a + (1 - b1) * g for a, g in zip(m, gradient, strict=True)]
        v = [b2 * a + (1 - b2) * g * g for a, g in zip(v, gradient, strict=True)]
        r = [a / (1 - b1**t) / (math.sqrt(c / (1 - b2**t)) + eps) + decay * x for a, c, x in zip(m, v, now, strict=True)]
        ratio = math.hypot(*now) / math.hypot(*r)
        now = [x - lr * ratio * y for x, y in zip(now, r, strict=True)]
    options = dict(lr=lr, betas=(b1, b2), eps=eps, weight_decay=decay)
    corrected = stepped(w, gradients, bias_correction=True, **options)
    torch.testing.assert_close(corrected, torch.tensor(now, dtype=torch.float64), rtol=1e-12, atol=0)
    assert not torch.allclose(stepped(w, gradients, **options), torch.tensor(now, dtype=torch.float64), atol=1e-3)


@quick
@given(numbers, numbers, st.floats(1e-4, 1e4))
def test_a_step_is_as_long_as_lr_times_the_weights_however_large_they_are(w, g, scale):
    # Which also says: the ratio has no upper limit (nor a lower one).
    before = torch.tensor(w, dtype=torch.float64) * scale
    after = stepped(before.tolist(), [g], lr=0.01)
    assert (after - before).norm().item() == pytest.approx(0.01 * before.norm().item(), rel=1e-9)


@quick
@given(numbers, st.lists(numbers, min_size=1, max_size=4), st.floats(1e-3, 1e3))
def test_a_loss_times_a_constant_changes_nothing(w, gradients, scale):
    scaled = [[scale * x for x in g] for g in gradients]
    torch.testing.assert_close(stepped(w, gradients, lr=0.01, eps=0.0), stepped(w, scaled, lr=0.01, eps=0.0))


def test_the_ratio_is_1_where_a_norm_is_0():
    assert trust_ratio(torch.zeros(2), torch.ones(2)) == 1
    assert trust_ratio(torch.ones(2), torch.zeros(2)) == 1
    assert trust_ratio(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 2.0])) == 2.5
    # Weights at 0 can leave it, by Adam's step; weights without gradient or decay stay, and are not NaN.
    after = stepped([0.0, 0.0], [[1.0, -1.0]], lr=0.01, eps=0.0)
    torch.testing.assert_close(after, torch.tensor([-1.0, 1.0], dtype=torch.float64) * 0.01 * math.sqrt(10))
    assert stepped([1.0, 2.0], [[0.0, 0.0]], lr=0.01, weight_decay=0.0).tolist() == [1.0, 2.0]


def test_a_group_that_does_not_adapt_takes_adams_step():
    after = stepped([30.0, -40.0], [[1.0, 5.0]], lr=0.01, eps=0.0, weight_decay=0.0, adapt=False)
    torch.testing.assert_close(after, torch.tensor([30.0, -40.0], dtype=torch.float64) - 0.01 * math.sqrt(10))


@pytest.mark.parametrize("share", ["all", "attention", "ffn", "none"])
@pytest.mark.parametrize("embedding_size", [8, 16])
def test_every_parameter_is_in_one_group_once_and_the_tied_table_too(share, embedding_size):
    model = tiny(share=share, embedding_size=embedding_size)
    groups = parameter_groups(model, 0.04)
    assert [(group["weight_decay"], group["adapt"]) for group in groups] == [(0.04, True), (0.0, False)]
    decayed, plain = (group["params"] for group in groups)
    assert sorted(map(id, decayed + plain)) == sorted(map(id, model.parameters()))
    assert sum(p is model.masked_token_head.decoder.weight for p in decayed) == 1
    # Matrices and tables are those with two dimensions; biases and norms have one.
    assert {p.ndim for p in decayed} == {2} and {p.ndim for p in plain} == {1}


def test_the_norms_and_biases_of_a_part_of_the_model_are_left_out_as_those_of_the_whole():
    model = tiny()
    plain = {id(p) for p in parameter_groups(model, 0.01)[1]["params"]}
    for part in (model.albert.encoder.attention[0], model.masked_token_head, model.albert.embeddings):
        matrices, vectors = (group["params"] for group in parameter_groups(part, 0.01))
        assert vectors and {id(p) for p in vectors} <= plain and not {id(p) for p in matrices} & plain


def test_without_a_gradient_signal_matrices_decay_and_biases_and_norms_stay():
    model = tiny()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.1)
            p.grad = torch.zeros_like(p)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    Lamb(parameter_groups(model, 0.01), lr=0.25).step()
    for name, p in model.named_parameters():
        factor = 1.0 if name.endswith("bias") or "norm" in name else 0.75  # u = decay * w, so the ratio is 1 / decay
        torch.testing.assert_close(p.detach(), before[name] * factor, msg=name)


def test_a_shared_block_has_one_ratio_where_separate_layers_have_L(monkeypatch):
    def ratios(share: str) -> int:
        seen = []
        monkeypatch.setattr(lamb, "trust_ratio", lambda w, u: seen.append(w) or trust_ratio(w, u))
        model = tiny(share=share)
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        Lamb(parameter_groups(model, 0.01), lr=0.01).step()
        return len(seen)

    matrices_of_a_layer = 6  # query, key, value, output, up, down
    assert ratios("none") - ratios("all") == (4 - 1) * matrices_of_a_layer


def test_parameters_without_a_gradient_are_left_alone_and_get_no_state():
    idle, busy = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    busy.grad = torch.ones(2)
    optimizer = Lamb([idle, busy], lr=0.1)
    optimizer.step()
    assert idle.tolist() == [1, 1] and busy.tolist() != [1, 1] and list(optimizer.state) == [busy]


def test_a_closure_is_called_with_gradients_on_and_its_loss_returned():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = Lamb([w], lr=0.1)

    def closure():
        loss = (w**2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 5 and w.norm() < math.sqrt(5)


def test_a_decay_rate_of_1_is_refused_by_name():
    with pytest.raises(ValueError, match=r"beta2 must be a number from 0 to 0\.999999, got 1\.0"):
        Lamb([torch.nn.Parameter(torch.ones(1))], lr=0.1, betas=(0.9, 1.0))


def test_the_constants_are_the_originals_unless_told_otherwise_and_each_may_be_0():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    assert Lamb([w], lr=0.1).defaults == {"lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.01, "adapt": True}
    still = stepped([1.0, 2.0], [[3.0, 4.0]], lr=0.0, betas=(0.0, 0.0), eps=0.0, weight_decay=0.0)  # a warm-up begins at lr 0
    assert still.tolist() == [1.0, 2.0]
