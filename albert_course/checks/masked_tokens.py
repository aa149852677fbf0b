"""Cards of notebook 05: the head that scores tokens, and what its loss sees."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from albert_course.checks import asking
from albert_course.checks.asking import made, need, output, parameters, tensor, unreached
from albert_course.checks.engine import Case, Cases, Draw, card
from albert_edu.config import AlbertConfig


def masked_token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """``loss(logits[B,K,V], labels[B,K]) -> scalar``: mean cross-entropy in nats over the masked
    positions, those whose label is not -100; 0 where there is none."""
    used = labels != -100
    nats = F.cross_entropy(logits[used], labels[used], reduction="none")
    return nats.sum() / used.sum().clamp(min=1)


def _logits(draw: Draw) -> Cases:
    logits, labels = draw.randn(3, 5, 11), draw.integers(0, 11, 3, 5)
    labels[0, 3:], labels[2, 1:], labels[1, 0] = -100, -100, 0
    unused = (labels == -100)[..., None]

    def number(answer, logits, labels):
        value = tensor(answer(logits, labels))
        need(
            value.numel() == 1,
            f"the shape is {tuple(value.shape)}: average over the masked positions",
        )
        return value

    def learn(answer, logits, labels):
        return asking.gradients(lambda logits: answer(logits, labels), logits)[0]

    yield Case("is the mean over the masked positions", (logits, labels), 3.0, number)
    louder = torch.where(unused, logits + 7 * draw.randn(3, 5, 11), logits)
    yield Case(
        "does not move when the logits of unused positions do", (louder, labels), 2.0, number
    )
    yield Case(
        "can be trained on, and unused positions get no gradient", (logits, labels), 2.0, learn
    )
    yield Case(
        "is 0 for a batch without a masked position",
        (logits, torch.full_like(labels, -100)),
        1.0,
        number,
    )


check_masked_token_loss = card(
    "05.6",
    masked_token_loss,
    _logits,
    {
        "averaging over all positions, the unused ones included": "return nats.sum() / labels.numel()",
        "adding the losses up instead of averaging": "return nats.sum()",
        "averaging within each sequence first, so that a position in a short one counts more": lambda logits, labels: (
            torch.stack(list(map(masked_token_loss, logits, labels))).mean()
        ),
        "taking label 0 for 'unused'; here -100 says unused": "used = labels > 0",
        "measuring in bits (log2) instead of nats": "return nats.sum() / 0.6931471805599453 / used.sum().clamp(min=1)",
        "dividing by the number of sequences": "return nats.sum() / len(labels)",
        "returning the mean log-probability, without the minus sign": "return nats => return -nats",
        "applying softmax before cross_entropy, which does it again": "logits[used] => logits[used].softmax(-1)",
        "taking scores for log-probabilities: the softmax is missing": "F.cross_entropy => F.nll_loss",
        "0 / 0: divide by the count, but by at least 1": "return nats.sum() / used.sum()",
        "returning a number that is cut off from the graph (.item(), .detach() or NumPy)": "nats.sum() => nats.sum().detach()",
        "returning one loss for each masked position": "return nats",
        "taking the root of the mean (perplexity and the like)": "return (nats.sum() / used.sum().clamp(min=1)).exp()",
    },
)


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


def _hidden(draw: Draw) -> Cases:
    V, E, H = draw.integer(9, 14), 8, 16
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_heads=2)
    words, hidden = nn.Embedding(V, E), draw.randn(2, 3, H)
    # 5e-2 below: GELU by erf and by tanh, which are both right, lie that far apart after the norm.

    def run(answer, config, words, hidden):
        made(lambda: words)
        return output(answer, (config, words), hidden)

    def tied(answer, config, words, hidden):
        head = made(answer, config, words)
        own = [weight for weight in head.parameters() if weight is not words.weight]
        tables = [weight for weight in own if weight.numel() == V * E]
        need(
            not tables or tables[0].data_ptr() != words.weight.data_ptr(),
            "sharing .data gives the same numbers to two Parameters; assign the Parameter itself",
        )
        need(
            not tables,
            "a decoder with a table of its own: untied, it costs V·E more and learns apart",
        )
        lost = unreached(lambda *_: head, (), hidden)
        need((V, E) not in lost, "no gradient reaches the table: is there a detach() or a .data?")
        return True

    def own(answer, *sizes):
        return [size for size in parameters(answer, sizes) if size != (V, E)]

    inputs = config, words, hidden
    yield Case("is tied to the embedding table", inputs, 3.0, tied)
    yield Case("has a map, a norm and a bias of its own", (config, words), 2.0, own)
    yield Case("maps, bends, norms and scores, in this order", inputs, 3.0, run, 5e-2)
    yield Case("gives the same scores twice", ((config, words), hidden), 1.0, asking.same_twice)
    yield Case("scores a vector alone as in company", (config, words, hidden[1, 2]), 1.0, run, 5e-2)
    yield Case(
        "takes any number of leading dimensions",
        (config, words, hidden[:, None, None]),
        1.0,
        run,
        5e-2,
    )


check_masked_token_head = card(
    "05.5",
    MaskedTokenHead,
    _hidden,
    {
        "making a copy of the table: untied, it costs V·E more and learns apart": "self.table = nn.Parameter(word_embedding.weight.detach().clone())",
        "sharing .data gives the same numbers to two Parameters; assign the Parameter itself": "self.table = nn.Parameter(word_embedding.weight.data)",
        "detaching the table: no gradient reaches the table": "return x @ self.table.detach().T + self.bias",
        "giving the vocabulary no bias": ("self.bias = 0", "return x @ self.table.T"),
        "giving the map no bias": "self.map = nn.Linear(H, E, bias=False)",
        "giving the norm no bias": "self.norm = nn.LayerNorm(E, bias=False)",
        "leaving out the norm": "self.norm = nn.Identity()",
        "making a norm and not using it": "        x = self.norm(x)\n => ",
        "leaving out GELU": 'F.gelu(x, approximate="tanh") => x',
        "norming before GELU": (
            'F.gelu(x, approximate="tanh") => x',
            'x = F.gelu(self.norm(x), approximate="tanh")',
        ),
        "taking ReLU for GELU": 'F.gelu(x, approximate="tanh") => x.relu()',
        "mapping H to H first and to E after it": "self.map = nn.Sequential(nn.Linear(H, H), nn.Linear(H, E))",
        "ending with softmax; logits are what the loss wants": "return (x @ self.table.T + self.bias).softmax(-1)",
        "dropping numbers, so that chance decides: is there a dropout?": "x = nn.functional.dropout(self.norm(x), 0.1, self.training)",
        "giving a single vector a dimension of its own; [H] goes in and [V] comes out": "x = self.norm(torch.atleast_2d(x))",
        "centring over the tokens instead of the numbers of one": "x = self.norm(x - x.mean(0))",
    },
)
