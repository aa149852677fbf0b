"""A folder of submissions (STUDENT/NN_name.ipynb) into scores, a CSV, and a page of feedback for each student."""

import csv
import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat

from albert_edu.assignments import merge, sandbox
from albert_edu.assignments.release import find_sources, role, validate
from albert_edu.assignments.settings import SOURCES, Limits
from albert_edu.paper.provenance import ROOT

COLUMNS = ["student", "assignment", "status", "points", "out_of", "to_read", "flags"]


@dataclass
class Mark:
    """The points of one test, and what its parts say."""

    test: str
    exercise: str
    points: float
    out_of: float
    parts: list[dict] = field(default_factory=list)


@dataclass
class Grade:
    """One student's assignment. ``status`` is "graded", "missing" (nothing handed in) or "not graded", with ``note`` saying why.

    ``to_read`` are the points of open questions, which a person has to give.
    """

    student: str
    assignment: str
    status: str = "graded"
    note: str = ""
    marks: list[Mark] = field(default_factory=list)
    out_of: float = 0.0
    to_read: float = 0.0
    open: list[tuple[str, float, str, str]] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        return round(sum(mark.points for mark in self.marks), 2)


def grade_folder(
    folder: Path, out: Path, sources: Path = SOURCES, assignments: list[str] | None = None, limits: Limits | None = None,
    key: int | None = None, jobs: int = 1,
) -> list[Grade]:  # fmt: skip
    """Grade everything in ``folder``, and write scores.csv, grades.json and feedback/STUDENT/NN_name.md into ``out``.

    ``assignments`` are beginnings of names, such as "04"; left out, those that anybody handed in. ``key`` moves the seeds of the
    hidden tests; left out, it is drawn, and recorded so that the same can be done again. ValueError for a folder that holds no
    submission.
    """
    students, chosen = submissions(folder, sources, assignments)
    key = secrets.randbelow(1_000_000) + 1 if key is None else key
    cover = (sources, folder, out, ROOT / "tests", ROOT / ".git")
    out.mkdir(parents=True, exist_ok=True)
    todo = [(student, path) for path in chosen for student in students]
    with ThreadPoolExecutor(jobs) as pool:  # each thread waits for a process
        grades = list(pool.map(lambda one: grade_one(*one, limits or Limits(), key, cover), todo))
    _write(out, grades, key)
    return grades


def submissions(folder: Path, sources: Path, wanted: list[str] | None) -> tuple[list[Path], list[Path]]:
    """The students' folders, and the source notebooks to grade them by: those wanted, or else those that anybody handed in."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    students = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    handed_in = {path.name for student in students for path in student.glob("*.ipynb")}
    if not handed_in:
        raise ValueError(f"no notebook in {folder}: it should hold STUDENT/NN_name.ipynb")
    paths = find_sources(sources)
    there = ", ".join(path.stem for path in paths)
    if wanted:
        unknown = [name for name in wanted if not any(path.name.startswith(name) for path in paths)]
        if unknown:
            raise ValueError(f"no assignment starts with {', '.join(unknown)}. There are: {there}.")
        return students, [path for path in paths if path.name.startswith(tuple(wanted))]
    chosen = [path for path in paths if path.name in handed_in]
    if not chosen:
        raise ValueError(f"no notebook there has the name of an assignment. There are: {there}.")
    return students, chosen


def worth(source: nbformat.NotebookNode) -> tuple[float, float]:
    """The points that tests give in all, and those that a person gives."""
    points = {"test": 0.0, "open": 0.0}
    for cell in source.cells:
        if role(cell) in points:
            points[role(cell)] += float(cell.metadata.nbgrader.points)
    return points["test"], points["open"]


def grade_one(student: Path, path: Path, limits: Limits, key: int, cover: tuple[Path, ...] = ()) -> Grade:
    """Grade the submission of ``student`` (a folder) for the source notebook ``path``."""
    source = nbformat.read(path, as_version=4)
    validate(source)
    grade = Grade(student.name, path.stem)
    grade.out_of, grade.to_read = worth(source)
    submission, grade.status, grade.note = _read(student, path)
    if submission is None:
        return grade
    steps = merge.steps(source, submission)
    grade.flags = _look_at(source, [step.source for step in steps if step.name.startswith("cell ")])
    outcome = sandbox.run(steps, limits, key, cover)
    if not outcome.ready:
        grade.status, grade.note = "not graded", f"the grading process did not start: {outcome.ended} {outcome.stderr}".strip()
        return grade
    for step in steps:
        if step.kind == "test":
            parts = outcome.parts.get(step.name, [])
            grade.marks.append(Mark(step.name, step.exercise, round(share(parts) * step.points, 2), step.points, parts))
    grade.errors, grade.note = outcome.errors, outcome.ended
    grade.flags += outcome.flags
    grade.open = merge.open_answers(source, submission)
    return grade


def _look_at(source: nbformat.NotebookNode, cells: list[str]) -> list[str]:
    """What a person should look at in a student's cells: imports that our own answers do without, and suspicious lines."""
    ours: set[str] = set()
    for cell in source.cells:
        if cell.cell_type == "code":
            ours |= merge.albert_imports(cell.source)
    theirs = set().union(*map(merge.albert_imports, cells))
    flags = [f"imports {name}, which our answers do not" for name in sorted(theirs - ours)]
    for text in cells:
        flags += merge.suspicions(text)
    return list(dict.fromkeys(flags))


