"""Card of notebook 06: the head that scores the order of two segments."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from albert_edu.checks.asking import made, shapes, tensor, unreached
from albert_edu.checks.engine import Case, Draw, card


class SentenceOrderHead(nn.Module):
    """``Head(H)`` makes an nn.Module without dropout; called with the encoder's last_hidden[B,S,H]
    it gives scores[B,2], for 'in order' and 'swapped'. The vector of [CLS], the first of each
    sequence, is mapped from H to H and bent by tanh (the pooler); a second map makes two scores of
    it. Both maps have a bias; nothing else has parameters."""

    def __init__(self, H: int):
        super().__init__()
        self.pooler = nn.Linear(H, H)
        self.scores = nn.Linear(H, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        x = self.pooler(hidden[:, 0])
        x = torch.tanh(x)
        return self.scores(x)


def _states(draw: Draw) -> Iterator[Case]:
    B, S, H, seed = 3, 5, draw.integer(4, 8), draw.integer(1, 10**6)
    x, others = draw.randn(B, S, H), draw.randn(B, S, H)
    others[:, 0] = x[:, 0]

    def weights(answer, H):
        return shapes(made(answer, H, seed=seed))

    def scores(answer, H, x):
        return tensor(made(answer, H, seed=seed)(x), len(x), 2)

    def lost(answer, H, x):
        return unreached(made(answer, H, seed=seed), x)

    def twice(answer, H, x):
        head = made(answer, H, seed=seed).train()
        return torch.equal(head(x), head(x))

    yield Case("has the parameters of a pooler and of two scores", (H,), 2.0, weights)
    yield Case("maps [CLS], bends it by tanh and scores it", (H, x), 3.0, scores)
    yield Case("looks at [CLS] alone", (H, others), 2.0, scores,
               reason="other tokens than [CLS] have a vote, and padding would have one too")
    yield Case("can be trained on", (H, x), 1.0, lost, reason="no gradient reaches the tensors of "
                      "these shapes: is there a detach() or no_grad()?")
    yield Case("gives the same scores twice", (H, draw.randn(64, S, H)), 1.0, twice,
               reason="chance decides: is there a dropout?")
    yield Case("keeps the dimension of a batch of one", (H, x[:1, :1]), 1.0, scores,
               reason="a sequence's scores depend on the others or on its length")


TANH, CLS = "torch.tanh(x) => ", "self.pooler(hidden[:, 0]) => "
check_sentence_order_head = card("06.4", SentenceOrderHead, _states, {
    "leaving out tanh": TANH + "x",
    "taking GELU for tanh": TANH + "nn.functional.gelu(x)",
    "taking ReLU for tanh": TANH + "x.relu()",
    "bending before the first map, not after it":
        (TANH + "x", "hidden[:, 0] => hidden[:, 0].tanh()"),
    "bending the scores, and not the vector of [CLS]":
        (TANH + "x", "self.scores(x) => self.scores(x).tanh()"),
    "chance decides: is there a dropout?":
        TANH + "nn.functional.dropout(x.tanh(), 0.1, self.training)",
    "leaving out the pooler: the scores come straight from [CLS]":
        ("self.pooler = nn.Linear(H, H) => ", CLS + "hidden[:, 0]"),
    "making one score of it instead of two": "nn.Linear(H, 2) => nn.Linear(H, 1)",
    "giving the second map no bias": "nn.Linear(H, 2) => nn.Linear(H, 2, bias=False)",
    "giving the pooler no bias": "nn.Linear(H, H) => nn.Linear(H, H, bias=False)",
    "adding a norm": "nn.Linear(H, H) => nn.Sequential(nn.Linear(H, H), nn.LayerNorm(H))",
    "averaging over the tokens instead of taking [CLS]: other tokens than [CLS] have a vote":
        CLS + "self.pooler(hidden.mean(1))",
    "taking the last token, where [CLS] is the first": CLS + "self.pooler(hidden[:, -1])",
    "taking the first sequence: each sequence has one [CLS], at position 0 of the second dimension":
        CLS + "self.pooler(hidden[0])",
    "detaching the hidden states, so that the encoder never learns: is there a detach()?":
        CLS + "self.pooler(hidden[:, 0].detach())",
    "taking away every dimension of size 1, with squeeze()":
        "self.scores(x) => self.scores(x).squeeze()",
    "ending with softmax; scores are what the loss wants":
        "self.scores(x) => self.scores(x).softmax(-1)",
    "swapping the two scores: 0 is in order": "self.scores(x) => self.scores(x).flip(-1)",
    "making a function without weights: write a class with nn.Module as its base":
        lambda H: lambda hidden: hidden[:, 0, :2].tanh(),
})
