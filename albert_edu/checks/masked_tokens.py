"""Cards of notebook 05: the head that scores tokens, and what its loss sees."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_edu.checks.asking import gradients, made, need, shapes, tensor
from albert_edu.checks.engine import Case, Draw, card
from albert_edu.config import AlbertConfig


def masked_token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """``loss(logits[B,K,V], labels[B,K]) -> scalar``: mean cross-entropy in nats over the masked
    positions, those whose label is not -100; 0 where there is none."""
    used = labels != -100
    nats = F.cross_entropy(logits[used], labels[used], reduction="none")
    return nats.sum() / used.sum().clamp(min=1)


def _logits(draw: Draw) -> Iterator[Case]:
    logits, labels = draw.randn(3, 5, 11), draw.integers(0, 11, 3, 5)
    labels[0, 3:], labels[2, 1:], labels[1, 0] = -100, -100, 0
    unused = (labels == -100)[..., None]

    def number(answer, logits, labels):
        value = tensor(answer(logits, labels))
        need(value.numel() == 1,
             f"the shape is {tuple(value.shape)}: average over the masked positions")
        return value.reshape(())

    def learn(answer, logits, labels):
        return gradients(lambda logits: answer(logits, labels), logits)[0]

    yield Case("is the mean over the masked positions", (logits, labels), 3.0, number)
    louder = torch.where(unused, logits + 7 * draw.randn(3, 5, 11), logits)
    yield Case("does not move when the logits of unused positions do", (louder, labels), 2.0,
               number, reason="an unused position has a vote; leave it out before you average")
    yield Case("can be trained on, and unused positions get no gradient", (logits, labels), 2.0,
               learn)
    yield Case("is 0 for a batch without a masked position",
               (logits, torch.full_like(labels, -100)), 1.0, number,
               reason="0 / 0: divide by the count, but by at least 1")


check_masked_token_loss = card("05.6", masked_token_loss, _logits, {
    "averaging over all positions, the unused ones included":
        "used.sum().clamp(min=1) => labels.numel()",
    "adding the losses up instead of averaging": " / used.sum().clamp(min=1) => ",
    "averaging within each sequence first, so that a position in a short one counts more":
        lambda logits, labels: torch.stack(list(map(masked_token_loss, logits, labels))).mean(),
    "taking label 0 for 'unused'; here it is an ordinary token and -100 says unused":
        "labels != -100 => labels > 0",
    "measuring in bits (log2) instead of nats":
        "return nats.sum() => return nats.sum() / 0.6931471805599453",
    "dividing by the number of sequences": "used.sum().clamp(min=1) => len(labels)",
    "returning the mean log-probability, without the minus sign": "return nats => return -nats",
    "applying softmax before cross_entropy, which does it again":
        "logits[used] => logits[used].softmax(-1)",
    "taking scores for log-probabilities: the softmax is missing":
        'F.cross_entropy(logits[used], labels[used], reduction="none") => F.nll_loss(logits[used], '
        'labels[used], reduction="none")',
    "0 / 0: divide by the count, but by at least 1": ".clamp(min=1) => ",
    "returning a number that is cut off from the graph (.item(), .detach() or NumPy)":
        "return nats.sum() => return nats.sum().detach()",
    "returning one loss for each masked position":
        "return nats.sum() / used.sum().clamp(min=1) => return nats",
    "taking the root of the mean (perplexity and the like)":
        "return nats.sum() / used.sum().clamp(min=1) => return (nats.sum() / "
        "used.sum().clamp(min=1)).exp()",
})


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
        x = self.norm(F.gelu(x, approximate="tanh"))
        return x @ self.table.T + self.bias


def _hidden(draw: Draw) -> Iterator[Case]:
    V, E, H, seed = draw.integer(9, 14), 8, 16, draw.integer(1, 10**6)
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_heads=2)
    words, hidden = nn.Embedding(V, E), draw.randn(2, 3, H) / 2

    def run(answer, config, words, hidden):
        head = made(answer, config, words, seed=seed)
        made(lambda: words, seed=seed)
        return tensor(head.train()(hidden), *hidden.shape[:-1], V)

    def tied(answer, config, words, hidden):
        head = made(answer, config, words, seed=seed)
        own = [weight for weight in head.parameters() if weight is not words.weight]
        tables = [weight for weight in own if weight.numel() == V * E]
        if tables and tables[0].data_ptr() == words.weight.data_ptr():
            need(False, "sharing .data gives the same numbers to two Parameters; assign the "
                 "Parameter itself")
        need(not tables,
             "a decoder with a table of its own: untied, it costs V·E more and learns apart")
        value = head(hidden).square().sum()
        reached = value.requires_grad and torch.autograd.grad(
            value, words.weight, allow_unused=True)[0] is not None
        need(reached,
             "no gradient reaches the table: is there a detach(), a clone or a .data?")
        return True

    def own(answer, config, words):
        sizes = shapes(made(answer, config, words, seed=seed))
        return [size for size in sizes if size != (V, E)]

    def twice(answer, config, words, hidden):
        head = made(answer, config, words, seed=seed).train()
        return torch.equal(head(hidden), head(hidden))

    inputs = config, words, hidden
    yield Case("is tied to the embedding table", inputs, 3.0, tied)
    yield Case("has a map, a norm and a bias of its own", (config, words), 2.0, own)
    yield Case("maps, bends, norms and scores, in this order", inputs, 3.0, run, 1e-2)
    yield Case("gives the same scores twice", inputs, 1.0, twice,
               reason="chance decides: is there a dropout?")
    yield Case("scores a vector alone as in company", (config, words, hidden[1, 2]), 1.0, run, 1e-2,
               "a position's scores depend on the others, or on a batch")
    yield Case("takes any number of leading dimensions", (config, words, hidden[:, None, None]),
               1.0, run, 1e-2)


SCORES = "x @ self.table.T + self.bias => "
check_masked_token_head = card("05.5", MaskedTokenHead, _hidden, {
    "making a copy of the table: untied, it costs V·E more and learns apart":
        "word_embedding.weight => nn.Parameter(word_embedding.weight.detach().clone())",
    "sharing .data gives the same numbers to two Parameters; assign the Parameter itself":
        "word_embedding.weight => nn.Parameter(word_embedding.weight.data)",
    "detaching the table: no gradient reaches the table":
        "x @ self.table.T => x @ self.table.detach().T",
    "giving the vocabulary no bias":
        ("self.bias = nn.Parameter(torch.zeros(V)) => ", " + self.bias => "),
    "giving the map no bias": "nn.Linear(H, E) => nn.Linear(H, E, bias=False)",
    "giving the norm no bias": "eps=1e-12 => bias=False",
    "leaving out the norm": "nn.LayerNorm(E, eps=1e-12) => nn.Identity()",
    "leaving out GELU": 'F.gelu(x, approximate="tanh") => x',
    "norming before GELU":
        'self.norm(F.gelu(x, approximate="tanh")) => F.gelu(self.norm(x), approximate="tanh")',
    "taking ReLU for GELU": 'F.gelu(x, approximate="tanh") => x.relu()',
    "mapping H to H first and to E after it":
        "self.map = nn.Linear(H, E) => self.map = nn.Sequential(nn.Linear(H, H), nn.Linear(H, E))",
    "ending with softmax; logits are what the loss wants":
        "return x @ self.table.T + self.bias => return (x @ self.table.T + self.bias).softmax(-1)",
    "dropping numbers, so that chance decides: is there a dropout?":
        "x = self.map(hidden) => x = nn.functional.dropout(self.map(hidden), training=True)",
    "giving a single vector a dimension of its own; [H] goes in and [V] comes out":
        "x = self.map(hidden) => x = self.map(torch.atleast_2d(hidden))",
    "centring over the tokens instead of the numbers of one":
        "x = self.map(hidden) => x = self.map(hidden); x = x - x.mean(0)",
})
