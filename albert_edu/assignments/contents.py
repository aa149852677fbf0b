"""The table of all assignments on the instructors' page, made of what the source notebooks say."""

import re
from pathlib import Path

import nbformat

from albert_edu.assignments.grade import worth
from albert_edu.assignments.release import find_sources
from albert_edu.assignments.settings import NOTEBOOKS, SOURCES

PAGE = NOTEBOOKS / "README.md"
TABLE = re.compile(r"(<!-- assignments -->\n).*?(<!-- /assignments -->)", re.DOTALL)
HEADER = re.compile(r"\*\*(.+?)\*\* · difficulty ([1-5])/5 · importance [1-5]/5 · [\d-]+ minutes · (\d+) points")


def table(sources: Path = SOURCES) -> str:
    """A line for each assignment: its question, its exercises with difficulty and points, minutes, points."""
    lines = ["| | question | exercises (difficulty of 5, points) | minutes | points: computed + read |", "|---|---|---|---|---|"]
    for path in find_sources(sources):
        notebook = nbformat.read(path, as_version=4)
        text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        question, minutes = re.search(r"\*\*Question\.\*\* (.+)", text)[1], re.search(r"\*\*Minutes\.\*\* (\d+)", text)[1]
        exercises = "; ".join(f"{title} ({difficulty}, {points})" for title, difficulty, points in HEADER.findall(text))
        computed, read = worth(notebook)
        link = f"[{path.stem[:2]}]({path.relative_to(sources.parent).as_posix()})"
        lines.append(f"| {link} | {question} | {exercises} | {minutes} | {computed:g} + {read:g} |")
    return "\n".join(lines)


def write_table(page: Path = PAGE, sources: Path = SOURCES) -> None:
    """Put the table between the page's two marks."""
    text = page.read_text(encoding="utf-8")
    page.write_text(TABLE.sub(lambda found: f"{found[1]}{table(sources)}\n{found[2]}", text), encoding="utf-8")
