"""Cards of notebook 05: a surprise for each token, a baseline, the loss, the head.

Their known mistakes are edits in mistakes/05.txt.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_course.checks.cards.nb04_gradients import small_model
from albert_course.checks.engine import asking
from albert_course.checks.engine.asking import made, need, output, tensor
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu import AlbertForPretraining
from albert_edu.batch import IGNORE
from albert_edu.config import AlbertConfig
from albert_edu.text.tokenizer import MASK


def surprises(model: AlbertForPretraining, token_ids: list[int]) -> list[float]:
    """``surprises(model, token_ids) -> losses``: the loss in nats at each token of a row but the
    first and the last, which are [CLS] and [SEP]. Each token alone is replaced by [MASK], id 4,
    while the others stay. The list of ids is left as it was."""
    losses = []
    for place in range(1, len(token_ids) - 1):
        row = torch.tensor([token_ids])
        row[0, place] = MASK
        hidden = model.albert(row).last_hidden[0, place]
        label = row.new_tensor(token_ids[place])
        losses.append(F.cross_entropy(model.masked_token_head(hidden), label).item())
    return losses


def _surprises_cases(draw: Draw) -> Cases:
    model = small_model(draw, num_layers=2)
    ids = [2, *draw.integers(5, 30, 5).tolist(), 3]

    def losses(answer, model, ids):
        """The losses as one tensor."""
        found = answer(model, ids)
        return tensor(found, len(ids) - 2)

    def leave(answer, model, ids):
        """The ids after a call."""
        need(answer(model, ids) is not None, "you return nothing")
        return ids

    yield Case(
        "is the loss at each token that is hidden alone",
        inputs=(model, ids),
        weight=3.0,
        ask=losses,
        atol=1e-4,
    )
    yield Case("is one loss for a row of one token", (model, [2, ids[1], 3]), ask=losses, atol=1e-4)
    yield Case("leaves the ids as they were", inputs=(model, ids), ask=leave)


check_surprises = make_check("notebook 05.1", surprises, _surprises_cases)


def copy_baseline(q: Tensor, to_mask: float, to_random: float) -> Tensor:
    """``copy_baseline(q, to_mask, to_random) -> loss`` in nats: the best MLM loss without context
    for V tokens with frequencies q[V]. A masked position shows [MASK] in a share ``to_mask``, one
    of the V tokens drawn evenly in a share ``to_random``, and the label otherwise."""
    unchanged = (1 - to_mask - to_random) * torch.eye(len(q))
    joint = q[:, None] * (unchanged + to_random / len(q))  # V label, V seen
    posterior = joint / joint.sum(0).clamp(min=1e-30)  # no 0 / 0 where nothing is visible
    visible = -torch.special.xlogy(joint, posterior).sum()
    return visible - to_mask * torch.special.xlogy(q, q).sum()


def _copy_baseline_cases(draw: Draw) -> Cases:
    q = draw.randn(12).softmax(0)
    yield Case("is the copy baseline of 80/10/10", (q, 0.8, 0.1))
    yield Case("costs nothing at visible tokens without random ones", (q, 0.8, 0.0))
    yield Case("is the unigram baseline if all show [MASK]", (q, 1.0, 0.0))


check_copy_baseline = make_check("notebook 05.2", copy_baseline, _copy_baseline_cases)


def masked_token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """``loss(logits[B,K,V], labels[B,K]) -> scalar``: mean cross-entropy in nats over the masked
    positions, those whose label is not -100; 0 where there is none."""
    used = labels != IGNORE
    nats = F.cross_entropy(logits[used], labels[used], reduction="none")
    return nats.sum() / used.sum().clamp(min=1)


def _masked_token_loss_cases(draw: Draw) -> Cases:
    logits = draw.randn(3, 5, 11)
    labels = draw.integers(0, 11, 3, 5)
    labels[0, 3:] = IGNORE
    labels[2, 1:] = IGNORE
    labels[1, 0] = 0
    yield Case("is the mean over the masked positions", inputs=(logits, labels), weight=3.0)
    yield Case(
        "gives unused positions no gradient",
        inputs=(logits, labels),
        weight=2.0,
        ask=asking.gradients,
    )
    yield Case("is 0 without a masked position", (logits, torch.full_like(labels, IGNORE)))


check_masked_token_loss = make_check("assignment 05.6", masked_token_loss, _masked_token_loss_cases)


class MaskedTokenHead(nn.Module):
    """``Head(config, word_embedding)`` makes an nn.Module without dropout; called with hidden[*,H]
    it gives logits[*,V], for any number of leading dimensions. A map with bias from H to E, GELU,
    LayerNorm with gain and bias (any small eps), then the product with each row of the embedding
    table plus a bias for each of the V tokens. ``word_embedding`` is an nn.Embedding(V, E), and its
    weight is the decoder's matrix: the very Parameter. The sizes are config.hidden_size,
    .embedding_size, .vocab_size."""

    def __init__(self, config: AlbertConfig, word_embedding: nn.Embedding):
        super().__init__()
        H, E, V = config.hidden_size, config.embedding_size, config.vocab_size
        self.map = nn.Linear(H, E)
        self.norm = nn.LayerNorm(E, eps=1e-12)
        self.table = word_embedding.weight
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, hidden: Tensor) -> Tensor:
        x = self.map(hidden)
        x = F.gelu(x, approximate="tanh")
        x = self.norm(x)
        return x @ self.table.T + self.bias


def _masked_token_head_cases(draw: Draw) -> Cases:
    V = draw.integer(9, 14)
    E = 8
    H = 16
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_heads=2)
    words = nn.Embedding(V, E)
    hidden = draw.randn(2, 3, H)
    # 5e-2 below: GELU by erf and by tanh, which are both right, lie that far apart after the norm.

    def run(answer, config, words, hidden):
        """The scores of the head, on a table with numbers of its own."""
        made(lambda: words)
        return output(answer, (config, words), hidden)

    def tied(answer, config, words, hidden):
        """Whether the head learns through the embedding table, and has no other one."""
        head = made(answer, config, words)
        table = words.weight
        own = [w for w in head.parameters() if w is not table and w.numel() == V * E]
        lost = [gradient.shape for gradient in asking.gradients(head, hidden) if not gradient.any()]
        return {
            "it has no table of its own": not own,
            "it shares no .data": all(w.data_ptr() != table.data_ptr() for w in own),
            "a gradient reaches the table": (V, E) not in lost,
        }

    def own(answer, *sizes):
        """The shapes of the parameters that are not the table."""
        return [size for size in asking.parameters(answer, sizes) if size != (V, E)]

    inputs = config, words, hidden
    yield Case(
        "is tied to the embedding table",
        inputs=inputs,
        weight=3.0,
        ask=tied,
    )
    yield Case(
        "has a map, a norm and a bias of its own",
        inputs=(config, words),
        weight=2.0,
        ask=own,
    )
    yield Case(
        "maps, bends, norms and scores, in this order",
        inputs=inputs,
        weight=3.0,
        ask=run,
        atol=5e-2,
    )
    yield Case(
        "gives the same scores twice",
        inputs=((config, words), hidden),
        ask=asking.same_twice,
    )
    yield Case(
        "scores a vector alone as in company",
        inputs=(config, words, hidden[1, 2]),
        ask=run,
        atol=5e-2,
    )
    wide = config, words, hidden[:, None, None]
    yield Case(
        "takes more leading dimensions",
        inputs=wide,
        ask=run,
        atol=5e-2,
    )


check_masked_token_head = make_check("assignment 05.5", MaskedTokenHead, _masked_token_head_cases)
