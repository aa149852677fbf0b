"""Drawings of notebook 10: where the FLOPs are, what sharing saves, and what is sent."""

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters, flops_per_token, training_memory
from figures.drawings.palette import GRADIENT, GREY, INK, PALE, SMALL, STATE, WEIGHT
from figures.drawings.style import arrow, box, canvas, line, text

BASE = AlbertConfig.named("albert-base-v2")
SEPARATE = BASE.replace(share="none")
B, S, K = 8, 512, 20  # sequences, tokens in each, masked positions in each


def layer_flops(S: int) -> dict[str, int]:
    """Return the FLOPs of one layer for one token, by part, and check them with the library."""
    H, F = BASE.hidden_size, BASE.ffn_size
    parts = {"projections": 8 * H * H, "scores": 4 * S * H, "feed-forward": 4 * H * F}
    projection = 2 * BASE.embedding_size * H
    assert flops_per_token(BASE, S) == BASE.num_layers * sum(parts.values()) + projection
    return parts


def flops_of_a_layer():
    """In both bars the feed-forward block needs most FLOPs, and only the part 4SH grows with S."""
    lengths = (128, 512)
    found = {length: layer_flops(length) for length in lengths}
    shares = {
        length: [round(100 * part / sum(parts.values())) for part in parts.values()]
        for length, parts in found.items()
    }
    total = {length: sum(parts.values()) / 1e6 for length, parts in found.items()}
    drawing = canvas(
        344,
        "Where the FLOPs of one ALBERT-base layer go",
        f"Two horizontal bars, drawn to scale: the FLOPs of one layer of ALBERT-base for one "
        f"token. Upper bar, S = {lengths[0]}, {total[128]:.1f} million FLOPs: attention "
        f"projections {shares[128][0]}%, scores and weighted sums {shares[128][1]}%, feed-forward "
        f"block {shares[128][2]}%. Lower bar, S = {lengths[1]}, {total[512]:.1f} million FLOPs: "
        f"{shares[512][0]}%, {shares[512][1]}%, {shares[512][2]}%. Only the part of the "
        f"scores and weighted sums grows with S.",
    )
    scale = 556 / sum(found[512].values())
    colours = (
        ("projections", WEIGHT, 0.25),
        ("scores", STATE, 0.45),
        ("feed-forward", WEIGHT, 0.6),
    )
    for y, length in ((44, 128), (156, 512)):
        text(
            drawing,
            22,
            y - 20,
            f"S = {length}: {total[length]:.1f} million FLOPs per token",
            16,
            anchor="start",
            weight="bold",
        )
        x = 22
        for (name, colour, strength), share in zip(colours, shares[length], strict=True):
            width = round(found[length][name] * scale, 1)
            words = f"{share}%" if width > 40 else ""
            box(drawing, x, y, width, 50, colour, words, 16, radius=0, line=1.5, strength=strength)
            if not words:
                text(drawing, x + width / 2, y + 62, f"{share}%", SMALL)
            x += width
    formulas = (
        "Q, K, V and output projections: 8 H^{2}",
        "attention scores and weighted sums: 4 S H",
        "feed-forward block: 16 H^{2}",
    )
    for i, ((_, colour, strength), words) in enumerate(zip(colours, formulas, strict=True)):
        box(drawing, 22, 232 + 32 * i, 22, 22, colour, radius=3, line=1.5, strength=strength)
        text(drawing, 56, 243 + 32 * i, words, anchor="start")
    text(drawing, 578, 243, f"H = {BASE.hidden_size}", anchor="end")
    return drawing


