"""Drawings of notebook 07: the loop, one LAMB step, and the rate."""

import torch

from albert_edu.training.lamb import Lamb
from albert_paper.published import TRAINING
from figures.drawings.palette import GRADIENT, GREY, INK, PALE, SMALL, STATE, WEIGHT
from figures.drawings.style import arrow, box, canvas, grid, line, text

RATE = 0.01


def lamb_numbers() -> dict:
    """Compute the first LAMB step of a 2 x 2 matrix, and check it against the library's class."""
    w = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
    g = torch.tensor([[0.5, -0.005], [-0.02, 0.1]], dtype=torch.float64)
    (beta1, beta2), eps = TRAINING["betas"], TRAINING["eps"]
    decay = TRAINING["weight_decay"]
    m, v = (1 - beta1) * g, (1 - beta2) * g**2
    u = m / (v.sqrt() + eps) + decay * w
    ratio = w.norm() / u.norm()
    step = RATE * ratio * u
    parameter = torch.nn.Parameter(w.clone())
    parameter.grad = g
    Lamb([parameter], lr=RATE, betas=(beta1, beta2), eps=eps, weight_decay=decay).step()
    torch.testing.assert_close(parameter.data, w - step)
    return {
        "w": w,
        "g": g,
        "u": u,
        "step": step,
        "new": w - step,
        "ratio": ratio.item(),
        "beta1": beta1,
        "beta2": beta2,
        "decay": decay,
    }


def lamb_step():
    """LAMB makes the length of a step a fixed share of the length of the weights."""
    found = lamb_numbers()
    w_norm, u_norm, step_norm = (found[name].norm().item() for name in ("w", "u", "step"))

    def rows(name, digits):
        return [
            [(f"{value:.{digits}f}" if digits else f"{value:g}").replace("-", "−") for value in row]
            for row in found[name].tolist()
        ]

    def spoken(name, digits):
        return "(" + "; ".join(", ".join(row) for row in rows(name, digits)) + ")"

    drawing = canvas(
        462,
        "One LAMB step of one weight matrix",
        f"Four stages. First, the gradient g is {spoken('g', 0)}. The averages "
        f"are m = {1 - found['beta1']:.1f} g and v = {1 - found['beta2']:.3f} g squared. Second, "
        f"the update u = m / (√v + ε) + {found['decay']} w is {spoken('u', 2)}: all "
        f"four numbers have about the same size, although the gradients differ by a factor of "
        f"100. Third, the length of the weights w = {spoken('w', 0)} is {w_norm:.0f} and the "
        f"length of u is {u_norm:.2f}, so the trust ratio is {found['ratio']:.2f}. Fourth, the "
        f"step is {RATE} times the trust ratio times u; its length is {step_norm:.2f}, which is "
        f"{RATE:.0%} of {w_norm:.0f}.",
    )
    left, middle, right = 88, 300, 512
    cell = (62, 30)

    def matrix(x, y, name, digits, colour, heading):
        grid(drawing, x - 62, y, 2, 2, cell, colour, rows(name, digits), SMALL)
        text(drawing, x, y - 16, heading, weight="bold")

    matrix(left, 40, "g", 0, GRADIENT, "gradient g")
    box(
        drawing,
        middle - 82,
        40,
        164,
        60,
        GREY,
        f"m = {1 - found['beta1']:.1f} g\nv = {1 - found['beta2']:.3f} g^{{2}}",
        16,
    )
    text(drawing, middle, 24, "running averages", weight="bold")
    matrix(right, 40, "u", 2, GREY, "update u")
    arrow(drawing, [(left + 62, 70), (middle - 82, 70)], GRADIENT, dashed=True)
    arrow(drawing, [(middle + 82, 70), (right - 62, 70)], GREY)
    text(drawing, right, 120, f"m / (√v + ε) + {found['decay']} w", SMALL)
    matrix(left, 182, "w", 0, WEIGHT, "weights w")
    text(drawing, left, 262, f"length ‖w‖ = {w_norm:.0f}")
    text(drawing, right, 212, f"length\n‖u‖ = {u_norm:.2f}")
    box(
        drawing,
        middle - 82,
        176,
        164,
        72,
        GREY,
        f"trust ratio\n‖w‖ / ‖u‖ = {found['ratio']:.2f}",
        16,
        "bold",
    )
    arrow(drawing, [(left + 62, 212), (middle - 82, 212)], WEIGHT)
    arrow(drawing, [(right - 52, 212), (middle + 82, 212)], GREY)
    arrow(drawing, [(right, 134), (right, 192)], GREY)
    arrow(drawing, [(middle, 248), (middle, 296)], GREY)
    box(
        drawing,
        136,
        298,
        328,
        66,
        GREY,
        f"step = learning rate × trust ratio × u\n= {RATE} × {found['ratio']:.2f} × u",
        16,
    )
    arrow(drawing, [(middle, 364), (middle, 402)], GREY)
    box(
        drawing,
        96,
        404,
        408,
        46,
        WEIGHT,
        f"w moves by {step_norm:.2f}, which is {RATE:.0%} of its length {w_norm:.0f}",
        16,
        "bold",
    )
    return drawing


