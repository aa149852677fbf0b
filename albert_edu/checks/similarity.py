"""Checks of notebook 08: how far a layer moves its input, how smooth that curve is, and whether the path swings back."""

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_edu.checks.report import brief
from albert_edu.checks.trial import Trial, exercise

VOTE = "[CLS] or padding has a vote: leave them out before you average"


@exercise("08.4")
def check_layer_similarity(answer, trial: Trial) -> None:
    """``similarity(hidden_states, attention_mask) -> (distances[L], degrees[L])``. The list ``hidden_states`` holds what goes into
    layer 1 and what comes out of each of the L layers, [B,S,H]. For each layer the L2 distance between its input and its output,
    and the angle between them in degrees, also where it is as small as 0.01 (float32 has not digits enough); both for each token
    and then averaged over tokens. Left out are padding, where the int64 ``attention_mask[B,S]`` is 0 and not 1, and [CLS], the
    first token of each sequence."""
    states, keep = _walk(trial)
    ask, tokens = functools.partial(_ask, answer, trial, ("distances", "degrees")), _tokens(keep)
    distance, degrees = ask(states, keep, shape=(len(states) - 1,))
    lengths, cosines = _each(_distance, states), _each(_cosine, states)  # L B S
    averaged = [state[tokens].mean(0) for state in states]  # H
    from_start = [(states[0], state) for state in states[1:]]
    trial.equal("measures the distance of each layer", distance, lengths[:, tokens].mean(1), _averages(lengths, keep) | {
        "taking the distance of the averages instead of the average distance": _each(_distance, averaged),
        "squaring the distance": lengths[:, tokens].square().mean(1),
        "adding absolute differences up (L1)": _each(lambda x, y: (y - x).abs().sum(-1), states)[:, tokens].mean(1),
        "dividing by the root of H": lengths[:, tokens].mean(1) / math.sqrt(states[0].shape[-1]),
        "comparing lengths instead of vectors":
            _each(lambda x, y: (y.norm(dim=-1) - x.norm(dim=-1)).abs(), states)[:, tokens].mean(1),
        "measuring from h₀ each time": torch.stack([_distance(*pair)[tokens].mean() for pair in from_start]),
    }, weight=3)  # fmt: skip
    radians = cosines.arccos()
    expected = radians[:, tokens].mean(1).rad2deg()
    right = trial.equal("measures the angle of each layer", degrees, expected, _averages(radians.rad2deg(), keep) | {
        "leaving the angle in radians, as arccos gives it": radians[:, tokens].mean(1),
        "using deg2rad where rad2deg is needed": radians[:, tokens].mean(1).deg2rad(),
        "returning the cosine, which is high where the angle is small": cosines[:, tokens].mean(1),
        "averaging the cosines before the arccos": cosines[:, tokens].mean(1).arccos().rad2deg(),
        "taking the angle of the averages instead of the average angle": _each(_cosine, averaged).arccos().rad2deg(),
        "measuring from h₀ each time": torch.stack([_cosine(*pair)[tokens].arccos().mean().rad2deg() for pair in from_start]),
    }, weight=3)  # fmt: skip

    moved = torch.cat(ask(_loud(trial, states, tokens), keep, shape=distance.shape))
    trial.equal("does not move when [CLS] and padding do", moved, torch.cat([distance, degrees]), reason=VOTE)
    x, everyone = trial.randn(2, 60, 7), torch.ones(2, 60, dtype=torch.long)
    _, turned = ask([x, 2 * x, -x], everyone, shape=(2,))
    reason = "rounding takes a cosine past 1, and the arccos of that is NaN: clamp it to [-1, 1] first"
    trial.equal("gives 0 degrees straight ahead, 180 straight back", turned, torch.tensor([0.0, 180.0]), atol=0.1,
                reason=reason if turned.isnan().any() else "")  # fmt: skip
    near = [x]
    for _ in range(5):  # one average may be right by chance
        near.append(near[-1] + 2e-4 * trial.randn(2, 60, 7))
    _, small = ask(near, everyone, shape=(5,))
    reason = "float32 has no digits left for a cosine this near to 1: .double() the states before you multiply"
    expected = _each(_cosine, near)[:, :, 1:].arccos().rad2deg().mean((1, 2))
    trial.equal("sees hundredths of a degree", small, expected, atol=1e-4, reason=reason if right else "")


