"""Drawings of notebook 07: the loop, and one LAMB step."""

import torch

from albert_edu.training.lamb import Lamb
from albert_paper.published import TRAINING
from figures.drawings.palette import GRADIENT, GREY, SMALL, STATE, WEIGHT
from figures.drawings.style import arrow, box, canvas, grid, text

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
    return {"w": w, "u": u, "step": step, "ratio": ratio.item()}


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
        330,
        "One LAMB step of one weight matrix",
        f"Three stages. First, a weight matrix w = {spoken('w', 0)} of length {w_norm:.0f}, and "
        f"beside it its direction u = {spoken('u', 2)} of length {u_norm:.2f}. Second, the trust "
        f"ratio is the length of w divided by the length of u, which is {found['ratio']:.2f}. "
        f"Third, the step is the rate {RATE} times the trust ratio times u. Its length is "
        f"{step_norm:.2f}, which is {RATE:.0%} of {w_norm:.0f}.",
    )
    left, middle, right = 110, 300, 490
    cell = (62, 30)

    def matrix(x, name, digits, colour, heading, length):
        text(drawing, x, 24, heading, weight="bold")
        grid(drawing, x - 62, 40, 2, 2, cell, colour, rows(name, digits), SMALL)
        text(drawing, x, 122, length)

    matrix(left, "w", 0, WEIGHT, "weights w", f"length ‖w‖ = {w_norm:.0f}")
    matrix(right, "u", 2, GREY, "direction u", f"length ‖u‖ = {u_norm:.2f}")
    ratio = f"trust ratio\n‖w‖ / ‖u‖ = {found['ratio']:.2f}"
    box(drawing, middle - 82, 34, 164, 72, GREY, ratio, 16, "bold")
    arrow(drawing, [(left + 62, 70), (middle - 82, 70)], WEIGHT)
    arrow(drawing, [(right - 62, 70), (middle + 82, 70)], GREY)
    arrow(drawing, [(middle, 106), (middle, 156)], GREY)
    step = f"step = rate × trust ratio × u\n= {RATE} × {found['ratio']:.2f} × u"
    box(drawing, 136, 158, 328, 66, GREY, step, 16)
    arrow(drawing, [(middle, 224), (middle, 264)], GREY)
    end = f"w moves by {step_norm:.2f}, which is {RATE:.0%} of its length {w_norm:.0f}"
    box(drawing, 80, 266, 440, 46, WEIGHT, end, 16, "bold")
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


DRAWINGS = (training_loop, lamb_step)
