"""Checks of notebook 10: operations counted, and inputs found again from outputs."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise
from albert_edu.config import AlbertConfig


@exercise("10.3")
def check_flops(answer, trial: Trial) -> None:
    """``flops(config, S, training) -> number``: the operations for one token of a sequence of S tokens, where a multiply-add counts
    as two; ``training`` is False for the forward pass, True for forward and backward together. Only products of matrices count: the
    projection from E to H (there is none if E = H) and in each of the L layers query, key, value, scores, mixing, output and the
    two maps of the feed-forward block. ``config`` is an AlbertConfig: embedding_size, hidden_size, ffn_size, num_layers,
    num_heads."""
    A, L, S = int(trial.randint(3, 6, 1)), int(trial.randint(3, 7, 1)), 2 * int(trial.randint(5, 25, 1)) + 1
    E, H, F, V = 3 * A, 8 * A, 16 * A + 3, 50  # S and F odd, so that no two mistakes come to the same
    config = AlbertConfig(vocab_size=V, embedding_size=E, hidden_size=H, num_layers=L, num_heads=A, ffn_size=F)

    def ask(config: AlbertConfig, S: int, training: bool = False) -> float:
        return _number(trial, trial.call(answer, config, S, training, name="takes a config, S and training"))

    got, maps, mixing, project = ask(config, S), 8 * H * H + 4 * H * F, 4 * S * H, 2 * E * H
    right = float(L * (maps + mixing) + project)
    good = trial.equal("counts the forward pass", got, right, {
        "counting a multiply-add as one": right / 2,
        "leaving out the attention scores and the mixing, which grow with S": L * maps + project,
        "leaving out the mixing of the values": L * (maps + mixing / 2) + project,
        "counting the scores of all S tokens for one token": L * (maps + S * mixing) + project,
        "counting the scores H wide for each head; a head is H / A wide": L * (maps + A * mixing) + project,
        "counting the whole sequence": S * right,
        "leaving out the output map of the attention": L * (maps - 2 * H * H + mixing) + project,
        "counting one of the two maps of the feed-forward block": L * (maps - 2 * H * F + mixing) + project,
        "taking F for 4H; this one is not": L * (24 * H * H + mixing) + project,
        "leaving out the projection from E to H": right - project,
        "projecting in every layer": L * (maps + mixing + project),
        "counting the layer once, because it is shared": maps + mixing + project,
        "counting a lookup in the table of V rows as a product": right + 2 * V * E,
        "counting parameters": float(4 * (H * H + H) + 4 * H + 2 * H * F + F + H + E * H + H),
    }, weight=3)  # fmt: skip
    alone = [ask(config.replace(share=share), S) for share in ("none", "attention", "ffn")]
    reason = "a shared matrix is multiplied L times all the same: sharing saves parameters, not operations"
    trial.equal("is the same whatever is shared", alone, [got] * 3, reason=reason, weight=2)
    trial.equal("training is three times the forward pass", ask(config, S, True) / (got or 1), 3.0, {
        "adding one pass for the backward pass; it makes two products of each, for the input and for the weights": 2.0,
        "not looking at training": 1.0,
        "counting a second forward pass, which only recomputing needs": 4.0,
    }, weight=2)  # fmt: skip
    reason = "scores and mixing cost 4H a layer for each further token that is looked at" if good else ""
    trial.equal("grows with the sequence", ask(config, S + 100) - got, 400.0 * L * H, reason=reason, atol=0.5)
    reason = "more heads are narrower: A heads of width H / A cost what one of width H costs" if good else ""
    trial.equal("is the same for any number of heads", ask(config.replace(num_heads=1), S), right, reason=reason)
    reason = "without factorisation, E = H, there is no projection" if good else ""
    trial.equal("counts no projection where E = H", ask(config.replace(embedding_size=H), S), right - project, reason=reason)


@exercise("10.5")
def check_reversible(answer, trial: Trial) -> None:
    """``inverse(couplings, y1, y2) -> (x1, x2)``: what went into a reversible stack, found from what came out. ``couplings`` is a
    list of pairs of functions, the first applied first; each pair (F, G) made ``y1 = x1 + F(x2)`` and then ``y2 = x2 + G(y1)``,
    which are the x1 and x2 of the next pair. F and G cannot be inverted."""
    L, shape = int(trial.randint(3, 6, 1)), (2, 3, 4)
    couplings, (x1, x2) = [(_bend(trial), _bend(trial)) for _ in range(L)], (trial.randn(*shape), trial.randn(*shape))
    start = torch.stack([x1, x2])
    one = _forward(couplings[:1], x1, x2)
    (F, G), (y1, y2) = couplings[0], one
    got = _two(trial, trial.call(answer, couplings[:1], y1, y2, name="takes couplings, y1 and y2"), shape)
    trial.equal("goes back through one coupling", got, start, {
        "adding where the way back subtracts": torch.stack([y1 + F(y2 + G(y1)), y2 + G(y1)]),
        "undoing y1 first; the last step was y2's, so it is the first to be undone": _undone_in_order(F, G, y1, y2),
        "taking F(y2), though F saw x2: undo y2 first and use what comes out": torch.stack([y1 - F(y2), y2 - G(y1)]),
        "exchanging F and G": torch.stack([y1 - G(y2 - F(y1)), y2 - F(y1)]),
        "exchanging the two halves": start.flip(0),
        "taking the coupling once more instead of back": torch.stack(_forward([(F, G)], y1, y2)),
        "returning what came in": torch.stack(one),
    }, weight=2)  # fmt: skip
    through = _forward(couplings, x1, x2)
    got = _two(trial, trial.call(answer, couplings, *through, name="goes back through several couplings"), shape)
    trial.equal("goes back through several couplings", got, start, {
        "undoing the first coupling first": _back(couplings[::-1], *through),
        "undoing the last coupling only": _back(couplings[-1:], *through),
        "undoing all but the first coupling": _back(couplings[1:], *through),
    }, weight=3, atol=1e-3)  # fmt: skip
    calls: list[str] = []
    noted = [(_counting(F, "F", calls), _counting(G, "G", calls)) for F, G in couplings]
    trial.call(answer, noted, *through)
    reason = f"you call them {len(calls)} times for {L} pairs" + "; searching or guessing is not needed" * (len(calls) > 2 * L)
    trial.true("calls each function once", len(calls) == 2 * L, reason)
    nothing = _two(trial, trial.call(answer, [], x1, x2, name="survives an empty stack"), shape)
    trial.equal("leaves the halves as they are in an empty stack", nothing, start, reason="there is nothing to undo")


def _number(trial: Trial, answered) -> float:
    try:
        return float(answered)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        trial.need("returns a number", False, "is the return missing?", got=brief(answered))


def _bend(trial: Trial) -> Callable[[Tensor], Tensor]:
    """A function that cannot be inverted."""
    weight = trial.randn(4, 4)
    return lambda x: torch.cos(x @ weight)


def _forward(couplings: Sequence, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    for F, G in couplings:
        x1 = x1 + F(x2)
        x2 = x2 + G(x1)
    return x1, x2


def _back(couplings: Sequence, y1: Tensor, y2: Tensor) -> Tensor:
    for F, G in reversed(couplings):
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return torch.stack([y1, y2])


def _undone_in_order(F, G, y1: Tensor, y2: Tensor) -> Tensor:
    x1 = y1 - F(y2)
    return torch.stack([x1, y2 - G(x1)])


def _counting(function: Callable, name: str, calls: list[str]) -> Callable:
    def counted(x):
        calls.append(name)
        return function(x)

    return counted


def _two(trial: Trial, answered, shape: tuple[int, ...]) -> Tensor:
    try:
        got = torch.stack([torch.as_tensor(half).detach() for half in answered])
    except (TypeError, ValueError, RuntimeError):
        got = None
    trial.need("returns two tensors of y1's shape", got is not None and got.shape == (2, *shape), "x1 and x2 are asked for",
               got=brief(answered))  # fmt: skip
    return got
