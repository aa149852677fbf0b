"""The shapes of the drawings: canvas, words, boxes, arrows, matrices, braces.

Every function takes the drawing first and draws into it; coordinates are pixels of a canvas that is
600 wide. The colours are in ``palette.py``.
"""

import math
import re
from html import escape

import drawsvg as svg

from figures.drawings.palette import (
    BODY,
    FONT,
    GREY,
    INK,
    LARGE,
    PAPER,
    SCRIPT,
    SMALL,
    STATE,
    WIDTH,
    tint,
)


def canvas(height: int, title: str, description: str) -> svg.Drawing:
    """Return an empty drawing, 600 pixels wide, with a title, a description and a white ground.

    The description is the alt text: a reader who cannot see can redraw the picture from it.
    """
    drawing = svg.Drawing(WIDTH, height, font_family=FONT, role="img")
    drawing.append(svg.Raw(f"<title>{escape(title, quote=False)}</title>"))
    drawing.append(svg.Raw(f"<desc>{escape(description, quote=False)}</desc>"))
    drawing.append(svg.Rectangle(0, 0, WIDTH, height, fill=PAPER))
    return drawing


def text(drawing, x, y, words, size=BODY, anchor="middle", weight="normal", fill=INK, turn=0):
    """Write words whose lines are centred on the height y.

    A line break starts a new line. ``W_{q}`` sets a subscript and ``K^{T}`` a superscript, both by
    shifting a smaller span, because some renderers lack the Unicode glyphs. ``turn`` rotates the
    words, in degrees, around (x, y).
    """
    lines = str(words).split("\n")
    for i, line in enumerate(lines):
        base = y + (i - (len(lines) - 1) / 2) * 1.25 * size + 0.35 * size
        parts = re.split(r"([_^]\{[^}]*\})", line)
        spans, shift = "", 0
        for part in filter(None, parts):
            target = {"_{": 0.22, "^{": -0.32}.get(part[:2], 0) * size
            inner = part[2:-1] if target else part
            small = f' font-size="{max(SCRIPT, 0.72 * size):g}"' if target else ""
            move = f' dy="{target - shift:g}"' if target != shift else ""
            inner = escape(inner)
            spans += f"<tspan{small}{move}>{inner}</tspan>" if small or move else inner
            shift = target
        rotate = f' transform="rotate({turn:g} {x:g} {y:g})"' if turn else ""
        bold = f' font-weight="{weight}"' if weight != "normal" else ""
        drawing.append(
            svg.Raw(
                f'<text x="{x:g}" y="{base:g}" font-size="{size:g}" text-anchor="{anchor}" '
                f'fill="{fill}"{bold}{rotate} xml:space="preserve">{spans}</text>'
            )
        )


def box(
    drawing,
    x,
    y,
    width,
    height,
    colour=GREY,
    words="",
    size=BODY,
    weight="normal",
    radius=6,
    line=2,
    strength=0.15,
    dashed=False,
):
    """Draw a rounded box, outlined in a colour and filled with its tint, with words in its middle.

    (x, y) is the upper left corner. Only gradients are dashed.
    """
    dash = {"stroke_dasharray": "6 4"} if dashed else {}
    drawing.append(
        svg.Rectangle(
            x,
            y,
            width,
            height,
            rx=radius,
            fill=tint(colour, strength),
            stroke=colour,
            stroke_width=line,
            **dash,
        )
    )
    if words != "":
        text(drawing, x + width / 2, y + height / 2, words, size, weight=weight)


def circle(drawing, x, y, radius, colour=STATE, words="", size=LARGE, dashed=False):
    """Draw a circle around (x, y) with words in its middle, for a single number or an operation."""
    dash = {"stroke_dasharray": "6 4"} if dashed else {}
    drawing.append(
        svg.Circle(x, y, radius, fill=tint(colour), stroke=colour, stroke_width=2, **dash)
    )
    if words != "":
        text(drawing, x, y, words, size)


def polygon(drawing, points, colour=GREY, strength=0.15):
    """Draw a closed shape through the points, outlined in a colour and filled with its tint."""
    coordinates = [round(number, 2) for point in points for number in point]
    drawing.append(
        svg.Lines(
            *coordinates,
            close=True,
            fill=tint(colour, strength),
            stroke=colour,
            stroke_width=2,
            stroke_linejoin="round",
        )
    )


