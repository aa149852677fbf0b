"""Drawings of notebook 10: what the backward pass needs, and two ways to store less."""

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import training_memory
from figures.drawings.palette import GREY, LARGE, PALE, SMALL, STATE, WEIGHT
from figures.drawings.style import box, canvas, line, text

LARGE_MODEL = AlbertConfig.named("albert-large-v2")
B, S, K = 8, 512, 20  # sequences, tokens in each, masked positions in each

# What one layer stores for each token, in units of H, and what needs it in the backward pass.
STORED = (
    ("input of the layer", 1, "projections of q, k, v"),
    ("q, k, v", 3, "attention"),
    ("attention output", 1, "output projection"),
    ("first sum", 1, "first LayerNorm"),
    ("output of LayerNorm", 1, "W_{1} of the feed-forward"),
    ("before GELU", 4, "GELU"),
    ("after GELU", 4, "W_{2} of the feed-forward"),
    ("second sum", 1, "second LayerNorm"),
)


def stored_by_a_layer() -> int:
    """Return what one layer stores per token, in units of H, checked with the library."""
    units = sum(unit for _, unit, _ in STORED)
    found = training_memory(LARGE_MODEL, B, S, K).activations / LARGE_MODEL.num_layers
    assert found == 4 * B * S * LARGE_MODEL.hidden_size * units
    return units


def stored_for_backward():
    """One layer stores sixteen vectors of width H per token, half of them around the GELU."""
    units = stored_by_a_layer()
    said = "; ".join(
        f"{name}, {unit} H, needed by {user.replace('_{', '').replace('}', '')}"
        for name, unit, user in STORED
    )
    drawing = canvas(
        456,
        "What one layer stores for its backward pass",
        f"Eight rows from the input of a layer to its end. Each row has the name of a stored "
        f"activation, a bar for its size per token in units of H, and the operation that needs "
        f"it in the backward pass: {said}. The sizes add up to {units} H per token. The two bars "
        f"of the GELU are the longest.",
    )
    text(drawing, 160, 20, "stored activation", anchor="end", weight="bold")
    text(drawing, 176, 20, "numbers per token", anchor="start", weight="bold")
    text(drawing, 382, 20, "backward pass of", anchor="start", weight="bold")
    unit_width = 44
    for i, (name, unit, user) in enumerate(STORED):
        y = 42 + 44 * i
        text(drawing, 160, y + 17, name, anchor="end")
        for k in range(unit):
            box(
                drawing,
                176 + k * unit_width,
                y,
                unit_width,
                34,
                STATE,
                "H",
                SMALL,
                radius=0,
                line=1.5,
                strength=0.3,
            )
        box(drawing, 382, y, 202, 34, WEIGHT, user)
        if i < len(STORED) - 1:
            line(drawing, [(483, y + 34), (483, y + 44)], GREY, 2)
    text(
        drawing,
        300,
        412,
        f"together {units} H per token and layer application",
        LARGE,
        weight="bold",
    )
    text(drawing, 300, 438, "with fused attention and without dropout", SMALL)
    return drawing


def gradient_checkpointing():
    """Checkpointing stores only the input of each application and recomputes the rest."""
    units, L = stored_by_a_layer(), LARGE_MODEL.num_layers
    everything = training_memory(LARGE_MODEL, B, S, K).activations / 1e9
    inputs = everything / units
    more = everything / L - inputs / L  # its input is stored already
    drawing = canvas(
        456,
        "Gradient checkpointing in ALBERT-large, drawn to scale",
        f"Two rows of {L} columns, one for each layer application; the height of a column is "
        f"what is stored. Upper row, store everything: all columns are {units} units high, "
        f"together {everything:.2f} GB; the step costs one forward pass and a backward pass of "
        f"two, so 3. Lower row, gradient checkpointing: every column is 1 unit high, together "
        f"{inputs:.2f} GB; only the one application that is recomputed is {units} units high, "
        f"{more:.2f} GB more; the step costs one forward pass more, so 4.",
    )
    x0, step, unit = 22, 23, 6
    now = L - 7
    for top, heading, full in (
        (20, f"store everything: {everything:.2f} GB", True),
        (226, f"store inputs: {inputs:.2f} GB, and {more:.2f} GB more for one application", False),
    ):
        text(drawing, 16, top, heading, 16, anchor="start", weight="bold")
        base = top + 124
        for i in range(L):
            x = x0 + i * step
            high = units * unit if full or i == now else unit
            box(drawing, x, base - high, step - 4, high, STATE, radius=0, line=1, strength=0.35)
            if not full:
                box(drawing, x, base - unit, step - 4, unit, STATE, radius=0, line=1, strength=0.9)
            box(drawing, x, base + 4, step - 4, 18, WEIGHT, radius=3, line=1)
        cost = "1 + 2 backward = 3" if full else "1 + 1 recomputed + 2 backward = 4"
        text(drawing, 16, base + 42, f"cost of a step: {cost} forward passes", anchor="start")
    text(
        drawing,
        x0 + now * step - 8,
        296,
        "recomputed now, from its stored input",
        SMALL,
        anchor="end",
    )
    line(drawing, [(16, 204), (584, 204)], PALE, 2)
    text(
        drawing,
        16,
        434,
        f"blue: {L} applications of the layer; {B} sequences of {S} tokens",
        SMALL,
        anchor="start",
    )
    return drawing


DRAWINGS = (stored_for_backward, gradient_checkpointing)
