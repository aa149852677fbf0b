"""Drawing of notebook 06: a sentence-order head on pairs of next-sentence prediction."""

from figures.drawings.palette import (
    GREY,
    INK,
    LARGE,
    SMALL,
    TARGET,
)
from figures.drawings.style import arrow, box, brace, canvas, text

IN_ORDER, OTHER = 0, 1  # the two labels of SOP and of NSP


def order_head_on_nsp(each=50, columns=10):
    """A head that sees order, and guesses where there is none, reaches 0.75 on NSP without
    topics.
    """
    right = {IN_ORDER: each, OTHER: each // 2}
    accuracy = sum(right.values()) / (2 * each)
    cell = 24
    drawing = canvas(
        354,
        "Why a perfect SOP head scores 0.75 on NSP without any topic",
        f"Two blocks of {each} squares, one square for each pair. Left block, label 0, true "
        f"neighbours: all {right[IN_ORDER]} squares are filled, because the neighbours are in "
        f"order and the head recognises order; the recall is {right[IN_ORDER] / each:.2f}. Right "
        f"block, label 1, random segments: {right[OTHER]} of {each} squares are filled, because "
        f"the pair has no order and the head guesses; the recall is {right[OTHER] / each:.2f}. "
        f"Together {sum(right.values())} of {2 * each} pairs are right, so the accuracy is "
        f"{accuracy:.2f}.",
    )
    for x, label, heading, reason in (
        (36, IN_ORDER, "label 0: true neighbours", "The head sees that they are in order."),
        (324, OTHER, "label 1: random segments", "They have no order, so the head guesses."),
    ):
        text(drawing, x + 120, 22, heading, 16, weight="bold")
        text(drawing, x + 120, 48, reason, SMALL)
        for i in range(each):
            filled = i < right[label]
            box(
                drawing,
                x + i % columns * cell + 2,
                70 + i // columns * cell,
                cell - 4,
                cell - 4,
                TARGET if filled else GREY,
                radius=2,
                line=1,
                strength=0.75 if filled else 0,
            )
        brace(
            drawing,
            (x, 194),
            (x + 240, 194),
            f"recall {right[label]} / {each} = {right[label] / each:.2f}",
            size=16,
        )
        arrow(drawing, [(x + 120, 238), (300 + (x - 180) * 0.35, 272)], INK, 2)
    box(
        drawing,
        130,
        274,
        340,
        36,
        TARGET,
        f"accuracy {sum(right.values())} / {2 * each} = {accuracy:.2f}",
        LARGE,
        "bold",
    )
    text(drawing, 300, 334, "filled square: right answer      empty square: wrong answer", SMALL)
    return drawing


DRAWINGS = (order_head_on_nsp,)