def line(drawing, points, colour=INK, width=2, dashed=False, curve=0):
    """Draw a line through the points, whose corners are rounded with the radius ``curve``."""
    dash = {"stroke_dasharray": "6 4"} if dashed else {}
    path = svg.Path(stroke=colour, stroke_width=width, fill="none", stroke_linejoin="round", **dash)
    path.M(*points[0])
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(curve, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        path.L(*_towards(corner, before, radius)).Q(*corner, *_towards(corner, after, radius))
    path.L(*points[-1])
    drawing.append(path)


def arrow(drawing, points, colour=STATE, width=2.5, dashed=False, curve=0):
    """Draw an arrow along the points; its tip touches the last point. A gradient is dashed."""
    tip = points[-1]
    length = math.dist(points[-2], tip)
    neck = _towards(tip, points[-2], min(9, length))
    line(drawing, [*points[:-1], neck], colour, width, dashed, curve)
    dx, dy = (tip[0] - points[-2][0]) / length, (tip[1] - points[-2][1]) / length
    back = (tip[0] - 10 * dx, tip[1] - 10 * dy)
    corners = (back[0] - 5 * dy, back[1] + 5 * dx, back[0] + 5 * dy, back[1] - 5 * dx)
    drawing.append(svg.Lines(*(round(c, 2) for c in (*tip, *corners)), close=True, fill=colour))


def _towards(start, end, distance):
    """Return the point that lies ``distance`` from ``start`` on the way to ``end``."""
    share = distance / (math.dist(start, end) or 1)
    return tuple(round(a + share * (b - a), 2) for a, b in zip(start, end, strict=True))


def grid(
    drawing,
    x,
    y,
    rows,
    columns,
    cell=(24, 24),
    colour=STATE,
    values=None,
    size=BODY,
    strength=0.15,
    weight="normal",
):
    """Draw a matrix of rows x columns cells, and write ``values[row][column]`` into the cells.

    ``strength`` is the strength of the fill: one number, or a function of row and column.
    """
    width, height = cell
    for i in range(rows):
        for j in range(columns):
            fill = tint(colour, strength(i, j) if callable(strength) else strength)
            drawing.append(
                svg.Rectangle(
                    x + j * width,
                    y + i * height,
                    width,
                    height,
                    fill=fill,
                    stroke=colour,
                    stroke_width=1.5,
                )
            )
            if values is not None:
                text(
                    drawing,
                    x + (j + 0.5) * width,
                    y + (i + 0.5) * height,
                    values[i][j],
                    size,
                    weight=weight,
                )


def brace(drawing, start, end, words="", depth=14, size=SMALL, colour=INK, gap=6):
    """Draw a curly brace from start to end, and write words beyond its tip.

    Seen along the way from start to end, the tip points to the right if ``depth`` is positive
    (downwards for a brace drawn from left to right) and to the left if it is negative.
    """
    span = math.dist(start, end)
    ux, uy = (end[0] - start[0]) / span, (end[1] - start[1]) / span
    h = depth / 2
    q = min(abs(h), span / 4)

    def point(along, away):
        return (
            round(start[0] + along * ux - away * uy, 2),
            round(start[1] + along * uy + away * ux, 2),
        )

    path = svg.Path(stroke=colour, stroke_width=1.5, fill="none").M(*start)
    path.Q(*point(0, h), *point(q, h)).L(*point(span / 2 - q, h))
    path.Q(*point(span / 2, h), *point(span / 2, depth))
    path.Q(*point(span / 2, h), *point(span / 2 + q, h)).L(*point(span - q, h))
    path.Q(*point(span, h), *end)
    drawing.append(path)
    sign = 1 if depth > 0 else -1
    if abs(ux) > abs(uy):
        down = sign if ux > 0 else -sign
        x, y = point(span / 2, depth)
        text(drawing, x, y + down * (gap + 0.5 * size), words, size)
    else:
        left = sign if uy > 0 else -sign
        x, y = point(span / 2, depth)
        text(drawing, x - left * gap, y, words, size, anchor="end" if left > 0 else "start")


def legend(drawing, x, y, entries, gap=26, size=SMALL):
    """Write what each colour means, one (colour, words) pair per line; return the next free y."""
    for i, (colour, words) in enumerate(entries):
        middle = y + i * gap
        box(drawing, x, middle - 9, 18, 18, colour, radius=3, line=1.5)
        text(drawing, x + 28, middle, words, size, anchor="start")
    return y + len(entries) * gap
