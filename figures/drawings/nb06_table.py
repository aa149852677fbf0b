"""Drawing of notebook 06 that needs the paper's Table 5."""

from albert_paper.published import TABLES
from figures.drawings.palette import GREY, INK, PALE, SMALL, TARGET
from figures.drawings.style import box, canvas, line, text

TABLE = [[*row.values()] for row in TABLES["5"].values()]
COLUMNS = [*TABLES["5"]["none"]]
WIDTHS = (58, 50, 50, 50, 78, 78, 50, 50, 50, 50)
HEADS = (
    "trained\nwith",
    "MLM\nacc",
    "NSP\nacc",
    "SOP\nacc",
    "SQuAD\n1.1",
    "SQuAD\n2.0",
    "MNLI",
    "SST-2",
    "RACE",
    "Avg",
)
OWN, OTHER = 0.5, 0.0  # strengths of the fill
QUESTIONS = (
    (GREY, 0.25, "1", "Does the extra loss disturb MLM?", "MLM acc"),
    (TARGET, OWN, "2", "Does a model learn the task that it trains on?", "NSP and SOP"),
    (TARGET, OTHER, "3", "Does a model also solve the task that it never saw?", "NSP and SOP"),
    (GREY, 0.0, "4", "Is the model better on downstream tasks?", "last six columns"),
)


def written(value) -> str:
    """Return a cell as printed; SQuAD has F1 and exact match."""
    return "/".join(f"{part:.1f}" for part in value) if isinstance(value, tuple) else str(value)


def table5_map():
    """Table 5 answers four questions, and each question has its own cells."""
    rows = "; ".join(f"{row[0]}: " + ", ".join(map(written, row[1:])) for row in TABLE)
    drawing = canvas(
        372,
        "Table 5 of the paper, and which of its cells answers which question",
        f"Table 5 of the paper with three rows and nine columns of numbers. Columns: "
        f"{', '.join(COLUMNS[1:])}. {rows}. Fills and frames mark the cells of four "
        f"questions. Question 1, does the extra loss disturb MLM: the column MLM acc. Question 2, "
        f"does a model learn the task that it trains on: NSP on NSP and SOP on SOP, filled in "
        f"dark. Question 3, does a model also solve the task that it never saw: NSP on SOP and "
        f"SOP on NSP, framed. Question 4, is the model better on downstream tasks: the last six "
        f"columns. The two cells of the row none under NSP and SOP are not marked; both are near "
        f"50, which is chance level.",
    )
    left = [18 + sum(WIDTHS[:i]) for i in range(len(WIDTHS))]
    for x, width, head in zip(left, WIDTHS, HEADS, strict=True):
        text(drawing, x + width / 2, 40, head, SMALL, weight="bold")
    line(drawing, [(18, 66), (582, 66)], INK, 1.5)
    box(drawing, left[4], 72, sum(WIDTHS[4:]), 120, GREY, radius=3, line=1.5, strength=0)
    for j, row in enumerate(TABLE):
        y = 74 + 40 * j
        for i, (x, width, value) in enumerate(zip(left, WIDTHS, row, strict=True)):
            order_task = COLUMNS[i] in ("NSP acc", "SOP acc") and row[0] != "none"
            own = COLUMNS[i].startswith(row[0])
            if i == 1:
                box(drawing, x + 2, y, width - 4, 34, GREY, radius=3, line=1, strength=0.25)
            elif order_task:
                box(
                    drawing,
                    x + 2,
                    y,
                    width - 4,
                    34,
                    TARGET,
                    radius=3,
                    line=2.5,
                    strength=OWN if own else OTHER,
                )
            text(
                drawing,
                x + width / 2,
                y + 17,
                written(value),
                SMALL,
                weight="bold" if i == 0 else "normal",
            )
    line(drawing, [(18, 206), (582, 206)], PALE, 2)
    for k, (colour, strength, number, question, cells) in enumerate(QUESTIONS):
        y = 220 + 36 * k
        box(drawing, 18, y, 34, 28, colour, number, SMALL, "bold", 3, 2, strength)
        text(drawing, 64, y + 14, question, SMALL, anchor="start")
        text(drawing, 582, y + 14, cells, SMALL, anchor="end")
    return drawing


DRAWINGS = (table5_map,)
