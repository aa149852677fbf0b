"""A notebook cut into slides: a heading begins one, and what does not fit goes on to the next."""

ROOM = 17  # lines below the title of a slide; a picture or a chart takes eleven of them
BREAK = "```{revealjs-break}\n```"


def with_breaks(notebook: dict) -> dict:
    """Return the notebook with a break wherever the next paragraph or cell would not fit.

    A paragraph that ends in a colon, and a ``guess``, stay with what follows them.
    """
    blocks = [block for cell in notebook["cells"] for block in blocks_of(cell)]
    cells, used = [], 0
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        words = "".join(block["source"])
        needed = height(block)
        if after and (words.endswith(":") or words.startswith("guess = ...")):
            needed += height(after)
        if words.startswith("#") and block["cell_type"] == "markdown":
            used = 0
        else:
            if used and used + needed > ROOM:
                cells.append({"cell_type": "markdown", "metadata": {}, "source": BREAK})
                used = 0
            used += height(block)
        cells.append(block)
    for number, cell in enumerate(cells):
        cell["id"] = f"slides-{number}"
    return notebook | {"cells": cells}


def blocks_of(cell: dict) -> list[dict]:
    """A cell, or one cell for each paragraph; a table, a formula or a folded hint stays whole."""
    if cell["cell_type"] != "markdown":
        return [cell]
    blocks = [""]
    for paragraph in "".join(cell["source"]).split("\n\n"):
        whole = [blocks[-1].count(mark) % 2 == 0 for mark in ("```", "$$")]
        if all(whole) and blocks[-1].count("<details") == blocks[-1].count("</details"):
            blocks.append(paragraph)
        else:
            blocks[-1] += f"\n\n{paragraph}"
    return [cell | {"source": block} for block in blocks[1:]]


def height(cell: dict) -> float:
    """About how many lines a paragraph or a cell with its outputs fills."""
    lines = "".join(cell["source"]).splitlines()
    if cell["cell_type"] == "markdown":
        if any(line.startswith(("![", "<img")) for line in lines):
            return 11
        if lines[0].startswith("<details"):
            return 1
        return 0.7 + sum(1 + len(line) // 88 for line in lines)
    total = 0 if cell["metadata"].get("jupyter", {}).get("source_hidden") else 1 + 0.8 * len(lines)
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            total += 11
        total += 0.8 * len("".join(output.get("text", [])).splitlines())
    return total