def learning_rate_schedule():
    """The learning rate rises for 2.5% of the steps and then falls linearly to 0."""
    peak, steps = TRAINING["learning_rate"], TRAINING["steps"]
    warmup, batch = TRAINING["warmup_steps"], TRAINING["batch_size"]
    assert round(100 * warmup / steps, 1) == 2.5
    drawing = canvas(
        400,
        "The paper's learning rate over all steps of pre-training",
        f"A line over the steps of pre-training, from 0 to {steps:,}, drawn to scale. The "
        f"learning rate starts at 0, rises in a straight and very steep line to its peak {peak} "
        f"at step {warmup:,}, which is the end of the warm-up, and then falls in a straight line "
        f"to 0 at step {steps:,}. A lens shows the first {2 * warmup:,} steps magnified: the "
        f"rise takes half of the lens. The batch has {batch:,} sequences.",
    )
    x0, y0, width, height = 76, 350, 490, 290

    def at(step, rate):
        return x0 + step / steps * width, y0 - rate / peak * height

    line(drawing, [(x0, 30), (x0, y0), (584, y0)], INK, 1.5)
    top = at(warmup, peak)
    line(drawing, [(x0, top[1]), top], PALE, 1.5)
    line(drawing, [at(0, 0), top, at(steps, 0)], STATE, 3)
    text(drawing, x0 - 8, y0, "0", SMALL, anchor="end")
    text(drawing, x0 - 8, top[1], f"{peak}", SMALL, anchor="end")
    text(drawing, x0, 20, "learning rate", SMALL)
    text(drawing, x0, y0 + 18, "0", SMALL)
    text(drawing, x0 + width, y0 + 18, f"{steps:,}", SMALL)
    text(drawing, x0 + width / 2, y0 + 36, "step of pre-training", SMALL)
    text(drawing, 250, 212, "linear decay", turn=30.5)
    left, base, wide, high = 382, 158, 184, 90
    box(drawing, left - 26, 26, 228, 168, GREY, line=1.5, strength=0.04)
    text(drawing, left + 88, 46, f"the first {2 * warmup:,} steps", SMALL, weight="bold")
    line(drawing, [(left, base - high), (left, base), (left + wide, base)], INK, 1.5)
    fall = (steps - 2 * warmup) / (steps - warmup)
    line(
        drawing,
        [(left, base), (left + wide / 2, base - high), (left + wide, base - fall * high)],
        STATE,
        3,
    )
    line(drawing, [(left + wide / 2, base), (left + wide / 2, base - high)], PALE, 1.5)
    text(drawing, left + wide / 2 + 6, base - 42, "warm-up\nends", SMALL, anchor="start")
    text(drawing, left, base + 18, "0", SMALL)
    text(drawing, left + wide / 2, base + 18, f"{warmup:,}", SMALL)
    arrow(drawing, [(left - 26, 50), (x0 + 24, 58)], GREY, 1.5)
    return drawing


def training_loop():
    """The four stations of the loop, and beside each what can be wrong without an error."""
    drawing = canvas(
        330,
        "The training loop",
        "Four boxes on a circle, joined by arrows: a batch leads to the loss, the loss leads to "
        "the gradient, the gradient leads to a step of the weights, and the step leads back to "
        "the next batch. Beside each box is a question. Batch: are these the right labels? Loss: "
        "which baseline is it below? Gradient: does it reach every half of the model? Step: is "
        "the rate too high for a cold start?",
    )
    width, height = 130, 48
    stations = (
        (60, 40, STATE, "batch", "are these\nthe right labels?"),
        (410, 40, STATE, "loss", "which baseline\nis it below?"),
        (410, 220, GRADIENT, "gradient", "does it reach\nevery half of the model?"),
        (60, 220, WEIGHT, "step", "is the rate too high\nfor a cold start?"),
    )
    for x, y, colour, name, question in stations:
        dashed = colour == GRADIENT
        box(drawing, x, y, width, height, colour, name, 16, "bold", dashed=dashed)
        text(drawing, x + width / 2, y + height + 26, question, SMALL)
    arrow(drawing, [(190, 64), (410, 64)], STATE)
    arrow(drawing, [(540, 64), (576, 64), (576, 244), (540, 244)], GRADIENT, dashed=True, curve=20)
    arrow(drawing, [(410, 244), (190, 244)], GRADIENT, dashed=True)
    arrow(drawing, [(60, 244), (24, 244), (24, 64), (60, 64)], WEIGHT, curve=20)
    text(drawing, 300, 46, "through the model", SMALL)
    text(drawing, 300, 226, "optimizer", SMALL)
    text(drawing, 300, 154, "800 times", SMALL, weight="bold")
    return drawing


DRAWINGS = (training_loop, lamb_step, learning_rate_schedule)
