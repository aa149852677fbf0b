"""The class as ``grade`` left it: scores, means, the commonest mistakes, and what to look at."""

import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import nbformat
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.utils import is_grade, is_locked

from albert_course.assignments.course import LATE
from albert_course.assignments.grade import LATE_NOTE, one_line
from albert_course.assignments.records import Record, open_gradebook, read_records
from albert_course.assignments.submissions import MISSING
from albert_edu.errors import FileError

# Lines that may try to cheat, and often do not: a person reads them.
SUSPICIOUS = re.compile(
    r"check_\w+ *=|def check_|albert_\w+(?:\.\w+)+|\bReport\b|^ *torch\.[\w.]+ *=|_getframe"
    r"|f_locals|(?<![\w.])(?:setattr|getattr|exec|eval|open|get_ipython)\(|tb_frame|__eq__"
    r"|\.(?:reference|mistakes|cases)\b|getsource|card_of|_CARDS|__globals__|__closure__"
    r"|\bmodules\[|get_objects|__torch_function__"
    r"|\bimport (?:sys|os|gc|ctypes|inspect|builtins|subprocess|socket|threading|signal"
    r"|importlib)\b",
    re.MULTILINE,
)


def overview(course: Path) -> str:
    """Return the report on every assignment in the course; FileError if nothing is graded."""
    parts = reports(course)
    if not parts:
        raise FileError(f"{course} holds no grades: grade a folder first.")
    if (course / LATE).exists():
        parts += [f"{LATE_NOTE}: in {LATE}/, {part}" for part in reports(course / LATE)]
    return "\n\n".join(parts)


def reports(course: Path) -> list[str]:
    """Return the report on each assignment of a course."""
    if not (course / "gradebook.db").exists():
        return []
    with open_gradebook(course) as gradebook:
        records = sorted(read_records(course).items())
        return [report(gradebook, course, *each) for each in records]


def report(gradebook: Gradebook, course: Path, assignment: str, records: dict[str, Record]) -> str:
    """Return the lines of one assignment: each student, the means, the commonest mistakes."""
    given = nbformat.read(course / "source" / assignment / f"{assignment}.ipynb", 4)
    missing = [student for student, record in records.items() if record.problem == MISSING]
    lines = [f"{assignment}:"]
    submissions = []
    notebooks = []
    for student, record in sorted(records.items()):
        if student in missing:
            continue
        if record.problem:
            lines.append(f"  {one_line(student):20} not graded: {one_line(record.problem)}")
            continue
        submission = gradebook.find_submission(assignment, student)
        place = course / "autograded" / student / assignment / f"{assignment}.ipynb"
        notebook = nbformat.read(place, 4)
        submissions.append(submission)
        notebooks.append(notebook)
        lines.append(f"  {one_line(student):20} {points_of(submission)}")
        if record.note:
            lines.append(f"    mended: {one_line(record.note)}")
        looks = find_suspicious_lines(notebook, given)[:8]
        lines += [f"    look: {one_line(line)[:100]}" for line in looks]
    if missing:
        lines.append(f"  {name_missing(missing)}")
    lines += ["  mean share of points:", *mean_shares(submissions)]
    lines += ["  commonest mistakes (students):", *commonest_mistakes(notebooks)]
    return "\n".join(lines)


def mean_shares(submissions: list[SubmittedAssignment]) -> list[str]:
    """Return a line for each test: which share of its points the class earned."""
    shares: dict[str, list[float]] = defaultdict(list)
    for submission in submissions:
        for grade in submission.notebooks[0].grades:
            if grade.max_score and grade.cell.cell_type == "code":
                shares[grade.name].append((grade.auto_score or 0) / grade.max_score)
    return [f"    {name:28} {mean(earned):.2f}" for name, earned in sorted(shares.items())]


def commonest_mistakes(notebooks: list[nbformat.NotebookNode]) -> list[str]:
    """Return a line for each of the five commonest mistakes, with how many students made it."""
    students: Counter[str] = Counter()
    for notebook in notebooks:
        students.update(sorted(set(find_mistakes(notebook))))  # the same order in every run
    return [f"    {count:3} {one_line(mistake)}" for mistake, count in students.most_common(5)]


def points_of(submission: SubmittedAssignment) -> str:
    """Return the points of a submission in words, and how late it was."""
    grades = submission.notebooks[0].grades
    waiting = sum(grade.max_score for grade in grades if grade.needs_manual_grade)
    text = f"{submission.score:5.4g} of {submission.max_score:g}, {waiting:g} wait for a person"
    hours = submission.total_seconds_late / 3600
    if hours <= 0:
        return text
    return (
        f"{text}, {hours:.1f} hours late, {submission.late_submission_penalty or 0:g} points lost"
    )


def name_missing(students: list[str]) -> str:
    """Return the line on those who handed nothing in."""
    names = ", ".join(map(one_line, sorted(students)))
    return f"{MISSING}, {len(students)}: {names}"


def find_mistakes(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what the reports of a graded notebook's hidden tests say is wrong."""
    tests = [cell for cell in notebook.cells if is_locked(cell)]
    outputs = [output for cell in tests for output in cell.get("outputs", [])]
    return [one for output in outputs for one in output.get("metadata", {}).get("mistakes", [])]


def find_suspicious_lines(notebook: nbformat.NotebookNode, given: nbformat.NotebookNode) -> list:
    """Return lines of the student's own cells that a person should read.

    A name that our text, hints or answer use is no reason to look.
    """
    ours = "\n".join(cell.source for cell in given.cells if not is_grade(cell))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    own = "\n".join(cell.source for cell in code if not is_locked(cell))

    def odd(line):
        """Whether a line has a suspicious word that the assignment itself has not."""
        return any(found[0] not in ours for found in SUSPICIOUS.finditer(line))

    return list(filter(odd, own.splitlines()))
