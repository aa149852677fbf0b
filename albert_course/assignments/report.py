"""The class as ``grade`` left it: scores, means, the commonest mistakes, and what to look at."""

import re
from collections import Counter
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from albert_course.assignments.grade import plain, read_problems
from albert_edu.errors import FileError

REASON = re.compile(
    r"^(?: *(?:likely|why): +|\w+: (?=not answered yet,))(not answered yet(?=,)|.+)", re.M
)
# Lines that may try to cheat, and often do not: a person reads them.
SUSPICIOUS = re.compile(
    r"check_\w+ *=|def check_|albert_\w+\.\w+|\bReport\b|^ *torch\.[\w.]+ *=|_getframe|f_locals"
    r"|\b(setattr|getattr|exec|eval|open|get_ipython)\(|tb_frame|__eq__|__torch_function__|\b"
    r"import (sys|os|gc|ctypes|inspect|builtins|subprocess|socket|threading|signal|importlib)\b"
)


def overview(course: Path) -> str:
    """Return the report on every assignment in the course; FileError if nothing is graded."""
    if not (graded := read_problems(course)):
        raise FileError(f"{course} holds no grades: grade a folder first.")
    lines = [f"The grading seed was {(course / 'grading_seed.txt').read_text()}."]
    with Gradebook(f"sqlite:///{course.resolve() / 'gradebook.db'}") as gradebook:
        for assignment, problems in sorted(graded.items()):
            lines += _report(gradebook, course / "autograded", assignment, problems)
    return "\n".join(lines)


def _report(gradebook: Gradebook, graded: Path, assignment: str, problems: dict) -> list[str]:
    lines, mistakes, shares = ["", f"{assignment}:"], Counter(), {}
    for student, problem in sorted(problems.items()):
        if problem:
            lines.append(f"  {plain(student):20} not graded: {plain(problem)}")
            continue
        submission = gradebook.find_submission(assignment, student)
        grades = submission.notebooks[0].grades
        waiting = sum(grade.max_score for grade in grades if grade.needs_manual_grade)
        lines.append(
            f"  {student:20} {submission.score:5.4g} of {submission.max_score:g}, "
            f"{waiting:g} wait for a person"
        )
        for grade in grades:
            if grade.max_score and grade.cell.cell_type == "code":
                shares.setdefault(grade.name, []).append(grade.auto_score / grade.max_score)
        notebook = nbformat.read(graded / student / assignment / f"{assignment}.ipynb", 4)
        mistakes.update(set(find_reasons(notebook)))
        lines += [f"    look: {plain(line)[:100]}" for line in find_suspicious_lines(notebook)[:8]]
    means = [f"    {name:28} {sum(part) / len(part):.2f}" for name, part in sorted(shares.items())]
    reasons = [f"    {count:3} {plain(reason)}" for reason, count in mistakes.most_common(5)]
    return [*lines, "  mean share of points:", *means, "  commonest mistakes (students):", *reasons]


def find_reasons(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the likely mistakes that the reports of a graded notebook name."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return REASON.findall("\n".join(output.get("text", "") for output in outputs))


def find_suspicious_lines(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the lines of the student's own cells that a person should read."""
    own = [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked")
    ]
    return [line for line in "\n".join(own).splitlines() if SUSPICIOUS.search(line)]
