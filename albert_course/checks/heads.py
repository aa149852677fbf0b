"""Card of notebook 06: the head that scores the order of two segments."""

import torch
from torch import Tensor, nn

from albert_course.checks.asking import learns, output, parameters, same_twice
from albert_course.checks.engine import Case, Cases, Draw, card


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
        first = hidden[:, 0]
        x = torch.tanh(self.pooler(first))
        return self.scores(x)


def _states(draw: Draw) -> Cases:
    B, S, H = 3, 5, draw.integer(4, 8)
    x, others = draw.randn(B, S, H), draw.randn(B, S, H)
    others[:, 0] = x[:, 0]
    yield Case("has the parameters of a pooler and of two scores", ((H,),), 2.0, parameters)
    yield Case("maps [CLS], bends it by tanh and scores it", ((H,), x), 3.0, output)
    yield Case("looks at [CLS] alone", ((H,), others), 2.0, output)
    yield Case("can be trained on", ((H,), x), 1.0, learns)
    yield Case("gives the same scores twice", ((H,), draw.randn(64, S, H)), 1.0, same_twice)
    yield Case("keeps the dimension of a batch of one", ((H,), x[:1, :1]), 1.0, output)


check_sentence_order_head = card(
    "06.4",
    SentenceOrderHead,
    _states,
    {
        "leaving out tanh": "x = self.pooler(first)",
        "taking GELU for tanh": "x = nn.functional.gelu(self.pooler(first))",
        "taking ReLU for tanh": "x = self.pooler(first).relu()",
        "bending before the first map, not after it": (
            "first = hidden[:, 0].tanh()",
            "x = self.pooler(first)",
        ),
        "bending the scores, and not the vector of [CLS]": (
            "x = self.pooler(first)",
            "return self.scores(x).tanh()",
        ),
        "chance decides: is there a dropout?": "return self.scores(nn.functional.dropout(x, 0.1))",
        "leaving out the pooler: the scores come straight from [CLS]": (
            "self.pooler = nn.Identity()",
            "x = first",
        ),
        "making one score of it instead of two": "self.scores = nn.Linear(H, 1)",
        "giving the second map no bias": "self.scores = nn.Linear(H, 2, bias=False)",
        "giving the pooler no bias": "self.pooler = nn.Linear(H, H, bias=False)",
        "adding a norm": "self.pooler = nn.Sequential(nn.Linear(H, H), nn.LayerNorm(H))",
        "averaging over the tokens instead of taking [CLS]: other tokens than [CLS] have a vote": "first = hidden.mean(1)",
        "taking the last token, where [CLS] is the first": "first = hidden[:, -1]",
        "taking the first sequence: each sequence has one [CLS], at position 0 of the second dimension": "first = hidden[0]",
        "detaching the hidden states, so that the encoder never learns: is there a detach()?": "first = hidden[:, 0].detach()",
        "taking away every dimension of size 1, with squeeze()": "return self.scores(x).squeeze()",
        "ending with softmax; scores are what the loss wants": "return self.scores(x).softmax(-1)",
        "swapping the two scores: 0 is in order": "return self.scores(x).flip(-1)",
        "making a function without weights: write a class with nn.Module as its base": lambda H: (
            lambda hidden: hidden[:, 0, :2].tanh()
        ),
    },
)
