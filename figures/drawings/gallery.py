"""Collect the drawings of all notebooks, and write the SVG files and the README that lists them.

A module ``nb04.py`` belongs to notebook 04 and ends with ``DRAWINGS``, a tuple of functions. Each
function takes nothing and returns a drawing. Its name is the name of the file, and the first
paragraph of its docstring is the caption.
"""

import importlib
import inspect
import re
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
INTRODUCTION = """# Drawings

`python -m figures.drawings` makes these files again from the modules in this folder. The numbers in
the drawings are computed from `albert_edu`. Generated; edit the modules.
"""


class Entry(NamedTuple):
    """One drawing: its notebook (two digits), its name, its caption, its alt text and its SVG."""

    notebook: str
    name: str
    caption: str
    alt: str
    source: str


def modules() -> list:
    """Return the modules nb00, nb01 and so on that this folder has."""
    names = sorted(path.stem for path in FOLDER.glob("nb[0-9][0-9]*.py"))
    return [importlib.import_module(f"figures.drawings.{name}") for name in names]


def entries() -> list[Entry]:
    """Draw every drawing once, in the order of the notebooks."""
    drawn = []
    for module in modules():
        notebook = module.__name__.rsplit(".", 1)[-1][2:4]
        for function in module.DRAWINGS:
            source = function().as_svg() + "\n"
            caption = " ".join(inspect.getdoc(function).split("\n\n")[0].split())
            alt = unescape(re.search("<desc>(.*?)</desc>", source, re.DOTALL)[1])
            drawn.append(Entry(notebook, function.__name__, caption, alt, source))
    return drawn


def readme(drawn: list[Entry]) -> str:
    """Return the list of the drawings as Markdown, with picture, alt text and caption."""
    lines = [INTRODUCTION]
    for notebook in sorted({entry.notebook for entry in drawn}):
        lines.append(f"## Notebook {notebook}\n")
        for entry in drawn:
            if entry.notebook == notebook:
                alt = escape(entry.alt, quote=False).replace("[", r"\[").replace("]", r"\]")
                lines.append(f"### {entry.name}\n\n![{alt}]({entry.name}.svg)\n\n{entry.caption}\n")
                lines.append(f"<details><summary>Alt text</summary>\n\n{alt}\n\n</details>\n")
    return "\n".join(lines)


def save_all() -> None:
    """Write NAME.svg for every drawing, and README.md, into this folder."""
    drawn = entries()
    for entry in drawn:
        (FOLDER / f"{entry.name}.svg").write_text(entry.source, encoding="utf-8")
    (FOLDER / "README.md").write_text(readme(drawn), encoding="utf-8")
