"""Drawing of notebook 09: what each idea costs in the paper's averages."""

from albert_paper.published import TABLES
from figures.drawings.palette import INK, SMALL, TARGET
from figures.drawings.style import box, canvas, line, text


def millions(table: str, key) -> int:
    """Return the printed parameter count of a row in millions, 0 where a table has none."""
    return TABLES[table][key].get("params", 0)


def which_idea_costs_what():
    """In the paper's averages, sharing the feed-forward block costs most, and order prediction and
    more text gain about one point.
    """
    changes = (
        ("E from 768 to 128, not shared", "3", ("none", 768), ("none", 128)),
        ("share attention only", "4", (128, "none"), (128, "attention")),
        ("share feed-forward only", "4", (128, "none"), (128, "ffn")),
        ("share everything", "4", (128, "none"), (128, "all")),
        ("add NSP", "5", "none", "NSP"),
        ("add SOP", "5", "none", "SOP"),
        ("add more text", "7", "books and wikipedia", "additional"),
        ("remove dropout (xxlarge)", "8", "with", "without"),
        ("12 to 24 layers (xxlarge)", "13", 12, 24),
    )
    points = [
        round(TABLES[table][after]["Avg"] - TABLES[table][before]["Avg"], 1)
        for _, table, before, after in changes
    ]
    saved = [
        millions(table, after) - millions(table, before) for _, table, before, after in changes
    ]
    said = "; ".join(
        f"{name}, Table {table}, {count} million parameters: {gain:+.1f}"
        if count
        else f"{name}, Table {table}: {gain:+.1f}"
        for (name, table, *_), gain, count in zip(changes, points, saved, strict=True)
    )
    drawing = canvas(
        458,
        "Which idea costs what, in the averages of the paper's tables",
        f"Nine rows, each with a change, the number of its table, the change of the parameters in "
        f"millions where there is one, and a bar from a middle line to the left for a loss or to "
        f"the right for a gain of the average over five tasks, in points: {said}. The longest bars "
        f"to the left are sharing everything and sharing the feed-forward block; the longest to "
        f"the right is SOP. Each number is the difference of two printed averages, without an "
        f"interval. The rows about sharing are at E = 128.",
    )
    zero, unit, base = 494, 47, 408
    text(drawing, 16, 20, "change", anchor="start", weight="bold")
    text(drawing, 258, 20, "Table", weight="bold")
    text(drawing, 340, 20, "parameters", weight="bold")
    text(drawing, zero, 20, "points of the average", weight="bold")
    rows = enumerate(zip(changes, points, saved, strict=True))
    for i, ((name, table, *_), gain, count) in rows:
        y = 56 + 40 * i
        text(drawing, 16, y, name, anchor="start")
        text(drawing, 264, y, table)
        text(drawing, 330, y, f"{count}M".replace("-", "−") if count else "0")
        if gain:
            left = zero + min(gain, 0) * unit
            box(
                drawing,
                left,
                y - 13,
                abs(gain) * unit,
                26,
                TARGET,
                radius=0,
                line=1.5,
                strength=0.5,
            )
        side = 1 if gain >= 0 else -1
        words = f"{gain:+.1f}".replace("-", "−") if gain else "0"
        text(
            drawing,
            zero + gain * unit + 8 * side,
            y,
            words,
            SMALL,
            anchor="start" if side > 0 else "end",
        )
    line(drawing, [(zero, 38), (zero, base - 14)], INK, 2)
    text(
        drawing,
        300,
        438,
        "Sharing is at E = 128. The paper prints averages and no intervals.",
        SMALL,
    )
    return drawing


DRAWINGS = (which_idea_costs_what,)
