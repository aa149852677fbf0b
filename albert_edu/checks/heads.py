"""Checks of notebooks 05 and 06: what pre-training asks of the hidden states."""

from itertools import permutations

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.checks.trial import Stop, Trial, exercise, same
from albert_edu.config import AlbertConfig


@exercise("05.5")
def check_masked_token_head(answer, trial: Trial) -> None:
    """``Head(config, word_embedding)`` makes an nn.Module without dropout; called with hidden[*,H] it gives scores[*,V], for any
    number of leading dimensions. A map with bias from H to E, GELU, LayerNorm with gain and bias (any small eps), then the
    product with each row of the embedding table plus a bias for each of the V pieces. ``word_embedding`` is an nn.Embedding(V, E),
    and its weight is the decoder's matrix: the very Parameter. The sizes are config.hidden_size, .embedding_size, .vocab_size."""
    V, E, H = int(trial.randint(9, 14, 1)), 8, 16
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_heads=2)
    words = nn.Embedding(V, E)
    head = trial.call(answer, config, words, name="is made from a config and an nn.Embedding")
    trial.need("is an nn.Module", isinstance(head, nn.Module), f"you return {type(head).__name__}")
    own = [weight for weight in head.parameters() if weight is not words.weight]
    with torch.no_grad():
        for weight in (words.weight, *own):
            weight.copy_(trial.randn(1, *weight.shape)[0])
    hidden = trial.randn(2, 3, H) / 4
    got = trial.call(head, hidden, name="takes hidden[*,H]")
    whole = isinstance(got, torch.Tensor) and got.shape == (2, 3, V)
    told = f"the shape is {tuple(got.shape)}" if isinstance(got, torch.Tensor) else f"you return {type(got).__name__}"
    trial.need("gives V scores for each position", whole, told)
    gradient = trial.call(lambda: _gradient(head, hidden, words.weight), name="lets autograd through")
    tables = [weight for weight in own if weight.numel() == V * E]
    copy = "a decoder with a table of its own: untied, it costs V·E more and learns apart"
    if tables and tables[0].data_ptr() == words.weight.data_ptr():
        copy = "sharing .data gives the same numbers to two Parameters; assign the Parameter itself"
    trial.true("is tied to the embedding table", not tables and gradient is not None, copy if tables else
               "no gradient reaches the table: is there a detach(), a clone or a .data?", weight=3)  # fmt: skip
    sizes = sorted(tuple(sorted(weight.shape)) for weight in own if weight.numel() != V * E)
    right = sorted([(E, H), (E,), (E,), (E,), (V,)])
    good = trial.equal("has a map, a norm and a bias of its own", sizes, right, {
        "giving the vocabulary no bias": [size for size in right if size != (V,)],
        "giving the map no bias, or the norm no bias": [(E,), (E,), (E, H), (V,)],
        "leaving out the norm": [(E,), (E, H), (V,)],
        "going back to width E without norm and bias": [(E, H), (V,)],
        "mapping H to H first and to E after it": sorted([*right, (H, H), (H,)]),
        "mapping H to H, norming there and going to E last": sorted([(H, H), (H,), (H,), (H,), (E, H), (E,), (V,)]),
    }, weight=2)  # fmt: skip
    if not good:
        raise Stop
    _scores(trial, got, hidden, own, tables[0] if tables else words.weight)
    one = trial.call(head, hidden[1, 2], name="survives a single vector")
    twice = same(trial.call(head, hidden), got)
    trial.true("gives the same scores twice", twice, "chance decides: is there a dropout?")
    reason = "a position's scores depend on the others, or on a batch"
    made = {"giving a single vector a dimension of its own; [H] goes in and [V] comes out": got[1:2, 2]}
    trial.equal("scores a vector alone as in company", one, got[1, 2], made, reason=reason)


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


def _gradient(head: nn.Module, hidden: torch.Tensor, table: nn.Parameter) -> torch.Tensor | None:
    scores = head(hidden)
    return torch.autograd.grad(scores.square().sum(), table, allow_unused=True)[0] if scores.requires_grad else None


def _scores(trial: Trial, got: torch.Tensor, hidden: torch.Tensor, own: list, table: torch.Tensor) -> None:
    """The scores. Three vectors have E numbers, and their names are the student's: what they are is found by trying."""
    (V, E), H = table.shape, hidden.shape[-1]
    (matrix,) = [w if w.shape == (E, H) else w.T for w in own if w.numel() == E * H and w.ndim == 2]
    (vocabulary,) = [w for w in own if w.shape == (V,)]

    def values(bias, gain, shift, form: str, eps: float) -> dict[str, torch.Tensor]:
        def gelu(x: torch.Tensor) -> torch.Tensor:
            return F.gelu(x, approximate=form)

        def norm(x: torch.Tensor) -> torch.Tensor:
            return F.layer_norm(x, (E,), gain, shift, eps)

        x = hidden @ matrix.T + bias
        return {
            "": norm(gelu(x)) @ table.T + vocabulary,
            "leaving out GELU": norm(x) @ table.T + vocabulary,
            "norming before GELU": gelu(norm(x)) @ table.T + vocabulary,
            "leaving out the norm": gelu(x) @ table.T + vocabulary,
            "taking ReLU for GELU": norm(x.relu()) @ table.T + vocabulary,
            "taking tanh for GELU": norm(x.tanh()) @ table.T + vocabulary,
            "making the bias of the vocabulary and not adding it": norm(gelu(x)) @ table.T,
            "ending with softmax; scores are what the loss wants": (norm(gelu(x)) @ table.T + vocabulary).softmax(-1),
            "ending with log_softmax; scores are what the loss wants": (norm(gelu(x)) @ table.T + vocabulary).log_softmax(-1),
        }

    vectors = [w for w in own if w.shape == (E,)]
    forms = [(form, eps) for form in ("tanh", "none") for eps in (1e-5, 1e-12)]  # any small eps: it shows where GELU leaves little
    tried = [values(*order, *form) for order in permutations(vectors) for form in forms]
    found = {name: next((one[name] for one in tried if same(got, one[name], 5e-3)), tried[0][name]) for name in tried[0]}
    trial.equal("maps, bends, norms and scores, in this order", got, found.pop(""), found, weight=3, atol=5e-3)


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
