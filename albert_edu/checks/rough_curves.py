"""Card of notebook 08: how rough a curve is."""

from collections.abc import Iterator

import torch
from torch import Tensor

from albert_edu.checks.asking import need, tensor
from albert_edu.checks.engine import Case, Draw, card


def roughness(angles: Tensor) -> tuple[Tensor, int]:
    """``roughness(angles[L]) -> (second_difference, changes)``: how rough a curve is from step 2
    on; step 1, which starts at an embedding that is not normed, is left out. First the mean of the
    absolute second differences, then how often the curve changes from falling to rising or back.
    ``angles`` is a float tensor; L is at least 4."""
    curve = angles[1:].double()
    bends = curve.diff(n=2)
    slopes = curve.diff()
    return bends.abs().mean(), (slopes[1:] * slopes[:-1] < 0).sum()


def _curves(draw: Draw) -> Iterator[Case]:
    L = draw.integer(9, 14)
    angles = 20 + 5 * draw.randn(L)

    def both(answer, angles):
        found = answer(angles)
        need(len(found) == 2, "asked for: the second difference, then the changes")
        return torch.stack([tensor(one).double().reshape(()) for one in found])

    def bends(answer, angles):
        return both(answer, angles)[0]

    def changes(answer, *curves):
        return torch.stack([both(answer, curve)[1] for curve in curves])

    curves = [5 * draw.randn(L).cumsum(0) for _ in range(8)]  # one count may be right by chance
    curves.append(-((torch.arange(L) - 4.0) ** 2))  # a top and no bottom
    curves.append((torch.arange(L) - 4.0) ** 2)
    yield Case("averages the absolute second differences", (angles,), 3.0, bends)
    yield Case("counts the changes of direction", tuple(curves), 2.0, changes)
    yield Case("finds a straight line smooth", (0.5 * torch.arange(L) + 3,), 1.0, both, 1e-4,
               "one slope throughout is smooth: its second differences are 0, and it never turns")
    yield Case("finds the mirrored curve as rough", (90 - angles,), 1.0, both, 1e-4,
               "how high a curve lies, and which way up, makes it neither rough nor smooth")
    yield Case("takes no rest for a turn", (torch.tensor([9.0, 8, 6, 6, 6, 5, 3]),), 1.0, both,
               reason="this one falls, rests, and falls on; it turns where one slope is above 0 "
                      "and the other below")
    yield Case("takes the shortest curve", (torch.tensor([9.0, 8, 6, 7]),), 1.0, both)


MEAN, COUNT = "bends.abs().mean() => ", "slopes[1:] * slopes[:-1] < 0).sum() => "
check_roughness = card("08.5", roughness, _curves, {
    "counting step 1 in": "angles[1:] => angles",
    "leaving out step 2 as well": "angles[1:] => angles[2:]",
    "leaving out the last step": "angles[1:] => angles[1:-1]",
    "taking first differences": "curve.diff(n=2) => curve.diff()",
    "averaging with the signs, so that bends up and down cancel": MEAN + "bends.mean()",
    "squaring the second differences": MEAN + "bends.square().mean()",
    "taking the median of the second differences": MEAN + "bends.abs().median()",
    "taking the largest second difference": MEAN + "bends.abs().max()",
    "adding up instead of averaging": MEAN + "bends.abs().sum()",
    "dividing by L; there are L - 3 second differences": MEAN + "bends.abs().sum() / len(angles)",
    "counting the steps that rise": COUNT + "slopes > 0).sum()",
    "counting the places where the slope is another one":
        COUNT + "slopes[1:] != slopes[:-1]).sum()",
    "counting where second differences change their sign":
        COUNT + "bends[1:] * bends[:-1] < 0).sum()",
    "counting the tops only": COUNT + "(slopes[1:] < 0) & (slopes[:-1] > 0)).sum()",
    "dividing by the number of places": COUNT + "slopes[1:] * slopes[:-1] < 0).double().mean()",
    "taking a rest for a turn: this one falls, rests, and falls on":
        COUNT + "slopes[1:] * slopes[:-1] <= 0).sum()",
    "measuring the height: how high a curve lies, and which way up, makes it neither rough nor "
    "smooth": MEAN + "bends.abs().mean() / curve.mean()",
    "swapping the two results": lambda angles: roughness(angles)[::-1],
})
