"""One colour for each kind of thing, in every drawing of the course.

A drawing uses at most three of these colours, plus ink and greys. Greys are for text, token ids,
frames, and everything that has no colour of its own (for example optimizer averages). Words are
always written in ink, because the lighter colours are hard to read as text.
"""

# Okabe-Ito colours, which colour-blind readers can tell apart.
WEIGHT = "#0072B2"  # weights, parameters, and the modules that hold them
STATE = "#009E73"  # hidden states and other activations, and the arrows that carry them
GRADIENT = "#D55E00"  # gradients, always dashed
TARGET = "#CC79A7"  # masked positions, labels, predictions, losses
SEGMENT_A = "#56B4E9"  # first segment of a pair
SEGMENT_B = "#E69F00"  # second segment of a pair
INK, GREY, PALE, PAPER = "#1A1A1A", "#767676", "#E6E6E6", "#FFFFFF"

WIDTH, MARGIN = 600, 16
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SMALL, BODY, LARGE = 14, 15, 18  # font sizes in pixels; no word is smaller than SMALL,
SCRIPT = 12  # and no subscript or superscript is smaller than this


def tint(colour: str, strength: float = 0.15) -> str:
    """Mix a colour with white, so that a filled shape stays opaque. The strength counts in percent.

    >>> tint("#000000", 0.5)
    '#808080'
    """
    strength = round(strength, 2)
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (c - 255) * strength):02x}" for c in channels)