def share(parts: list[dict]) -> float:
    """The mean over the parts of a test, where a check asked with several seeds is one part, with its worst score.

    >>> share([{"check": "plan", "score": 1.0}, {"check": "plan", "score": 0.2}, {"check": "", "score": 1.0}])
    0.6
    """
    worst: dict[str, float] = {}
    for number, part in enumerate(parts):
        name = part["check"] or f"statement {number}"
        worst[name] = min(part["score"], worst.get(name, 1.0))
    return sum(worst.values()) / len(worst) if worst else 0.0


def _read(student: Path, path: Path) -> tuple[nbformat.NotebookNode | None, str, str]:
    submitted = student / path.name
    if not submitted.exists():
        near = sorted(other.name for other in student.glob("*.ipynb") if path.name[:2] in other.name or path.stem[3:] in other.stem)
        if near:
            return None, "not graded", f"there is no {path.name}; is it {', '.join(near)}? Rename it and grade again."
        others = sorted(other.name for other in student.glob("*.ipynb"))
        return None, "missing", f"there is no {path.name}" + (f", only {', '.join(others)}" if others else "")
    if submitted.is_symlink() or not submitted.is_file() or submitted.stat().st_size > 20 << 20:
        return None, "not graded", f"{path.name} is no plain file, or larger than 20 MB: clear its outputs"
    try:
        found = json.loads(submitted.read_text(encoding="utf-8"))
        for cell in found["cells"]:  # all that is used of it
            cell["outputs"], cell["metadata"] = [], cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
            cell["source"] = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["cell_type"] = str(cell["cell_type"])
        return nbformat.from_dict(found), "graded", ""
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        return None, "not graded", f"{path.name} is no notebook that can be read: {type(error).__name__}: {error}"


def _write(out: Path, grades: list[Grade], key: int) -> None:
    from albert_edu.assignments.feedback import page

    write_scores(out, grades)
    settings = {"key": key, "isolation": sandbox.isolation()}
    told = {"settings": settings, "grades": [asdict(one) | {"points": one.points} for one in grades]}
    (out / "grades.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    for one in grades:
        target = out / "feedback" / one.student / f"{one.assignment}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(one), encoding="utf-8", errors="backslashreplace")  # an error may speak in half characters


def write_scores(out: Path, grades: list[Grade]) -> None:
    """``out``/scores.csv, a row for each student and assignment."""
    with (out / "scores.csv").open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for one in grades:
            points = [f"{number:g}" for number in (one.points, one.out_of, one.to_read)]
            table.writerow([_plain(one.student), one.assignment, one.status, *points, len(one.flags)])


def _plain(name: str) -> str:
    """A folder's name that a spreadsheet would take for a formula gets an apostrophe."""
    return "'" + name if name.startswith(("=", "+", "-", "@")) else name