@exercise("08.5")
def check_roughness(answer, trial: Trial) -> None:
    """``roughness(angles[L]) -> (second_difference, changes)``: how rough a curve is from step 2 on; step 1, which starts at an
    embedding that is not normed, is left out. First the mean of the absolute second differences, then how often the curve changes
    from falling to rising or back. ``angles`` is a float tensor; L is at least 4."""
    ask = functools.partial(_ask, answer, trial, ("the second difference", "the changes"), shape=())
    L = int(trial.randint(9, 14, 1))
    angles = 20 + 5 * trial.randn(L)
    rough, changes = ask(angles)
    bends = angles[1:].double().diff(n=2)
    trial.equal("averages the absolute second differences", rough, bends.abs().mean(), {
        "counting step 1 in": angles.double().diff(n=2).abs().mean(),
        "leaving out step 2 as well": bends[1:].abs().mean(),
        "taking first differences": angles[1:].diff().abs().mean(),
        "averaging with the signs, so that bends up and down cancel": bends.mean(),
        "averaging with the signs and taking the absolute value afterwards": bends.mean().abs(),
        "squaring the second differences": bends.square().mean(),
        "taking the root of the mean square": bends.square().mean().sqrt(),
        "adding up instead of averaging": bends.abs().sum(),
        "dividing by L; there are L - 3 second differences": bends.abs().sum() / L,
        "dividing by L - 1; there are L - 3 second differences": bends.abs().sum() / (L - 1),
    }, weight=3)  # fmt: skip
    curves = [5 * trial.randn(L).cumsum(0) for _ in range(8)]  # one count may be right by chance
    curves.append(-((torch.arange(L) - 4.0) ** 2))  # a top and no bottom
    counts = torch.stack([ask(curve)[1] for curve in curves])
    trial.equal("counts the changes of direction", counts, _counts(_turns, curves), {
        "counting step 1 in": _counts(lambda a: _turns(torch.cat([a[:1], a])), curves),
        "counting the pieces between the changes": _counts(_turns, curves) + 1,
        "counting the steps that rise": _counts(lambda a: a[1:].diff() > 0, curves),
        "counting the steps that fall": _counts(lambda a: a[1:].diff() < 0, curves),
        "counting the places where the slope is another one": torch.full((9,), L - 3),
        "counting where second differences change their sign": _counts(lambda a: _turns(a.diff()), curves),
        "counting the tops only": _counts(lambda a: _turns(a) & (a[2:].diff() < 0), curves),
        "counting the bottoms only": _counts(lambda a: _turns(a) & (a[2:].diff() > 0), curves),
        "dividing by the number of places": _counts(_turns, curves) / (L - 3),
    }, weight=2)  # fmt: skip
    line = torch.stack(ask(0.5 * torch.arange(L) + int(trial.randint(1, 9, 1))))
    reason = "one slope throughout is smooth: its second differences are 0, and it never turns"
    trial.equal("finds a straight line smooth", line, torch.zeros(2), reason=reason)
    mirrored = torch.stack(ask(90 - angles))
    reason = "how high a curve lies, and which way up, makes it neither rough nor smooth"
    trial.equal("finds the mirrored curve as rough", mirrored, torch.stack([rough, changes]), reason=reason)
    _, rests = ask(torch.tensor([9.0, 8, 6, 6, 6, 5, 3]))
    reason = "this one falls, rests, and falls on; it turns where one slope is above 0 and the other below"
    trial.equal("takes no rest for a turn", rests, torch.tensor(0), reason=reason)


@exercise("08.6")
def check_turn_cosine(answer, trial: Trial) -> None:
    """``update_cosine(hidden_states, attention_mask) -> cosines[L-1]``: do the vectors swing back? The list ``hidden_states`` holds
    what goes into layer 1 and what comes out of each of the L layers, [B,S,H]. A step is a token's vector behind a layer minus
    that before it. For each two successive steps the cosine between them, 0 where one of them has length 0, averaged over tokens.
    Left out are padding, where the int64 ``attention_mask[B,S]`` is 0 and not 1, and [CLS], the first token of each sequence."""
    states, keep = _walk(trial)
    ask, tokens = functools.partial(_ask, answer, trial, ("cosines",)), _tokens(keep)
    (got,) = ask(states, keep, shape=(len(states) - 2,))
    steps = [y.double() - x for x, y in pairwise(states)]
    turns, between = _each(_cosine, steps), _each(_cosine, states)[:, tokens].mean(1)
    trial.equal("is the cosine between one step and the next", got, turns[:, tokens].mean(1), _averages(turns, keep) | {
        "comparing states instead of steps": between[1:],
        "comparing states instead of steps, from h₀ on": between[:-1],
        "comparing each step with the first": torch.stack([_cosine(steps[0], step)[tokens].mean() for step in steps[1:]]),
        "comparing each step with the state that it starts from":
            torch.stack([_cosine(*pair)[tokens].mean() for pair in zip(states[1:-1], steps[1:], strict=True)]),
        "averaging the steps before comparing them": _each(_cosine, [step[tokens].mean(0) for step in steps]),
        "taking one of the two steps backwards": -turns[:, tokens].mean(1),
        "not dividing by the lengths": _each(lambda x, y: (x * y).sum(-1), steps)[:, tokens].mean(1),
        "returning the angle in degrees": turns.arccos().rad2deg()[:, tokens].mean(1),
        "returning the angle in radians": turns.arccos()[:, tokens].mean(1),
        "taking the sign of the cosine away": turns.abs()[:, tokens].mean(1),
        "counting the tokens that swing back": (turns < 0)[:, tokens].double().mean(1),
        "comparing along dim=1, the default; a vector lies along dim=-1":
            F.cosine_similarity(*(torch.stack(part)[:, tokens] for part in (steps[:-1], steps[1:])), dim=1).mean(1),
    }, weight=3)  # fmt: skip
    (moved,) = ask(_loud(trial, states, tokens), keep, shape=got.shape)
    trial.equal("does not move when [CLS] and padding do", moved, got, reason=VOTE, weight=2)
    x, step, everyone = trial.randn(2, 5, 4), trial.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.long)
    (path,) = ask([x, x + step, x + 3 * step, x + step], everyone, shape=(2,))
    reason = "two steps the same way have the cosine 1, there and back has -1, however long they are"
    trial.equal("gives 1 for going on and -1 for turning back", path, torch.tensor([1.0, -1.0]), reason=reason)
    (rest,) = ask([x, x + step, x + step], everyone, shape=(1,))
    reason = "0 / 0: a step of length 0 has no direction; divide by at least something small"
    trial.equal("gives 0 where nothing moves any more", rest, torch.zeros(1), reason=reason if rest.isnan().any() else "")


