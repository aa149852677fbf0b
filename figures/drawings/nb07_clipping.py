"""Drawing of notebook 07: the length of a gradient."""

import math

import torch

from albert_paper.published import TRAINING
from figures.drawings.palette import GRADIENT, GREY, INK, SMALL
from figures.drawings.style import arrow, canvas, circle, text


def gradient_clipping():
    """Clipping shortens a gradient that is longer than the limit and keeps its direction."""
    limit = TRAINING["clip_norm"]
    pairs = []
    for gradient in ((2.0, 1.5), (0.3, 0.4)):
        parameter = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
        parameter.grad = torch.tensor(gradient, dtype=torch.float64)
        torch.nn.utils.clip_grad_norm_([parameter], limit)
        pairs.append((gradient, [round(value, 4) for value in parameter.grad.tolist()]))
    (long, clipped), (short, same) = pairs
    assert list(short) == same
    lengths = [math.hypot(*vector) for vector in (long, clipped, short)]
    drawing = canvas(
        372,
        "Gradient clipping at length 1",
        f"Two planes, each with a circle of radius {limit:.0f} around the origin. Left: a dashed "
        f"gradient arrow points to ({long[0]:g}, {long[1]:g}) and has length {lengths[0]:g}. A "
        f"second, thick arrow in the same direction ends on the circle at ({clipped[0]:g}, "
        f"{clipped[1]:g}) and has length {lengths[1]:.0f}; this is the clipped gradient. Right: "
        f"a gradient to ({short[0]:g}, {short[1]:g}) has length {lengths[2]:g}, ends inside the "
        f"circle, and stays as it is.",
    )
    unit = 104
    for x, heading in (
        (120, f"longer than {limit:.0f}: shortened"),
        (452, f"shorter than {limit:.0f}: unchanged"),
    ):
        text(drawing, x + 22, 22, heading, 16, weight="bold")
    for x, y in ((130, 236), (450, 236)):
        circle(drawing, x, y, unit, GREY)
        text(drawing, x, y + unit + 20, f"circle of radius {limit:.0f}", SMALL)
    x, y = 130, 236
    arrow(drawing, [(x, y), (x + long[0] * unit, y - long[1] * unit)], GRADIENT, dashed=True)
    arrow(drawing, [(x, y), (x + clipped[0] * unit, y - clipped[1] * unit)], INK, 4)
    text(drawing, x + 140, y - 156, f"gradient,\nlength {lengths[0]:g}", anchor="end")
    text(
        drawing,
        x + clipped[0] * unit + 30,
        y - 34,
        f"clipped,\nlength {lengths[1]:.0f}",
        anchor="start",
    )
    x = 450
    arrow(drawing, [(x, y), (x + short[0] * unit, y - short[1] * unit)], GRADIENT, dashed=True)
    text(drawing, x, y - 66, f"length {lengths[2]:g}")
    return drawing


DRAWINGS = (gradient_clipping,)
