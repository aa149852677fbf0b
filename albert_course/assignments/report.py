"""The class as ``grade`` left it: scores, means, the commonest mistakes, and what to look at."""

import re
from collections import Counter
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from albert_course.assignments.grade import plain, read_state
from albert_edu.errors import FileError

# Lines that may try to cheat, and often do not: a person reads them.
SUSPICIOUS = re.compile(
    r"check_\w+ *=|def check_|albert_\w+(?:\.\w+)+|\bReport\b|^ *torch\.[\w.]+ *=|_getframe"
    r"|f_locals|(?<![\w.])(?:setattr|getattr|exec|eval|open|get_ipython)\(|tb_frame|__eq__"
    r"|__torch_function__|\bimport (?:sys|os|gc|ctypes|inspect|builtins|subprocess|socket"
    r"|threading|signal|importlib)\b",
    re.MULTILINE,
)


def overview(course: Path) -> str:
    """Return the report on every assignment in the course; FileError if nothing is graded."""
    if not (graded := read_state(course)):
        raise FileError(f"{course} holds no grades: grade a folder first.")
    with Gradebook(f"sqlite:///{course.resolve() / 'gradebook.db'}") as gradebook:
        return "\n\n".join(_report(gradebook, course, *each) for each in sorted(graded.items()))


def _report(gradebook: Gradebook, course: Path, assignment: str, students: dict) -> str:
    lines, mistakes, shares = [f"{assignment}:"], Counter(), {}
    given = nbformat.read(course / "source" / assignment / f"{assignment}.ipynb", 4)
    for student, state in sorted(students.items()):
        if state["problem"]:
            lines.append(f"  {plain(student):20} not graded: {plain(state['problem'])}")
            continue
        submission = gradebook.find_submission(assignment, student)
        grades = submission.notebooks[0].grades
        waiting = sum(grade.max_score for grade in grades if grade.needs_manual_grade)
        late = submission.total_seconds_late / 3600
        lost = f", {submission.late_submission_penalty or 0:g} points lost"
        lines.append(
            f"  {plain(student):20} {submission.score:5.4g} of {submission.max_score:g}, "
            f"{waiting:g} wait for a person{f', {late:.1f} hours late{lost}' if late > 0 else ''}"
        )
        for grade in grades:
            if grade.max_score and grade.cell.cell_type == "code":
                shares.setdefault(grade.name, []).append(grade.auto_score / grade.max_score)
        place = course / "autograded" / student / assignment / f"{assignment}.ipynb"
        notebook = nbformat.read(place, 4)
        mistakes.update(set(find_mistakes(notebook)))
        note = [f"    mended: {plain(state['note'])}"] if state["note"] else []
        looks = find_suspicious_lines(notebook, given)[:8]
        lines += note + [f"    look: {plain(line)[:100]}" for line in looks]
    means = [f"    {name:28} {sum(part) / len(part):.2f}" for name, part in sorted(shares.items())]
    reasons = [f"    {count:3} {plain(reason)}" for reason, count in mistakes.most_common(5)]
    lines += ["  mean share of points:", *means, "  commonest mistakes (students):", *reasons]
    return "\n".join(lines)


def _mark(cell: nbformat.NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def find_mistakes(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what the reports of a graded notebook's hidden tests say is wrong."""
    tests = [cell for cell in notebook.cells if _mark(cell).get("locked")]
    outputs = [output for cell in tests for output in cell.get("outputs", [])]
    return [one for output in outputs for one in output.get("metadata", {}).get("mistakes", [])]


def find_suspicious_lines(notebook: nbformat.NotebookNode, given: nbformat.NotebookNode) -> list:
    """Return lines of the student's own cells that a person should read.

    A name that our text, hints or answer use is no reason to look.
    """
    ours = "\n".join(cell.source for cell in given.cells if not _mark(cell).get("grade"))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    own = "\n".join(cell.source for cell in code if not _mark(cell).get("locked"))

    def odd(line):
        return any(found[0] not in ours for found in SUSPICIOUS.finditer(line))

    return list(filter(odd, own.splitlines()))
