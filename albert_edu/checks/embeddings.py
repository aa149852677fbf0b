"""Checks of notebook 03: a narrow table with its projection, how wide it can be, and what they and the rest weigh."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from albert_edu.analysis.counting import closed_form
from albert_edu.checks.trial import Stop, Trial, exercise, same
from albert_edu.config import AlbertConfig


@exercise("03.1")
def check_widest(answer, trial: Trial) -> None:
    """``widest(V, H, budget) -> E``: the largest whole number E below H for which V·E + E·H + H is at most ``budget``, and 0
    if even E = 1 costs more."""
    V, H = (int(trial.randint(low, high, 1)) for low, high in ((90, 120), (40, 60)))
    right, slack = trial.randint(3, H // 4, 4).tolist(), (1, V // 3, V - 1, V + H - 1)
    budgets = [_price(V, E, H) + more for E, more in zip(right, slack, strict=True)]
    got = [trial.call(answer, V, H, budget, name="takes V, H and a budget") for budget in budgets]
    good = trial.equal("buys the widest table for the money", got, right, {
        "rounding to the nearest whole number; a budget missed by one is missed": [round((b - H) / (V + H)) for b in budgets],
        "forgetting the bias of the projection, H numbers": [b // (V + H) for b in budgets],
        "forgetting the projection, or its E·H": [b // V for b in budgets],
        "going one too far: rounding up, or leaving a loop one step late": [E + 1 for E in right],
        "stopping one too early": [E - 1 for E in right],
        "returning a fraction; a table has whole columns": [(b - H) / (V + H) for b in budgets],
    }, weight=3)  # fmt: skip
    exact = trial.call(answer, V, H, _price(V, right[0], H))
    trial.equal("may spend the budget to the last number", exact, right[0],
                {"asking for less than the budget, where as much is allowed": right[0] - 1})  # fmt: skip
    generous = trial.call(answer, V, H, 3 * _price(V, H, H), name="survives a generous budget")
    trial.equal("stays below H however much there is", generous, H - 1, {
        "forgetting that E is to stay below H": (3 * _price(V, H, H) - H) // (V + H),
        "allowing E = H, where factorising ends": H,
    })  # fmt: skip
    poor = [trial.call(answer, V, H, budget, name="survives a budget for nothing") for budget in (_price(V, 1, H) - 1, H // 2)]
    trial.equal("gives 0 when even E = 1 costs more", poor, [0, 0], {
        "dividing less than nothing: give at least 0": [0, -1],
        "giving 1, which costs more than there is": [1, 1],
        "giving None where 0 is asked for": [None, None],
    })  # fmt: skip
    huge = 10**16 + V
    precise = trial.call(answer, huge, H, _price(huge, 2 * H // 3, H) - 1, name="survives numbers of 17 digits")
    rounded = {"dividing with /, which keeps 16 digits; whole numbers are divided with //": 2 * H // 3}
    trial.equal("is exact for numbers of 17 digits", precise, 2 * H // 3 - 1, rounded if good else None)


@exercise("03.4")
def check_factorized_embedding(answer, trial: Trial) -> None:
    """``Embedding(V, E, H, P)`` makes an nn.Module without dropout; called with token_ids[B,S] and segment_ids[B,S] (0 or 1) it
    gives [B,S,H], and an error if S is more than P. A token's rows for its piece (of V), its place (of P) and its segment (of 2),
    all E wide, are added, normed (LayerNorm with a gain that starts at 1 and a bias that starts at 0; any small eps) and mapped
    from E to H, with a bias. When E is H there is no map. Names are yours; the only parameters are the ones named here."""
    B, S, E, H, P = 2, 5, 4, 6, 9
    V = int(trial.randint(20, 30, 1))
    ids, segments = torch.stack([trial.randint(1, V, S) for _ in range(B)]), torch.tensor([[0] * S, [0, 0, 1, 1, 1]])
    module, named = _made(trial, answer, V, E, H, P)
    got = _shaped(trial, trial.call(module, ids, segments, name="takes token_ids and segment_ids"), B, S, H)

    one_piece = _shaped(trial, trial.call(module, torch.full_like(ids, V - 1), torch.zeros_like(ids)), B, S, H)
    asked = {"pieces": (V - ids, segments), "segments": (ids, 1 - segments)}
    deaf = [name for name, changed in asked.items() if same(trial.call(module, *changed), got)]
    deaf += ["positions"] * same(one_piece[:, 0], one_piece[:, 1])
    trial.true("hears the piece, its position and its segment", not deaf, f"other {', '.join(deaf)} give the same vectors")
    left_out = trial.call(_without_gradient, module, ids, segments, name="lets autograd through")
    trial.true("can be trained on", not left_out, f"no gradient reaches {', '.join(left_out)}")

    right = [(V, E), (P, E), (2, E), (E,), (E,), (H, E), (H,)]
    whole = trial.equal("has the parameters of a factorised embedding", _sizes(named, E, H), sorted(right), {
        "norming at width H, after the map; the norm comes first, at width E": sorted([*right[:3], *right[5:], (H,), (H,)]),
        "narrowing the word table alone; positions, segments and norm are E wide too":
            sorted([(V, E), (P, H), (2, H), (H,), (H,), (H, E), (H,)]),
        "building the table V x H": sorted([(V, H), (P, H), (2, H), (H,), (H,)]),
        "giving the map no bias": sorted(right[:-1]),
        "leaving out the norm, or its gain and bias": sorted(right[:3] + right[5:]),
        "leaving out the segments": sorted(right[:2] + right[3:]),
        "leaving out the table of positions": sorted(right[:1] + right[2:]),
        "making a second table V x E, an untied decoder; one table serves both ends": sorted([*right, (V, E)]),
        "making nn.Linear(E, V), an untied decoder with a bias; one table serves both ends": sorted([*right, (V, E), (V,)]),
        "giving the scores a bias, which nn.Linear has unless told otherwise": sorted([*right, (V,)]),
    }, weight=2)  # fmt: skip
    if not whole:
        raise Stop
    rows, places, sides, norm, project = _parts(named, (V, P, E, H), ids, segments)
    trial.equal("adds, norms and maps, in this order", got, project(norm(rows + places[:S] + sides)), {
        "leaving out the norm": project(rows + places[:S] + sides),
        "norming the word rows alone, before the others are added": project(norm(rows) + places[:S] + sides),
        "norming three times, before the rows are added": project(norm(rows) + norm(places[:S]) + norm(sides)),
        "leaving out the positions": project(norm(rows + sides)),
        "leaving out the segments": project(norm(rows + places[:S])),
        "counting positions from 1": project(norm(rows + places[1 : S + 1] + sides)),
        "taking the last rows of the table of positions": project(norm(rows + places[-S:] + sides)),
        "multiplying the word rows by √E, as the first transformer did": project(norm(math.sqrt(E) * rows + places[:S] + sides)),
    }, weight=3, atol=5e-3)  # fmt: skip

    alone = trial.call(module, ids[:1, :1], segments[:1, :1], name="survives one token")
    reason = "a token's vector depends on its company, or on how long the row is"
    trial.equal("gives a first token alone what it gets in company", alone, got[:1, :1],
                {"taking away every dimension of size 1, with squeeze()": got[0, 0]}, reason=reason)  # fmt: skip
    too_long = torch.ones(1, P + 1, dtype=torch.long)
    refused = trial.refuses(module, too_long, 0 * too_long, error=Exception)
    trial.true("refuses more tokens than it has positions", refused, "tokens behind the last one share a row, and nobody is told")

    bert, named = _made(trial, answer, V, H, H, P, name="survives E = H")
    plain = [(V, H), (P, H), (2, H), (H,), (H,)]
    if trial.equal("has no map when E is H", _sizes(named, H, H), sorted(plain), {
        "making a map from H to H, as transformers does; the original has none": sorted([*plain, (H, H), (H,)]),
    }, weight=2):  # fmt: skip
        rows, places, sides, norm, _ = _parts(named, (V, P, H, H), ids, segments)
        got, reason = trial.call(bert, ids, segments), "without a map the normed sum is the result"
        trial.equal("is BERT's embedding when E is H", got, norm(rows + places[:S] + sides), atol=5e-3, reason=reason)


@exercise("03.5")
def check_parameter_count(answer, trial: Trial) -> None:
    """``count(V, E, H, L, share) -> int``: all weights of an ALBERT. Tables for V pieces, 512 positions and 2 segments, and their
    norm, E wide; a map with bias from E to H, none if E is H; attention blocks of four maps H to H with biases and a norm;
    feed-forward blocks of a map to 4H and one back, with biases, and a norm; the pooler, a map H to H with bias; no heads of
    pre-training. ``share`` is "all", "attention", "ffn" or "none": of a shared half there is one block, of another there are L."""
    V, E, H, L = (int(trial.randint(low, high, 1)) for low, high in ((900, 1000), (10, 16), (40, 50), (3, 9)))

    def ask(*sizes):
        return trial.call(answer, *sizes, name="takes V, E, H, L and share")

    one = _count(V, E, H, L, "all")
    attention, ffn, linear = 4 * H * H + 6 * H, 8 * H * H + 7 * H, H * H + H
    good = trial.equal("counts a model that shares all", ask(V, E, H, L, "all"), one, {
        "forgetting a map from H to H: the pooler, or the one behind the heads": one - linear,
        "counting both heads of pre-training": one + H * E + 3 * E + V + 2 * H + 2,
        "counting the masked-token head": one + H * E + 3 * E + V,
        "counting the word table again as decoder; it is the same tensor": one + V * E,
        "counting the layer L times although it is shared": one + (L - 1) * (attention + ffn),
        "counting a table of V·H": one + V * H - V * E,
        "counting the word table and the projection alone": V * E + E * H + H,
        "forgetting positions and segments": one - 514 * E,
        "forgetting 2E: the segments, or the norm of the embeddings": one - 2 * E,
        "giving positions, segments and norm the width H": one + 516 * (H - E),
        "forgetting the bias of one map to H, such as the projection": one - H,
        "forgetting 4H: the norms of the layer, or the biases of its attention": one - 4 * H,
        "forgetting the biases of the feed-forward maps": one - 5 * H,
        "forgetting the biases of all maps": one - 11 * H,
        "forgetting all norms": one - 4 * H - 2 * E,
    }, weight=3)  # fmt: skip
    bert = _count(V, H, H, 1, "all")
    trial.equal("counts no projection when E is H", ask(V, H, H, 1, "all"), bert,
                {"counting a projection from H to H, as transformers has; the original has none": bert + linear},
                reason="E = H with one layer: what else changes there?" if good else "")  # fmt: skip
    blocks = (ffn, attention, attention + ffn)  # of which there are L, in this order of ``share``
    partly = [ask(V, E, H, L, share) for share in ("attention", "ffn", "none")]
    trial.equal("counts L blocks of the half that is not shared", partly, [one + (L - 1) * block for block in blocks], {
        "exchanging the halves: 'attention' is what is shared": [one + (L - 1) * n for n in (attention, ffn, sum(blocks[:2]))],
        "counting one layer whatever is shared": [one] * 3,
        "counting one block of each half for 'none', which shares nothing": [one + (L - 1) * n for n in (ffn, attention, 0)],
        "counting L layers whatever is shared": [one + (L - 1) * (attention + ffn)] * 3,
        "counting L blocks beside the first": [one + L * block for block in blocks],
    }, weight=2, reason="the rest is paid once, whatever is shared" if good else "")  # fmt: skip
    shallow, deep = (ask(V, E, H, layers, "all") for layers in (L, 4 * L))
    trial.true("counts no more for more depth when all is shared", same(deep, shallow), "it is one layer, applied L times")
    xxlarge = ask(30_000, 128, 4096, 12, "all")
    trial.equal("counts ALBERT-xxlarge to the last parameter", xxlarge, 222_595_584, {
        "copying what the paper prints": 235_000_000,
        "counting in millions": round(222.595584),
        "counting a vocabulary of 30,522, BERT's": 222_595_584 + 522 * 128,
    }, reason="it is 222,595,584; the small model above says what is missing")  # fmt: skip


def _price(V: int, E: int, H: int) -> int:
    return V * E + E * H + H


def _count(V: int, E: int, H: int, L: int, share: str) -> int:
    return closed_form(AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_layers=L, num_heads=1, share=share)).total


def _made(trial: Trial, answer, *sizes: int, name: str = "is made from V, E, H and P") -> tuple[nn.Module, list[torch.Tensor]]:
    """The answer's module with drawn numbers in all its parameters, and those, the norm's gain before its bias."""
    module = trial.call(answer, *sizes, name=name)
    if not isinstance(module, nn.Module):
        trial.need("is an nn.Module", False, f"you return {type(module).__name__}")
    parameters = sorted(module.parameters(), key=lambda parameter: not parameter.any())  # a gain starts at 1, a bias at 0
    with torch.no_grad():
        for parameter in parameters:
            parameter.copy_(trial.randn(*parameter.shape))
    return module.eval(), parameters


def _sizes(parameters: list[torch.Tensor], E: int, H: int) -> list[tuple[int, ...]]:
    """The shapes, sorted; a map may be stored either way round."""
    return sorted((H, E) if parameter.shape == (E, H) else tuple(parameter.shape) for parameter in parameters)


def _parts(parameters: list[torch.Tensor], sizes: tuple[int, ...], ids: torch.Tensor, segments: torch.Tensor) -> tuple:
    """Word rows, all position rows, segment rows, the norm and the map: which parameter is which shows in its shape."""
    V, P, E, H = sizes
    shapes = {tuple(parameter.shape): parameter.detach() for parameter in parameters}
    gain, bias = (parameter.detach() for parameter in parameters if parameter.shape == (E,))
    matrix = shapes.get((H, E), shapes[E, H].T if (E, H) in shapes else None)
    return (
        shapes[V, E][ids], shapes[P, E], shapes[2, E][segments],
        lambda x: F.layer_norm(x, (E,), gain, bias, 1e-12), lambda x: x @ matrix.T + shapes[H,],
    )  # fmt: skip


def _shaped(trial: Trial, got, *shape: int) -> torch.Tensor:
    tensor = isinstance(got, torch.Tensor)
    found = f"the shape is {tuple(got.shape)}" if tensor else f"you return {type(got).__name__}, not a tensor; no return?"
    if not (tensor and got.shape == shape):
        trial.need(f"gives the shape {shape}", False, found)
    return got


def _without_gradient(module: nn.Module, ids: torch.Tensor, segments: torch.Tensor) -> list[str]:
    names, parameters = zip(*module.named_parameters(), strict=True)
    value = module(ids, segments).pow(3).sum()
    if not value.requires_grad:
        return list(names)
    gradients = torch.autograd.grad(value, parameters, allow_unused=True)
    return [name for name, gradient in zip(names, gradients, strict=True) if gradient is None or not gradient.any()]
