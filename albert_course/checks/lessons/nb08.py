"""Cards of notebook 08: an angle from a chord, the length of a cycle, the state of rest."""

from collections.abc import Callable

import torch
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def angle_of_chord(distance: Tensor, r: float) -> Tensor:
    """``angle_of_chord(distance, r)``: the angles in degrees between pairs of vectors of length r
    whose L2 distances are ``distance``, a tensor of any shape."""
    return torch.rad2deg(2 * torch.arcsin(distance / (2 * r)))


def _chords(draw: Draw) -> Cases:
    distances = torch.linspace(0.5, 3.9, 6) + 0.09 * draw.randn(6).sin().abs()  # up to 2r
    for name, r in (("turns distances into degrees", 4.5), ("holds for large angles", 2.0)):
        yield Case(name, (distances.reshape(1, 2, 3), r), atol=1e-3)


check_angle_of_chord = card(
    "08.1",
    angle_of_chord,
    _chords,
    {
        "returning radians, not degrees": "torch.rad2deg => torch.asarray",
        "returning half of the angle": "(2 * torch => (torch",
        "taking the chord for an arc": "return torch.rad2deg(distance / r)",
    },
)


def cycle_length(path: Tensor, tolerance: float) -> int:
    """``cycle_length(path[T,H], tolerance)``: the smallest p from 1 on for which the last state is
    closer than ``tolerance`` to the state p applications before it, and 0 if there is none."""
    distances = (path[:-1].flip(0) - path[-1]).norm(dim=-1)
    return next((p for p, distance in enumerate(distances, 1) if distance < tolerance), 0)


def _paths(draw: Draw) -> Cases:
    period, far = draw.integer(3, 6), 20 * torch.nn.functional.normalize(draw.randn(6, 3))
    yield Case("is 1 for a path at rest", (torch.cat([far, far[:1].expand(5, 3)]), 0.1))
    yield Case("finds a cycle", (torch.cat([far[:period], far[:1]]), 0.1), 2.0)
    yield Case("is 0 when the last state is new", (torch.cat([far[:1], far]), 0.1))
    near = torch.tensor([[0, 0], [9, 9], [0.3, 0.3], [0.4, 0.4], [0, 0.6], [0, 0]])
    yield Case("takes the first L2 distance below the tolerance", (near, 0.5))


check_cycle_length = card(
    "08.2",
    cycle_length,
    _paths,
    {
        "comparing the last state with itself (p = 0)": ("[:-1] => ", ", 1) => , 0)"),
        "returning the oldest state that is close: the smallest p is wanted": ".flip(0) => ",
        "comparing with the first state, not with the last": "- path[-1] => - path[0]",
    },
)


def equilibrium(f: Callable, x: Tensor, tolerance: float, limit: int) -> Tensor | None:
    """``equilibrium(f, x[N,H], tolerance, limit) -> z[N,H]``: z = f(z, x), from z = 0 on, until
    every row moves by less than ``tolerance``; None if it takes more than ``limit`` times."""
    z = torch.zeros_like(x)
    for _ in range(limit):
        z, last = f(z, x), z
        if (z - last).norm(dim=-1).max() < tolerance:
            return z
    return None


def _maps(draw: Draw) -> Cases:
    x, turn = draw.randn(4, 2), torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
    rates = torch.tensor([[0.2], [0.95], [0.2], [0.2]])
    for name, f, limit in (
        ("waits for the slowest token", lambda z, x: rates * z + x, 500),
        ("never rests on a circle", lambda z, x: z @ turn if z.any() else x, 500),
        ("gives up after the limit", lambda z, x: x, 1),
        ("goes as far as the limit", lambda z, x: x, 2),
    ):
        yield Case(name, (f, x / x.norm(dim=-1, keepdim=True), 0.01, limit), atol=2e-5)


check_equilibrium = card(
    "08.3",
    equilibrium,
    _maps,
    {
        "letting x enter only once, as the start": (
            "zeros_like(x) => clone(x)",
            "f(z, x) => f(z, 0 * x)",
        ),
        "stopping with the fastest token": ".max() => .min()",
        "returning a state that has not come to rest": "return z",
        "stopping once before the limit": "range(limit) => range(limit - 1)",
    },
)
