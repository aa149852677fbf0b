"""A cell of a submission: what counts of it, and whether it answers an exercise.

Programs write cells differently, and students change what they were given a little or much.
"""

import re

DEFINED = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)


def plain_cell(cell: dict) -> dict:
    """Return what counts of a cell: its type, its text, and its name in nbgrader.

    Outputs and other metadata are dropped: no two programs write the same ones, and a tag could
    tell nbgrader to skip a test. A cell that loses its name to a later one of that name gets it
    back as ``copy``.
    """
    kind = cell["cell_type"]
    source = cell.get("source", "")
    mark = as_dict(as_dict(cell.get("metadata")).get("nbgrader"))
    name = mark.get("grade_id")
    plain = {
        "cell_type": kind if kind in ("code", "markdown", "raw") else "markdown",
        "source": source if isinstance(source, str) else "".join(source),
        "name": name if isinstance(name, str) else None,
    }
    if kind == "markdown" and "attachments" in cell:  # a picture in an open answer
        plain["attachments"] = cell["attachments"]
    return plain


def as_dict(value: object) -> dict:
    """Return a value that should be a dict, {} if it is none."""
    return value if isinstance(value, dict) else {}


def same_text(one: dict, other: dict) -> bool:
    """Return whether two cells have the same lines, whatever blanks end them."""
    if one["cell_type"] != other["cell_type"]:
        return False
    lines, others = (cell["source"].strip().splitlines() for cell in (one, other))
    return [line.rstrip() for line in lines] == [line.rstrip() for line in others]


def is_answer(cell: dict | None, stub: dict) -> bool:
    """Return whether a cell is more than the stub of an answer, and defines what that asks for."""
    if cell is None or same_text(cell, stub) or not cell["source"].strip():
        return False
    if stub["cell_type"] == "markdown":
        return cell["cell_type"] == "markdown"
    name = DEFINED.findall(stub["source"])[-1]
    assigned = re.search(rf"^{name} *(?::[^=\n]*)?=(?!=)", cell["source"], re.MULTILINE)
    return bool(assigned) or name in DEFINED.findall(cell["source"])
