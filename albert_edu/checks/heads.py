"""Check of notebook 06: the head that scores the order of two segments."""


import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.checks.trial import Stop, Trial, exercise, same


@exercise("06.4")
def check_sentence_order_head(answer, trial: Trial) -> None:
    """``Head(H)`` makes an nn.Module without dropout; called with the encoder's last_hidden[B,S,H] it gives scores[B,2], for 'in
    order' and 'swapped'. The vector of [CLS], the first of each sequence, is mapped from H to H and bent by tanh (the pooler);
    a second map makes two scores of it. Both maps have a bias; nothing else has parameters."""
    B, S, H = 3, 5, int(trial.randint(4, 8, 1))
    head = trial.call(answer, H, name="is made from H")
    trial.need("is an nn.Module", isinstance(head, nn.Module), f"you return {type(head).__name__}")
    own = list(head.parameters())
    sizes, right = sorted(tuple(sorted(weight.shape)) for weight in own), [(2,), (2, H), (H,), (H, H)]
    good = trial.equal("has the parameters of a pooler and of two scores", sizes, right, {
        "leaving out the pooler: the scores come straight from [CLS]": [(2,), (2, H)],
        "making one score of it instead of two": [(1,), (1, H), (H,), (H, H)],
        "making three scores of it": [(3,), (3, H), (H,), (H, H)],
        "giving the second map no bias": [(2, H), (H,), (H, H)],
        "giving the pooler no bias": [(2,), (2, H), (H, H)],
        "giving both maps no bias": [(2, H), (H, H)],
        "adding a norm": [(2,), (2, H), (H,), (H,), (H,), (H, H)],
    }, weight=2)  # fmt: skip
    with torch.no_grad():
        for weight in own:
            weight.copy_(trial.randn(1, *weight.shape)[0])
    x = trial.randn(B, S, H)
    got = trial.call(head, x, name="takes last_hidden[B,S,H]")
    told = f"the shape is {tuple(got.shape)}" if isinstance(got, torch.Tensor) else f"you return {type(got).__name__}"
    trial.need("gives two scores a sequence", isinstance(got, torch.Tensor) and got.shape == (B, 2),
               f"{told}: each sequence has one [CLS], at position 0 of the second dimension")  # fmt: skip
    others = torch.cat([x[:, :1], trial.randn(B, S - 1, H)], 1)
    reason = "other tokens than [CLS] have a vote, such as a mean over the sequence; padding would have one too"
    trial.true("looks at [CLS] alone", same(trial.call(head, others), got), reason, weight=2)
    leaf = x.clone().requires_grad_()
    silent = trial.call(lambda: _unreached(head, leaf, own), name="lets autograd through")
    trial.true("can be trained on", not silent, f"no gradient reaches {silent}")
    many = trial.randn(64, S, H)
    twice = same(trial.call(head, many), trial.call(head, many))
    trial.true("gives the same scores twice", twice, "chance decides: is there a dropout?")
    alone = trial.call(head, x[:1, :1], name="survives a batch of one")
    trial.equal("keeps the dimension of a batch of one", alone, got[:1], {
        "taking away every dimension of size 1, with squeeze()": got[0],
    }, reason="a sequence's scores depend on the others or on its length")  # fmt: skip
    if not good:
        raise Stop
    pooler, pooler_bias, two, two_bias = (next(w for w in own if sorted(w.shape) == list(size)) for size in
                                          ((H, H), (H,), (2, H), (2,)))  # fmt: skip
    two, found = (two if two.shape == (2, H) else two.T).T, {}
    for matrix in (pooler, pooler.T):  # x @ W and nn.Linear keep their matrix the other way round
        for name, value in _order_scores(x, matrix, pooler_bias, two, two_bias).items():
            found[name] = value if same(got, value) else found.get(name, value)
    trial.equal("maps [CLS], bends it by tanh and scores it", got, found.pop(""), found, weight=3)


def _order_scores(x: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor, two: torch.Tensor, two_bias: torch.Tensor) -> dict:
    """What right and wrong orders of the same maps give."""

    def pooled(vectors: torch.Tensor) -> torch.Tensor:
        return vectors @ matrix.T + bias

    cls, right = x[:, 0], (pooled(x[:, 0]).tanh() @ two + two_bias)
    return {
        "": right,
        "leaving out tanh": pooled(cls) @ two + two_bias,
        "taking GELU for tanh": F.gelu(pooled(cls)) @ two + two_bias,
        "taking GELU (its tanh form) for tanh": F.gelu(pooled(cls), approximate="tanh") @ two + two_bias,
        "taking ReLU for tanh": pooled(cls).relu() @ two + two_bias,
        "taking sigmoid for tanh": pooled(cls).sigmoid() @ two + two_bias,
        "bending before the first map, not after it": pooled(cls.tanh()) @ two + two_bias,
        "bending the scores too": right.tanh(),
        "bending the scores, and not the vector of [CLS]": (pooled(cls) @ two + two_bias).tanh(),
        "averaging over the tokens instead of taking [CLS]": pooled(x.mean(1)).tanh() @ two + two_bias,
        "pooling each token and averaging then": pooled(x).tanh().mean(1) @ two + two_bias,
        "taking the largest of each dimension over the tokens": pooled(x.amax(1)).tanh() @ two + two_bias,
        "taking the last token, where [CLS] is the first": pooled(x[:, -1]).tanh() @ two + two_bias,
        "ending with softmax; scores are what the loss wants": right.softmax(-1),
        "ending with log_softmax; scores are what the loss wants": right.log_softmax(-1),
        "exchanging the two scores: 0 is in order": right.flip(-1),
    }


def _unreached(head: nn.Module, hidden: torch.Tensor, own: list) -> str:
    scores = head(hidden)
    if not scores.requires_grad:
        return "anything: is there a detach() or no_grad()?"
    *weights, states = torch.autograd.grad((scores * torch.arange(1.0, 3.0)).sum(), [*own, hidden], allow_unused=True)
    if states is None or not states[:, 0].any():
        return "the encoder: is there a detach()?"
    return "some of the weights; are they all used?" if any(gradient is None for gradient in weights) else ""
