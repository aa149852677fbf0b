"""Cards of notebook 08: cycles, rest; how layers move and turn; how rough a curve is.

Their known mistakes are edits in mistakes/08.txt.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine.asking import part_of
from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check


def cycle_length(path: Tensor, tolerance: float) -> int:
    """``cycle_length(path[T,H], tolerance)``: the smallest p from 1 on for which the last state is
    closer than ``tolerance`` to the state p applications before it, and 0 if there is none."""
    distances = (path[:-1].flip(0) - path[-1]).norm(dim=-1)
    return next((p for p, distance in enumerate(distances, 1) if distance < tolerance), 0)


def _cycle_length_cases(draw: Draw) -> Cases:
    period = draw.integer(3, 6)
    far = 20 * F.normalize(draw.randn(6, 3))
    yield Case("is 1 for a path at rest", (torch.cat([far, far[:1].expand(5, 3)]), 0.1))
    yield Case(
        "finds a cycle",
        inputs=(torch.cat([far[:period], far[:1]]), 0.1),
        weight=2.0,
    )
    yield Case("is 0 when the last state is new", (torch.cat([far[:1], far]), 0.1))
    near = torch.tensor([[0, 0], [9, 9], [0.3, 0.3], [0.4, 0.4], [0, 0.6], [0, 0]])
    yield Case("takes the first L2 distance below the tolerance", (near, 0.5))
    edge = torch.tensor([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0]])
    yield Case("wants to be closer than the tolerance, not as close", (edge, 0.5))


check_cycle_length = make_check("notebook 08.1", cycle_length, _cycle_length_cases)


def equilibrium(f: Callable, x: Tensor, tolerance: float, limit: int) -> Tensor | None:
    """``equilibrium(f, x[N,H], tolerance, limit) -> z[N,H]``: z = f(z, x), from z = 0 on, until
    every row moves by less than ``tolerance``; None if it takes more than ``limit`` times."""
    z = torch.zeros_like(x)
    for _ in range(limit):
        z, last = f(z, x), z
        if (z - last).norm(dim=-1).max() < tolerance:
            return z
    return None


def _equilibrium_cases(draw: Draw) -> Cases:
    x = F.normalize(draw.randn(4, 2))
    turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
    rates = torch.tensor([[0.2], [0.95], [0.2], [0.2]])

    yield Case(
        "waits for the slowest token",
        inputs=(lambda z, x: rates * z + x, x, 0.01, 500),
        atol=2e-5,
    )
    yield Case("never rests on a circle", (lambda z, x: z @ turn if z.any() else x, x, 0.01, 500))
    yield Case("gives up after the limit", (lambda z, x: x, x, 0.01, 1))
    yield Case(
        "looks at each token by itself",
        inputs=(lambda z, x: 0.9 * z + x, torch.full((4, 2), 0.7), 0.01, 500),
        atol=2e-5,
    )
    one = torch.tensor([[1.0, 0.0]])
    yield Case("wants less than the tolerance, not as much", (lambda z, x: x, one, 1.0, 1))
    yield Case("goes as far as the limit", (lambda z, x: x, x, 0.01, 2))


check_equilibrium = make_check("notebook 08.2", equilibrium, _equilibrium_cases)


def layer_similarity(hidden_states: Sequence[Tensor], attention_mask: Tensor) -> tuple:
    """``similarity(hidden_states, attention_mask) -> (distances[L], degrees[L])``. The list
    ``hidden_states`` holds what goes into layer 1 and what comes out of each of the L layers,
    [B,S,H]. For each layer the L2 distance between its input and its output, and the angle between
    them in degrees, also where it is as small as 0.01 (float32 has not digits enough); both for
    each token and then averaged over tokens. Left out are padding, where the int64
    ``attention_mask[B,S]`` is 0 and not 1, and [CLS], the first token of each sequence."""
    used = attention_mask.bool() & (torch.arange(attention_mask.shape[1]) > 0)
    states = torch.stack(list(hidden_states)).double()
    x, y = states[:-1], states[1:]  # L B S H
    distances = (y - x).norm(dim=-1)
    cosines = F.cosine_similarity(x, y, dim=-1).clamp(-1, 1)
    degrees = cosines.arccos().rad2deg()
    distances, degrees = (values[:, used].mean(1) for values in (distances, degrees))
    return distances, degrees


def _walk(draw: Draw) -> tuple[list[Tensor], Tensor]:
    """Hidden states of some layers, and a mask with padding in two of three sequences."""
    states = 0.7 * draw.randn(draw.integer(4, 7), 3, 7, 5).cumsum(0)
    mask = torch.arange(7) < torch.tensor([[7], [4], [5]])
    return list(states), mask.long()


def _layer_similarity_cases(draw: Draw) -> Cases:
    states, mask = _walk(draw)
    distances = part_of(0)
    degrees = part_of(1)
    x = draw.randn(2, 60, 7)
    no_padding = torch.ones(2, 60, dtype=torch.long)
    near = [x, *(x + 2e-4 * draw.randn(5, 2, 60, 7).cumsum(0))]
    yield Case(
        "measures the distance of each layer",
        inputs=(states, mask),
        weight=3.0,
        ask=distances,
    )
    yield Case(
        "measures the angle of each layer",
        inputs=(states, mask),
        weight=3.0,
        ask=degrees,
    )
    yield Case(
        "gives 0 degrees ahead and 180 back",
        inputs=([x, 2 * x, -x], no_padding),
        ask=degrees,
        atol=0.1,
    )
    yield Case(
        "sees hundredths of a degree",
        inputs=(near, no_padding),
        ask=degrees,
        atol=1e-4,
    )


check_layer_similarity = make_check("assignment 08.4", layer_similarity, _layer_similarity_cases)


def update_cosine(hidden_states: Sequence[Tensor], attention_mask: Tensor) -> Tensor:
    """``update_cosine(hidden_states, attention_mask) -> cosines[L-1]``: do the vectors swing back?
    The list ``hidden_states`` holds what goes into layer 1 and what comes out of each of the L
    layers, [B,S,H]. An update is a token's vector behind a layer minus that before it. For each two
    successive updates the cosine between them, 0 where one of them has length 0, averaged over
    tokens. Left out are padding, where the int64 ``attention_mask[B,S]`` is 0 and not 1, and [CLS],
    the first token of each sequence."""
    used = attention_mask.bool() & (torch.arange(attention_mask.shape[1]) > 0)
    updates = torch.stack(list(hidden_states)).double().diff(dim=0)
    y = updates[1:]  # L-1 B S H
    x = updates[:-1]
    cosines = F.cosine_similarity(x, y, dim=-1, eps=1e-30)
    return cosines[:, used].mean(1)


def _update_cosine_cases(draw: Draw) -> Cases:
    states, mask = _walk(draw)
    still = [*states, states[-1], states[-1] + 0.7 * draw.randn(*states[0].shape)]
    yield Case(
        "is the cosine between one update and the next",
        inputs=(states, mask),
        weight=3.0,
    )
    yield Case("is 0 where a layer moves nothing", (still, mask))
    tiny = [1e-2 * state for state in states]
    yield Case("is the same for small updates", inputs=(tiny, mask), atol=1e-3)


check_update_cosine = make_check("assignment 08.6", update_cosine, _update_cosine_cases)


def roughness(angles: Tensor) -> tuple[Tensor, Tensor]:
    """``roughness(angles[L]) -> (second_difference, changes)``: how rough a curve is from step 2
    on; step 1, which starts at an embedding that is not normed, is left out. First the mean of the
    absolute second differences, then how often the curve changes from falling to rising or back.
    ``angles`` is a float tensor; L is at least 4."""
    curve = angles[1:].double()
    bends = curve.diff(n=2)
    slopes = curve.diff()
    bend = bends.abs().mean()
    changes = (slopes[1:] * slopes[:-1] < 0).sum()
    return bend, changes


def _roughness_cases(draw: Draw) -> Cases:
    L = draw.integer(9, 14)
    angles = 20 + 5 * draw.randn(L)

    def changes(answer, *curves):
        """How often each curve changes its direction."""
        return [answer(curve)[1] for curve in curves]

    valley = (torch.arange(L) - 4.0) ** 2  # a bottom and no top
    curves = [*5 * draw.randn(8, L).cumsum(1), -valley, valley]  # one may be right by chance
    yield Case(
        "averages the absolute second differences",
        inputs=(angles,),
        weight=3.0,
        ask=part_of(0),
    )
    yield Case(
        "counts the changes of direction",
        inputs=tuple(curves),
        weight=2.0,
        ask=changes,
    )
    yield Case("finds the mirrored curve as rough", inputs=(90 - angles,), atol=1e-4)
    yield Case("takes no rest for a turn", (torch.tensor([9.0, 8, 6, 6, 6, 5, 3]),))
    yield Case("takes the shortest curve", (torch.tensor([9.0, 8, 6, 7]),))


check_roughness = make_check("assignment 08.5", roughness, _roughness_cases)
