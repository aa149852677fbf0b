"""Rows of tokens, each in a box as wide as its letters."""

from figures.drawings.palette import GREY, SMALL
from figures.drawings.style import box


def token_width(token, size=SMALL) -> int:
    """Return the width of a box that holds the token, from rough widths of the letters."""
    share = (0.3 if c in "fijlrt.,[]" else 0.72 if c.isupper() else 0.58 for c in token)
    return round(13 + size * sum(share))


def token_row(drawing, x, y, tokens, colours=None, widths=None, height=30, gap=4):
    """Draw tokens as boxes from left to right and return the (left, width) of each box.

    ``colours`` holds one colour per token; without it all boxes are grey. Without ``widths`` each
    box is as wide as its token.
    """
    frames = []
    for i, token in enumerate(tokens):
        width = widths[i] if widths else token_width(token)
        box(
            drawing,
            x,
            y,
            width,
            height,
            colours[i] if colours else GREY,
            token,
            SMALL,
            radius=4,
            line=1.5,
        )
        frames.append((x, width))
        x += width + gap
    return frames
