"""Drawings of notebook 08: the two measurements, and three kinds of paths."""

import math
from itertools import pairwise

from figures.drawings.palette import GREY, INK, LARGE, PALE, SMALL, STATE
from figures.drawings.style import arrow, box, canvas, circle, line, text


def distance_and_angle(before, after) -> tuple[float, float]:
    """Return the L2 distance and the angle in degrees between two vectors of a plane."""
    cosine = sum(map(math.prod, zip(before, after, strict=True)))
    cosine /= math.hypot(*before) * math.hypot(*after)
    return math.dist(before, after), math.degrees(math.acos(min(1, cosine)))


def distance_beside_angle():
    """A layer can turn a vector, or make it longer; the angle sees only the turn."""
    cases = (((3, 4), (4, 3), "The vector turns."), ((3, 4), (6, 8), "The vector grows."))
    found = [distance_and_angle(before, after) for before, after, _ in cases]
    drawing = canvas(
        398,
        "What the L2 distance and the angle between input and output measure",
        f"Two planes with vectors from the origin. Left, the vector turns: the input (3, 4) and "
        f"the output (4, 3) both have length 5. The segment between their tips is the L2 "
        f"distance, {found[0][0]:.2f}, and the arc between them is the angle, {found[0][1]:.1f} "
        f"degrees. Right, the vector grows: the output (6, 8) points in the same direction as "
        f"the input (3, 4) and is twice as long; both are drawn side by side. The distance is "
        f"{found[1][0]:.0f} and the angle is {found[1][1]:.0f} degrees.",
    )
    unit, base = 32, 324
    for x, (before, after, heading), (distance, angle) in zip((40, 350), cases, found, strict=True):
        text(drawing, x + 110, 20, heading, LARGE, weight="bold")
        line(drawing, [(x, base - 280), (x, base), (x + 236, base)], GREY, 1.5)
        tips = [(x + a * unit, base - b * unit) for a, b in (before, after)]
        if angle > 1:
            arrow(drawing, [(x, base), tips[0]], GREY)
            arrow(drawing, [(x, base), tips[1]], STATE)
            line(drawing, tips, INK, 3)
            start, end = (math.atan2(b, a) for a, b in (before, after))
            turns = [start + (end - start) * i / 8 for i in range(9)]
            line(drawing, [(x + 78 * math.cos(t), base - 78 * math.sin(t)) for t in turns], INK, 2)
            text(drawing, x + 66, base - 34, "angle", SMALL, anchor="start")
            text(drawing, tips[0][0], tips[0][1] - 14, f"input {before}", SMALL)
            text(drawing, tips[1][0] + 8, tips[1][1] + 8, f"output {after}", SMALL, anchor="start")
            text(drawing, tips[0][0] + 28, tips[0][1] + 6, "distance", SMALL, anchor="start")
        else:
            arrow(drawing, [(x - 5, base - 4), (tips[1][0] - 5, tips[1][1] - 4)], STATE)
            arrow(drawing, [(x + 5, base + 4), (tips[0][0] + 5, tips[0][1] + 4)], GREY)
            line(drawing, [(a + 5, b + 4) for a, b in tips], INK, 3)
            text(
                drawing, tips[0][0] + 16, tips[0][1] + 12, f"input {before}", SMALL, anchor="start"
            )
            text(drawing, tips[1][0] - 18, tips[1][1] - 4, f"output {after}", SMALL, anchor="end")
            text(drawing, tips[0][0] + 70, tips[0][1] - 56, "distance", SMALL, anchor="start")
        text(drawing, x + 110, base + 26, f"distance {distance:.2f}", weight="bold")
        text(drawing, x + 110, base + 50, f"angle {angle:.1f}°", weight="bold")
    return drawing


def three_paths(steps=12):
    """Steps of equal length can go there and back or round in a circle; a path that converges has
    steps that shrink to 0.
    """
    stride, turn = 0.5, 2 * math.pi / 6
    paths = {
        "converges": [
            (0.8 * 0.72**t * math.cos(0.7 * t), 0.8 * 0.72**t * math.sin(0.7 * t))
            for t in range(steps + 1)
        ],
        "there and back": [(stride / 2 * (-1) ** t, 0.0) for t in range(steps + 1)],
        "goes round": [
            (stride * math.cos(turn * t), stride * math.sin(turn * t)) for t in range(steps + 1)
        ],
    }
    moves = {name: [math.dist(a, b) for a, b in pairwise(path)] for name, path in paths.items()}
    drawing = canvas(
        362,
        "Three paths in the plane and the length of each of their steps",
        f"Three columns, each with the path of a point above and a bar for the length of each of "
        f"its {steps} steps below. Left, converges: the path is a spiral that ends in a point, "
        f"and the bars shrink towards 0. Middle, there and back: the path jumps between two "
        f"points, and all bars are equally long. Right, goes round: the path goes round a hexagon "
        f"again and again, and the bars are as long as in the middle. So the bars do not tell the "
        f"middle path "
        f"from the right one.",
    )
    for x, (name, path) in zip((105, 300, 495), paths.items(), strict=True):
        text(drawing, x, 22, name, LARGE, weight="bold")
        points = [(round(x + 78 * a, 1), round(104 - 78 * b, 1)) for a, b in path]
        for start, end in pairwise(points):
            if math.dist(start, end) > 9:
                arrow(drawing, [start, end], STATE, 2)
            else:
                line(drawing, [start, end], STATE, 2)
        circle(drawing, *points[0], 5, INK)
        line(drawing, [(x - 84, 282), (x + 84, 282)], INK, 1.5)
        for i, length in enumerate(moves[name]):
            high = round(80 * length / max(moves["converges"]), 1)
            box(
                drawing,
                x - 82 + 14 * i,
                282 - high,
                10,
                high,
                STATE,
                radius=0,
                line=1,
                strength=0.5,
            )
        text(drawing, x, 300, "step 1 to 12", SMALL)
    text(drawing, 16, 186, "length of each step", anchor="start", weight="bold")
    text(
        drawing,
        398,
        334,
        "The same bars, but one path is back\nafter 2 steps and the other after 6.",
    )
    line(drawing, [(202, 40), (202, 304)], PALE, 1.5)
    line(drawing, [(398, 40), (398, 304)], PALE, 1.5)
    return drawing


DRAWINGS = (distance_beside_angle, three_paths)
