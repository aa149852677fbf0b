"""Cards of notebook 04: whose gradient a shared weight gets.

Their known mistakes are edits in mistakes/04.txt.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import need
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.comparing import same
from albert_course.checks.engine.making import make_check
from albert_edu import AlbertConfig, AlbertForPretraining
from albert_edu.batch import IGNORE
from albert_edu.config import Sharing
from albert_edu.text.batches import PretrainingBatch


def last_application(model: AlbertForPretraining, batch: PretrainingBatch) -> Tensor:
    """``loss_with_last_only(model, batch) -> scalar``: the masked-token loss of an
    AlbertForPretraining whose layers are all shared, with a gradient in which only the last
    application of the block counts. What embeddings and head receive does not matter. The model is
    left as it was: its numbers, what is frozen, its plan, and .grad."""
    attention, ffn = model.albert.encoder.attention[0], model.albert.encoder.ffn[0]
    mask = batch.attention_mask.bool()
    L = model.config.num_layers
    x = model.albert.embeddings(batch.token_ids, batch.segment_ids)
    with torch.no_grad():
        for _ in range(L - 1):
            x = ffn(attention(x, mask))
    x = ffn(attention(x, mask))
    places = batch.masked_positions[..., None].expand(-1, -1, x.shape[-1])
    logits = model.masked_token_head(x.gather(1, places))
    return F.cross_entropy(logits.flatten(0, 1), batch.masked_labels.flatten(), ignore_index=IGNORE)


def small_model(draw: Draw, num_layers: int, share: Sharing = "all") -> AlbertForPretraining:
    """A model for 30 tokens, with weights far from a start, where all is nearly linear."""
    config = AlbertConfig(
        vocab_size=30,
        embedding_size=6,
        hidden_size=8,
        num_heads=2,
        max_positions=8,
        num_layers=num_layers,
        share=share,
    )
    model = AlbertForPretraining(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_((1.2 if weight.ndim > 1 else 0.3) * draw.randn(*weight.shape))
    return model


def small_batch(draw: Draw, *masked: int) -> PretrainingBatch:
    """A sequence with padding for each number, which says how many tokens are masked, of three."""
    B, counts = len(masked), torch.tensor(masked)[:, None]
    mask = (torch.arange(7) < draw.integers(5, 7, B, 1)).long()
    places = torch.tensor([[1, 2, 4]]).expand(B, 3)
    labels = draw.integers(5, 30, B, 3).where(torch.arange(3) < counts, IGNORE)
    ids, order = draw.integers(5, 30, B, 7), draw.integers(0, 2, B)
    return PretrainingBatch(ids, 0 * ids, mask, places, labels, order)


def _last_application_cases(draw: Draw) -> Cases:
    model = small_model(draw, num_layers=draw.integer(3, 6))
    batch = small_batch(draw, 3, 2)

    def loss(answer, model, batch):
        """The loss as one number; Unusable where it is none."""
        value = answer(model, batch)
        number = isinstance(value, Tensor) and value.numel() == 1
        need(number, "return the loss, one number as a tensor; is the return missing?")
        return value.reshape(())

    def learn(answer, model, batch):
        """The gradients of the encoder's parameters."""
        value = loss(answer, model, batch)
        weights = list(model.albert.encoder.parameters())
        need(value.requires_grad, "the loss carries no gradient: .item(), .detach() or no_grad()?")
        return torch.autograd.grad(value, weights, materialize_grads=True)

    def facts_of(model):
        """What an answer may not change: the plan, the mode, weights and gradients."""
        facts = {"encoder.plan": model.albert.encoder.plan, "train() or eval()": model.training}
        for name, weight in model.named_parameters():
            facts |= {name: weight.detach().clone(), name + ".grad": weight.grad}
            facts[name + ".requires_grad"] = weight.requires_grad
        return facts

    def leave(answer, model, batch):
        """The names of what the answer has changed."""
        before = facts_of(model)
        loss(answer, model, batch)
        return [name for name, fact in facts_of(model).items() if not same(fact, before[name])]

    yield Case(
        "is the masked-token loss",
        inputs=(model, batch),
        weight=2.0,
        ask=loss,
    )
    yield Case(
        "lets the last application learn, and no other",
        inputs=(model, batch),
        weight=3.0,
        ask=learn,
        atol=1e-4,
    )
    yield Case("leaves the model as it was", inputs=(model, batch), ask=leave)


check_last_application = make_check("assignment 04.7", last_application, _last_application_cases)


def shared_gradient(apply: Callable, W: Tensor, x: Tensor, L: int, loss: Callable) -> Tensor:
    """``gradient_of_each(apply, W, x, L, loss) -> [L, *W.shape]``: from x, ``x = apply(W, x)`` is
    taken L times, then ``loss(x)`` is a number. What gradient would each application, the first one
    first, have received if its W were a tensor of its own?"""
    copies = [W.detach().clone().requires_grad_() for _ in range(L)]
    for own in copies:
        x = apply(own, x)
    gradients = torch.stack(torch.autograd.grad(loss(x), copies))
    return gradients


def _shared_gradient_cases(draw: Draw) -> Cases:
    L = draw.integer(3, 6)
    H = 4
    W = draw.randn(H, H) / 2
    b = draw.randn(H)
    x = draw.randn(3, H)
    along = draw.randn(3, H)

    def loss(x):
        return (along * x).sum() + x.square().sum()

    def rows(answer, *inputs):
        """The gradients as one tensor, where the answer gives a list of them."""
        gradients = answer(*inputs)
        return torch.stack(list(gradients)) if isinstance(gradients, list | tuple) else gradients

    def total(answer, *inputs):
        """The sum over the applications."""
        return rows(answer, *inputs).sum(0)

    def multiply(W, x):
        return x @ W

    def bend(b, x):
        return torch.tanh(x + b)

    inputs = multiply, W, x, L, loss
    yield Case(
        "gives each application its own gradient",
        inputs=inputs,
        weight=3.0,
        ask=rows,
    )
    yield Case(
        "adds up to the gradient of the shared W",
        inputs=inputs,
        weight=2.0,
        ask=total,
    )
    yield Case(
        "is the whole gradient for one application",
        inputs=(multiply, W, x, 1, loss),
        ask=rows,
    )
    yield Case(
        "is right for any function and any shape of W",
        inputs=(bend, b, x, L, loss),
        ask=rows,
    )


check_shared_gradient = make_check("assignment 04.6", shared_gradient, _shared_gradient_cases)