def what_sharing_saves():
    """Sharing divides the parameters by almost eight, and leaves FLOPs and activations the same."""
    rows = []
    for name, unit, of in (
        ("parameters", "million", lambda c: count_parameters(c).total / 1e6),
        ("FLOPs per token, forward pass", "million", lambda c: flops_per_token(c, S) / 1e6),
        (
            "activations for the backward pass",
            "GB",
            lambda c: training_memory(c, B, S, K).activations / 1e9,
        ),
    ):
        rows.append((name, unit, of(SEPARATE), of(BASE)))
    assert 7.5 < rows[0][2] / rows[0][3] < 8 and all(a == b for *_, a, b in rows[1:])
    said = "; ".join(
        f"{name}: {a:.1f} {unit} separate, {b:.1f} {unit} shared" for name, unit, a, b in rows
    )
    drawing = canvas(
        426,
        "What sharing saves in ALBERT-base, and what it does not save",
        f"Three groups of two horizontal bars: twelve separate layers above one shared layer, "
        f"both of ALBERT-base size. {said}. Only the shared bar of the parameters is shorter; in "
        f"the other two groups both bars are equally long. The activations are those of {B} "
        f"sequences of {S} tokens.",
    )
    for i, (name, unit, separate, shared) in enumerate(rows):
        y = 20 + i * 124
        text(drawing, 16, y, name, 16, anchor="start", weight="bold")
        for j, (words, value) in enumerate((("separate", separate), ("shared", shared))):
            top = y + 18 + 38 * j
            width = round(value / separate * 380, 1)
            colour = WEIGHT if i == 0 else STATE if i == 2 else GREY
            text(drawing, 16, top + 15, words, anchor="start")
            box(
                drawing, 96, top, width, 30, colour, radius=2, line=1.5, strength=0.6 if j else 0.25
            )
            text(drawing, 96 + width + 8, top + 15, f"{value:.1f} {unit}", SMALL, anchor="start")
    text(
        drawing,
        300,
        402,
        f"ALBERT-base, {BASE.num_layers} applications; {B} sequences of {S} tokens",
        SMALL,
    )
    return drawing


def all_reduce_traffic():
    """With a shared layer, a twelfth of the encoder's bytes is sent, at the end of the backward
    pass.
    """
    L = BASE.num_layers
    sent = [4 * count_parameters(config).encoder / 1e6 for config in (SEPARATE, BASE)]
    assert round(sent[0] / sent[1]) == L
    drawing = canvas(
        378,
        "When the gradients of the layers are sent between the workers",
        f"Two timelines for ALBERT-base, from left to right. Upper, {L} separate layers: the "
        f"backward pass goes from application {L} to application 1; as soon as one is finished, "
        f"its gradient of {sent[1]:.0f} MB is sent while the next application is computed; the "
        f"last one is sent after the end. All together are {sent[0]:.0f} MB. Lower, one shared "
        f"layer: the backward pass is the same, nothing is sent while it runs, and after "
        f"application 1 one gradient of {sent[1]:.0f} MB is sent.",
    )
    x0, step, width = 92, 35, 31
    first = f"{L} separate layers of ALBERT-base: {sent[0]:.0f} MB of gradients"
    second = f"one shared layer: {sent[1]:.0f} MB of gradients"
    for top, name, separate in ((20, first, True), (190, second, False)):
        text(drawing, 16, top, name, 16, anchor="start", weight="bold")
        text(drawing, 16, top + 41, "compute", SMALL, anchor="start")
        text(drawing, 16, top + 97, "send", SMALL, anchor="start")
        for i in range(L):
            x = x0 + i * step
            box(drawing, x, top + 24, width, 34, WEIGHT, L - i, SMALL, radius=3, line=1.5)
            if separate or i == L - 1:
                wider = 0 if separate else 10
                box(
                    drawing,
                    x + step,
                    top + 80,
                    width + wider,
                    34,
                    GRADIENT,
                    L - i if separate else "sum",
                    SMALL,
                    radius=3,
                    line=1.5,
                    dashed=True,
                )
                arrow(
                    drawing,
                    [(x + width / 2 + 4, top + 58), (x + step + 8, top + 80)],
                    GRADIENT,
                    1.5,
                    dashed=True,
                )
        if not separate:
            text(drawing, x0 + 5.5 * step, top + 97, "nothing can be sent yet", SMALL)
    text(drawing, 578, 150, f"each box: {sent[1]:.0f} MB", SMALL, anchor="end")
    line(drawing, [(16, 170), (584, 170)], PALE, 2)
    arrow(drawing, [(x0, 338), (584, 338)], INK, 1.5)
    text(
        drawing,
        x0,
        358,
        "time: the backward pass goes from the last application to the first",
        SMALL,
        anchor="start",
    )
    return drawing


DRAWINGS = (flops_of_a_layer, what_sharing_saves, all_reduce_traffic)
