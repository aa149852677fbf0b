"""Checks of notebook 04: who uses which block, and a stack that shares."""

import math
from collections.abc import Callable

import torch
from torch import nn

from albert_edu.checks.shared_gradients import gradient_row, untied_gradients, walk
from albert_edu.checks.trial import Stop, Trial, exercise


@exercise("04.4")
def check_layer_plan(answer, trial: Trial) -> None:
    """``layer_plan(L, share, G) -> L pairs (attention block, feed-forward block)``, blocks counted from 0. ``share`` is "all",
    "attention", "ffn" or "none". A half that is shared has a block for each of G groups, and layer i (from 0) is in group
    i·G // L; a half that is not shared has a block for each layer. ValueError for G < 1, for G > L and for any other ``share``."""
    L = int(trial.randint(25, 41, 1))  # beyond the depths that are asked for one and all below: who keeps those knows none of these

    def ask(L, share, G):
        return _pairs(trial.call(answer, L, share, G, name="takes L, share and G"))

    got, zeros, own = ask(L, "all", 1), [0] * L, range(L)
    trial.need("returns pairs of block numbers", got is not None, "each layer has a pair of whole numbers; is the return missing?")
    trial.equal("uses one block L times when all is shared", got, _zip(zeros, zeros), {
        "counting blocks from 1": [(1, 1)] * L,
        "giving each layer a block of its own": _zip(own, own),
        "planning one layer too few": [(0, 0)] * (L - 1),
        "rounding i·G / L to the nearest whole number": _twice(round(i / L) for i in range(L)),
        "giving the two halves different numbers; each half has blocks of its own, from 0": [(0, 1)] * L,
    })  # fmt: skip
    halves = [ask(L, share, 1) for share in ("attention", "ffn", "none")]
    trial.equal("shares the half that is named", halves, [_zip(zeros, own), _zip(own, zeros), _zip(own, own)], {
        "exchanging the halves: 'attention' is what is shared": [_zip(own, zeros), _zip(zeros, own), _zip(own, own)],
        "sharing both halves whatever is named": [_zip(zeros, zeros)] * 3,
        "sharing nothing unless it is all": [_zip(own, own)] * 3,
        "sharing where 'none' is asked for": [_zip(zeros, own), _zip(own, zeros), _zip(zeros, zeros)],
    }, weight=3)  # fmt: skip
    L, G = _drawn(trial, [(G * size, G) for G in range(2, 8) for size in range(2, 8) if G != size])
    trial.equal("makes G groups of neighbours", ask(L, "all", G), _twice(i * G // L for i in range(L)), {
        "dealing the layers out in turn (i % G), which is a cycle": _twice(i % G for i in range(L)),
        "taking G for the size of a group (i // G)": _twice(i // G for i in range(L)),
        "ignoring the groups": _twice([0] * L),
    }, weight=2)  # fmt: skip
    L, G = _drawn(trial, [(L, G) for L in range(11, 41) for G in range(4, L // 2) if _tells_apart(L, G)])
    trial.equal("makes G groups when G does not divide L", ask(L, "all", G), _twice(i * G // L for i in range(L)),
                {mistake: _twice(groups) for mistake, groups in _uneven(L, G).items()}, weight=2)  # fmt: skip
    sizes = [(L, G) for L in range(1, 25) for G in range(1, L + 1)]
    every = trial.call(lambda: [answer(L, "all", G) for L, G in sizes])
    trial.equal("does so for all depths up to 24", [_pairs(plan) for plan in every], _groups(sizes, lambda i, L, G: i * G // L), {
        "rounding on the way, with int(i / L * G)": _groups(sizes, lambda i, L, G: int(i / L * G)),
        "rounding on the way, with int(i / (L / G))": _groups(sizes, lambda i, L, G: int(i / (L / G))),
    })  # fmt: skip
    size, G = _drawn(trial, [(3, 2), (4, 3), (2, 4), (3, 5)])
    own, group = range(size * G), [i // size for i in range(size * G)]
    trial.equal("makes groups in the shared half alone", ask(size * G, "attention", G), _zip(group, own), {
        "making groups in the half that is not shared": _zip(group, group),
        "forgetting the groups when one half is shared": _zip([0] * len(own), own),
        "exchanging the halves: 'attention' is what is shared": _zip(own, group),
    })  # fmt: skip
    nonsense = [(4, "all", 0), (4, "all", 5), (4, "both", 1)]
    taken = [sizes for sizes in nonsense if not trial.refuses(answer, *sizes)]
    trial.true("refuses what makes no sense", not taken, f"no ValueError for (L, share, G) = {', '.join(map(str, taken))}")


@exercise("04.5")
def check_shared_encoder(answer, trial: Trial) -> None:
    """``Encoder(make_attention, make_ffn, L, share)`` makes an nn.Module; called with x[B,S,H] it applies attention, then
    feed-forward, L times. Each call of make_attention() and make_ffn() makes a new block, to be called with x[B,S,H]. ``share``
    is "all", "attention", "ffn" or "none": of a shared half there is one block, of another there are L, used in the order in
    which they were made. The blocks are the only parameters, and each tensor has one name in the state_dict."""
    L, x, made = int(trial.randint(3, 6, 1)), trial.randn(2, 3, 4), []

    def ask(share):
        factories = [lambda kind=kind: made.append(kind(trial)) or made[-1] for kind in (_Mix, _Bend)]
        encoder = trial.call(answer, *factories, L, share, name="is made from two functions, L and share")
        if not isinstance(encoder, nn.Module):
            trial.need("is an nn.Module", False, f"you return {type(encoder).__name__}")
        weights = list(encoder.parameters())
        return encoder, [w for w in weights if w.shape == (4, 4)], [w for w in weights if w.shape == (4,)]

    encoder, mixes, bends = ask("all")
    copied = "copying the one block; name it again instead" if len(made) == 2 else "making new blocks in each turn of the loop"
    trial.equal("trains one block of each half when all is shared", [len(mixes), len(bends)], [1, 1], {
        copied: [L, L],
        "keeping the blocks where nn.Module does not look, as in a plain list: use an nn.ModuleList": [0, 0],
        "sharing the attention alone": [1, L],
        "sharing the feed-forward half alone": [L, 1],
    }, weight=4)  # fmt: skip
    if not (mixes and bends):
        raise Stop
    got, mix, bend = trial.call(encoder, x, name="takes x[B,S,H]"), _mix(mixes[0]), _bend(bends[0])
    trial.equal("applies attention, then feed-forward, L times", got, walk(x, [mix, bend] * L), {
        "applying one layer too few": walk(x, [mix, bend] * (L - 1)),
        "applying one layer too many": walk(x, [mix, bend] * (L + 1)),
        "applying a shared layer once": walk(x, [mix, bend]),
        "applying feed-forward first": walk(x, [bend, mix] * L),
        "applying attention L times and then feed-forward L times": walk(x, [mix] * L + [bend] * L),
        "leaving out the feed-forward half": walk(x, [mix] * L),
    }, weight=3)  # fmt: skip
    whole = isinstance(got, torch.Tensor) and got.shape == x.shape
    trial.need("returns a tensor as large as x", whole, "x[B,S,H] goes in and [B,S,H] comes out; is the return missing?")
    alone = untied_gradients(lambda ws: walk(x, [half for w in ws for half in (_mix(w), bend)]).square().sum(), mixes[0], L)
    gradient = trial.call(lambda: gradient_row(encoder(x).square().sum(), mixes[0]), name="lets autograd through")
    trial.equal("learns from all L applications", gradient, alone.sum(0).flatten(), {
        "giving each application weights of its own": alone[0].flatten(),
        "letting the last application alone learn; is there a detach() or no_grad()?": alone[-1].flatten(),
    }, weight=2)  # fmt: skip
    places = [tensor.data_ptr() for tensor in encoder.state_dict().values()]
    reason = f"{len(places)} names for {len(set(places))} tensors: keep the block once and go round L times, not [block] * L"
    trial.true("names each tensor once in its state_dict", len(places) == len(set(places)), reason)

    counts = [[len(half) for half in ask(share)[1:]] for share in ("attention", "ffn")]
    encoder, mixes, bends = ask("none")
    trial.equal("makes L blocks of the half that is not shared", [*counts, [len(mixes), len(bends)]], [[1, L], [L, 1], [L, L]], {
        "exchanging the halves: 'attention' is what is shared": [[L, 1], [1, L], [L, L]],
        "sharing by accident: [block] * L holds one block L times": [[1, 1]] * 3,
        "sharing nothing unless it is all": [[L, L]] * 3,
    }, weight=3)  # fmt: skip
    if not len(mixes) == len(bends) == L:
        raise Stop
    layers = [(_mix(mix), _bend(bend)) for mix, bend in zip(mixes, bends, strict=True)]
    trial.equal("applies each block once when nothing is shared", trial.call(encoder, x), walk(x, sum(layers, ())), {
        "applying the first layer L times": walk(x, layers[0] * L),
        "applying the last layer L times": walk(x, layers[-1] * L),
        "going through the layers backwards": walk(x, sum(layers[::-1], ())),
        "applying all attention blocks and then all feed-forward blocks": walk(x, sum(zip(*layers, strict=True), ())),
    })  # fmt: skip


class _Mix(nn.Module):
    """Stands for an attention block: adds a map of the tokens' mean. Its one parameter has the shape (4, 4)."""

    def __init__(self, trial: Trial):
        super().__init__()
        self.weight = nn.Parameter(trial.randn(4, 4) / 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _mix(self.weight)(x)


class _Bend(_Mix):
    """Stands for a feed-forward block: bends each number. Its one parameter has the shape (4,)."""

    def __init__(self, trial: Trial):
        super().__init__(trial)
        self.weight = nn.Parameter(trial.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _bend(self.weight)(x)


def _mix(weight: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x + x.mean(1, keepdim=True) @ weight


def _bend(weight: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x + torch.tanh(x * weight)


def _drawn(trial: Trial, choices: list):
    return choices[int(trial.randint(0, len(choices), 1))]


def _uneven(L: int, G: int) -> dict[str, list[int]]:
    """The group of each of L layers, by the usual mistakes when G does not divide L."""
    return {
        "rounding the size of a group down (i // (L // G)), which makes a group too many": [i // (L // G) for i in range(L)],
        "giving the whole rest to the last group": [min(i // (L // G), G - 1) for i in range(L)],
        "rounding the size of a group up": [i // math.ceil(L / G) for i in range(L)],
        "rounding i·G / L to the nearest whole number": [round(i * G / L) for i in range(L)],
        "making the first groups longer, as array_split does": [g for g in range(G) for _ in range(L // G + (g < L % G))],
    }


def _tells_apart(L: int, G: int) -> bool:
    """Whether the right plan and each of the mistakes are different."""
    plans = [[i * G // L for i in range(L)], *_uneven(L, G).values()]
    return len(set(map(tuple, plans))) == len(plans)


def _pairs(answered) -> list[tuple[int, int]] | None:
    try:
        return [(int(attention), int(ffn)) for attention, ffn in answered]
    except (TypeError, ValueError):
        return None


def _zip(attention, ffn) -> list[tuple[int, int]]:
    return list(zip(attention, ffn, strict=True))


def _twice(blocks) -> list[tuple[int, int]]:
    return [(block, block) for block in blocks]


def _groups(sizes: list[tuple[int, int]], group: Callable) -> list[list[tuple[int, int]]]:
    return [_twice(group(i, L, G) for i in range(L)) for L, G in sizes]