def _walk(trial: Trial) -> tuple[list[Tensor], Tensor]:
    """Hidden states of a few layers, and an attention mask with padding of different lengths."""
    B, S, H = 3, 7, 5
    lengths = torch.from_numpy(trial.numpy.permutation([S, 5, 3]))
    states = [trial.randn(B, S, H)]
    for _ in range(int(trial.randint(3, 6, 1))):
        states.append(states[-1] + 0.7 * trial.randn(B, S, H))
    return states, (torch.arange(S) < lengths[:, None]).long()


def _tokens(keep: Tensor) -> Tensor:
    """True on what is averaged over: not padding, not [CLS]."""
    return keep.bool() & (torch.arange(keep.shape[1]) > 0)


def _loud(trial: Trial, states: Sequence[Tensor], tokens: Tensor) -> list[Tensor]:
    """The states with other vectors where nobody looks."""
    return [torch.where(tokens[..., None], state, 9 * trial.randn(*state.shape)) for state in states]


def _each(measure: Callable[[Tensor, Tensor], Tensor], vectors: Sequence[Tensor]) -> Tensor:
    """The measure between each two neighbours."""
    return torch.stack([measure(x.double(), y.double()) for x, y in pairwise(vectors)])


def _distance(x: Tensor, y: Tensor) -> Tensor:
    return (y.double() - x).norm(dim=-1)


def _cosine(x: Tensor, y: Tensor) -> Tensor:
    return F.cosine_similarity(x.double(), y.double(), dim=-1).clamp(-1, 1)


def _averages(values: Tensor, keep: Tensor) -> dict[str, Tensor]:
    """What values[N,B,S] come to in the mean over the wrong tokens, or in no mean."""
    tokens, rest = _tokens(keep), values[:, :, 1:]
    return {
        "letting padding vote": rest.flatten(1).mean(1),
        "letting [CLS] vote": values[:, keep.bool()].mean(1),
        "letting padding and [CLS] vote": values.flatten(1).mean(1),
        "looking at [CLS] alone": values[:, :, 0].mean(1),
        "averaging within each sequence first, so that a token of a short one counts more":
            ((values * tokens).sum(2) / tokens.sum(1)).mean(1),
        "zeroing padding and [CLS], but dividing by all places": (values * tokens).flatten(1).mean(1),
        "zeroing padding and [CLS], but dividing by the number of pieces with [CLS]": (values * tokens).sum((1, 2)) / keep.sum(),
        "adding up instead of averaging": values[:, tokens].sum(1),
        "indexing with a mask of integers, which picks rows 0 and 1; make it .bool()": values[:, tokens.long()].flatten(1).mean(1),
        "averaging over padding only": values[:, keep == 0].mean(1),
    }  # fmt: skip


def _turns(angles: Tensor) -> Tensor:
    """True where the curve changes direction, from step 2 on."""
    slopes = angles[1:].diff()
    return slopes[1:] * slopes[:-1] < 0


def _counts(holds: Callable[[Tensor], Tensor], curves: Sequence[Tensor]) -> Tensor:
    return torch.stack([holds(curve).sum() for curve in curves])


def _ask(answer, trial: Trial, names: Sequence[str], *inputs, shape: Sequence[int]) -> list[Tensor]:
    """The answered tensors, one for each name and all of that shape; the check ends if they are not there."""
    got = trial.call(answer, *inputs, name="runs without an error")
    try:
        found = [_tensor(one) for one in (got if len(names) > 1 else [got])]
    except (TypeError, ValueError, RuntimeError):
        found = []
    if len(found) != len(names):
        reason = "is the return missing?" if got is None else f"asked for: {', then '.join(names)}"
        trial.need(f"returns {' and '.join(names)}", False, reason, got=brief(got))
    for name, one in zip(names, found, strict=True):
        if one.shape != shape:
            trial.need(f"returns {name} of shape {tuple(shape)}", False, f"the shape is {tuple(one.shape)}")
    return found


def _tensor(answered) -> Tensor:
    if isinstance(answered, list | tuple):
        answered = [float(one) for one in answered]
    answered = torch.as_tensor(answered).detach().cpu()
    if answered.is_complex():
        raise TypeError
    return answered.double()
