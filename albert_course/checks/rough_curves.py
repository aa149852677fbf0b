"""Card of notebook 08: how rough a curve is."""

import torch
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def roughness(angles: Tensor) -> tuple[Tensor, int]:
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


def _curves(draw: Draw) -> Cases:
    L = draw.integer(9, 14)
    angles = 20 + 5 * draw.randn(L)

    def bends(answer, angles):
        return answer(angles)[0]

    def changes(answer, *curves):
        return [answer(curve)[1] for curve in curves]

    curves = [5 * draw.randn(L).cumsum(0) for _ in range(8)]  # one count may be right by chance
    curves.append(-((torch.arange(L) - 4.0) ** 2))  # a top and no bottom
    curves.append((torch.arange(L) - 4.0) ** 2)
    yield Case("averages the absolute second differences", (angles,), 3.0, bends)
    yield Case("counts the changes of direction", tuple(curves), 2.0, changes)
    yield Case("finds a straight line smooth", (0.5 * torch.arange(L) + 3,), atol=1e-4)
    yield Case("finds the mirrored curve as rough", (90 - angles,), atol=1e-4)
    yield Case("takes no rest for a turn", (torch.tensor([9.0, 8, 6, 6, 6, 5, 3]),))
    yield Case("takes the shortest curve", (torch.tensor([9.0, 8, 6, 7]),))


check_roughness = card(
    "08.5",
    roughness,
    _curves,
    {
        "counting step 1 in": "curve = angles.double()",
        "leaving out step 2 as well": "curve = angles[2:].double()",
        "leaving out the last step": "curve = angles[1:-1].double()",
        "taking first differences": "bends = curve.diff()",
        "averaging with the signs, so that bends up and down cancel": "bend = bends.mean()",
        "squaring the second differences": "bend = bends.square().mean()",
        "taking the median of the second differences": "bend = bends.abs().median()",
        "taking the largest second difference": "bend = bends.abs().max()",
        "adding up instead of averaging": "bend = bends.abs().sum()",
        "dividing by L; there are L - 3 second differences": "bend = bends.abs().sum() / len(angles)",
        "counting the steps that rise": "changes = (slopes > 0).sum()",
        "counting the places where the slope is another one": "changes = (slopes[1:] != slopes[:-1]).sum()",
        "counting where second differences change their sign": "changes = (bends[1:] * bends[:-1] < 0).sum()",
        "counting the tops only": "changes = ((slopes[1:] < 0) & (slopes[:-1] > 0)).sum()",
        "dividing by the number of places": "return bend, changes / (len(slopes) - 1)",
        "taking a rest for a turn: this one falls, rests, and falls on": "changes = (slopes[1:] * slopes[:-1] <= 0).sum()",
        "measuring the height: how high a curve lies makes it neither rough nor smooth": "bend = bends.abs().mean() / curve.mean()",
        "swapping the two results": "return changes, bend",
    },
)
